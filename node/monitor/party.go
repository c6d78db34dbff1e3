package monitor

import (
	"sync"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Party counts what happens at a party. Its Observe receives what the node's observer does.
type Party struct {
	steps  metrics.Counter
	read   metrics.Counter
	sent   metrics.Counter
	trials metrics.Counter

	mu   sync.Mutex
	done map[transfer]int64 // bytes counted so far; guarded by mu
}

// transfer is one reading or upload of a study.
type transfer struct {
	study protocol.StudyID
	what  event.Milestone
}

// NewParty makes the metrics of a party.
func NewParty(r *metrics.Registry, studies Studies) *Party {
	p := &Party{
		steps:  r.Counter("cosketch_milestones_total", "Points that studies passed, by name.", "milestone"),
		read:   r.Counter("cosketch_read_bytes_total", "Bytes of data that were read and projected."),
		sent:   r.Counter("cosketch_sent_bytes_total", "Bytes of releases that have arrived at aggregators."),
		trials: r.Counter("cosketch_retries_total", "Times that an aggregator could not be reached."),
		done:   map[transfer]int64{},
	}
	fromZero(p.steps, event.Checked, event.Persisted, event.Parts, event.Held, event.Projected, event.Debited, event.Stored, event.Uploaded, event.Finished)
	ofStudies(r, studies, []session.State{session.Invited, session.Approved, session.Committed, session.Shared, session.Confirmed, session.Joining,
		session.Seeded, session.Sketched, session.Released, session.Done, session.Failed, session.Withdrawn})
	return p
}

// Observe counts an event.
func (p *Party) Observe(o event.Progress) {
	switch o.Milestone {
	case event.Reading:
		p.read.Add(p.more(o))
	case event.Uploading:
		p.sent.Add(p.more(o))
	case event.Retrying:
		p.trials.Add(1)
	case event.Waiting, event.Clocks:
	default:
		p.steps.Add(1, string(o.Milestone))
	}
}

// more returns how many bytes of a transfer are new. A transfer that restarts counts again.
func (p *Party) more(o event.Progress) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := transfer{o.Study, o.Milestone}
	before := p.done[key]
	if o.Done < before {
		before = 0
	}
	p.done[key] = o.Done
	return float64(o.Done - before)
}
