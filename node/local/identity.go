package local

import (
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/wire"
)

// SameIdentity compares a party's key with the stored messages that it should have signed. With
// another key, the node would answer with these data, but under a ledger that is not here. It
// returns a *IdentityMismatchError if they differ.
func SameIdentity(st *store.Store) error {
	self, err := st.ID()
	if err != nil {
		return err
	}
	entries, err := st.Studies()
	if err != nil {
		return err
	}
	for _, e := range entries {
		own, err := st.Own(e.ID)
		if err != nil {
			return err
		}
		for _, one := range own {
			// An unreadable message is reported by the run of its study.
			if m, err := wire.DecodeEnvelope(one.Raw); err == nil && m.Sender != self {
				return &node.IdentityMismatchError{Signed: m.Sender, Here: self}
			}
		}
	}
	return nil
}
