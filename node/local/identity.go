package local

import (
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/wire"
)

// SameIdentity holds a party's key against the messages that are stored as signed by it: as
// another node, it would answer with these data, and for a ledger that is not here. It is
// a *StrangeIdentityError where they differ.
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
			// What cannot be read is for the run of its own study to say.
			if m, err := wire.DecodeEnvelope(one.Raw); err == nil && m.Sender != self {
				return &node.StrangeIdentityError{Signed: m.Sender, Here: self}
			}
		}
	}
	return nil
}
