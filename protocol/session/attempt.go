package session

import (
	"errors"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/agree"
)

// attempt is one attempt at agreeing on a seed, as shown on the board.
type attempt struct {
	study   *study.Study
	number  uint32 // from 1
	roster  protocol.Digest
	members []study.Party // by raw public key
	places  places

	t1, t2 *protocol.Digest // set once all commits are in, and all shares

	commits      posted
	keys         map[[32]byte]bool        // hashes of the commits' keys
	shares       posted                   // each with the text sealed to this node, if texts travel apart
	confirms     posted                   // on the board, or in a certificate
	proofs       posted                   // on the board
	published    *published               // of the confirmations of a certified attempt; nil until needed
	certified    bool                     // all confirmations are in, and no complaint proved one wrong
	firsts       posted                   // in a study of two rounds
	interim      *protocol.Interim        // the answer to firsts; nil until there is one
	interimStudy *study.Study             // the study as the interim fixes it; nil without interim
	inInterim    map[protocol.PeerID]bool // the parties in the interim
	releases     map[protocol.PeerID]protocol.Verified
	headers      *release.Headers // checks releases; nil until needed
	void         bool             // it gave a seed, but a member was lost before its masked release arrived

	removals  []Removal // why it is over, in the board's order; empty until then
	abandoned map[protocol.PeerID]bool
}

// Removal says why a member of an attempt is not in the next one.
type Removal struct {
	Member protocol.PeerID
	By     protocol.Digest // id of the envelope that justifies it
	Proved bool            // anybody can check it; else it is the aggregator's word
	Err    error           // what the member did: ErrWithdrew, or a *protocol.Fault that names it
}

// ErrWithdrew is the cause of a removal that is nobody's fault.
var ErrWithdrew = errors.New("it withdrew")

func newAttempt(s *study.Study, number uint32, roster protocol.Digest, members []study.Party) *attempt {
	places := placesOf(s, members)
	none := posted{places: places, most: len(members)}
	return &attempt{
		study: s, number: number, roster: roster, members: members, places: places,
		commits: none, shares: none, confirms: none, proofs: none, firsts: none,
		keys:      map[[32]byte]bool{},
		releases:  map[protocol.PeerID]protocol.Verified{},
		abandoned: map[protocol.PeerID]bool{},
	}
}

// member reports whether this peer is on the attempt's roster.
func (a *attempt) member(id protocol.PeerID) bool { return a.index(id) >= 0 }

func (a *attempt) index(id protocol.PeerID) int { return a.places.of(id) }

// places holds the members' places on a roster.
type places struct {
	study *study.Study
	at    []int32 // by the study's order; -1 for parties not on the roster
}

func placesOf(s *study.Study, members []study.Party) places {
	p := places{s, make([]int32, len(s.Parties))}
	for i := range p.at {
		p.at[i] = -1
	}
	for i, m := range members {
		if at, ok := s.PartyIndex(m.ID); ok {
			p.at[at] = int32(i)
		}
	}
	return p
}

func (p places) of(id protocol.PeerID) int {
	if i, ok := p.study.PartyIndex(id); ok {
		return int(p.at[i])
	}
	return -1
}

// over reports whether the attempt has ended without a seed, or is void.
func (a *attempt) over() bool { return len(a.removals) > 0 && !a.certified }

// removal returns why a member is not in the next attempt, or nil.
func (a *attempt) removal(id protocol.PeerID) *Removal {
	for i := range a.removals {
		if a.removals[i].Member == id {
			return &a.removals[i]
		}
	}
	return nil
}

// survivors returns the members that nothing on the board removes.
func (a *attempt) survivors() []study.Party {
	return slices.DeleteFunc(slices.Clone(a.members), func(m study.Party) bool { return a.removal(m.ID) != nil })
}

// proved reports whether some fault of this attempt is proved.
func (a *attempt) proved() bool {
	return slices.ContainsFunc(a.removals, func(r Removal) bool { return r.Proved })
}

// doubtful reports whether somebody may have completed the attempt on another board than this one:
// every share was in, and only the aggregator's word says that it ended otherwise. A party that
// confirmed it proceeds only when every member of the next roster has abandoned it.
func (a *attempt) doubtful() bool {
	return a.over() && !a.void && !a.proved() && a.complete(protocol.KindShare)
}

