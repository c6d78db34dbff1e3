package protocoltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Report describes one random schedule and its outcome.
type Report struct {
	Seed     uint64
	Terms    Terms
	Roles    []string // of its adversaries
	Ends     session.State
	Attempts int // rosters that were fixed
	Proved   int // faults on the board
	Claimed  int
	Refused  int // messages of adversaries that the aggregator refused
	Crashes  int // of parties
	Actions  int
	Seen     []Sighting
	First    bool // the result is of the first round alone
}

// Random plays the study that a seed describes to its end: who takes part, who misbehaves and how,
// what the network loses, where nodes crash, and in which order things happen. It returns an error
// with the whole trace if an invariant is broken, or if the study makes no progress although it
// must. It must if the honest parties that are present are a quorum, and adversaries cannot use up
// all attempts.
func Random(seed uint64) (Report, error) {
	draw := rand.New(rand.NewPCG(seed, 0x5ced))
	r := Report{Seed: seed, Terms: randomTerms(draw)}
	r.Terms.Joined = seed%4 == 3 && !r.Terms.Public && !r.Terms.Masked
	r.Terms.Rounds = seed%5 == 2 && !r.Terms.Public && !r.Terms.Joined && !r.Terms.Late
	r.Terms.Looks = r.Terms.Rounds && r.Terms.Masked && seed%2 == 0
	r.Terms.Apart = rand.New(rand.NewPCG(seed, 0xa9a7)).IntN(3) == 0 // drawn separately, so that older schedules stay the same
	st, err := NewStudy(r.Terms)
	if err != nil {
		return r, err
	}
	death := []float64{0, 0, 0.04, 0.1}[draw.IntN(4)]
	die := rand.New(rand.NewPCG(seed, 1))
	s, err := New(Options{
		Study: st, Seed: seed, Loss: []float64{0, 0.25, 0.5}[draw.IntN(3)],
		Crash: func(int) bool { return die.Float64() < death },
	})
	if err != nil {
		return r, err
	}
	faulty := r.cast(s, draw)
	late := s.latecomer(draw)
	there := len(s.Parties) - faulty
	if late != nil && late.honest() {
		there--
	}
	s.carriers()
	must := there >= st.Quorum && faulty < st.Attempts
	err = s.Play(late)
	if err == nil {
		err = s.Check()
	}
	if err == nil && must {
		err = s.progress()
	}
	if err == nil && death == 0 && s.Loss == 0 {
		err = s.convicted()
	}
	r.Ends = s.Aggregator.Status().State
	r.Refused, r.Crashes, r.Actions, r.Seen = s.Refused, s.Crashes, s.Actions, s.Seen
	for _, e := range s.Aggregator.Stored {
		if e.Kind() == protocol.KindRoster {
			r.Attempts++
		}
		if e.Kind() == protocol.KindResult {
			r.First = decode(wire.DecodeResult(e.Payload())).FirstOnly
		}
	}
	if err == nil && must && r.First {
		err = errors.New("the result is of the first round alone, and there are enough for the second")
	}
	for _, b := range s.Blame() {
		if b.Proved {
			r.Proved++
		} else {
			r.Claimed++
		}
	}
	if err != nil {
		err = fmt.Errorf("schedule %d of %+v with %s: %w\n%s", seed, r.Terms, strings.Join(r.Roles, ", "), err, s.Trace())
	}
	return r, err
}

func randomTerms(draw *rand.Rand) Terms {
	n := 2 + draw.IntN(4)
	least := max(2, n/2+1)
	t := Terms{Parties: n, Quorum: least + draw.IntN(n-least+1), Attempts: 1 + draw.IntN(4), Late: draw.IntN(3) == 0, Public: draw.IntN(3) == 0}
	t.Masked = n > 2 && !t.Late && !t.Public && draw.IntN(2) == 0
	return t
}

// cast assigns the roles: usually as many as the study can bear, sometimes one more. It returns how
// many parties are not honest or cannot be heard.
func (r *Report) cast(s *Simulation, draw *rand.Rand) int {
	most := len(s.Parties) - s.Study.Quorum
	if draw.IntN(5) == 0 {
		most = min(most+1, len(s.Parties)-1)
	}
	count := draw.IntN(most + 1)
	for _, i := range draw.Perm(len(s.Parties))[:count] {
		two := s.Study.TwoRounds()
		between := two && draw.IntN(2) == 0 // only roles specific to two rounds
		roles := slices.DeleteFunc(Roles(draw), func(r *Role) bool {
			return r.Rounds && !two || between && !r.Rounds || r.Inline && s.Study.Apart() || r.Apart && !s.Study.Apart()
		})
		p := s.Parties[i]
		if k := draw.IntN(len(roles) + 1); k < len(roles) {
			p.Role = roles[k]
			r.Roles = append(r.Roles, p.Name+": "+p.Role.Name)
			continue
		}
		if s.Censored == nil {
			s.Censored = map[string]bool{}
		}
		s.Censored[p.Name] = true // honest, but never heard
		r.Roles = append(r.Roles, p.Name+": censored")
	}
	for _, p := range s.Parties {
		ask := draw.IntN(4) == 0
		p.Welcome = func(protocol.PeerID) bool { return !ask }
	}
	return count
}

