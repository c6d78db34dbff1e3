package protocol_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/cryptotest"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/turn"
	"github.com/cosketch/cosketch/protocol/wire"
)

// The vectors of boards: which envelope is accepted, what ends an attempt, and what follows.

// played is a simulated study, for making vectors.
type played struct {
	t     *testing.T
	s     *protocoltest.Simulation
	board []protocol.Verified
}

// play runs a study until enough returns true; nil: to its end. A role is that of the first party.
func play(t *testing.T, terms protocoltest.Terms, role string, enough func(*protocoltest.Simulation) bool) played {
	t.Helper()
	return playSeed(t, 3, terms, role, enough)
}

func playSeed(t *testing.T, seed uint64, terms protocoltest.Terms, role string, enough func(*protocoltest.Simulation) bool) played {
	t.Helper()
	st, err := protocoltest.NewStudy(terms)
	must(t, err)
	s, err := protocoltest.New(protocoltest.Options{Study: st, Seed: seed})
	must(t, err)
	for _, r := range protocoltest.Roles(rand.New(rand.NewPCG(1, 1))) {
		if r.Name == role {
			s.Parties[0].Role = r
		}
	}
	must(t, s.ApproveAll())
	if enough == nil {
		enough = func(*protocoltest.Simulation) bool { return false }
	}
	must(t, s.RunUntil(func() bool { return enough(s) }))
	return played{t, s, slices.Clone(s.Aggregator.Stored)}
}

// has returns a condition: n messages of a kind are on the board.
func has(kind protocol.Kind, n int) func(*protocoltest.Simulation) bool {
	return func(s *protocoltest.Simulation) bool {
		count := 0
		for _, e := range s.Aggregator.Stored {
			if e.Kind() == kind {
				count++
			}
		}
		return count == n
	}
}

// upTo returns the number of messages before the first of a kind.
func (p played) upTo(kind protocol.Kind) int {
	n := slices.IndexFunc(p.board, func(e protocol.Verified) bool { return e.Kind() == kind })
	if n < 0 {
		return len(p.board)
	}
	return n
}

func (p played) posted(i int, kind protocol.Kind) protocol.Verified {
	for _, e := range p.board {
		if e.Kind() == kind && e.Sender() == p.s.Parties[i].Signer.ID() {
			return e
		}
	}
	p.t.Fatalf("party %d has posted no %s", i, kind)
	return protocol.Verified{}
}

// fault returns the aggregator's accusation of a party in attempt 1.
func (p played) fault(i int, cause protocol.Cause, kind protocol.Kind, evidence ...protocol.Verified) protocol.Verified {
	one := protocol.Accusation{Culprit: p.s.Parties[i].Signer.ID(), Cause: cause, Kind: kind}
	for _, e := range evidence {
		one.Evidence = append(one.Evidence, e.Envelope())
	}
	x := protocol.Accusations{At: p.s.Study.AgreeBy(1), Against: []protocol.Accusation{one}}
	return protocoltest.Sealed(p.s.Aggregator.Signer.Seal(p.s.Study.ID, protocol.KindFault, 1, wire.EncodeAccusations(x)))
}

func raw(board []protocol.Verified) (out []hexed) {
	for _, e := range board {
		out = append(out, wire.EncodeEnvelope(e.Envelope()))
	}
	return out
}

// verified decodes and verifies envelopes.
func verified(t *testing.T, raws []hexed) (out []protocol.Verified) {
	t.Helper()
	for _, b := range raws {
		e, err := wire.DecodeEnvelope(b)
		must(t, err)
		v, err := protocol.Verify(e)
		must(t, err)
		out = append(out, v)
	}
	return out
}

// keeper returns an aggregator's state machine for a study file of the simulations.
func keeper(t *testing.T, file string) (*session.Aggregator, *study.Study) {
	t.Helper()
	s, err := studyfile.Parse([]byte(file))
	must(t, err)
	a, err := session.NewAggregator(session.AggregatorConfig{Study: s, Signer: protocoltest.Identity("aggregator")})
	must(t, err)
	return a, s
}

