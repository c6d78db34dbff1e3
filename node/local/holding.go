package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/agree"
)

// HeldChange is a change of a held sketch.
type HeldChange struct {
	Rebuild  bool   // read all data again
	Withdraw string // the file with the records to withdraw; empty: none
}

// Holding is the held sketch after a change, and what the change did.
type Holding struct {
	held.Summary
	held.Changes
	Taken int64 // number of withdrawn records
	Look  bool  // what is held is for drawing a first look, on which the sketch depends
}

// ChangeHeld brings a study's held sketch up to date with the data, rebuilds it, or withdraws
// records. If nothing is held yet and the site file says release: ask, it makes the sketch. It
// returns ErrReleased after the release, ErrNoSeed before the seed, and store.ErrBusy if another
// process works on the sketch for longer than node.HeldPatience.
func ChangeHeld(ctx context.Context, o source.Options, change HeldChange) (Holding, error) {
	var out Holding
	err := withHeld(o, func(r *source.Source, src *source.Dataset, set *held.Set) (err error) {
		if err := holds(src, set); err != nil {
			return err
		}
		switch {
		case change.Withdraw != "":
			out.Taken, err = set.Withdraw(ctx, change.Withdraw)
			out.Changed = err == nil
		case change.Rebuild:
			out.Changes, err = set.Rebuild(ctx)
		default:
			out.Changes, err = set.Update(ctx)
		}
		out.Summary = set.Summary()
		return err
	})
	return out, err
}

// holds refuses to make a held sketch unless the site file asks for one.
func holds(src *source.Dataset, set *held.Set) error {
	if !set.Exists() && src.Site.Release != config.ReleaseAsk {
		return &node.SiteError{Err: errors.New("the site file lets the release follow the seed at once (to hold the sketch, write release: ask under the study)")}
	}
	return nil
}

// ReleaseHeld stores the steward's decision to release the held sketch as it is now; a Run carries
// it out. It returns held.ErrEmpty before anything is held, and refuses at once what policy or
// budget would refuse.
func ReleaseHeld(o source.Options) (Holding, error) {
	var out Holding
	err := withHeld(o, func(r *source.Source, src *source.Dataset, set *held.Set) error {
		if src.Site.Release != config.ReleaseAsk {
			return &node.SiteError{Err: errors.New("the site file lets the release follow the seed at once: there is nothing to decide (release: ask under the study makes it wait)")}
		}
		out.Summary, out.Look = set.Summary(), set.Looked()
		switch {
		case !set.Exists() && !set.Looked():
			return held.ErrEmpty
		case out.Records == 0:
			return node.ErrNobodyLeft
		case o.Now() >= r.Study.Deadline:
			return &session.DeadlineError{What: "the steward's decision", Until: r.Study.Deadline}
		}
		entries, err := r.Store.Ledger()
		if err != nil {
			return err
		}
		if refusal, err := r.Permitted(src, out.Records, entries); refusal != nil || err != nil {
			err = errors.Join(refusal, err)
			return err
		}
		manifest, err := r.Store.Held(r.Study.ID).Manifest()
		if err != nil {
			return err
		}
		if err := r.Store.Note(journal.Entry{At: o.Now(), Event: journal.HeldReleased, Study: r.Study.ID.String(), Note: letGoNote(out.Records, manifest)}); err != nil {
			return err
		}
		return r.Store.Held(r.Study.ID).Decide()
	})
	return out, err
}

// letGoNote is the journal's note of which held sketch was released, by the beginning of its
// manifest's hash. Fsck reads it.
func letGoNote(records int64, manifest []byte) string {
	return fmt.Sprintf("a held sketch of %d records %s", records, heldMark(manifest))
}

func heldMark(manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return fmt.Sprintf("(%x)", sum[:8])
}

// withHeld locks and opens the held sketch for do.
func withHeld(o source.Options, do func(*source.Source, *source.Dataset, *held.Set) error) error {
	err := lockedHeld(o, do)
	if err != nil {
		return fmt.Errorf("the held sketch of study %s: %w", o.Study.ID.Short(), err)
	}
	return nil
}

func lockedHeld(o source.Options, do func(*source.Source, *source.Dataset, *held.Set) error) error {
	r, err := o.Source()
	if err != nil {
		return err
	}
	unlock, err := o.Store.LockHeld(o.Study.ID, node.HeldPatience)
	if err != nil {
		return err
	}
	defer unlock()
	outcome, attempt, unseeded := seeded(o.Store, o.Study)
	switch _, err := r.ReleasedIn(attempt); {
	case err == nil:
		return node.ErrReleased
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	if unseeded != nil {
		return unseeded
	}
	src, err := r.ForRelease(attempt, outcome.Pairs.Members())
	if err != nil {
		return err
	}
	set, err := r.Held(src, outcome)
	if err != nil {
		return err
	}
	return do(r, src, set)
}

// seeded returns the seed that this party holds, of any attempt.
func seeded(st node.PartyState, s *study.Study) (agree.Outcome, uint32, error) {
	for attempt := s.Attempts; attempt > 0; attempt-- {
		secrets, err := st.Secret(s.ID, uint32(attempt))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return agree.Outcome{}, 0, err
		}
		outcome, err := session.Agreed(secrets)
		if !errors.Is(err, session.ErrNotAgreed) {
			return outcome, uint32(attempt), err
		}
	}
	return agree.Outcome{}, 0, node.ErrNoSeed
}
