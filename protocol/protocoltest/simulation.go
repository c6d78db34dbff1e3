package protocoltest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Options configures a simulation. The zero value is three parties without failures.
type Options struct {
	Study *study.Study // default: NewStudy(Terms{})
	Seed  uint64       // of the schedule, the network and all entropy
	Loss  float64      // probability that a message or its answer is lost or delayed

	// Crash reports whether a node crashes at a point, numbered from 1. Points are before and after
	// each durable record, after each job's durable effect and after each message sent. Default:
	// never.
	Crash func(point int) bool

	// Outcome makes a node's job fail for good if it returns an error. Default: all succeed.
	Outcome func(node string, job session.Job) error
}

// Simulation is one study on all of its nodes.
type Simulation struct {
	Options
	Now        protocol.Instant // the clock of all nodes; Advance moves it
	Aggregator *Aggregator
	Parties    []*Party // in the study's order
	Seen       []Sighting
	Points     int // number of crash points so far
	Crashes    int // of parties, so far
	Actions    int // taken so far
	Refused    int // messages of adversaries that the aggregator refused

	// Lie changes the aggregator's answer to a reading party. Default: no change.
	Lie func(to *Party, honest session.Board) session.Board

	// Twin is the other face of an aggregator that shows two boards under one key. It serves the
	// parties in Behind. What parties post reaches both. Default: none.
	Twin   *Aggregator
	Behind map[string]bool

	// Hide reports whether a message is withheld from one face of the aggregator. Default: none is.
	Hide func(from *Aggregator, e protocol.Verified) bool

	// Carry re-encodes a message as a carrier might. Default: unchanged.
	Carry func(raw []byte) []byte

	// Censored parties' messages never reach the aggregator. Default: none.
	Censored map[string]bool

	choose      *rand.Rand
	delayed     [][]byte // messages that will arrive later
	checked     map[string]protocol.Verified
	beside      map[protocol.Digest][][]byte // texts of shares of many parties, shared with their senders to save memory
	mu          sync.Mutex                   // guards what parties that read in parallel write: Seen, Points, and the fields below
	trace       strings.Builder
	firstBreach error
}

// Sighting is a status that a node showed.
type Sighting struct {
	Node   string
	At     protocol.Instant
	Status session.Status
}

// New makes a study on all of its nodes and starts them; nobody has decided yet.
func New(o Options) (*Simulation, error) {
	if o.Study == nil {
		s, err := NewStudy(Terms{})
		if err != nil {
			return nil, err
		}
		o.Study = s
	}
	if o.Crash == nil {
		o.Crash = func(int) bool { return false }
	}
	if o.Outcome == nil {
		o.Outcome = func(string, session.Job) error { return nil }
	}
	s := &Simulation{Options: o, Now: Start, choose: rand.New(rand.NewPCG(o.Seed, 0)), checked: map[string]protocol.Verified{}, beside: map[protocol.Digest][][]byte{}}
	s.Aggregator = &Aggregator{Signer: Identity("aggregator"), sim: s}
	if err := s.survive(s.Aggregator.start()); err != nil {
		return nil, err
	}
	for i, signer := range parties(len(o.Study.Parties)) {
		entropy := sha256.Sum256(fmt.Appendf(nil, "entropy of party %d, seed %d", i, o.Seed))
		p := &Party{
			Name: o.Study.Parties[i].Name, Signer: signer, sim: s,
			entropy: rand.NewChaCha8(entropy), sent: map[string][32]byte{},
		}
		if err := s.survive(p.start()); err != nil {
			return nil, err
		}
		s.Parties = append(s.Parties, p)
	}
	return s, nil
}

// ApproveAll records every steward's consent.
func (s *Simulation) ApproveAll() error {
	for _, p := range s.Parties {
		if err := p.Approve(); err != nil {
			return err
		}
	}
	return nil
}

// survive ignores the error of a crashed node: it will be restarted.
func (s *Simulation) survive(err error) error {
	if errors.Is(err, errCrashed) {
		return nil
	}
	return err
}

// patience bounds the actions of one Run; the longest runs in tests take some hundreds.
const patience = 20_000

// Run takes actions in a random order until nothing is left to do at this time: every node is up,
// every message has arrived, every job is done, and every party has read all of the board. It
// returns the first breach of the machines' contract.
func (s *Simulation) Run() error { return s.RunUntil(func() bool { return false }) }

// RunUntil is Run, but ends as soon as enough returns true.
func (s *Simulation) RunUntil(enough func() bool) error {
	for range patience {
		if s.firstBreach != nil || enough() {
			return s.firstBreach
		}
		actions := s.actions()
		if len(actions) == 0 {
			return nil
		}
		s.Actions++
		if err := s.survive(actions[s.choose.IntN(len(actions))]()); err != nil {
			return err
		}
	}
	return fmt.Errorf("nodes are still busy after %d actions", patience)
}

