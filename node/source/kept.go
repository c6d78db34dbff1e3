package source

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// Approving a study of two rounds approves both. So its first round does not begin unless the
// budget has room for the second, and nothing else may take that room in between.

// kept lists the debits that second rounds will need besides those made for src.
func (r *Source) kept(src *Dataset, entries []ledger.Entry) ([]ledger.Entry, error) {
	under := underWay{r.Store, r.Signer.ID(), src.Data.Name, r.Now()}
	out, err := under.second(entries, r.Study.ID)
	if own := r.Study; err == nil && own.TwoRounds() && !own.SecondRound(src.Plans[len(src.Plans)-1].Index) {
		var due []ledger.Entry
		if due, err = under.due(own); err == nil {
			out = append(out, due...)
		}
	}
	return out, err
}

// SecondRounds lists the debits from a party's dataset that active studies will need for their
// second round. Their first round was debited. A study that was stopped, or whose last date has
// passed, needs none.
func SecondRounds(st node.PartyState, party protocol.PeerID, dataset string, now protocol.Instant, entries []ledger.Entry) ([]ledger.Entry, error) {
	return underWay{st, party, dataset, now}.second(entries, protocol.StudyID{})
}

// underWay finds second rounds still to come.
type underWay struct {
	store   node.PartyState
	party   protocol.PeerID
	dataset string
	now     protocol.Instant
}

// second lists the debits, except those of one study.
func (u underWay) second(entries []ledger.Entry, but protocol.StudyID) (out []ledger.Entry, err error) {
	last := map[protocol.StudyID]int{} // sketch of the last debit
	var order []protocol.StudyID
	for _, e := range entries {
		if e.Dataset != u.dataset || e.Query > 0 || e.Study == but {
			continue
		}
		if _, met := last[e.Study]; !met {
			order = append(order, e.Study)
		}
		last[e.Study] = e.Sketch
	}
	for _, id := range order {
		s, err := u.between(id, last[id])
		if err != nil {
			return nil, err
		}
		if s == nil {
			continue
		}
		due, err := u.due(s)
		if err != nil {
			return nil, err
		}
		out = append(out, due...)
	}
	return out, nil
}

// between returns the study with an id if it has two rounds, its last debit was for this sketch of
// the first, and it has not ended here; otherwise nil. A study that is no longer here, or is
// damaged, has no second round.
func (u underWay) between(id protocol.StudyID, sketch int) (*study.Study, error) {
	raw, err := u.store.Study(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := stored.Parse(id, raw)
	if err != nil || !s.TwoRounds() || sketch >= len(s.Sketches) || s.SecondRound(sketch) || u.now >= s.Closes() {
		return nil, nil
	}
	if raw, err = u.store.Status(id); errors.Is(err, store.ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	shot, err := stored.DecodeSnapshot(raw)
	if err == nil && (shot.Cause != "" || shot.State == string(session.Withdrawn) || shot.State == string(session.Done)) {
		return nil, nil
	}
	return s, nil
}

// due lists the debits of a study's second round.
func (u underWay) due(s *study.Study) ([]ledger.Entry, error) {
	party, listed := s.PartyIndex(u.party)
	if !listed {
		return nil, nil
	}
	spec := job.Spec{Study: s, What: job.Study{}, Dataset: u.dataset, Now: func() protocol.Instant { return u.now }}
	for i := range s.Sketches {
		if !s.SecondRound(i) {
			continue
		}
		plan, err := release.For(s, party, i)
		if err != nil {
			return nil, fmt.Errorf("second round of study %s: %w", s.ID.Short(), err)
		}
		spec.Plans = append(spec.Plans, plan)
	}
	return spec.Due(nil), nil
}
