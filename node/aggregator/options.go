package aggregator

import (
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
)

// Options configures an aggregator's node.
type Options struct {
	node.Env[event.Event]
	Store  node.AggregatorState // required, opened for writing
	Listen []string             // required: multiaddrs
	Limits p2p.Limits           // what peers may occupy
	Quotas Quotas               // what they may make it store and compute
	Tick   time.Duration        // interval between checks for dates and new studies; default 1 s

	// Uptime is a monotonic clock that nobody sets. Default: the machine's own.
	Uptime func() time.Duration
}
