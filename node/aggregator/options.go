package aggregator

import (
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
)

// Options makes an aggregator's node.
type Options struct {
	node.Env[event.Happening]
	Store  node.AggregatorState // required, opened for writing
	Listen []string             // required: multiaddrs
	Limits p2p.Limits           // what peers may occupy
	Quotas Quotas               // what they may make it keep and compute
	Tick   time.Duration        // how often dates and new studies are looked at; default 1 s

	// Uptime is a clock that runs evenly and that nobody sets. Default: the machine's own.
	Uptime func() time.Duration
}
