package aggregator

import (
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// An aggregator's quotas and a study bound what its parties may make it store and compute. A
// release is admitted or refused by its header, before a byte of it has come. All studies together
// compute within the quota of one.

// Quotas bound what parties may make an aggregator store and compute. Zero memory and disk mean the
// defaults of its configuration file.
type Quotas struct {
	analysis.Quotas
	Free int64 // bytes of its disk that no release may take; 0: not checked
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
