package monitor

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/node/webhook"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Studies gives the states of a node's studies, and when the next date ends a wait. It is read from
// the store when metrics are written.
type Studies interface {
	Snapshots() ([]stored.Snapshot, error)
	Free() (int64, error)
}

// Aggregator counts what happens at an aggregator. Its Observe is the node's observer.
type Aggregator struct {
	posted   metrics.Counter
	calls    metrics.Counter
	received metrics.Counter
	releases metrics.Counter
	results  metrics.Counter
	failures metrics.Counter
	analyses metrics.Histogram
	hooks    metrics.Counter
	pending  atomic.Int64 // pending messages of webhooks

	mu   sync.Mutex
	down map[protocol.StudyID]bool // guarded by mu
}

// NewAggregator makes the metrics of an aggregator.
func NewAggregator(r *metrics.Registry, studies Studies) *Aggregator {
	a := &Aggregator{
		posted:   r.Counter("cosketch_board_messages_total", "Messages that went on boards, by kind.", "kind"),
		calls:    r.Counter("cosketch_calls_total", "Calls of parties, by call and outcome.", "call", "outcome"),
		received: r.Counter("cosketch_release_bytes_total", "Bytes of releases that were stored."),
		releases: r.Counter("cosketch_releases_total", "Releases that were wholly here, by outcome.", "outcome"),
		results:  r.Counter("cosketch_results_total", "Times that all analyses of a study ran, by outcome.", "outcome"),
		failures: r.Counter("cosketch_store_failures_total", "Times that the store failed at a study."),
		analyses: r.Histogram("cosketch_analysis_seconds", "How long all analyses of a study took.", []float64{0.1, 1, 10, 60, 600, 3600}),
		hooks:    r.Counter("cosketch_webhook_messages_total", "Messages of webhooks, by outcome: failed ones are tried again, dropped ones are not.", "outcome"),
		down:     map[protocol.StudyID]bool{},
	}
	fromZero(a.releases, "taken", "refused")
	fromZero(a.results, "computed", "failed")
	fromZero(a.hooks, webhook.Outcomes()...)
	fromZero(a.posted, protocol.KindApprove, protocol.KindWithdraw, protocol.KindRoster, protocol.KindCommit, protocol.KindShare, protocol.KindConfirm,
		protocol.KindFirst, protocol.KindInterim, protocol.KindRelease, protocol.KindResult, protocol.KindComplaint, protocol.KindFault, protocol.KindAbandon, protocol.KindCertificate,
		protocol.KindJoin, protocol.KindWelcome, protocol.KindJoined, protocol.KindStop, protocol.KindClose)
	r.Collected("cosketch_studies_out_of_service", "Studies at which the store fails.", nil, func(set func(float64, ...string)) {
		a.mu.Lock()
		defer a.mu.Unlock()
		set(float64(len(a.down)))
	})
	r.Collected("cosketch_webhook_pending", "Messages that webhooks have not taken yet.", nil, func(set func(float64, ...string)) { set(float64(a.pending.Load())) })
	ofStudies(r, studies, []session.State{session.Open, session.Agreeing, session.Collecting, session.Computing, session.Answered, session.Closed, session.Stopped})
	return a
}

// Webhook counts the outcome of a webhook's message.
func (a *Aggregator) Webhook(o webhook.Outcome) { a.hooks.Add(1, string(o)) }

// WebhooksPending changes the number of pending messages by so many.
func (a *Aggregator) WebhooksPending(by int) { a.pending.Add(int64(by)) }

// fromZero initialises a counter with 0 for these label values. Otherwise a scraper would not see
// the first event as an increase.
func fromZero[L ~string](c metrics.Counter, labels ...L) {
	for _, label := range labels {
		c.Add(0, string(label))
	}
}

// Observe counts an event.
func (a *Aggregator) Observe(h event.Event) {
	switch h.What {
	case event.Posted:
		a.posted.Add(1, string(h.Kind))
	case event.Called:
		a.calls.Add(1, h.Call, h.Outcome)
	case event.ChunkKept:
		a.received.Add(float64(h.Bytes))
	case event.ReleaseTaken:
		a.releases.Add(1, "taken")
	case event.ReleaseRefused:
		a.releases.Add(1, "refused")
	case event.Computed:
		a.results.Add(1, "computed")
		a.analyses.Observe(h.Took.Seconds())
	case event.Uncomputed:
		a.results.Add(1, "failed")
		a.analyses.Observe(h.Took.Seconds())
	case event.TakenDown:
		a.failures.Add(1)
		a.setDown(h.Study, true)
	case event.TakenUp:
		a.setDown(h.Study, false)
	}
}

func (a *Aggregator) setDown(id protocol.StudyID, down bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if down {
		a.down[id] = true
	} else {
		delete(a.down, id)
	}
}

// ofStudies makes the metrics that are read from the store: the number of studies by state (the
// given states even if 0), the next date, and the free disk space.
func ofStudies(r *metrics.Registry, studies Studies, states []session.State) {
	known := map[string]bool{stored.Added: true}
	for _, s := range states {
		known[string(s)] = true
	}
	r.Collected("cosketch_studies", "Studies, by state.", []string{"state"}, func(set func(float64, ...string)) {
		all, err := studies.Snapshots()
		if err != nil {
			return // unreadable values are left out; readiness fails
		}
		counts := map[string]int{}
		for _, s := range all {
			state := s.State
			if !known[state] {
				state = "other"
			}
			counts[state]++
		}
		set(float64(counts[stored.Added]), stored.Added)
		for _, s := range states {
			set(float64(counts[string(s)]), string(s))
		}
		if n := counts["other"]; n > 0 {
			set(float64(n), "other")
		}
	})
	r.Collected("cosketch_next_deadline_seconds", "When the next wait ends that a date ends, in seconds since 1970; absent where nothing is awaited.", nil, func(set func(float64, ...string)) {
		all, err := studies.Snapshots()
		if err != nil {
			return
		}
		next := protocol.Instant(0)
		for _, s := range all {
			if at, err := protocol.ParseInstant(s.Until); err == nil && s.Active() && (next == 0 || at < next) {
				next = at
			}
		}
		if next != 0 {
			set(float64(next))
		}
	})
	r.Collected("cosketch_free_bytes", "Room on the disk of the state directory.", nil, func(set func(float64, ...string)) {
		if free, err := studies.Free(); err == nil {
			set(float64(free))
		}
	})
}

// Ready returns why a node cannot serve: its store does not answer.
func Ready(studies Studies) error {
	if _, err := studies.Snapshots(); err != nil {
		return fmt.Errorf("reading the state directory: %w", err)
	}
	return nil
}
