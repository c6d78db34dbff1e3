package aggregator

import (
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// What parties may make an aggregator keep and compute follows from its quotas and from their
// study: a release is admitted by its header, before a byte of it has come, or refused. What all
// studies compute at once stays within the quota of one.

// Quotas bound what parties may make an aggregator keep and compute. Zero memory and disk are
// the defaults of its configuration file.
type Quotas struct {
	analysis.Quotas
	Free int64 // bytes of its disk that no release may take; 0: it is not looked at
}

func (q Quotas) orDefaults() Quotas {
	if q.Memory == 0 {
		q.Memory = config.DefaultMemory
	}
	if q.Disk == 0 {
		q.Disk = config.DefaultUploads
	}
	return q
}