// InTurn lets the nodes act one after the other, each as long as it can, until none has anything to
// do. It is for studies of many parties, where drawing each action at random takes too long.
func (s *Simulation) InTurn() error {
	for busy := true; busy && s.firstBreach == nil; {
		busy = false
		if err := s.readAll(); err != nil {
			return err
		}
		for _, p := range s.Parties {
			acted, err := s.turnOf(p)
			if err != nil {
				return err
			}
			busy = busy || acted
		}
		for len(s.Aggregator.jobs) > 0 {
			if err := s.Aggregator.work(); err != nil {
				return err
			}
			busy = true
		}
	}
	return s.firstBreach
}

// readAll lets every party that has nothing else to do read the board, in parallel. Sealing to many
// others and opening their texts is most of the work of a simulation of many parties.
func (s *Simulation) readAll() error {
	var all []*Party
	for _, p := range s.Parties {
		if post, run := p.due(); !p.over() && len(post)+len(run) == 0 && !p.upToDate() {
			all = append(all, p)
		}
	}
	failed := make([]error, len(all))
	workers := 1 // with few parties, reads go through verify, whose cache is not safe for concurrent use
	if s.many() {
		workers = runtime.GOMAXPROCS(0)
	}
	parallel.Share(len(all), workers, func(_, i int) { failed[i] = all[i].read(wire.MaxEnvelopes) })
	return errors.Join(failed...)
}

// turnOf lets one party do everything it can.
func (s *Simulation) turnOf(p *Party) (acted bool, err error) {
	for !p.over() && s.firstBreach == nil {
		post, run := p.due()
		switch {
		case len(post) > 0:
			err = p.post()
		case len(run) > 0:
			err = p.work()
		case !p.upToDate():
			err = p.read(wire.MaxEnvelopes)
		default:
			return acted, nil
		}
		if acted = true; err != nil {
			return acted, err
		}
	}
	return acted, nil
}

// actions lists what can happen next, in a fixed order.
func (s *Simulation) actions() (out []func() error) {
	a := s.Aggregator
	if a.machine == nil {
		out = append(out, a.start)
	} else {
		if len(a.jobs) > 0 {
			out = append(out, a.work)
		}
		if len(s.delayed) > 0 {
			out = append(out, s.arrive)
		}
	}
	if s.Twin != nil && len(s.Twin.jobs) > 0 {
		out = append(out, s.Twin.work)
	}
	for _, p := range s.Parties {
		if p.Away {
			continue
		}
		if p.machine == nil {
			out = append(out, p.start)
			continue
		}
		if p.Role != nil && p.Role.watch != nil && p.over() && a.machine != nil && !s.Censored[p.Name] {
			if more := p.Role.watch(p); len(more) > 0 {
				out = append(out, func() error {
					s.send(p, wire.EncodeEnvelope(more[0].Envelope()))
					return nil
				})
			}
		}
		if p.over() || a.machine == nil {
			continue
		}
		post, run := p.due()
		if p.Hand {
			if do := p.byHand(); do != nil {
				out = append(out, do)
			}
		} else if len(post) > 0 {
			out = append(out, p.post)
		}
		if len(run) > 0 {
			out = append(out, p.work)
		}
		if !p.Hand && !p.upToDate() {
			out = append(out, p.readSome)
		}
	}
	return out
}

// Advance moves the clock. The aggregator learns of it at once, each party at its next read of the
// board.
func (s *Simulation) Advance(to protocol.Instant) error {
	s.Now = to
	s.note("it is %s", to)
	if s.Aggregator.machine != nil {
		if err := s.survive(s.Aggregator.step(session.Tick{Now: to})); err != nil {
			return err
		}
	}
	if s.Twin != nil {
		if err := s.Twin.step(session.Tick{Now: to}); err != nil {
			return err
		}
	}
	return s.firstBreach
}

// Restart restarts every node from what it has stored.
func (s *Simulation) Restart() error {
	s.Aggregator.crash()
	if err := s.survive(s.Aggregator.start()); err != nil {
		return err
	}
	for _, p := range s.Parties {
		p.crash()
		if err := s.survive(p.start()); err != nil {
			return err
		}
	}
	return s.firstBreach
}

// errLost reports that a message or its answer did not arrive.
var errLost = errors.New("lost")

// send carries an envelope to the aggregator, if the network lets it.
func (s *Simulation) send(p *Party, raw []byte) error {
	from := p.Name
	if s.Censored[from] {
		return nil // it is told that all is well
	}
	fate := s.choose.Float64() / max(s.Loss, 1e-9)
	switch {
	case fate < 0.3:
		s.note("%s's message is lost", from)
		return errLost
	case fate < 0.6:
		s.note("%s's message is delayed", from)
		s.delayed = append(s.delayed, raw)
		return errLost
	}
	err := s.deliver(p.keeper(), raw)
	if s.Twin != nil {
		s.deliver(s.other(p.keeper()), raw)
	}
	if fate < 1 {
		s.note("the answer to %s is lost", from)
		return errLost
	}
	return err
}

// other returns the other face of the aggregator.
func (s *Simulation) other(a *Aggregator) *Aggregator {
	if a == s.Twin {
		return s.Aggregator
	}
	return s.Twin
}