// turnsCase is a board and the envelopes that may come next, at several of its lengths.
type turnsCase struct {
	Study string  `json:"study"`
	Board []hexed `json:"board"`
	Tries []try   `json:"tries"`
}

type try struct {
	Count    int        `json:"count"`           // length of the board
	After    []hexed    `json:"after,omitempty"` // envelopes on the board after those
	Phase    turn.Phase `json:"phase"`           // of the envelope's attempt
	Envelope hexed      `json:"envelope"`
	Turn     string     `json:"turn"`
}

func turns() vectors {
	return cases[turnsCase]{
		file: "turns",
		about: "Given: a study, a board, and envelopes that come next: after the first so many messages of the board and those of after. To be found: the phase of the envelope's attempt, and takes, early or late. " +
			"The payloads are junk, as a board looks at the turn first: one that has its turn is refused, as it does not parse.",
		given: givenTurns,
		fill: func(t *testing.T, c *turnsCase) {
			board := verified(t, c.Board)
			for i := range c.Tries {
				one := &c.Tries[i]
				e := verified(t, []hexed{one.Envelope})[0]
				a, _ := keeper(t, c.Study)
				must(t, a.Restore(append(board[:one.Count:one.Count], verified(t, one.After)...)))
				err := a.Restore([]protocol.Verified{e})
				switch {
				case errors.Is(err, session.ErrConflict) || err == nil:
					t.Errorf("%s in phase %s: %v", e, one.Phase, err)
				case errors.Is(err, session.ErrPassed):
					one.Turn = string(turn.Late)
				case errors.Is(err, session.ErrPremature):
					one.Turn = string(turn.Early)
				default:
					one.Turn = string(turn.Takes)
				}
				row := slices.IndexFunc(turn.Rows(), func(r turn.Row) bool { return r.Kind == e.Kind() })
				phases := turn.Phases()
				if want := turn.Rows()[row].In[slices.Index(phases[:], one.Phase)]; string(want) != one.Turn {
					t.Errorf("%s in phase %s is %s, and the table says %s", e, one.Phase, one.Turn, want)
				}
			}
		},
	}
}

func givenTurns(t *testing.T) []turnsCase {
	cryptotest.SetGlobalRandom(t, 2027)
	day := play(t, protocoltest.Terms{Quorum: 2, Late: true, Nonce: 0x43}, "", nil)
	second := protocoltest.Sealed(day.s.Parties[0].Signer.Seal(day.s.Study.ID, protocol.KindCommit, 1, []byte("junk")))
	c := turnsCase{Study: string(day.s.Study.Source), Board: raw(day.board)}
	c.at(day, turn.NoRoster, 0, nil)
	c.at(day, turn.Committing, day.upTo(protocol.KindCommit), nil)
	c.at(day, turn.Sharing, day.upTo(protocol.KindShare), nil)
	c.at(day, turn.Confirming, day.upTo(protocol.KindConfirm), nil)
	c.at(day, turn.Certified, day.upTo(protocol.KindRelease), nil)
	c.at(day, turn.HasResult, day.upTo(protocol.KindClose), nil)
	c.at(day, turn.Over, day.upTo(protocol.KindShare), []protocol.Verified{day.fault(0, protocol.CauseConflict, protocol.KindCommit, day.posted(0, protocol.KindCommit), second)})
	c.at(day, turn.Unproved, day.upTo(protocol.KindConfirm), []protocol.Verified{day.fault(0, protocol.CauseMissing, protocol.KindConfirm)})
	c.at(day, turn.Ended, len(day.board), nil)

	again := play(t, protocoltest.Terms{Quorum: 2, Late: true, Nonce: 0x44}, "low-order key", func(s *protocoltest.Simulation) bool { return s.Aggregator.Status().State == session.Collecting })
	d := turnsCase{Study: string(again.s.Study.Source), Board: raw(again.board)}
	d.at(again, turn.Elsewhere, len(again.board), nil)

	lost := play(t, protocoltest.Terms{Parties: 4, Quorum: 3, Masked: true, Nonce: 0x45}, "no release", nil)
	must(t, lost.s.Advance(lost.s.Study.AgreeBy(1)))
	lost.board = lost.s.Aggregator.Stored
	lost.board = lost.board[:lost.upTo(protocol.KindFault)+1]
	e := turnsCase{Study: string(lost.s.Study.Source), Board: raw(lost.board)}
	e.at(lost, turn.Void, len(lost.board), nil)
	return []turnsCase{c, d, e}
}

