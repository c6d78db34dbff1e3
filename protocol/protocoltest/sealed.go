package protocoltest

import (
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed/agree"
)

// sealed holds what came beside a share, if texts travel apart.
type sealed struct {
	texts [][]byte
	tree  agree.Tree
}

// keep stores what came beside a share, and returns the share without it.
func (a *Aggregator) keep(e protocol.Verified) protocol.Verified {
	texts, _ := e.Beside()
	if len(texts) == 0 {
		return e
	}
	if a.sealed == nil {
		a.sealed = map[protocol.Digest]sealed{}
	}
	sender, _ := a.machine.Place(e.Attempt(), e.Sender())
	a.sealed[e.ID()] = sealed{texts, agree.NewTree(sender, texts)}
	return e.With(nil, nil)
}

// sealedTo adds to a share the text that is sealed to a party.
func (a *Aggregator) sealedTo(p *Party, e protocol.Verified) protocol.Verified {
	kept, ok := a.sealed[e.ID()]
	place, _ := a.machine.Place(e.Attempt(), p.Signer.ID())
	if !ok || place < 0 || e.Sender() == p.Signer.ID() {
		return e
	}
	sender, _ := a.machine.Place(e.Attempt(), e.Sender())
	return e.With([][]byte{agree.TextFor(kept.texts, sender, place)}, kept.tree.Path(place))
}
