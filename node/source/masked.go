package source

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Under masked sums an attempt may be void after this party has released in it. The next
// attempt's release is another one: with other masks, noise for the members left, and a
// debit of its own.

// roundOf is how many releases of earlier attempts may have left: those whose header was
// signed and stored as an own message. A debit without one is that of the round under way.
func (r *Source) roundOf(attempt uint32) (round int, err error) {
	own, err := r.Store.Own(r.Study.ID)
	if err != nil {
		return 0, err
	}
	for _, o := range own {
		if o.Kind == protocol.KindRelease && o.Attempt < attempt {
			round++
		}
	}
	return round, nil
}

// Readied is the source for a release of an attempt with so many members.
func (r *Source) Readied(attempt uint32, members int) (*Opened, error) {
	src, err := r.Open()
	if err != nil || !r.Study.Masked() {
		return src, err
	}
	if src.round, err = r.roundOf(attempt); err != nil {
		return nil, err
	}
	for i := range src.Plans {
		if src.Plans[i], err = src.Plans[i].Among(members); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// ReleasedIn returns the stored release of an attempt, or store.ErrNotFound. One of an
// earlier attempt is of no use any more: that attempt is void.
func (r *Source) ReleasedIn(attempt uint32) (protocol.Verified, error) {
	raw, err := r.Store.ReleaseHeader(r.Study.ID)
	if err != nil {
		return protocol.Verified{}, err
	}
	header, err := stored.DecodeVerified(raw)
	if err != nil {
		return header, fmt.Errorf("stored release: %w", err)
	}
	if r.Study.Masked() && header.Attempt() < attempt {
		return protocol.Verified{}, store.ErrNotFound
	}
	return header, nil
}

// GiveUp ends the stored release of a void attempt, so that another one can be stored.
func (r *Source) GiveUp(attempt uint32) error {
	_, err := r.Store.ReleaseHeader(r.Study.ID)
	if errors.Is(err, store.ErrNotFound) || !r.Study.Masked() {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := r.ReleasedIn(attempt); !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("giving up the release before attempt %d: it is not of an earlier one: %w", attempt, err)
	}
	return r.Store.DropRelease(r.Study.ID)
}

// Mask masks noised sketches for the sum over the attempt's members.
func (r *Source) Mask(src *Opened, exact *Exact, job session.MakeRelease) error {
	if !r.Study.Masked() {
		return nil
	}
	for i, plan := range src.Plans {
		if err := exact.Sketches[i].Mask(plan, job.Pairs); err != nil {
			return err
		}
	}
	return nil
}
