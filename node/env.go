package node

import (
	"crypto/rand"
	"io"
	"log/slog"
	"runtime"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/protocol"
)

// Env is what a node has of the world around it, whatever its role. Told is what its observer is told.
type Env[Told any] struct {
	Now     func() protocol.Instant // required: the clock
	Entropy io.Reader               // read by one goroutine a study; default: crypto/rand
	Log     *slog.Logger            // default: nothing is logged
	Observe func(Told)              // default: nobody
	Workers int                     // goroutines that compute for one study; default: what the machine can run at once
	Version string                  // of this program; default: dev
}

// The environments of the two roles, which tell of different things.
type (
	PartyEnv      = Env[event.Progress]
	AggregatorEnv = Env[event.Happening]
)

// OrDefaults fills in what has a default.
func (e Env[Told]) OrDefaults() Env[Told] {
	if e.Entropy == nil {
		e.Entropy = rand.Reader
	}
	if e.Log == nil {
		e.Log = slog.New(slog.DiscardHandler)
	}
	if e.Observe == nil {
		e.Observe = func(Told) {}
	}
	if e.Workers == 0 {
		e.Workers = runtime.GOMAXPROCS(0)
	}
	if e.Version == "" {
		e.Version = "dev"
	}
	return e
}
