package aggregator

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol"
)

// shared is what all studies of an aggregator have in common, which none of them owns.
type shared struct {
	Options
	signer   protocol.Signer
	memory   *room       // for what all studies compute
	disk     *disk       // room on it
	marks    *marks      // of computations that are under way
	setbacks *setbacks   // of studies that could not be served
	refusals *seldom.Log // what peers cause to be said
}

func newShared(o Options) (*shared, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Tick == 0 {
		o.Tick = time.Second
	}
	if o.Entropy == nil {
		o.Entropy = rand.Reader
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Observe == nil {
		o.Observe = func(event.Happening) {}
	}
	if o.Uptime == nil {
		o.Uptime = seldom.Clock(time.Now)
	}
	o.Quotas = o.Quotas.orDefaults()
	signer, err := protocol.NewSigner(o.Store.Identity())
	if err != nil {
		return nil, fmt.Errorf("starting aggregator: %w", err)
	}
	return &shared{
		Options: o, signer: signer, memory: &room{size: o.Quotas.Memory},
		disk:     &disk{state: o.Store, free: o.Quotas.Free, now: o.Now, log: o.Logger},
		marks:    &marks{state: o.Store, own: map[protocol.StudyID]bool{}},
		setbacks: &setbacks{state: o.Store, now: o.Now, log: o.Logger, observe: o.Observe, of: map[protocol.StudyID]*setback{}},
		refusals: seldom.New(o.Logger, o.Uptime, time.Minute, 256),
	}, nil
}

// ID is the aggregator's identity.
func (s *shared) ID() protocol.PeerID { return s.signer.ID() }

// sinceStart is Uptime, or 0 where nothing rests.
func (s *shared) sinceStart() time.Duration {
	if s.Uptime == nil {
		return 0
	}
	return s.Uptime()
}
