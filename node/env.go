package node

import (
	"crypto/rand"
	"io"
	"log/slog"
	"runtime"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/protocol"
)

// Env is the environment of a node in either role. Told is the type of event its observer receives.
type Env[Told any] struct {
	Now     func() protocol.Instant // required: the clock
	Entropy io.Reader               // read by one goroutine per study; default: crypto/rand
	Log     *slog.Logger            // default: nothing is logged
	Observe func(Told)              // default: nobody
	Workers int                     // goroutines that compute for one study; default: GOMAXPROCS
	Version string                  // of this program; default: dev
}

// The environments of the two roles differ in the events they observe.
type (
	PartyEnv      = Env[event.Progress]
	AggregatorEnv = Env[event.Event]
)

// OrDefaults fills in the defaults.
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