// at adds an envelope of each kind about attempt 1, from a sender whose slot is free.
func (c *turnsCase) at(p played, phase turn.Phase, count int, after []protocol.Verified) {
	there := append(p.board[:count:count], after...)
	for _, row := range turn.Rows() {
		about := row.Kind.PreAttempt() || row.Kind == protocol.KindStop || row.Kind == protocol.KindClose
		late := row.Kind == protocol.KindJoin || row.Kind == protocol.KindWelcome || row.Kind == protocol.KindJoined
		if phase == turn.Elsewhere && about || late && p.s.Study.LateUntil == 0 || row.Kind == protocol.KindJoined && (phase == turn.Certified || phase == turn.HasResult) {
			continue
		}
		senders := []protocol.Signer{p.s.Aggregator.Signer}
		if row.Kind.FromParty() {
			senders = nil
			for _, q := range p.s.Parties {
				senders = append(senders, q.Signer)
			}
		}
		attempt := uint32(1)
		if row.Kind.PreAttempt() {
			attempt = 0
		}
		for _, by := range senders {
			full := slices.ContainsFunc(there, func(e protocol.Verified) bool {
				return e.Sender() == by.ID() && e.Kind() == row.Kind && e.Attempt() == attempt && row.Kind != protocol.KindResult
			})
			if full {
				continue
			}
			e := protocoltest.Sealed(by.Seal(p.s.Study.ID, row.Kind, attempt, []byte("junk")))
			c.Tries = append(c.Tries, try{Count: count, After: raw(after), Phase: phase, Envelope: wire.EncodeEnvelope(e.Envelope())})
			break
		}
	}
}

// rosterCase is a board on which a roster is due.
type rosterCase struct {
	Note   string  `json:"note"`
	Study  string  `json:"study"`
	Board  []hexed `json:"board"`
	Roster hexed   `json:"roster"` // its payload, in the shortest encoding
	Number uint32  `json:"attempt"`
}

func rosters() vectors {
	return cases[rosterCase]{
		file:  "rosters",
		about: "Given: a study and a board on which every listed party has decided, or an attempt is over. To be found: the roster that follows, in the shortest encoding, and its attempt.",
		given: func(t *testing.T) []rosterCase {
			cryptotest.SetGlobalRandom(t, 2028)
			made := func(note string, p played, upTo int, more ...protocol.Verified) rosterCase {
				return rosterCase{Note: note, Study: string(p.s.Study.Source), Board: raw(append(p.board[:upTo:upTo], more...))}
			}
			day := play(t, protocoltest.Terms{Quorum: 2, Nonce: 0x46}, "", nil)
			leaves := protocoltest.Sealed(day.s.Parties[1].Signer.Seal(day.s.Study.ID, protocol.KindWithdraw, 0, nil))
			second := protocoltest.Sealed(day.s.Parties[0].Signer.Seal(day.s.Study.ID, protocol.KindCommit, 1, []byte("junk")))
			both := play(t, protocoltest.Terms{Parties: 5, Quorum: 3, Nonce: 0x47}, "", has(protocol.KindRoster, 1))
			gone := protocoltest.Sealed(both.s.Parties[3].Signer.Seal(both.s.Study.ID, protocol.KindWithdraw, 0, nil))
			too := protocoltest.Sealed(both.s.Parties[1].Signer.Seal(both.s.Study.ID, protocol.KindWithdraw, 0, nil))
			liar := play(t, protocoltest.Terms{Quorum: 2, Nonce: 0x48}, "bad shares", has(protocol.KindRoster, 2))
			return []rosterCase{
				made("every party has approved", day, day.upTo(protocol.KindRoster)),
				made("one has withdrawn before the first roster", day, day.upTo(protocol.KindRoster), leaves),
				made("one withdraws before it commits", day, day.upTo(protocol.KindCommit), leaves),
				made("one has signed two commits", day, day.upTo(protocol.KindShare), day.fault(0, protocol.CauseConflict, protocol.KindCommit, day.posted(0, protocol.KindCommit), second)),
				made("two withdraw: removed in the board's order, approvals in roster order", both, both.upTo(protocol.KindCommit), gone, too),
				made("a complaint convicts one", liar, liar.upTo(protocol.KindComplaint)+1),
			}
		},
		fill: func(t *testing.T, c *rosterCase) {
			a, _ := keeper(t, c.Study)
			must(t, a.Restore(verified(t, c.Board)))
			effects, err := a.Step(session.Tick{Now: protocoltest.Start})
			must(t, err)
			if len(effects.Persist) == 0 {
				t.Fatalf("%s: nothing follows", c.Note)
			}
			e := effects.Persist[0].(session.SaveEnvelope).Envelope
			if e.Kind() != protocol.KindRoster {
				t.Fatalf("%s: %s follows", c.Note, e)
			}
			c.Roster, c.Number = e.Payload(), e.Attempt()
		},
	}
}

