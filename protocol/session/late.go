package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Late parties: a party that the study lists and no roster has asks for the seed (join), a seeded
// member seals it (welcome), and the newcomer proves that it holds the same seed as all others
// (joined). A party removed from a roster stays out.

// newcomer is a late party, as shown on the board.
type newcomer struct {
	id       protocol.Digest // of its join
	join     protocol.Join
	welcomes []invitation  // in the board's order
	in       bool          // it has joined
	proof    agree.Confirm // its proof of the seed
}

// invitation is one welcome.
type invitation struct {
	from   protocol.PeerID
	sealed []byte
}

// ofNewcomers reports whether a kind has its turn only in studies that take late parties.
func ofNewcomers(kind protocol.Kind) bool {
	return kind == protocol.KindJoin || kind == protocol.KindWelcome || kind == protocol.KindJoined
}

// cannotJoin returns why a listed party cannot come late, or nil.
func (v *view) cannotJoin(id protocol.PeerID) error {
	if v.withdrawn[id] {
		return errors.New("its sender has withdrawn")
	}
	for _, a := range v.attempts {
		if a.member(id) && a.removal(id) != nil {
			return errors.New("its sender was struck from the roster")
		}
	}
	return nil
}

// absent lists the parties that may still come late.
func (v *view) absent() []protocol.PeerID {
	var out []protocol.PeerID
	for _, p := range v.study.Parties {
		if !v.contributor(p.ID) && v.cannotJoin(p.ID) == nil {
			out = append(out, p.ID)
		}
	}
	return out
}

func (v *view) join(e protocol.Verified) error {
	if v.at(e.Attempt()).member(e.Sender()) {
		return errors.New("its sender is on the roster already")
	}
	if err := v.cannotJoin(e.Sender()); err != nil {
		return err
	}
	j, err := wire.DecodeJoin(e.Payload())
	if err != nil {
		return err
	}
	if j.Meaning != v.study.Meaning {
		return v.otherMeaning(e.Sender(), j.Meaning)
	}
	if err := (agree.Commit{EphemeralKey: j.EphemeralKey}).Check(); err != nil {
		return err
	}
	v.late[e.Sender()] = &newcomer{id: e.ID(), join: j}
	return nil
}

func (v *view) welcome(e protocol.Verified) error {
	if _, err := v.ofMember(e); err != nil {
		return err
	}
	w, err := wire.DecodeWelcome(e.Payload())
	if err != nil {
		return err
	}
	if len(w.Sealed) != agree.WelcomeSize {
		return fmt.Errorf("welcome of %d bytes, want %d", len(w.Sealed), agree.WelcomeSize)
	}
	for _, n := range v.late {
		if n.id == w.Join {
			n.welcomes = append(n.welcomes, invitation{e.Sender(), w.Sealed})
			return nil
		}
	}
	return errors.New("it answers a join that is not on the board")
}

// awaited reports whether a welcome answers a join of the attempt that gave the seed. A welcome of
// an attempt that is over is of no use, and would be refused.
func (v *view) awaited(e protocol.Verified) bool {
	w, err := wire.DecodeWelcome(e.Payload())
	if err != nil {
		return false
	}
	for _, n := range v.late {
		if n.id == w.Join {
			return true
		}
	}
	return false
}

// joined admits a newcomer's proof of the seed, which has the form of a member's confirmation. It
// checks what anybody can check: transcripts and hashes of public row keys. The aggregator cannot
// check the tag, only holders of the seed can. A wrong tag keeps nobody out, but members report it
// (checkNewcomers).
func (v *view) joined(e protocol.Verified) error {
	a := v.at(e.Attempt())
	n := v.late[e.Sender()]
	if n == nil || len(n.welcomes) == 0 {
		return fmt.Errorf("%w: nobody has welcomed its sender", ErrPremature)
	}
	c, err := wire.DecodeConfirm(e.Payload())
	if err != nil {
		return err
	}
	if err := v.sameTranscripts(a, e.Sender(), c); err != nil {
		return err
	}
	if err := v.checkPrefix(e.Sender(), c.Count, c.Chain); err != nil {
		return err
	}
	if confirmed, err := a.confirmedKeys(); err != nil || !slices.Equal(c.Published, confirmed) {
		return cmp.Or(err, error(agree.ErrPublished))
	}
	n.in, n.proof = true, c.Confirm
	return nil
}

// takeClose admits the aggregator's statement that no further result will come.
func (v *view) takeClose(e protocol.Verified) error {
	c, err := wire.DecodeClose(e.Payload())
	if err != nil {
		return err
	}
	v.closed = &c
	return nil
}
