package source

import (
	"context"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// A release may take a first look at the data (release.Look). Then the way from data to release is
//
//	look → debit durably → draw the look's noise → store the look → project by it → draw noise → store durably
//
// A crash before the look is stored leaves a debit and no look that anybody saw: the next run
// draws another. A crash after it leaves the look, which is taken again, so that the same data and
// seed give the same sums.

// Looks reports whether a release of the study takes a first look.
func Looks(s *study.Study) bool {
	for _, sk := range s.Sketches {
		if sk.Standardise {
			return true
		}
	}
	return false
}

// SpendsEarly reports that the budget is debited before the sketches are made: noise is drawn on
// the way.
func SpendsEarly(s *study.Study) bool { return DrawsEarly(s) || Looks(s) }

// LookAt reads the data once for the looks that sketches take: nil for a sketch that takes none.
func (r *Source) LookAt(ctx context.Context, src *Opened) ([]*release.Look, dataset.Summary, error) {
	out := make([]*release.Look, len(src.Plans))
	for i, plan := range src.Plans {
		if plan.Looks() {
			out[i] = plan.NewLook()
		}
	}
	var values []int64
	summary, err := r.Pass(ctx, src, func(b dataset.Batch) error {
		for i, look := range out {
			if look == nil {
				continue
			}
			values = b.Pick(values[:0], src.Picks[i])
			if err := look.Add(values); err != nil {
				return fmt.Errorf("sketch %d: %w", i+1, err)
			}
		}
		return nil
	})
	return out, summary, err
}

// DrawLooks draws the noise of all looks and writes them one after the other.
func (r *Source) DrawLooks(taken []*release.Look) (data []byte, err error) {
	for i, look := range taken {
		if look == nil {
			continue
		}
		moves, err := look.Draw(r.Entropy)
		if err != nil {
			return nil, fmt.Errorf("sketch %d: %w", i+1, err)
		}
		data = append(data, release.EncodeLook(moves)...)
	}
	return data, nil
}

// GoBy makes plans those of the second pass.
func (src *Opened) GoBy(data []byte) error {
	moves, err := release.DecodeLook(data)
	if err != nil {
		return err
	}
	for i, plan := range src.Plans {
		if !plan.Looks() {
			continue
		}
		var own []sketch.Standard
		n := min(plan.Looked(), len(moves))
		own, moves = moves[:n], moves[n:]
		if src.Plans[i], err = plan.After(own); err != nil {
			return err
		}
	}
	if len(moves) > 0 {
		return fmt.Errorf("a first look at %d entries too many", len(moves))
	}
	return nil
}

// lookExactly makes the source go by looks without noise, for the party's own eyes alone.
func (r *Source) lookExactly(ctx context.Context, src *Opened) error {
	if !Looks(r.Study) {
		return nil
	}
	taken, _, err := r.LookAt(ctx, src)
	if err != nil {
		return err
	}
	var data []byte
	for _, look := range taken {
		if look != nil {
			data = append(data, release.EncodeLook(look.Exact())...)
		}
	}
	return src.GoBy(data)
}

// RehearseLook takes a first look that is neither debited nor stored, and says how long it took.
func (r *Source) RehearseLook(ctx context.Context, src *Opened) (took time.Duration, err error) {
	if !Looks(r.Study) {
		return 0, nil
	}
	began := time.Now()
	taken, _, err := r.LookAt(ctx, src)
	if err != nil {
		return 0, err
	}
	data, err := r.DrawLooks(taken)
	if err != nil {
		return 0, err
	}
	return time.Since(began), src.GoBy(data)
}