// complaintCase is a complaint and the members that it convicts.
type complaintCase struct {
	Note      string   `json:"note"`
	Study     string   `json:"study"`
	Board     []hexed  `json:"board"`
	Complaint hexed    `json:"complaint"`
	Taken     bool     `json:"taken"`
	Removed   []string `json:"removed"` // name: kind, in roster order
}

func complaints() vectors {
	return cases[complaintCase]{
		file:  "complaints",
		about: "Given: a study, a board, and a complaint that comes next. To be found: whether the board takes it, and whom it removes for a wrong message of which kind.",
		given: givenComplaints,
		fill: func(t *testing.T, c *complaintCase) {
			a, s := keeper(t, c.Study)
			must(t, a.Restore(verified(t, c.Board)))
			c.Taken, c.Removed = a.Restore(verified(t, []hexed{c.Complaint})) == nil, nil
			for _, r := range a.Blame() {
				var f *protocol.Fault
				if !errors.As(r.Err, &f) || !r.Proved {
					t.Fatalf("%s: %v is no proof", c.Note, r.Err)
				}
				i, _ := s.PartyIndex(r.Member)
				c.Removed = append(c.Removed, fmt.Sprintf("%s: %s", s.Parties[i].Name, f.Kind))
			}
		},
	}
}

func givenComplaints(t *testing.T) []complaintCase {
	cryptotest.SetGlobalRandom(t, 2029)
	made := func(note string, p played, upTo int, e protocol.Verified) complaintCase {
		return complaintCase{Note: note, Study: string(p.s.Study.Source), Board: raw(p.board[:upTo]), Complaint: wire.EncodeEnvelope(e.Envelope())}
	}
	of := func(role string, nonce byte) (p played) {
		for seed := range uint64(20) {
			p = playSeed(t, seed, protocoltest.Terms{Quorum: 2, Nonce: nonce}, role, has(protocol.KindComplaint, 1))
			if p.upTo(protocol.KindComplaint) < len(p.board) {
				break
			}
		}
		return p
	}
	var out []complaintCase
	for i, one := range []struct{ note, role string }{
		{"shares that do not open", "bad shares"},
		{"a share that is not what was committed to", "wrong commitment"},
		{"a confirmation of another seed", "wrong confirmation"},
		{"nothing is wrong: the complaint is unfounded", "bogus complaint"},
		{"an opening that is not what was committed to", "false opening"},
		{"its sender had confirmed, and so opened every share", "complaint after confirming"},
	} {
		p := of(one.role, 0x50+byte(i))
		at := p.upTo(protocol.KindComplaint)
		if at == len(p.board) {
			t.Fatalf("%s: nobody complained", one.role)
		}
		out = append(out, made(one.note, p, at, p.board[at]))
		if one.role == "bogus complaint" {
			early := p.upTo(protocol.KindShare)
			out = append(out, made("before the shares are in", p, early, p.board[at]))
		}
	}
	return out
}

// certificateCase is what a member may show of an attempt that has ended.
type certificateCase struct {
	Study string  `json:"study"`
	Board []hexed `json:"board"`
	Shown []shown `json:"shown"`
}

