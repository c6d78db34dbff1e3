package aggregator

import (
	"io"
	"log/slog"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
)

// Options makes an aggregator's node.
type Options struct {
	Store   node.AggregatorState     // required, opened for writing
	Listen  []string                 // required: multiaddrs
	Limits  p2p.Limits               // what peers may occupy
	Quotas  Quotas                   // what they may make it keep and compute
	Now     func() protocol.Instant  // required: the clock
	Version string                   // default: dev
	Logger  *slog.Logger             // default: nothing is logged
	Tick    time.Duration            // how often dates and new studies are looked at; default 1 s
	Entropy io.Reader                // for the handles by which results tell parties of others' records, read by one goroutine a study; default: crypto/rand
	Workers int                      // goroutines of one study's analyses; default: what the machine can run at once
	Observe event.AggregatorObserver // default: nobody

	// Uptime is a clock that runs evenly and that nobody sets. Default: the machine's own.
	Uptime func() time.Duration
}
