package aggregator

import (
	"fmt"
	"time"

	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol"
)

// shared is what all studies of an aggregator have in common and none of them owns.
type shared struct {
	Options
	signer   protocol.Signer
	memory   *memoryLimit // for the computations of all studies
	disk     *disk        // room on it
	marks    *marks       // of running computations
	setbacks *outages     // of studies that could not be served
	refusals *seldom.Log  // log lines that peers cause
}

func newShared(o Options) (*shared, error) {
	o.Env = o.Env.OrDefaults()
	if o.Tick == 0 {
		o.Tick = time.Second
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
		Options: o, signer: signer, memory: &memoryLimit{size: o.Quotas.Memory},
		disk:     &disk{state: o.Store, free: o.Quotas.Free, now: o.Now, log: o.Log},
		marks:    &marks{state: o.Store, own: map[protocol.StudyID]bool{}},
		setbacks: &outages{state: o.Store, now: o.Now, log: o.Log, observe: o.Observe, of: map[protocol.StudyID]*outage{}},
		refusals: seldom.New(o.Log, o.Uptime, time.Minute, 256),
	}, nil
}

func (s *shared) ID() protocol.PeerID { return s.signer.ID() }

// sinceStart is Uptime, or 0 if nothing rests.
func (s *shared) sinceStart() time.Duration {
	if s.Uptime == nil {
		return 0
	}
	return s.Uptime()
}
