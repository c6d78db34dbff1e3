package session

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/seed/agree"
)

// ErrBoards reports that a member was shown another board than this one: either the aggregator
// showed two, or the member misstates what it saw.
var ErrBoards error = fail.OtherBoard

// confirm admits a Confirm (agreement round 3): with all shares in, each member proves that it
// holds the seed and says which board it saw. Anybody can check the transcripts and the board; only
// members can check the proof.
func (v *view) confirm(e protocol.Verified) error {
	a, err := v.ofMember(e)
	if err != nil {
		return err
	}
	c, err := v.readConfirm(a, e)
	if err != nil {
		return err
	}
	if err := v.checkPrefix(e.Sender(), c.Count, c.Chain); err != nil {
		return differs(err)
	}
	a.confirms.put(e)
	a.proofs.put(e)
	a.certified = a.complete(protocol.KindConfirm)
	return nil
}

// readConfirm checks everything except the board: a certificate may bring confirmations of another
// board.
func (v *view) readConfirm(a *attempt, e protocol.Verified) (protocol.Confirm, error) {
	if !a.complete(protocol.KindShare) {
		return protocol.Confirm{}, fmt.Errorf("%w: shares are missing", ErrPremature)
	}
	c, err := confirmOf(e)
	if err != nil {
		return c, invalid(err)
	}
	if want := len(v.study.Published()); len(c.Published) != want {
		return c, invalid(fmt.Errorf("%d hashes of public row keys, the study publishes %d", len(c.Published), want))
	}
	if err := v.sameTranscripts(a, e.Sender(), c); err != nil {
		return c, differs(err)
	}
	return c, nil
}

// confirmedKeys returns the row keys, as hashes, that all members of the certified attempt have
// confirmed for publication. Members complain of a confirmation of keys other than the seed's. If
// nobody complained and two confirmations still differ, no key can satisfy both.
func (a *attempt) confirmedKeys() ([][32]byte, error) {
	if a.published == nil {
		a.published = &published{}
		a.published.keys, a.published.err = a.compareKeys()
	}
	return a.published.keys, a.published.err
}

// published holds the hashes of the row keys that all have confirmed, or the error why there are
// none.
type published struct {
	keys [][32]byte
	err  error
}

func (a *attempt) compareKeys() ([][32]byte, error) {
	first, _ := a.confirmed(a.members[0].ID)
	for _, m := range a.members[1:] {
		if c, _ := a.confirmed(m.ID); !slices.Equal(c.Published, first.Published) {
			return nil, fmt.Errorf("%w: %s and %s have confirmed different ones", agree.ErrPublished, a.members[0].Name, m.Name)
		}
	}
	return first.Published, nil
}

// checkPublished checks the row keys in a release against those confirmed.
func (v *view) checkPublished(a *attempt, r protocol.Release) error {
	labels := v.study.Published()
	confirmed, err := a.confirmedKeys()
	if err != nil {
		return err
	}
	for i, key := range r.Published {
		if agree.PublishedHash(labels[i], key) != confirmed[i] {
			return fmt.Errorf("the public key of %s is not the one that all have confirmed", labels[i])
		}
	}
	return nil
}

// sameTranscripts checks that a confirmation refers to this board's commits and shares.
func (v *view) sameTranscripts(a *attempt, sender protocol.PeerID, c protocol.Confirm) error {
	switch t1, t2 := a.transcriptOfCommits(), a.transcript(); {
	case c.T1 != t1:
		return v.otherTranscript(sender, "transcript of the commits", c.T1, t1)
	case c.T2 != t2:
		return v.otherTranscript(sender, "transcript of the shares", c.T2, t2)
	}
	return nil
}