// awaited lists the members of a roster that have not abandoned this attempt.
func (a *attempt) awaited(roster []study.Party) []protocol.PeerID {
	var out []protocol.PeerID
	for _, m := range roster {
		if !a.abandoned[m.ID] {
			out = append(out, m.ID)
		}
	}
	return out
}

// group returns the roster in the form of package agree.
func (a *attempt) group() agree.Group {
	g := agree.Group{Study: a.study.ID, Attempt: a.number, Roster: a.roster, Publish: a.study.Published(), DetachedTexts: a.study.Apart()}
	for _, m := range a.members {
		g.Members = append(g.Members, m.ID)
	}
	return g
}

// has reports whether a member has posted a message of the agreement.
func (a *attempt) has(id protocol.PeerID, kind protocol.Kind) bool { return a.messages(kind).has(id) }

// messages returns the messages of a round of the agreement.
func (a *attempt) messages(round protocol.Kind) *posted {
	switch round {
	case protocol.KindCommit:
		return &a.commits
	case protocol.KindShare:
		return &a.shares
	case protocol.KindConfirm:
		return &a.confirms
	}
	return &posted{}
}

// lacking returns the members that have not posted a message of the agreement.
func (a *attempt) lacking(kind protocol.Kind) []protocol.PeerID {
	var out []protocol.PeerID
	for _, m := range a.members {
		if !a.has(m.ID, kind) {
			out = append(out, m.ID)
		}
	}
	return out
}

// complete reports whether every member has posted a message of the agreement.
func (a *attempt) complete(kind protocol.Kind) bool { return a.messages(kind).count == len(a.members) }

// rounds lists the messages of the agreement in order.
var rounds = [...]protocol.Kind{protocol.KindCommit, protocol.KindShare, protocol.KindConfirm}

// round returns the kind of message that the attempt waits for.
func (a *attempt) round() protocol.Kind {
	for _, kind := range rounds {
		if !a.complete(kind) {
			return kind
		}
	}
	return protocol.KindConfirm
}

// transcriptOfCommits returns T1; all commits must be in.
func (a *attempt) transcriptOfCommits() protocol.Digest {
	if a.t1 == nil {
		var commits [][32]byte
		for _, e := range a.commits.at {
			commits = append(commits, e.ID())
		}
		t1 := protocol.Digest(a.group().T1(commits))
		a.t1 = &t1
	}
	return *a.t1
}

// transcript returns T2, which releases name; all shares must be in.
func (a *attempt) transcript() protocol.Digest {
	if a.t2 == nil {
		var shares [][32]byte
		for _, e := range a.shares.at {
			shares = append(shares, e.ID())
		}
		t2 := protocol.Digest(agree.T2(a.transcriptOfCommits(), shares))
		a.t2 = &t2
	}
	return *a.t2
}

// record returns the attempt in the form that package agree examines.
func (a *attempt) record() agree.Record {
	r := agree.Record{Group: a.group(), Commits: a.commitsInOrder(), Shares: a.sharesInOrder()}
	for _, m := range a.members {
		var c *agree.Confirm
		if posted, ok := a.confirmed(m.ID); ok {
			c = &posted.Confirm
		}
		r.Confirms = append(r.Confirms, c)
	}
	return r
}

// ofMember returns the attempt that a member's message belongs to. The table of turns guarantees
// that it exists.
func (v *view) ofMember(e protocol.Verified) (*attempt, error) {
	a := v.at(e.Attempt())
	if !a.member(e.Sender()) {
		return nil, errNotMember
	}
	return a, nil
}

var errNotMember = errors.New("its sender is not on the roster")

// unfit reports a message that its attempt cannot accept. Its sender has signed it and will sign no
// other, so it can take no further part in the attempt.
type unfit struct {
	cause protocol.Cause // CauseInvalid or CauseDiffers
	err   error
}

func (u *unfit) Error() string { return u.err.Error() }
func (u *unfit) Unwrap() error { return u.err }

func invalid(err error) error { return &unfit{protocol.CauseInvalid, err} }
func differs(err error) error { return &unfit{protocol.CauseDiffers, err} }
