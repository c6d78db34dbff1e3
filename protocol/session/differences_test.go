package session_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
)

// Parties with different files have different study ids: the aggregator of one refuses messages of
// the other, and neither accepts the other's board.
func TestDifferentStudyFilesNeverAgree(t *testing.T) {
	ours := newFixture(t, protocoltest.Options{Seed: 3})
	theirs := newFixture(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Nonce: 1}), Seed: 3})
	if ours.study.ID == theirs.study.ID || ours.study.Meaning == theirs.study.Meaning {
		t.Fatal("the two files are one study")
	}
	for _, e := range theirs.board.Envelopes {
		if e.Kind().FromParty() {
			err := ours.atAggregator(ours.before(e.Kind()), e)
			blamed(t, err, e.Sender(), nil)
			says(t, err, "belongs to study")
		}
	}
	blamed(t, ours.atParty(0, theirs.board), ours.board.Keeper.ID(), session.ErrBoardRewritten)
}

// A party whose software reads the same file differently is refused. The others continue without it
// or not at all.
func TestAnotherMeaningIsRefused(t *testing.T) {
	s := simulate(t, protocoltest.Options{})
	misread := *s.Study
	misread.Meaning[0] ^= 1
	p, err := session.NewParty(session.PartyConfig{Study: &misread, Signer: s.Parties[0].Signer, Entropy: nothing{}})
	check(t, err)
	effects, err := p.Step(session.Consent{})
	check(t, err)
	err = s.Aggregator.Post(effects.Send[0])
	blamed(t, err, s.Parties[0].Signer.ID(), session.ErrMeaning)
	var d *protocol.Disagreement
	if !errors.As(err, &d) || d.On != protocol.OnVersion || d.Who != s.Parties[0].Name || d.From != "the aggregator" ||
		d.Theirs != misread.Meaning.String()[:8] || d.Ours != s.Study.Meaning.String()[:8] {
		t.Errorf("who differs: %v", err)
	}
	if len(s.Aggregator.Stored) != 0 {
		t.Error("the approval is on the board")
	}

	// If its aggregator reads the file as it does, it finds that other parties do not.
	other := protocoltest.Sealed(s.Parties[1].Signer.Seal(s.Study.ID, protocol.KindApprove, 0, wire.EncodeApprove(protocol.Approve{Meaning: s.Study.Meaning})))
	_, err = p.Step(s.Aggregator.Board().With(0, other).All())
	check(t, err)
	if err := p.Status().Failure; !errors.Is(err, session.ErrMeaning) {
		t.Errorf("another's meaning on the board: %v", err)
	}
}

// Machines are made only for nodes of the study.
func TestMachinesOfStrangers(t *testing.T) {
	st := newStudy(t, protocoltest.Terms{})
	stranger := protocoltest.Identity("stranger")
	if _, err := session.NewParty(session.PartyConfig{Study: st, Signer: stranger}); err == nil {
		t.Error("a stranger's party machine was made")
	}
	if _, err := session.NewAggregator(session.AggregatorConfig{Study: st, Signer: stranger}); err == nil {
		t.Error("a stranger's aggregator machine was made")
	}
}

// Secrets of another study, attempt or node, or damaged ones, are refused.
func TestDamagedSecretsAreRefused(t *testing.T) {
	s := approved(t, protocoltest.Options{Seed: 3})
	p := s.Parties[0]
	check(t, s.RunUntil(func() bool { return p.Status().State == session.Committed }))
	agreeing := bytes.Clone(p.Store.Secrets[1])
	for name, tc := range map[string]struct {
		signer  protocol.Signer
		secrets []byte
	}{
		"another party's": {s.Parties[1].Signer, agreeing},
		"cut":             {p.Signer, agreeing[:len(agreeing)-1]},
		"unknown form":    {p.Signer, append([]byte{9}, agreeing[1:]...)},
		"cut seed":        {p.Signer, append([]byte{2}, make([]byte, 95)...)},
		"empty":           {p.Signer, []byte{}},
	} {
		restored := session.PartyRestored{Own: p.Store.Own, Secrets: map[uint32]seed.Hidden{1: seed.Hide(tc.secrets)}}
		if _, err := session.NewParty(session.PartyConfig{Study: s.Study, Signer: tc.signer, Entropy: nothing{}, Restored: restored}); err == nil {
			t.Errorf("%s secrets were taken", name)
		}
	}
}

// A party that has committed and lost its secrets cannot continue, and draws no new ones.
func TestLostSecretsEndTheStudy(t *testing.T) {
	s := approved(t, protocoltest.Options{Seed: 3})
	p := s.Parties[0]
	check(t, s.RunUntil(func() bool { return p.Status().State == session.Shared }))
	p.Store.Secrets = nil
	check(t, s.Restart())
	check(t, s.RunUntil(func() bool { return p.Status().State == session.Failed }))
	if got := p.Status(); got.State != session.Failed || len(p.Store.Secrets) > 0 || len(p.Store.Own) != 3 {
		t.Errorf("%s: %v", got.State, got.Failure)
	}
}

// One flipped bit anywhere in a carried envelope is refused, by its form or as a fault of the
// sender it names.
func TestOneFlippedBitIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and machines run in one goroutine")
	}
	b, _ := completed(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 2}), Seed: 3})
	kinds := map[protocol.Kind]bool{}
	for _, e := range b.Envelopes {
		if kinds[e.Kind()] {
			continue
		}
		kinds[e.Kind()] = true
		raw := wire.EncodeEnvelope(e.Envelope())
		step := 1
		if len(raw) > 400 && !full() {
			step = 37 // coprime to 8, so every bit of a byte is tried
		}
		for bit := 0; bit < 8*len(raw); bit += step {
			damaged := bytes.Clone(raw)
			damaged[bit/8] ^= 1 << (bit % 8)
			plain, err := wire.DecodeEnvelope(damaged)
			if err != nil {
				continue
			}
			if _, err = protocol.Verify(plain); err == nil {
				t.Fatalf("%s passes with bit %d flipped", e, bit)
			}
			blamed(t, err, plain.Sender, nil)
		}
	}
	if len(kinds) != 7 {
		t.Errorf("%d kinds of envelopes", len(kinds))
	}
}
