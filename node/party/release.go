package party

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/seed"
)

// makeRelease makes a study's release, or finds the stored one. It is the only path from data to a
// release. Package job defines the order of the steps, and world is this node's part in it. A crash
// before the debit leaves nothing. After the debit, the next run finds it and does not repeat it.
// It then draws the noise; no noise drawn before can have been sent. After the store, the release
// is only ever re-sent unchanged.
func (r *service) makeRelease(ctx context.Context, of session.MakeRelease) (session.Event, error) {
	if err := r.keep(of.Seed); err != nil {
		return nil, err
	}
	what := job.Study{Attempt: of.Attempt, T2: of.T2, Pairs: of.Pairs}
	w := &world{service: r, seed: of.Seed, t2: of.T2}
	if of.Second != nil {
		what.Before, w.interim = &of.Second.Own, &of.Second.Interim
	}
	stored, found, err := job.Find(job.Spec{Study: r.Study, What: what, Signer: r.Signer}, w)
	if err != nil {
		return nil, err
	}
	if !found {
		if of.Second == nil {
			w.src, err = r.ForRelease(of.Attempt, of.Pairs.Members())
		} else if err = r.checkInterim(ctx, of); err == nil {
			w.src, err = r.ReadiedSecond(of.Attempt, of.Pairs.Members(), of.Second.Interim.Basis)
		}
		var strange *analysis.BasisError
		if errors.As(err, &strange) {
			return session.JobFailed{Err: &protocol.Fault{Culprit: r.Study.Aggregator.ID, Kind: protocol.KindInterim, Attempt: of.Attempt, Err: err}}, nil
		}
		if err != nil {
			return nil, err
		}
		what.Round = w.src.Round
		if stored, err = w.run(ctx, w, what); err != nil {
			return nil, err
		}
	}
	return session.ReleaseStored{Header: stored.Release()}, nil
}

// checkInterim recomputes from the first rounds what the aggregator computed, and compares.
func (r *service) checkInterim(ctx context.Context, of session.MakeRelease) error {
	o := analysis.Options{Study: r.Study, Attempt: of.Attempt, T2: of.T2, Workers: r.Workers}
	for _, f := range of.Second.Firsts {
		one, err := analysis.FromFirst(r.Study, f.ID, f.Party.ID, f.First)
		if err != nil {
			return err
		}
		o.Contributions = append(o.Contributions, one)
	}
	return analysis.CheckBasis(ctx, o, of.Second.Interim.Basis)
}

// makeFirst makes the first of two rounds, or finds it stored, like makeRelease.
func (r *service) makeFirst(ctx context.Context, of session.MakeFirst) (session.Event, error) {
	what := job.First{Attempt: of.Attempt, T2: of.T2, Pairs: of.Pairs}
	w := &world{service: r, seed: of.Seed, t2: of.T2}
	first := firstWorld{w}
	stored, found, err := job.Find(job.Spec{Study: r.Study, What: what, Signer: r.Signer}, first)
	if err != nil {
		return nil, err
	}
	if !found {
		if w.src, err = r.ReadiedFirst(of.Attempt, of.Pairs.Members()); err != nil {
			return nil, err
		}
		what.Round = w.src.Round
		if stored, err = w.run(ctx, first, what); err != nil {
			return nil, err
		}
	}
	return session.FirstStored{First: stored.Release()}, nil
}

// run makes the release.
func (w *world) run(ctx context.Context, in job.World, what job.Kind) (job.Stored, error) {
	unlock, err := w.lockHeld()
	if err != nil {
		return job.Stored{}, err
	}
	defer unlock()
	w.locked = true
	spec, err := w.Budgeted(w.Spec(w.src, what, w.seed), w.src)
	if err != nil {
		return job.Stored{}, err
	}
	spec.Accept = func(records int64) error {
		entries, err := w.Store.Ledger()
		if err != nil {
			return err
		}
		return w.Acceptable(w.src, records, entries)
	}
	stored, err := job.Run(ctx, spec, in)
	if errors.Is(err, job.ErrLook) {
		err = fmt.Errorf("%w (nothing was released by it: party advanced fsck looks for other damage; without the file secrets/%s-look of the state directory the next run takes another look, at no further cost)", err, w.Study.ID)
	}
	if err == nil {
		w.asking, w.told = false, "" // if a masked sum becomes void, the steward is asked again
	}
	return stored, err
}

// keep stores the row keys of the records side if the study lets parties place new records later.
// It is called before the release is stored, after which the seed may be destroyed.
func (r *service) keep(root seed.Seed) error {
	if r.Study.NewRecords == 0 || r.Now() >= r.Study.NewRecords {
		return nil
	}
	kept, err := root.Keep(release.PlacingKeys()...)
	if err != nil {
		return err
	}
	return r.Store.PutKept(r.Study.ID, kept.Bytes())
}
