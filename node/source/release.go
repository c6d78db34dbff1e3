package source

import (
	"context"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Spec describes to package job what is released of the data, without the dataset's caps, as in a
// rehearsal.
func (r *Source) Spec(src *Dataset, what job.Kind, keys seed.Keys) job.Spec {
	return job.Spec{
		Study: r.Study, What: what, Plans: src.Plans, Keys: keys, Dataset: src.Data.Name,
		Now: r.Now, Signer: r.Signer, Entropy: r.Entropy, Workers: r.Workers,
	}
}

// Budgeted adds the dataset's caps, the part that second rounds will need, and the steward's
// consent to exceed them.
func (r *Source) Budgeted(spec job.Spec, src *Dataset) (job.Spec, error) {
	var err error
	spec.Caps, err = capsOf(src.Data, r.Study.Privacy.Mechanism, r.Study.Privacy.Unit)
	spec.Consent = ledger.Consent{AcceptUnbounded: src.Site.AcceptReconstruction}
	spec.Kept = func(entries []ledger.Entry) ([]ledger.Entry, error) { return r.kept(src, entries) }
	if _, query := spec.What.(job.Query); !query && r.Study.Privacy.Mechanism == dp.None {
		// A release without noise needs the steward's consent. It has been given: by approving a
		// study that says none, under a rule that only accept_reconstruction overrules
		// (Acceptable).
		spec.Consent.AcceptUnbounded = true
	}
	return spec, err
}

// due is the spec of the study's release for computing its debits.
func (r *Source) due(src *Dataset) job.Spec { return r.Spec(src, job.Study{Round: src.Round}, nil) }

// Due lists the ledger entries that the study's release still needs, whether or not
// the caps allow them.
func (r *Source) Due(src *Dataset, entries []ledger.Entry) []ledger.Entry {
	return r.due(src).Due(entries)
}

// Debits lists the same entries, each checked against the caps after those before it.
func (r *Source) Debits(src *Dataset, entries []ledger.Entry) ([]ledger.Entry, error) {
	spec, err := r.Budgeted(r.due(src), src)
	if err != nil {
		return nil, err
	}
	return spec.Debits(entries)
}

// Looks reports whether a release of the study takes a first look (release.Look).
func Looks(s *study.Study) bool {
	for i, sk := range s.Sketches {
		if sk.Standardise && !s.Pooled(i) {
			return true
		}
	}
	return false
}

// NotHeld says which term of a study prevents holding its sketch, and why; it is empty if the
// sketch can be held. Data that are elsewhere and need a first look are held twice: before the
// look, and as prepared by it.
func NotHeld(s *study.Study, elsewhere bool) string {
	switch {
	case Looks(s) && !elsewhere:
		return "standardise: own: its sums are made after a noisy first look, so nothing without noise can be held"
	case s.TwoRounds():
		return "rounds: 2: the second round is made from the data when the first is answered, so nothing can be held"
	case DrawsEarly(s):
		return fmt.Sprintf("mechanism %s: its noise is drawn into the values as they are read, so nothing without noise can be held", s.Privacy.Mechanism)
	}
	return ""
}

// DrawsEarly reports whether noise is drawn into the values before they are projected.
func DrawsEarly(s *study.Study) bool { return s.Privacy.Mechanism == dp.RandomisedResponse }

// Data reads the party's data for a job.
type Data struct {
	Source *Source
	From   *Dataset
	See    func(dataset.Batch) error // called first with each sketched batch; default: none

	Summary dataset.Summary // of the last pass
	Note    string          // what was sketched and clipped, in counts
	Adding  time.Duration   // time spent projecting; the rest of the pass waits for data
}

// Look passes the inputs of each sketch to its look.
func (d *Data) Look(ctx context.Context, looks []*release.Look) (int64, error) {
	var values []int64
	summary, err := d.Source.Pass(ctx, d.From, func(b dataset.Batch) error {
		for i, look := range looks {
			if look == nil {
				continue
			}
			values = b.Pick(values[:0], d.From.Picks[i])
			if err := look.Add(values); err != nil {
				return fmt.Errorf("sketch %d: %w", i+1, err)
			}
		}
		return nil
	})
	d.Summary = summary
	return summary.Records, err
}

// Exact passes the inputs of each sketch to its builder.
func (d *Data) Exact(ctx context.Context, builders []*release.Builder) (job.Records, error) {
	keep := false
	for _, plan := range d.From.Plans {
		keep = keep || plan.Sketch().Side == sketch.Records
	}
	var ids [][]byte
	var values []int64
	summary, err := d.Source.Pass(ctx, d.From, func(b dataset.Batch) error {
		if d.See != nil {
			if err := d.See(b); err != nil {
				return err
			}
		}
		began := time.Now()
		defer func() { d.Adding += time.Since(began) }()
		if keep {
			for _, id := range b.IDs {
				ids = append(ids, append([]byte(nil), id...))
			}
		}
		for i, builder := range builders {
			if err := builder.AddRead(b.IDs, b.Of(&values, d.From.Picks[i])); err != nil {
				return fmt.Errorf("sketch %d: %w", i+1, err)
			}
		}
		return nil
	})
	if err != nil {
		return job.Records{}, err
	}
	d.Summary, d.Note = summary, SummaryText(summary)
	for i, builder := range builders {
		if n := builder.Clipped(); n > 0 && !d.From.Plans[i].Awaits() {
			d.Note += fmt.Sprintf("; sketch %d: %d records clipped", i+1, n)
		}
	}
	return job.Records{Count: summary.Records, IDs: ids}, nil
}

// lookExactly replaces the plans by those of looks without noise, which only the party may see.
func (r *Source) lookExactly(ctx context.Context, src *Dataset) error {
	if !Looks(r.Study) {
		return nil
	}
	looks := make([]*release.Look, len(src.Plans))
	for i, plan := range src.Plans {
		if plan.Looks() {
			looks[i] = plan.NewLook()
		}
	}
	if _, err := (&Data{Source: r, From: src}).Look(ctx, looks); err != nil {
		return err
	}
	for i, look := range looks {
		if look == nil {
			continue
		}
		var err error
		if src.Plans[i], err = src.Plans[i].After(look.Exact()); err != nil {
			return err
		}
	}
	return nil
}
