package protocoltest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
)

// Check checks what must be true of every simulation at any moment, whoever misbehaves and whatever
// the network, the clock and crashes do:
//
//   - all honest parties that have used a seed and finish hold the same one;
//   - nobody else can derive it: no honest party opens, or seals to a stranger, the
//     attempt that it uses;
//   - no honest party is blamed by proof, nor by the aggregator's word unless its
//     messages were withheld from the aggregator;
//   - each party has at most one release of an attempt on the board, and the newest is the
//     stored one; there are several only if masked sums were void;
//   - each ledger is debited once for each release that was made, else never;
//   - the sum of all members' masked releases is the sum of what they noised;
//   - every public row key on a board is that of the seed that honest parties used;
//   - a late party that proves another seed is named by all who hold the seed;
//   - a study that stopped says why, and names every culprit.
//
// Contradictions that show earlier are breaches, which end Run.
func (s *Simulation) Check() error {
	return errors.Join(s.firstBreach, s.oneSeed(), s.secrecy(), s.blame(), s.newcomers(), s.publicKeys(), s.oneRelease(), s.causes())
}

func (s *Simulation) oneSeed() error {
	var first *Party
	for _, p := range s.Parties {
		if !p.honest() || p.Status().State != session.Done {
			continue
		}
		if first == nil {
			first = p
		}
		if p.Seed != first.Seed || p.T2 != first.T2 || p.T2 == (protocol.Digest{}) {
			return fmt.Errorf("%s and %s finished under different seeds, or none", first.Name, p.Name)
		}
	}
	return nil
}

func (s *Simulation) secrecy() error {
	seeds := map[[32]byte]bool{}
	for _, p := range s.Parties {
		if p.honest() && p.Seed != [32]byte{} {
			seeds[p.Seed] = true
		}
	}
	for seed := range seeds {
		for _, a := range s.faces() {
			for _, e := range a.Stored {
				if bytes.Contains(e.Payload(), seed[:]) {
					return fmt.Errorf("the %s of %s shows the seed", e.Kind(), s.name(e.Sender()))
				}
			}
		}
	}
	for _, p := range s.Parties {
		if !p.honest() || p.Seed == [32]byte{} {
			continue
		}
		for _, e := range p.Store.Own {
			if e.Kind() == protocol.KindComplaint && e.Attempt() == p.attempt {
				return fmt.Errorf("%s opened attempt %d, and uses its seed", p.Name, e.Attempt())
			}
			if e.Kind() == protocol.KindAbandon && e.Attempt() == p.attempt {
				return fmt.Errorf("%s abandoned attempt %d, and uses its seed", p.Name, e.Attempt())
			}
		}
	}
	return nil
}

// publicKeys checks that the row keys in releases are those of the honest parties' seed.
func (s *Simulation) publicKeys() error {
	if len(s.Study.Published()) == 0 {
		return nil
	}
	for _, p := range s.Parties {
		if !p.honest() || p.Seed == [32]byte{} {
			continue
		}
		want, err := release.Publish(s.Study, seed.FromBytes(p.Seed))
		if err != nil {
			return err
		}
		for _, a := range s.faces() {
			for _, e := range a.Stored {
				if e.Kind() != protocol.KindRelease || e.Attempt() != p.attempt {
					continue
				}
				r, err := wire.DecodeRelease(e.Payload())
				if err != nil || !slices.Equal(r.Published, want) {
					return fmt.Errorf("the release of %s shows other row keys than the seed of %s has (%v)", s.name(e.Sender()), p.Name, err)
				}
			}
		}
	}
	return nil
}

// faces returns the boards that the aggregator shows.
func (s *Simulation) faces() []*Aggregator {
	if s.Twin != nil {
		return []*Aggregator{s.Aggregator, s.Twin}
	}
	return []*Aggregator{s.Aggregator}
}

// Blame lists the faults on the aggregator's board, and on its other one.
func (s *Simulation) Blame() (out []session.Removal) {
	for _, a := range s.faces() {
		if a.machine != nil {
			out = append(out, a.machine.Blame()...)
		}
	}
	return out
}

func (s *Simulation) blame() error {
	for _, r := range s.Blame() {
		p := s.party(r.Member)
		if p == nil || !p.honest() {
			continue
		}
		if r.Proved {
			return fmt.Errorf("honest %s is convicted: %v", p.Name, reason(r.Err))
		}
		if !p.Excused && s.Twin == nil && !s.Censored[p.Name] {
			return fmt.Errorf("honest %s is accused: %v", p.Name, reason(r.Err))
		}
	}
	return nil
}

// newcomers checks that a newcomer that proved another seed, and nobody else, is named by every
// honest node that holds the seed and has read the proof.
func (s *Simulation) newcomers() error {
	for _, p := range s.Parties {
		if !p.honest() || p.machine == nil {
			continue
		}
		for _, c := range p.Status().Blame {
			if liar := s.party(c.Node); c.Kind == protocol.KindJoined && (liar.Role == nil || !liar.Role.Late) {
				return fmt.Errorf("%s says that %s has joined with another seed", p.Name, liar.Name)
			}
		}
		for _, liar := range s.Parties {
			if liar.Role == nil || !liar.Role.Late {
				continue
			}
			joined := slices.ContainsFunc(p.Store.Board, func(e protocol.Verified) bool {
				return e.Kind() == protocol.KindJoined && e.Sender() == liar.Signer.ID()
			})
			named := slices.ContainsFunc(p.Status().Blame, func(c session.Culprit) bool {
				return c.Node == liar.Signer.ID() && c.Kind == protocol.KindJoined
			})
			if liar.Role.Did() && joined && len(p.Store.Secrets) > 0 && p.Status().State == session.Released && !named {
				return fmt.Errorf("%s does not say that %s has joined with another seed", p.Name, liar.Name)
			}
		}
	}
	return nil
}

