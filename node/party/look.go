package party

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
)

// lookFirst makes the source go by the study's first look: the stored one, or a new one, which
// is debited before it is drawn.
func (r *service) lookFirst(ctx context.Context, src *source.Opened) error {
	if !source.Looks(r.Study) {
		return nil
	}
	data, err := r.Store.Look(r.Study.ID)
	if err == nil {
		if err := src.GoBy(data); err != nil {
			return r.damagedLook(err)
		}
		return r.debit(ctx, src) // which finds that of the look; no file stands for it
	}
	if !errors.Is(err, store.ErrNotFound) {
		return r.damagedLook(err)
	}
	taken, summary, err := r.LookAt(ctx, src)
	if err != nil {
		return err
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return err
	}
	if err := r.Acceptable(src, summary.Records, entries); err != nil {
		return err
	}
	if err := r.debit(ctx, src); err != nil {
		return err
	}
	if data, err = r.DrawLooks(taken); err != nil {
		return err
	}
	if err := r.Store.PutLook(r.Study.ID, data); err != nil {
		return err
	}
	return src.GoBy(data)
}

// damagedLook says what helps where a stored look cannot be used. A release by it is not stored,
// so that nobody has seen it, and another may be drawn.
func (r *service) damagedLook(err error) error {
	return fmt.Errorf("the first look at the data that was stored cannot be used: %w (nothing was released by it: party fsck looks for other damage; without the file secrets/%s-look of the state directory the next run takes another look, at no further cost)", err, r.Study.ID)
}
