package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/store"
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

// looks reports whether a release of the study takes a first look.
func looks(s *study.Study) bool {
	for _, sk := range s.Sketches {
		if sk.Standardise {
			return true
		}
	}
	return false
}

// spendsEarly reports that the budget is debited before the sketches are made: noise is drawn on
// the way.
func spendsEarly(s *study.Study) bool { return drawsEarly(s) || looks(s) }

// lookFirst makes the source go by the study's first look: the stored one, or a new one, which
// is debited before it is drawn.
func (r *service) lookFirst(ctx context.Context, src *source) error {
	if !looks(r.study) {
		return nil
	}
	data, err := r.Store.Look(r.study.ID)
	if err == nil {
		if err := src.goBy(data); err != nil {
			return r.damagedLook(err)
		}
		return r.debit(ctx, src) // which finds that of the look; no file stands for it
	}
	if !errors.Is(err, store.ErrNotFound) {
		return r.damagedLook(err)
	}
	taken, summary, err := r.lookAt(ctx, src)
	if err != nil {
		return err
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return err
	}
	if err := r.acceptable(src, summary.Records, entries); err != nil {
		return err
	}
	if err := r.debit(ctx, src); err != nil {
		return err
	}
	if data, err = r.drawLooks(taken); err != nil {
		return err
	}
	if err := r.Store.PutLook(r.study.ID, data); err != nil {
		return err
	}
	return src.goBy(data)
}

// damagedLook says what helps where a stored look cannot be used. A release by it is not stored,
// so that nobody has seen it, and another may be drawn.
func (r *service) damagedLook(err error) error {
	return fmt.Errorf("the first look at the data that was stored cannot be used: %w (nothing was released by it: party fsck looks for other damage; without the file secrets/%s-look of the state directory the next run takes another look, at no further cost)", err, r.study.ID)
}

// lookAt reads the data once for the looks that sketches take: nil for a sketch that takes none.
func (r *home) lookAt(ctx context.Context, src *source) ([]*release.Look, dataset.Summary, error) {
	out := make([]*release.Look, len(src.plans))
	for i, plan := range src.plans {
		if plan.Looks() {
			out[i] = plan.NewLook()
		}
	}
	var values []int64
	summary, err := r.pass(ctx, src, func(b dataset.Batch) error {
		for i, look := range out {
			if look == nil {
				continue
			}
			values = b.Pick(values[:0], src.picks[i])
			if err := look.Add(values); err != nil {
				return fmt.Errorf("sketch %d: %w", i+1, err)
			}
		}
		return nil
	})
	return out, summary, err
}

// drawLooks draws the noise of all looks and writes them one after the other.
func (r *home) drawLooks(taken []*release.Look) (data []byte, err error) {
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

// goBy makes plans those of the second pass.
func (src *source) goBy(data []byte) error {
	moves, err := release.DecodeLook(data)
	if err != nil {
		return err
	}
	for i, plan := range src.plans {
		if !plan.Looks() {
			continue
		}
		var own []sketch.Standard
		n := min(plan.Looked(), len(moves))
		own, moves = moves[:n], moves[n:]
		if src.plans[i], err = plan.After(own); err != nil {
			return err
		}
	}
	if len(moves) > 0 {
		return fmt.Errorf("a first look at %d entries too many", len(moves))
	}
	return nil
}

// lookExactly makes the source go by looks without noise, for the party's own eyes alone.
func (r *home) lookExactly(ctx context.Context, src *source) error {
	if !looks(r.study) {
		return nil
	}
	taken, _, err := r.lookAt(ctx, src)
	if err != nil {
		return err
	}
	var data []byte
	for _, look := range taken {
		if look != nil {
			data = append(data, release.EncodeLook(look.Exact())...)
		}
	}
	return src.goBy(data)
}

// rehearseLook takes a first look that is neither debited nor stored, and says how long it took.
func (r *home) rehearseLook(ctx context.Context, src *source) (took time.Duration, err error) {
	if !looks(r.study) {
		return 0, nil
	}
	began := time.Now()
	taken, _, err := r.lookAt(ctx, src)
	if err != nil {
		return 0, err
	}
	data, err := r.drawLooks(taken)
	if err != nil {
		return 0, err
	}
	return time.Since(began), src.goBy(data)
}
