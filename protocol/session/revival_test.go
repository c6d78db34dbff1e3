package session_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// A member confirms last in an attempt and is convicted of a wrong confirmation. It then posts all
// confirmations as a certificate, including its own, whose tag the board cannot check. The attempt
// stays over, and the others finish the study.
func TestConvictedMemberRevivesNothing(t *testing.T) {
	tried := 0
	for seed := range uint64(12) {
		s := simulate(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2}), Seed: seed})
		culprit := s.Parties[0]
		roles := protocoltest.Roles(rand.New(rand.NewPCG(1, 1)))
		culprit.Role = roles[slices.IndexFunc(roles, func(r *protocoltest.Role) bool { return r.Name == "wrong confirmation" })]
		check(t, s.ApproveAll())
		check(t, s.RunUntil(func() bool {
			return slices.ContainsFunc(s.Aggregator.Stored, func(e protocol.Verified) bool {
				return e.Kind() == protocol.KindRoster && e.Attempt() == 2
			})
		}))
		confirms := protocol.Certificate{}
		for _, p := range s.Parties {
			for _, e := range s.Aggregator.Stored {
				if e.Kind() == protocol.KindConfirm && e.Attempt() == 1 && e.Sender() == p.Signer.ID() {
					confirms.Confirms = append(confirms.Confirms, e.Envelope())
				}
			}
		}
		if len(confirms.Confirms) < len(s.Parties) {
			continue // it was not the last
		}
		tried++
		e := protocoltest.Sealed(culprit.Signer.Seal(s.Study.ID, protocol.KindCertificate, 1, wire.EncodeCertificate(confirms)))
		if err := s.Aggregator.Post(e); !errors.Is(err, session.ErrPremature) {
			t.Errorf("seed %d: %v", seed, err)
		}
		check(t, s.Run())
		for _, p := range s.Parties[1:] {
			if got := p.Status(); got.State != session.Done {
				t.Errorf("seed %d: %s is %s (%v)", seed, p.Name, got.State, got.Failure)
			}
		}
	}
	if tried == 0 {
		t.Error("it never confirmed last")
	}
}