func (s *Simulation) deliver(to *Aggregator, raw []byte) error {
	if s.Carry != nil {
		raw = s.Carry(raw)
	}
	plain, err := wire.DecodeEnvelope(raw)
	if err != nil {
		return err
	}
	e, err := s.verify(plain)
	if err != nil {
		return err
	}
	if s.Hide != nil && s.Hide(to, e) {
		return nil // its sender is told that all is well
	}
	err = to.Post(e)
	switch {
	case err == nil:
	case errors.Is(err, session.ErrPosted):
		s.note("aggregator has %s already", s.names([]protocol.Verified{e}))
	case !errors.Is(err, errCrashed):
		s.note("aggregator refuses %s: %v", s.names([]protocol.Verified{e}), reason(err))
	}
	return err
}

// verify is protocol.Verify with a cache: every party reads each message.
func (s *Simulation) verify(plain protocol.Envelope) (protocol.Verified, error) {
	texts, path := plain.Texts, plain.Path // not covered by the signature
	if plain.Kind == protocol.KindShare {
		plain.Texts, plain.Path = nil, nil
	}
	signed := string(wire.EncodeEnvelope(plain))
	e, ok := s.checked[signed]
	if !ok {
		var err error
		if e, err = protocol.Verify(plain); err != nil {
			return e, err
		}
		s.checked[signed] = e
	}
	if plain.Kind == protocol.KindShare {
		if own, ok := s.beside[e.ID()]; ok && slices.EqualFunc(own, texts, bytes.Equal) {
			texts = own
		}
		e = e.With(texts, path)
	}
	return e, nil
}

// arrive delivers a random delayed message; nobody waits for the answer any more.
func (s *Simulation) arrive() error {
	i := s.choose.IntN(len(s.delayed))
	raw := s.delayed[i]
	s.delayed = slices.Delete(s.delayed, i, i+1)
	s.deliver(s.Aggregator, raw)
	return nil
}

// crashes decides whether a node crashes here, and crashes it.
func (s *Simulation) crashes(die func()) bool {
	s.mu.Lock()
	s.Points++
	dies := s.Crash(s.Points)
	s.mu.Unlock()
	if !dies {
		return false
	}
	die()
	return true
}

// breach records a breach of the contract; the first one counts.
func (s *Simulation) breach(format string, args ...any) {
	s.note(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.firstBreach == nil {
		s.firstBreach = fmt.Errorf(format, args...)
	}
}

// Trace returns what has happened so far, one line each.
func (s *Simulation) Trace() string { return s.trace.String() }

func (s *Simulation) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.trace, format+"\n", args...)
}

// show records a status, with the names of the study.
func (s *Simulation) show(node string, status session.Status) {
	seen := status
	if s.many() {
		seen.From = nil // long lists are not kept for each sighting
	}
	s.mu.Lock()
	s.Seen = append(s.Seen, Sighting{node, s.Now, seen})
	s.mu.Unlock()
	if len(s.Parties) > fewWaited && len(status.From) > fewWaited && status.Failure == nil {
		s.note("%s is %s, waits for %s from %d", node, status.State, status.WaitFor, len(status.From))
		return
	}
	line := fmt.Sprintf("%s is %s", node, status.State)
	if status.WaitFor != "" {
		var from []string
		for _, id := range status.From {
			from = append(from, s.name(id))
		}
		line += fmt.Sprintf(", waits for %s from %s", status.WaitFor, strings.Join(from, ", "))
	}
	if status.Until != 0 {
		line += fmt.Sprintf(" until %s", status.Until)
	}
	if status.Failure != nil {
		line += fmt.Sprintf(": %v", status.Failure)
	}
	for _, p := range s.Study.Parties {
		line = strings.ReplaceAll(line, p.ID.String(), p.Name)
	}
	s.note("%s", strings.ReplaceAll(line, s.Study.Aggregator.ID.String(), "the aggregator"))
}

// fewWaited is the length up to which the trace of a study of many parties lists names.
const fewWaited = 26

// many reports whether the parties together would hold more copies of all messages than fit in
// memory.
func (s *Simulation) many() bool { return len(s.Study.Parties) > agree.MaxWhole }

func (s *Simulation) name(id protocol.PeerID) string {
	if i, ok := s.Study.PartyIndex(id); ok {
		return s.Study.Parties[i].Name
	}
	return "aggregator"
}

// names lists envelopes by kind and sender.
func (s *Simulation) names(envelopes []protocol.Verified) string {
	if s.many() && len(envelopes) > fewWaited {
		return fmt.Sprintf("%d messages", len(envelopes))
	}
	var out []string
	for _, e := range envelopes {
		out = append(out, fmt.Sprintf("%s of %s", title(e), s.name(e.Sender())))
	}
	return strings.Join(out, ", ")
}

// reason returns an error without the enclosing fault, which names its culprit by id.
func reason(err error) error {
	var f *protocol.Fault
	if errors.As(err, &f) {
		return f.Err
	}
	return err
}
