package session_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// lostAtTheEnd is a masked study of four in which d has agreed and will not release.
func lostAtTheEnd(t *testing.T, quorum int, run bool) *protocoltest.Simulation {
	t.Helper()
	s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 4, Quorum: quorum, Masked: true}), Seed: 5})
	s.Parties[3].Away = false
	check(t, s.RunUntil(func() bool { return s.Aggregator.Status().State == session.Collecting }))
	s.Parties[3].Away, s.Parties[3].Excused = true, true
	if run {
		check(t, s.Run())
	}
	return s
}

// Rules for a statement that a masked sum is void. A statement that breaks one is the aggregator's
// fault; a reader that holds the certificate skips it.
func TestVoidIsHeldToItsRules(t *testing.T) {
	missing := func(s *protocoltest.Simulation, parties ...int) protocol.Accusations {
		x := protocol.Accusations{At: s.Study.AgreeBy(1)}
		for _, i := range parties {
			x.Against = append(x.Against, protocol.Accusation{Culprit: s.Parties[i].Signer.ID(), Cause: protocol.CauseMissing, Kind: protocol.KindRelease})
		}
		return x
	}
	for name, c := range map[string]struct {
		quorum int
		of     func(*protocoltest.Simulation) protocol.Accusations
		says   string // empty: the statement is valid
	}{
		"as it should be":       {3, func(s *protocoltest.Simulation) protocol.Accusations { return missing(s, 3) }, ""},
		"chunks, by its word":   {3, func(s *protocoltest.Simulation) protocol.Accusations { return missing(s, 0, 3) }, "2 members would be left"},
		"who is missing is not": {3, func(s *protocoltest.Simulation) protocol.Accusations { return missing(s, 0) }, "is not accused, and its release is not on the board"},
		"nobody to spare":       {4, func(s *protocoltest.Simulation) protocol.Accusations { return missing(s, 3) }, "not one that waits"},
		"too early": {3, func(s *protocoltest.Simulation) protocol.Accusations {
			x := missing(s, 3)
			x.At--
			return x
		}, "the attempt has until"},
		"a stranger beside it": {3, func(s *protocoltest.Simulation) protocol.Accusations {
			x := missing(s, 3, 3)
			x.Against[1].Culprit = protocoltest.Identity("stranger").ID()
			slices.SortFunc(x.Against, func(a, b protocol.Accusation) int { return bytes.Compare(a.Culprit[:], b.Culprit[:]) })
			return x
		}, "not on the roster"},
		"another kind beside it": {3, func(s *protocoltest.Simulation) protocol.Accusations {
			x := missing(s, 0, 3)
			x.Against[1].Kind = protocol.KindConfirm
			return x
		}, "and the attempt waits for each release"},
	} {
		t.Run(name, func(t *testing.T) {
			s := lostAtTheEnd(t, c.quorum, true)
			board := s.Aggregator.Stored
			a, err := session.NewAggregator(session.AggregatorConfig{Study: s.Study, Signer: s.Aggregator.Signer})
			check(t, err)
			void := protocoltest.Sealed(s.Aggregator.Signer.Seal(s.Study.ID, protocol.KindFault, 1, wire.EncodeAccusations(c.of(s))))
			err = a.Restore(append(board[:len(board):len(board)], void))
			if c.says == "" {
				check(t, err)
				if got := a.Status(); got.State != session.Agreeing && got.State != session.Collecting {
					t.Errorf("after it the aggregator is %s", got.State)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("taken with %v, which should say %q", err, c.says)
			}
		})
	}
}

// After an attempt is void, its messages are refused, and no certificate revives it. Jobs given out
// for it are not wanted.
func TestVoidAttemptsStayVoid(t *testing.T) {
	s := lostAtTheEnd(t, 3, true)
	d := s.Parties[3]
	check(t, s.Advance(s.Study.AgreeBy(1)))
	check(t, s.RunUntil(func() bool { return s.Aggregator.Status().State == session.Agreeing }))
	late := protocoltest.Sealed(d.Signer.Seal(s.Study.ID, protocol.KindRelease, 1, wire.EncodeRelease(protocol.Release{T2: s.Parties[0].T2})))
	if err := s.Aggregator.Post(late); err == nil || !strings.Contains(err.Error(), "attempt 1 is void") {
		t.Errorf("a late release of a void attempt: %v", err)
	}
	var c protocol.Certificate
	for _, e := range s.Aggregator.Stored {
		if e.Kind() == protocol.KindConfirm && e.Attempt() == 1 {
			c.Confirms = append(c.Confirms, e.Envelope())
		}
	}
	back := protocoltest.Sealed(s.Parties[0].Signer.Seal(s.Study.ID, protocol.KindCertificate, 1, wire.EncodeCertificate(c)))
	if err := s.Aggregator.Post(back); err == nil {
		t.Error("a certificate brings a void attempt back")
	}
	check(t, s.Run())
	check(t, s.Check())
	for _, p := range s.Parties[:3] {
		if p.Status().State != session.Done || p.Debits != 2 {
			t.Errorf("%s is %s after %d debits", p.Name, p.Status().State, p.Debits)
		}
	}
}

// Every reader refuses a result of only some masked releases.
func TestMaskedResultsAreOfAll(t *testing.T) {
	s := lostAtTheEnd(t, 3, true)
	r := protocol.Result{T2: s.Parties[0].T2, Count: 0, Document: protocol.Document{Size: 1}}
	for _, e := range s.Aggregator.Stored {
		if e.Kind() == protocol.KindRelease {
			r.Releases = append(r.Releases, e.ID())
		}
	}
	partial := protocoltest.Sealed(s.Aggregator.Signer.Seal(s.Study.ID, protocol.KindResult, 1, wire.EncodeResult(r)))
	a, err := session.NewAggregator(session.AggregatorConfig{Study: s.Study, Signer: s.Aggregator.Signer})
	check(t, err)
	if err := a.Restore(append(s.Aggregator.Stored, partial)); err == nil || !strings.Contains(err.Error(), "masks cancel only in the sum of all") {
		t.Errorf("%d of 4 masked releases make a result: %v", len(r.Releases), err)
	}
}
