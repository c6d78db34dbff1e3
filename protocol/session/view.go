package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// theAttempt is the one attempt that study/1 makes at agreeing on a seed.
const theAttempt = 1

// slot is what a sender may fill once.
type slot struct {
	sender  protocol.PeerID
	kind    protocol.Kind
	attempt uint32
}

// view is a study's board as anybody can read it: the envelopes in order, what
// they say, and which ones may come next. It holds no secret.
type view struct {
	study  *study.Study
	chains []protocol.Digest // chains[i] is the chain over the first i envelopes
	slots  map[slot]protocol.Verified

	withdrawn map[protocol.PeerID]bool
	members   []study.Party // of the roster, by raw public key; nil before it
	roster    protocol.Digest
	commits   map[protocol.PeerID]agree.Posted[agree.Commit]
	shares    map[protocol.PeerID]agree.Posted[agree.Share]
	confirms  map[protocol.PeerID]protocol.Confirm
	releases  map[protocol.PeerID]Header
	result    *protocol.Result
	stop      *protocol.Stop
}

// Header is a posted release header.
type Header struct {
	ID      protocol.Digest // of the envelope
	Party   study.Party
	Release protocol.Release
}

func newView(s *study.Study) *view {
	return &view{
		study:     s,
		chains:    []protocol.Digest{{}},
		slots:     map[slot]protocol.Verified{},
		withdrawn: map[protocol.PeerID]bool{},
		commits:   map[protocol.PeerID]agree.Posted[agree.Commit]{},
		shares:    map[protocol.PeerID]agree.Posted[agree.Share]{},
		confirms:  map[protocol.PeerID]protocol.Confirm{},
		releases:  map[protocol.PeerID]Header{},
	}
}

// count is the number of envelopes on the board.
func (v *view) count() uint64 { return uint64(len(v.chains) - 1) }

// chain is the hash chain over all of them.
func (v *view) chain() protocol.Digest { return v.chains[len(v.chains)-1] }

// ErrPosted reports an envelope that is on the board already, byte for byte in
// what it says: re-sending is harmless.
var ErrPosted = errors.New("already on the board")

// ErrConflict reports a second, different message for one (sender, kind,
// attempt). Both are signed, so it is proved.
var ErrConflict = errors.New("two different messages of one kind in one attempt")

// ErrPremature reports a message whose turn has not come, or has passed.
var ErrPremature = errors.New("not its turn")

// admit checks an envelope against everything before it and puts it on the
// board. On error the board is unchanged; a *protocol.Fault names the culprit.
func (v *view) admit(e protocol.Verified) error {
	at := slot{e.Sender(), e.Kind(), e.Attempt()}
	if there, ok := v.slots[at]; ok {
		if there.ID() == e.ID() {
			return ErrPosted
		}
		return fault(e, ErrConflict)
	}
	if err := v.check(e); err != nil {
		var f *protocol.Fault
		if errors.As(err, &f) {
			return err
		}
		return fault(e, err)
	}
	v.slots[at] = e
	v.chains = append(v.chains, protocol.ExtendChain(v.chain(), e.ID()))
	return nil
}

// pass counts an envelope that is on the board without taking it in.
func (v *view) pass(e protocol.Verified) {
	v.chains = append(v.chains, protocol.ExtendChain(v.chain(), e.ID()))
}

func fault(e protocol.Verified, err error) error {
	return &protocol.Fault{Culprit: e.Sender(), Kind: e.Kind(), Attempt: e.Attempt(), Err: err}
}

// check dispatches to the round that the envelope belongs to, which checks it
// and, when all is well, takes it in.
func (v *view) check(e protocol.Verified) error {
	if e.Study() != v.study.ID {
		return fmt.Errorf("belongs to study %s, not %s", e.Study().Short(), v.study.ID.Short())
	}
	if e.Kind().FromAggregator() != (e.Sender() == v.study.Aggregator.ID) {
		return fmt.Errorf("%s is not for this sender to post", e.Kind())
	}
	if _, listed := v.study.PartyIndex(e.Sender()); !listed && e.Kind().FromParty() {
		return errors.New("the study does not list its sender")
	}
	if v.stop != nil || v.result != nil {
		return fmt.Errorf("%w: the study is closed", ErrPremature)
	}
	if !e.Kind().PreAttempt() && e.Attempt() != theAttempt {
		return fmt.Errorf("attempt %d: this version makes one attempt", e.Attempt())
	}
	switch e.Kind() {
	case protocol.KindApprove:
		return v.approve(e)
	case protocol.KindWithdraw:
		return v.withdraw(e)
	case protocol.KindRoster:
		return v.fixRoster(e)
	case protocol.KindCommit:
		return v.commit(e)
	case protocol.KindShare:
		return v.share(e)
	case protocol.KindConfirm:
		return v.confirm(e)
	case protocol.KindRelease:
		return v.release(e)
	case protocol.KindResult:
		return v.takeResult(e)
	case protocol.KindStop:
		return v.takeStop(e)
	}
	return fmt.Errorf("unknown kind %.40q", string(e.Kind()))
}

func (v *view) takeStop(e protocol.Verified) error {
	s, err := wire.DecodeStop(e.Payload())
	if err != nil {
		return err
	}
	v.stop = &s
	return nil
}

// posted returns the envelope in a slot of the one attempt.
func (v *view) posted(sender protocol.PeerID, kind protocol.Kind) (protocol.Verified, bool) {
	attempt := uint32(theAttempt)
	if kind.PreAttempt() {
		attempt = 0
	}
	e, ok := v.slots[slot{sender, kind, attempt}]
	return e, ok
}

// member reports whether the roster has this peer.
func (v *view) member(id protocol.PeerID) bool {
	for _, m := range v.members {
		if m.ID == id {
			return true
		}
	}
	return false
}

// memberTurn checks that a member posts, in the agreement.
func (v *view) memberTurn(e protocol.Verified) error {
	if v.members == nil {
		return fmt.Errorf("%w: there is no roster yet", ErrPremature)
	}
	if !v.member(e.Sender()) {
		return errors.New("its sender is not on the roster")
	}
	return nil
}

// group is the roster as package agree knows it.
func (v *view) group() agree.Group {
	g := agree.Group{Study: v.study.ID, Attempt: theAttempt, Roster: v.roster}
	for _, m := range v.members {
		g.Members = append(g.Members, m.ID)
	}
	return g
}

// lacking returns the members of the roster that have not posted a kind.
func (v *view) lacking(kind protocol.Kind) []protocol.PeerID {
	var out []protocol.PeerID
	for _, m := range v.members {
		if _, ok := v.posted(m.ID, kind); !ok {
			out = append(out, m.ID)
		}
	}
	return out
}

// complete reports whether every member of a fixed roster has posted a kind.
func (v *view) complete(kind protocol.Kind) bool {
	return v.members != nil && len(v.lacking(kind)) == 0
}

// inOrder lists what the members posted, in roster order.
func inOrder[M any](v *view, from map[protocol.PeerID]M) []M {
	out := make([]M, 0, len(v.members))
	for _, m := range v.members {
		if posted, ok := from[m.ID]; ok {
			out = append(out, posted)
		}
	}
	return out
}