func (s *Simulation) party(id protocol.PeerID) *Party {
	for _, p := range s.Parties {
		if p.Signer.ID() == id {
			return p
		}
	}
	return nil
}

func (s *Simulation) oneRelease() error {
	for _, p := range s.Parties {
		for _, a := range s.faces() {
			posted, newest := map[uint32]int{}, uint32(0)
			for _, e := range a.Stored {
				if e.Kind() != protocol.KindRelease || e.Sender() != p.Signer.ID() {
					continue
				}
				posted[e.Attempt()]++
				newest = max(newest, e.Attempt())
				if stored := p.Store.Release; p.honest() && (stored == nil || e.Attempt() == stored.Attempt() && e.ID() != stored.ID()) {
					return fmt.Errorf("a release of %s is on the board that is not the stored one", p.Name)
				}
			}
			if posted[newest] > 1 || len(posted) > s.Study.MostReleases() {
				return fmt.Errorf("%v releases of %s are on the board, by attempt", posted, p.Name)
			}
		}
		if !p.honest() {
			continue
		}
		made, most := len(p.Store.Made)+p.Store.Firsts, s.Study.MostReleases()
		if s.Study.TwoRounds() {
			most *= 2
		}
		if p.Debits < made || p.Debits > made+1 || p.Debits > most || p.Store.Release != nil && p.Store.Release.Attempt() == p.attempt && p.Debits != made {
			return fmt.Errorf("%s made %d releases and spent its budget %d times", p.Name, made, p.Debits)
		}
	}
	return nil
}

// causes checks that a stop gives a reason. Every node that has stopped or failed names the
// culprits: those of the board, the absent as claimed, and those it caught itself.
func (s *Simulation) causes() error {
	for _, a := range s.faces() {
		for _, e := range a.Stored {
			if e.Kind() != protocol.KindStop {
				continue
			}
			stop, err := wire.DecodeStop(e.Payload())
			if err != nil || stop.Reason == "" || stop.At < Start {
				return fmt.Errorf("the study stopped for no reason: %q, %v", stop.Reason, err)
			}
		}
		if a.machine == nil {
			continue
		}
		if err := s.named(a, a.Status()); err != nil {
			return fmt.Errorf("the aggregator: %w", err)
		}
		for _, p := range s.Parties {
			if p.keeper() != a || p.machine == nil || !p.honest() {
				continue
			}
			if err := s.named(a, p.Status()); err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
		}
	}
	return nil
}

// named checks that a status that has stopped or failed names the culprits that its node knows of.
func (s *Simulation) named(a *Aggregator, status session.Status) error {
	if status.Failure == nil {
		return nil
	}
	blames := func(node protocol.PeerID, standing session.Standing) bool {
		return slices.ContainsFunc(status.Blame, func(c session.Culprit) bool {
			return c.Node == node && c.Standing == standing && c.Err != nil
		})
	}
	var stop *session.StoppedError
	var struck *session.StruckError
	var fault *protocol.Fault
	switch {
	case errors.As(status.Failure, &stop):
		if byOperator := stop.Cause == session.StopOperator; byOperator && !a.cancelled || !byOperator && a.cancelled && stop.Stop.At < s.Study.Expires {
			return fmt.Errorf("stopped with the cause %q, cancelled: %t, for: %s", stop.Cause, a.cancelled, stop.Reason())
		}
		for _, r := range a.machine.Blame() {
			if r.Proved && !blames(r.Member, session.Proved) || !r.Proved && !blames(r.Member, session.Claimed) {
				return fmt.Errorf("stopped after a fault of %s, and blames %+v", s.name(r.Member), status.Blame)
			}
		}
		for _, id := range stop.Stop.Missing {
			if !blames(id, session.Claimed) {
				return fmt.Errorf("stopped for want of %s, and blames %+v", s.name(id), status.Blame)
			}
		}
	case errors.As(status.Failure, &struck):
		if !blames(struck.Removal.Member, session.Proved) && !blames(struck.Removal.Member, session.Claimed) {
			return fmt.Errorf("struck, and blames %+v", status.Blame)
		}
	case errors.As(status.Failure, &fault):
		if !blames(fault.Culprit, session.Seen) {
			return fmt.Errorf("failed by a fault of %s, and blames %+v", s.name(fault.Culprit), status.Blame)
		}
	}
	for _, c := range status.Blame {
		if p := s.party(c.Node); p != nil && p.honest() && !p.restored && c.Standing == session.Proved {
			return fmt.Errorf("honest %s is blamed: %v", p.Name, c.Err)
		}
	}
	return nil
}