// latecomer picks a party that decides after the roster is fixed, in some of the studies that take
// late parties: one with a late role or, if there is none, an honest one.
func (s *Simulation) latecomer(draw *rand.Rand) *Party {
	if s.Study.LateUntil == 0 || draw.IntN(4) == 0 {
		return nil
	}
	fits := func(p *Party) bool { return p.honest() && !s.Censored[p.Name] }
	if slices.ContainsFunc(s.Parties, func(p *Party) bool { return p.Role != nil && p.Role.Late }) {
		fits = func(p *Party) bool { return p.Role != nil && p.Role.Late }
	}
	for _, p := range s.Parties {
		if fits(p) {
			p.Excused = true
			return p
		}
	}
	return nil
}

// Play lets every steward approve (the one of late after the others, if late is not nil), and moves
// the clock through all dates of the study.
func (s *Simulation) Play(late *Party) error {
	for _, p := range s.Parties {
		if p == late {
			continue
		}
		if err := p.Approve(); err != nil {
			return err
		}
	}
	for _, date := range s.dates() {
		if err := s.Run(); err != nil {
			return err
		}
		if err := s.Check(); err != nil {
			return err
		}
		if late != nil && late.Store.Decision == "" && s.Now >= Expires {
			if err := late.Approve(); err != nil {
				return err
			}
			if err := s.Run(); err != nil {
				return err
			}
		}
		if err := s.Advance(date); err != nil {
			return err
		}
		if late != nil && late.Store.Decision == "" && s.Now >= Expires && s.Seed%2 == 0 {
			if err := late.Approve(); err != nil { // before it knows that the roster is fixed
				return err
			}
		}
	}
	return s.Run()
}

// dates returns the times at which something can happen by the clock alone.
func (s *Simulation) dates() []protocol.Instant {
	out := append(s.Study.Dates(), Deadline)
	slices.Sort(out)
	return slices.Compact(out)
}

// progress checks that the study has its result, and that every honest party that was heard is
// done.
func (s *Simulation) progress() error {
	if got := s.Aggregator.Status(); got.State != session.Closed {
		return fmt.Errorf("no progress: the aggregator is %s (%v)", got.State, got.Failure)
	}
	for _, p := range s.Parties {
		if !p.honest() || s.Censored[p.Name] || p.Excused && !s.welcomed(p) {
			continue
		}
		if got := p.Status(); got.State != session.Done || p.Over != nil {
			return fmt.Errorf("no progress: %s is %s (%v, %v)", p.Name, got.State, got.Failure, p.Over)
		}
	}
	return nil
}

// welcomed reports whether an honest member has sent a latecomer the seed.
func (s *Simulation) welcomed(late *Party) bool {
	var join protocol.Digest
	for _, e := range s.Aggregator.Stored {
		if e.Kind() == protocol.KindJoin && e.Sender() == late.Signer.ID() {
			join = e.ID()
		}
		if e.Kind() == protocol.KindWelcome && join != (protocol.Digest{}) && about(e) == join && s.party(e.Sender()).honest() {
			return true
		}
	}
	return false
}

// convicted checks that an adversary whose misbehaviour can be shown is blamed on the board, if it
// was the only one.
func (s *Simulation) convicted() error {
	var actor *Party
	for _, p := range s.Parties {
		if p.Role != nil {
			if actor != nil {
				return nil // one's fault may end the attempt before the other's is seen
			}
			actor = p
		}
		if p.Excused {
			return nil // a late party is no member, so there may be too few for another attempt
		}
	}
	if actor == nil || !actor.Role.Did() || len(s.Censored) > 0 {
		return nil
	}
	found := slices.ContainsFunc(s.Blame(), func(r session.Removal) bool {
		return r.Member == actor.Signer.ID() && r.Proved == (actor.Role.Blame == "proved")
	})
	members := len(s.Parties)-1 >= s.Study.Quorum && s.Study.Attempts > 1            // else a silent member is accused only at the end
	if actor.Role.Blame == "perhaps" || actor.Role.Blame == "" && s.Study.Masked() { // a refused release is missing in a masked sum
		return nil
	}
	if actor.Role.Blame == "" == found && (actor.Role.Blame != "claimed" || members) {
		return fmt.Errorf("%s (%s) should be %q on the board: %v", actor.Name, actor.Role.Name, actor.Role.Blame, s.Blame())
	}
	return nil
}