type shown struct {
	Note        string  `json:"note"`
	Count       int     `json:"count"` // length of the board
	After       []hexed `json:"after"` // envelopes on the board after those
	Certificate hexed   `json:"certificate"`
	Outcome     string  `json:"outcome"` // certified, late or refused
}

func certificates() vectors {
	return cases[certificateCase]{
		file:  "certificates",
		about: "Given: a study, a board, and certificates that come next: after the first so many messages of the board and those of after. To be found: whether the attempt is the certified one then, or the certificate is late, or refused.",
		given: func(t *testing.T) []certificateCase {
			cryptotest.SetGlobalRandom(t, 2030)
			day := play(t, protocoltest.Terms{Quorum: 2, Nonce: 0x60}, "", nil)
			over, missing := day.upTo(protocol.KindConfirm), day.fault(0, protocol.CauseMissing, protocol.KindConfirm)
			confirms := []protocol.Envelope{}
			for i := range day.s.Parties {
				confirms = append(confirms, day.posted(i, protocol.KindConfirm).Envelope())
			}
			by := day.s.Parties[1].Signer
			show := func(list ...protocol.Envelope) protocol.Verified {
				return protocoltest.Sealed(by.Seal(day.s.Study.ID, protocol.KindCertificate, 1, wire.EncodeCertificate(protocol.Certificate{Confirms: list})))
			}
			c := certificateCase{Study: string(day.s.Study.Source), Board: raw(day.board[:day.upTo(protocol.KindRelease)])}
			made := func(note string, count int, e protocol.Verified, after ...protocol.Verified) {
				c.Shown = append(c.Shown, shown{Note: note, Count: count, After: raw(after), Certificate: wire.EncodeEnvelope(e.Envelope())})
			}
			other := protocoltest.Sealed(day.s.Parties[0].Signer.Seal(day.s.Study.ID, protocol.KindConfirm, 1, confirmWith(t, day.posted(0, protocol.KindConfirm), func(c *protocol.Confirm) { c.T2[0] ^= 1 })))
			tag := protocoltest.Sealed(day.s.Parties[0].Signer.Seal(day.s.Study.ID, protocol.KindConfirm, 1, confirmWith(t, day.posted(0, protocol.KindConfirm), func(c *protocol.Confirm) { c.Tag[0] ^= 1 })))
			abandon := protocoltest.Sealed(day.s.Parties[2].Signer.Seal(day.s.Study.ID, protocol.KindAbandon, 1, wire.EncodeAbandon()))
			made("all confirmations, in roster order", over, show(confirms...), missing)
			made("one is missing", over, show(confirms[:2]...), missing)
			made("in another order", over, show(confirms[1], confirms[0], confirms[2]), missing)
			made("one is of another T2", over, show(other.Envelope(), confirms[1], confirms[2]), missing)
			made("one has another tag: a board cannot tell, members can", over, show(tag.Envelope(), confirms[1], confirms[2]), missing)
			made("a member has abandoned the attempt", over, show(confirms...), missing, abandon)
			made("the attempt is certified already", day.upTo(protocol.KindRelease), show(confirms...))
			return []certificateCase{c}
		},
		fill: func(t *testing.T, c *certificateCase) {
			board := verified(t, c.Board)
			for i := range c.Shown {
				one := &c.Shown[i]
				a, _ := keeper(t, c.Study)
				must(t, a.Restore(append(board[:one.Count:one.Count], verified(t, one.After)...)))
				err := a.Restore(verified(t, []hexed{one.Certificate}))
				switch {
				case err == nil && a.Status().State == session.Collecting:
					one.Outcome = "certified"
				case errors.Is(err, session.ErrPassed):
					one.Outcome = "late"
				default:
					one.Outcome = "refused"
				}
			}
		},
	}
}

func confirmWith(t *testing.T, e protocol.Verified, change func(*protocol.Confirm)) []byte {
	t.Helper()
	c, err := wire.DecodeConfirm(e.Payload())
	must(t, err)
	change(&c)
	return wire.EncodeConfirm(c)
}
