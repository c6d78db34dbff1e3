package source

import (
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
)

// Under masked sums an attempt may become void after this party has released in it. The release of
// the next attempt is a separate one: with other masks, noise for the remaining members, and its
// own debit.

// roundOf counts the releases, or first rounds, of earlier attempts that may have been sent: those
// whose header was signed and stored as an own message. A debit without one belongs to the current
// round.
func (r *Source) roundOf(attempt uint32, kind protocol.Kind) (round int, err error) {
	own, err := r.Store.Own(r.Study.ID)
	if err != nil {
		return 0, err
	}
	for _, o := range own {
		if o.Kind == kind && o.Attempt < attempt {
			round++
		}
	}
	return round, nil
}

// ForRelease returns the dataset for a release in an attempt with so many members.
func (r *Source) ForRelease(attempt uint32, members int) (*Dataset, error) {
	src, err := r.Open()
	if err != nil || !r.Study.Masked() {
		return src, err
	}
	if src.Round, err = r.roundOf(attempt, protocol.KindRelease); err != nil {
		return nil, err
	}
	for i := range src.Plans {
		if src.Plans[i], err = src.Plans[i].Among(members); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// ReleasedIn returns the stored release of an attempt, or store.ErrNotFound. A release of an
// earlier attempt is useless: that attempt is void.
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
