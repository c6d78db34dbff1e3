package invitation

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

// State is a node's store of invitations; *store.Store implements it. Missing ones are
// store.ErrNotFound.
type State interface {
	Invitations() ([]string, error)
	Invitation(id string) ([]byte, error)
	Introduction(id string) ([]byte, error)
}

// Kept is an invitation with its introduction.
type Kept struct {
	Invitation
	Came *Introduction // nil: none yet
}

// Open reports whether the invitation can still be used.
func (k Kept) Open(now protocol.Instant) bool { return k.Came == nil && now < k.Expires }

// Forget drops an introduction's text and keeps its sender and time.
func (k *Kept) Forget() {
	if k.Came != nil {
		k.Came = &Introduction{From: k.Came.From, At: k.Came.At}
	}
}

// Read reads an invitation. It returns store.ErrNotFound if there is none, or if it is just being
// made or revoked.
func Read(st State, id string) (k Kept, err error) {
	raw, err := st.Invitation(id)
	if err != nil {
		return k, err
	}
	if k.Invitation, err = Decode(raw); err != nil {
		return k, fmt.Errorf("invitation %s: %w", id, err)
	}
	raw, err = st.Introduction(id)
	if errors.Is(err, store.ErrNotFound) {
		return k, nil
	}
	if err != nil {
		return k, err
	}
	came, err := DecodeIntroduction(raw)
	if err != nil {
		return k, fmt.Errorf("invitation %s: %w", id, err)
	}
	k.Came = &came
	return k, nil
}

// All reads all invitations that were not revoked.
func All(st State) (all []Kept, err error) {
	ids, err := st.Invitations()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		k, err := Read(st, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}
