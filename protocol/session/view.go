package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// slot is a place on the board that its sender can fill once.
type slot struct {
	row
	sender int // its index among the study's parties; the aggregator's is one more, and -1 is anybody else
}

// row identifies the slots of all senders.
type row struct {
	attempt uint32
	what    string // the kind; if a sender may post several, also what this one is about
}

// view is a study's board as anybody can read it: the envelopes in order, what they say, and which
// ones may come next. It holds no secret.
type view struct {
	study  *study.Study
	self   protocol.PeerID             // whose view it is
	chains []protocol.Digest           // chains[i] is the chain over the first i envelopes
	slots  map[row][]protocol.Verified // by sender

	withdrawn map[protocol.PeerID]bool
	attempts  []*attempt // attempts[i] is attempt i+1
	late      map[protocol.PeerID]*newcomer
	results   []protocol.Result // each one supersedes those before it
	stop      *protocol.Stop
	closed    *protocol.Close
}

// Header is a posted release header.
type Header struct {
	ID      protocol.Digest // of the envelope
	Attempt uint32          // the attempt it was made in
	Party   study.Party
	By      *study.Study // the study that its sketches follow: with two rounds, as the interim fixes it
	Release protocol.Release
}

func newView(s *study.Study, self protocol.PeerID) *view {
	return &view{
		study: s, self: self,
		chains:    []protocol.Digest{{}},
		slots:     map[row][]protocol.Verified{},
		withdrawn: map[protocol.PeerID]bool{},
		late:      map[protocol.PeerID]*newcomer{},
	}
}

// count returns the number of envelopes on the board.
func (v *view) count() uint64 { return uint64(len(v.chains) - 1) }

// chain returns the hash chain over all of them.
func (v *view) chain() protocol.Digest { return v.chains[len(v.chains)-1] }

// ErrPosted reports an envelope whose signed content is already on the board: re-sending is
// harmless.
var ErrPosted = errors.New("already on the board")

// ErrConflict reports a second, different message for one (sender, kind,
// attempt). Both are signed, so it is proved.
var ErrConflict = errors.New("two different messages of one kind in one attempt")

// admit checks an envelope against everything before it and puts it on the
// board. On error the board is unchanged; a *protocol.Fault names the culprit.
func (v *view) admit(e protocol.Verified) error {
	if e.Study() != v.study.ID { // first: an envelope of another study contradicts nothing here
		return fault(e, fmt.Errorf("belongs to study %s, not %s", e.Study().Short(), v.study.ID.Short()))
	}
	at := v.slotOf(e)
	if there, ok := v.in(at); ok {
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
	if v.slots[at.row] == nil {
		v.slots[at.row] = make([]protocol.Verified, len(v.study.Parties)+1)
	}
	v.slots[at.row][at.sender] = e
	v.chains = append(v.chains, protocol.ExtendChain(v.chain(), e.ID()))
	return nil
}

// slotOf returns the slot that an envelope fills. Results supersede each other, and a member may
// welcome several newcomers.
func (v *view) slotOf(e protocol.Verified) slot {
	s := slot{row{e.Attempt(), string(e.Kind())}, v.place(e.Sender())}
	switch e.Kind() {
	case protocol.KindResult:
		s.what += about(e.ID())
	case protocol.KindWelcome:
		if w, err := protocol.Read(e, wire.DecodeWelcome); err == nil {
			s.what += about(w.Join)
		}
	}
	return s
}

func about(id protocol.Digest) string { return " " + string(id[:]) }

// place returns a node's index in a row of slots, or -1.
func (v *view) place(id protocol.PeerID) int {
	if id == v.study.Aggregator.ID {
		return len(v.study.Parties)
	}
	if i, ok := v.study.PartyIndex(id); ok {
		return i
	}
	return -1
}

// in returns the envelope in a slot.
func (v *view) in(at slot) (protocol.Verified, bool) {
	all := v.slots[at.row]
	if all == nil || at.sender < 0 || all[at.sender].Kind() == "" {
		return protocol.Verified{}, false
	}
	return all[at.sender], true
}

// pass counts an envelope on the board without evaluating it.
func (v *view) pass(e protocol.Verified) {
	v.chains = append(v.chains, protocol.ExtendChain(v.chain(), e.ID()))
}

func fault(e protocol.Verified, err error) error {
	return &protocol.Fault{Culprit: e.Sender(), Kind: e.Kind(), Attempt: e.Attempt(), Err: err}
}

// check checks what applies to every kind, and calls the function for the kind, which checks the
// envelope and, if it is valid, admits it.
func (v *view) check(e protocol.Verified) error {
	if e.Kind().FromAggregator() != (e.Sender() == v.study.Aggregator.ID) {
		return fmt.Errorf("%s is not for this sender to post", e.Kind())
	}
	if v.place(e.Sender()) < 0 {
		return errors.New("the study does not list its sender")
	}
	if e.Attempt() > uint32(v.study.Attempts) {
		return fmt.Errorf("attempt %d: the study makes at most %d", e.Attempt(), v.study.Attempts)
	}
	if v.study.LateUntil == 0 && ofNewcomers(e.Kind()) {
		return errors.New("the study takes no late parties: it has no late_until")
	}
	if err := v.turn(e); err != nil {
		return err
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
	case protocol.KindComplaint:
		return v.complain(e)
	case protocol.KindFault:
		return v.accuse(e)
	case protocol.KindAbandon:
		return v.abandon(e)
	case protocol.KindCertificate:
		return v.certificate(e)
	case protocol.KindJoin:
		return v.join(e)
	case protocol.KindWelcome:
		return v.welcome(e)
	case protocol.KindJoined:
		return v.joined(e)
	case protocol.KindFirst:
		return v.first(e)
	case protocol.KindInterim:
		return v.takeInterim(e)
	case protocol.KindRelease:
		return v.release(e)
	case protocol.KindResult:
		return v.takeResult(e)
	case protocol.KindStop:
		return v.takeStop(e)
	case protocol.KindClose:
		return v.takeClose(e)
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

// ended reports whether nothing can follow: the study was stopped or closed, or
// has its result and takes no late parties.
func (v *view) ended() bool {
	return v.stop != nil || v.closed != nil || v.study.LateUntil == 0 && len(v.results) > 0
}

// posted returns the envelope in a slot. The attempt of kinds that precede all
// attempts is 0.
func (v *view) posted(sender protocol.PeerID, kind protocol.Kind, attempt uint32) (protocol.Verified, bool) {
	return v.in(slot{row{attempt, string(kind)}, v.place(sender)})
}

// holds reports whether an envelope is on the board.
func (v *view) holds(e protocol.Verified) bool {
	there, ok := v.in(v.slotOf(e))
	return ok && there.ID() == e.ID()
}

// current returns the newest attempt; nil before the first roster.
func (v *view) current() *attempt {
	if len(v.attempts) == 0 {
		return nil
	}
	return v.attempts[len(v.attempts)-1]
}

// at returns an attempt by its number, or nil.
func (v *view) at(number uint32) *attempt {
	if number == 0 || int64(number) > int64(len(v.attempts)) {
		return nil
	}
	return v.attempts[number-1]
}

// certified returns the attempt that gave the seed, or nil.
func (v *view) certified() *attempt {
	for _, a := range v.attempts {
		if a.certified {
			return a
		}
	}
	return nil
}

// result returns the newest result, or nil.
func (v *view) result() *protocol.Result {
	if len(v.results) == 0 {
		return nil
	}
	return &v.results[len(v.results)-1]
}
