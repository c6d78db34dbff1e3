package session_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// pool returns the messages of fuzzed boards: every message of a successful study, and hostile
// variants of each, signed by somebody.
func pool(t testing.TB, f *fixture) []protocol.Verified {
	t.Helper()
	signers := []protocol.Signer{f.board.Keeper, protocoltest.Identity("stranger")}
	for _, p := range f.parties {
		signers = append(signers, p.Signer)
	}
	out := slices.Clone(f.board.Envelopes)
	for i, e := range f.board.Envelopes {
		by := signers[i%len(signers)]
		cut := e.Payload()[:len(e.Payload())/2]
		out = append(out, f.sign(by, e.Kind(), e.Payload()), f.sign(by, e.Kind(), cut))
		for _, s := range signers {
			if s.ID() == e.Sender() {
				out = append(out, f.sign(s, e.Kind(), cut), f.sign(s, protocol.KindWithdraw, nil))
			}
		}
	}
	junk, commit := []byte("junk"), f.posted(0, protocol.KindCommit)
	second := f.sign(f.party(0), protocol.KindCommit, junk)
	shown := f.accusation(protocoltest.Start, protocol.CauseConflict, protocol.KindCommit, commit, second)
	next := protocoltest.Sealed(f.board.Keeper.Seal(f.study.ID, protocol.KindRoster, 2, wire.EncodeRoster(protocol.Roster{
		Approvals: []protocol.Digest{f.posted(1, protocol.KindApprove).ID(), f.posted(2, protocol.KindApprove).ID()}, Faults: []protocol.Digest{shown.ID()},
	})))
	out = append(out, second, shown, next, f.accusation(f.study.AgreeBy(1), protocol.CauseMissing, protocol.KindConfirm))
	for i := range f.parties {
		for _, kind := range []protocol.Kind{protocol.KindComplaint, protocol.KindAbandon, protocol.KindCertificate, protocol.KindJoin} {
			out = append(out, f.sign(f.party(i), kind, wire.EncodeComplaint(agree.Opening{Key: junk})), f.sign(f.party(i), kind, nil))
		}
		out = append(out, protocoltest.Sealed(f.party(i).Seal(f.study.ID, protocol.KindCommit, 2, f.posted(i, protocol.KindCommit).Payload())))
	}
	return append(out, f.stop(), f.roster(), protocoltest.Sealed(f.board.Keeper.Seal(protocol.StudyID{1}, protocol.KindStop, 1, f.stop().Payload())))
}

// Whatever is posted in whatever order, every refusal names somebody and nothing panics. In the end
// a restarted aggregator and every reader accept the whole board.
func FuzzBoard(f *testing.F) {
	_, s := completed(f, protocoltest.Options{Study: newStudy(f, protocoltest.Terms{Quorum: 2}), Seed: 3})
	fix := &fixture{study: s.Study, board: s.Aggregator.Board(), parties: s.Parties}
	all := pool(f, fix)
	good := make([]byte, len(fix.board.Envelopes))
	for i := range good {
		good[i] = byte(i)
	}
	f.Add(good)
	f.Add(good[:upTo(fix.board, protocol.KindShare)])
	f.Add(slices.Concat(good[:2], []byte{255}, good[2:9], good[:9], good[9:14], []byte{254, 254, 16}))
	every := make([]byte, len(all))
	for i := range every {
		every[i] = byte(i)
	}
	f.Add(every)
	slices.Reverse(every)
	f.Add(slices.Concat(every, good))
	if len(all) > 253 {
		f.Fatalf("a pool of %d messages does not fit a byte", len(all))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		const longest = 300
		a, err := session.NewAggregator(session.AggregatorConfig{Study: fix.study, Signer: fix.board.Keeper})
		check(t, err)
		board := fix.board.With(0)
		now := protocoltest.Start
		for _, op := range program[:min(len(program), longest)] {
			var ev session.AggregatorEvent = session.Collected{Party: fix.party(int(op) % 3).ID()}
			switch {
			case int(op) < len(all):
				ev = session.Post{Envelope: all[op]}
			case op == 255:
				now += (protocoltest.Deadline - protocoltest.Start) / 4
				ev = session.Tick{Now: now}
			}
			effects, err := a.Step(ev)
			for _, r := range effects.Persist { // a refusal may end an attempt
				board.Envelopes = append(board.Envelopes, r.(session.SaveEnvelope).Envelope)
			}
			if err != nil {
				named(t, ev, err)
			}
		}
		again, err := session.NewAggregator(session.AggregatorConfig{Study: fix.study, Signer: fix.board.Keeper})
		check(t, err)
		check(t, again.Restore(board.Envelopes))
		if again.Head().Chain != a.Head().Chain || a.Head().Chain != board.Head(len(board.Envelopes)).Chain {
			t.Error("the stored board is not the machine's")
		}
		for i := range fix.parties {
			reader := &fixture{t: t, study: fix.study, board: fix.board, parties: fix.parties}
			if err := reader.atParty(i, board); refused(err) {
				t.Errorf("party %d refuses the aggregator's own board: %v", i, err)
			}
		}
	})
}

func named(t *testing.T, ev session.AggregatorEvent, err error) {
	t.Helper()
	post, ok := ev.(session.Post)
	if !ok || errors.Is(err, session.ErrPosted) {
		return
	}
	blamed(t, err, post.Envelope.Sender(), nil)
}

// An aggregator shows a party anything, in parts of any length and with heads of any of them. The
// party fails with a reason or continues, and never panics. Once it has failed, it asks for
// nothing.
func FuzzParty(f *testing.F) {
	_, s := completed(f, protocoltest.Options{Study: newStudy(f, protocoltest.Terms{Quorum: 2}), Seed: 3})
	fix := &fixture{study: s.Study, board: s.Aggregator.Board(), parties: s.Parties}
	all := pool(f, fix)
	good := make([]byte, 0, 2*len(fix.board.Envelopes))
	for i := range fix.board.Envelopes {
		good = append(good, byte(i), 255)
	}
	f.Add(uint8(0), good)
	f.Add(uint8(3), good)
	f.Add(uint8(5), slices.Concat(good[:10], good))
	f.Add(uint8(4), []byte{0, 1, 2, 3, 255, 254, 255})
	f.Add(uint8(1), []byte{2, 1, 0, 255, 60, 255})
	f.Fuzz(func(t *testing.T, known uint8, program []byte) {
		var restored session.PartyRestored
		for _, e := range fix.board.Envelopes {
			if e.Sender() == fix.party(0).ID() && len(restored.Own) < int(known)%6 {
				restored.Own = append(restored.Own, e)
			}
		}
		p, err := session.NewParty(session.PartyConfig{Study: fix.study, Signer: fix.party(0), Entropy: nothing{}, Restored: restored})
		check(t, err)
		board := fix.board.With(0)
		read := 0
		for _, op := range program[:min(len(program), 300)] {
			switch {
			case int(op) < len(all):
				board.Envelopes = append(board.Envelopes, all[op])
				continue
			case op == 254:
				board = board.With(read / 2)
				read = min(read, len(board.Envelopes))
			}
			failed := p.Status().State == session.Failed
			effects, err := p.Step(board.Stretch(read, len(board.Envelopes)))
			check(t, err)
			read = len(board.Envelopes)
			if failed && len(effects.Persist)+len(effects.Send)+len(effects.Run) > 0 {
				t.Fatalf("a failed party asks for %+v", effects)
			}
		}
	})
}
