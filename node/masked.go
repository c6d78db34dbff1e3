package node

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// Under masked sums an attempt may be void after this party has released in it. The next
// attempt's release is another one: with other masks, noise for the members left, and a
// debit of its own.

// roundOf is how many releases of earlier attempts may have left: those whose header was
// signed and stored as an own message. A debit without one is that of the round under way.
func (r *home) roundOf(attempt uint32) (round int, err error) {
	own, err := r.Store.Own(r.study.ID)
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

// readied is the source for a release of an attempt with so many members.
func (r *home) readied(attempt uint32, members int) (*source, error) {
	src, err := r.source()
	if err != nil || !r.study.Masked() {
		return src, err
	}
	if src.round, err = r.roundOf(attempt); err != nil {
		return nil, err
	}
	for i := range src.plans {
		if src.plans[i], err = src.plans[i].Among(members); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// releasedIn returns the stored release of an attempt, or store.ErrNotFound. One of an
// earlier attempt is of no use any more: that attempt is void.
func (r *home) releasedIn(attempt uint32) (protocol.Verified, error) {
	raw, err := r.Store.ReleaseHeader(r.study.ID)
	if err != nil {
		return protocol.Verified{}, err
	}
	header, err := decodeVerified(raw)
	if err != nil {
		return header, fmt.Errorf("stored release: %w", err)
	}
	if r.study.Masked() && header.Attempt() < attempt {
		return protocol.Verified{}, store.ErrNotFound
	}
	return header, nil
}

// giveUp ends the stored release of a void attempt, so that another one can be stored.
func (r *home) giveUp(attempt uint32) error {
	_, err := r.Store.ReleaseHeader(r.study.ID)
	if errors.Is(err, store.ErrNotFound) || !r.study.Masked() {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := r.releasedIn(attempt); !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("giving up the release before attempt %d: it is not of an earlier one: %w", attempt, err)
	}
	return r.Store.DropRelease(r.study.ID)
}

// mask masks noised sketches for the sum over the attempt's members.
func (r *home) mask(src *source, exact *exact, job session.MakeRelease) error {
	if !r.study.Masked() {
		return nil
	}
	for i, plan := range src.plans {
		if err := exact.sketches[i].Mask(plan, job.Pairs); err != nil {
			return err
		}
	}
	return nil
}

// uploaded is where an aggregator keeps the chunks of a sketch: masked ones of each attempt
// beside those of the attempts before it, which are void.
func uploaded(h session.Header, sketch int) int {
	if h.Release.Sketches[sketch].Masked == 0 {
		return sketch
	}
	return int(h.Attempt-1)*study.MaxSketches + sketch
}
