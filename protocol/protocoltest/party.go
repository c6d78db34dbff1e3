package protocoltest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Party is one simulated party: a machine over a virtual store, driven as
// package node drives it.
type Party struct {
	Name   string
	Signer protocol.Signer
	Store  Store
	Away   bool  // the node is switched off until this is false again
	Role   *Role // what it does instead of the protocol; nil for an honest party
	Hand   bool  // it carries the study by hand: bundles in place of calls
	Debits int   // how often its budget was spent, durably

	// Excused parties were away or slow when they were waited for: the aggregator may
	// have claimed so.
	Excused bool
	Over    error // a refusal that no later try can mend: the node gave up
	Seed    [32]byte
	attempt uint32          // that gave Seed
	T2      protocol.Digest // Seed and T2 are those that releases were offered under

	Welcome func(newcomer protocol.PeerID) bool // the site's rule for late parties; default: nobody

	sim      *Simulation
	entropy  io.Reader
	machine  *session.Party // nil while the node is down
	outbox   []protocol.Verified
	jobs     []session.Job
	shown    session.Status
	sent     map[string][]byte // by title
	restored bool              // its store was put back to an earlier state: it may sign anew
	asked    protocol.Instant  // when the board was last read
	way      *walk             // a bundle on its way; nil: there is none
}

// errCrashed reports that the node died on the way; it is not a breach.
var errCrashed = errors.New("crashed")

// Status is what the running node says.
func (p *Party) Status() session.Status {
	if p.machine == nil {
		return session.Status{}
	}
	return p.machine.Status()
}

// start makes the machine from the store, replays the board and brings the
// steward's decision again.
func (p *Party) start() error {
	machine, err := session.NewParty(session.PartyConfig{
		Study: p.sim.Study, Signer: p.Signer, Entropy: p.entropy, Restored: p.Store.restored(), Welcome: p.Welcome,
	})
	if err != nil {
		return fmt.Errorf("%s starts: %w", p.Name, err)
	}
	p.machine, p.outbox, p.jobs, p.asked = machine, nil, nil, 0
	if n := len(p.Store.Board); n > 0 {
		if err := p.Step(session.Board{Envelopes: p.Store.Board[:n:n], Head: p.Store.Head, Stored: true}); err != nil {
			return err
		}
	}
	return p.decided()
}

// Approve is the steward's consent; it is durable, also for a node that is down.
func (p *Party) Approve() error { return p.decide("approve") }

// Withdraw is the steward's withdrawal.
func (p *Party) Withdraw() error { return p.decide("withdraw") }

func (p *Party) decide(decision string) error {
	p.Store.Decision = decision
	p.sim.note("%s's steward decides: %s", p.Name, decision)
	return p.sim.survive(p.decided())
}

func (p *Party) decided() error {
	switch p.Store.Decision {
	case "approve":
		return p.Step(session.Consent{})
	case "withdraw":
		return p.Step(session.Retract{})
	}
	return nil
}

// Step tells the machine the time and then the event, and makes durable what it
// asks for. It is the machine's own error when the event is refused.
func (p *Party) Step(event session.Event) error {
	for _, ev := range []session.Event{session.Tick{Now: p.sim.Now}, event} {
		if p.machine == nil {
			return errCrashed
		}
		effects, err := p.machine.Step(ev)
		if err != nil {
			return err
		}
		if err := p.carryOut(effects); err != nil {
			return err
		}
	}
	if s := p.Status(); changed(s, p.shown) {
		p.shown = s
		p.sim.show(p.Name, s)
	}
	return nil
}

func (p *Party) carryOut(effects session.Effects) error {
	if len(effects.Persist) > 0 && p.sim.crashes(p.crash) {
		return errCrashed
	}
	for _, record := range effects.Persist {
		what, err := p.Store.persist(record)
		if err != nil {
			p.sim.breach("%s %v", p.Name, err)
		}
		if what == "" {
			continue
		}
		p.sim.note("%s persists %s", p.Name, what)
		if p.sim.crashes(p.crash) {
			return errCrashed
		}
	}
	p.outbox = effects.Send
	for _, job := range effects.Run {
		p.watch(job)
		p.jobs = append(p.jobs, job)
	}
	p.jobs = slices.DeleteFunc(p.jobs, func(job session.Job) bool { return !p.machine.Wants(job) })
	return nil
}

// watch holds what must be true when a job is offered.
func (p *Party) watch(job session.Job) {
	late := p.sim.Study.LateUntil != 0
	release, ok := job.(session.MakeRelease)
	if ok {
		members := p.Store.senders(protocol.KindCommit, release.Attempt)
		if n := p.Store.senders(protocol.KindConfirm, release.Attempt); n < 2 || n != members {
			p.sim.breach("%s is to release under %d confirmations of %d members", p.Name, n, members)
		}
		if err := p.certain(release); err != nil {
			p.sim.breach("%s is to release although %v", p.Name, err)
		}
		for attempt := range uint32(p.sim.Study.Attempts + 1) {
			if p.Store.senders(protocol.KindStop, attempt) > 0 || !late && p.Store.senders(protocol.KindResult, attempt) > 0 {
				p.sim.breach("%s is to release into a closed study", p.Name)
			}
		}
	}
	if !ok && !late && len(p.Store.Secrets) > 0 {
		p.sim.breach("%s is past its release and holds secrets", p.Name)
	}
}

// certain checks that every confirmation on the board is under the seed that a
// release is to be made with.
func (p *Party) certain(job session.MakeRelease) error {
	for _, e := range p.Store.Board {
		if e.Kind() != protocol.KindConfirm || e.Attempt() != job.Attempt {
			continue
		}
		c, err := wire.DecodeConfirm(e.Payload())
		if err != nil {
			return err
		}
		outcome := agree.Outcome{Seed: job.Seed, T1: c.T1, T2: job.T2, Publish: p.sim.Study.Published()}
		if err := outcome.Check(e.Sender(), c.Confirm); err != nil {
			return fmt.Errorf("the confirmation of %s does not verify: %w", p.sim.name(e.Sender()), err)
		}
	}
	return nil
}

func (p *Party) crash() {
	p.sim.Crashes++
	p.sim.note("%s crashes", p.Name)
	p.machine, p.outbox, p.jobs = nil, nil, nil
}

// over reports whether the node would serve the study no longer.
func (p *Party) over() bool {
	if p.machine == nil {
		return false
	}
	s := p.machine.Status()
	return p.Over != nil || s.Terminal() && !(s.State == session.Withdrawn && len(p.outbox) > 0)
}

// post sends the first waiting envelope. When it is refused, the board may say
// why, as that of a study which was stopped; if it does not, the node gives up.
func (p *Party) post() error {
	e := p.outbox[0]
	raw := wire.EncodeEnvelope(e.Envelope())
	if p.Role == nil && !p.Store.holds(e) {
		p.sim.breach("%s sends a %s that is not durable", p.Name, e.Kind())
	}
	name := title(e)
	if e.Kind() == protocol.KindWelcome {
		name += " " + about(e).String()
	}
	if before, ok := p.sent[name]; p.Role == nil && !p.restored && ok && !bytes.Equal(before, raw) {
		p.sim.breach("%s sends two different %s messages", p.Name, e.Kind())
	}
	p.sent[name] = raw
	current := p.Role == nil && p.machine.Count() == p.keeper().count() && p.sim.Twin == nil
	err := p.put(e, raw)
	if current && errors.Is(err, session.ErrPassed) && !errors.Is(err, session.ErrClosed) {
		p.sim.breach("%s sends what has lost its turn on the board that it holds: %v", p.Name, reason(err))
	}
	switch {
	case err == nil, errors.Is(err, session.ErrPosted):
		if len(p.outbox) > 0 {
			p.outbox = p.outbox[1:]
		}
	case errors.Is(err, errLost), errors.Is(err, errCrashed):
	default:
		if err := p.read(most); err != nil {
			return err
		}
		if !p.Status().Terminal() && p.offers(e) {
			p.Over = err
		}
	}
	if p.machine == nil {
		return errCrashed
	}
	return p.mayCrash()
}

// put sends an envelope, or what the party's role makes of it.
func (p *Party) put(e protocol.Verified, raw []byte) error {
	if p.Role == nil {
		return p.sim.send(p, raw)
	}
	for _, other := range p.Role.send(p, e) {
		if err := p.sim.send(p, wire.EncodeEnvelope(other.Envelope())); err != nil && !errors.Is(err, errLost) {
			p.sim.Refused++
		}
	}
	return nil
}

// offers reports whether the machine still wants an envelope posted.
func (p *Party) offers(e protocol.Verified) bool {
	return slices.ContainsFunc(p.outbox, func(o protocol.Verified) bool { return o.ID() == e.ID() })
}

// most is more than any board has.
const most = 1 << 20

// read takes the next stretch of the board, so many messages at the most.
func (p *Party) read(atMost int) error {
	p.asked = p.sim.Now
	reply, err := p.keeper().reply(p.machine.Count(), atMost)
	if err != nil {
		return err
	}
	if p.sim.Lie != nil {
		reply = p.sim.Lie(p, reply)
	}
	if len(reply.Envelopes) > 0 {
		p.sim.note("%s reads %s", p.Name, p.sim.names(reply.Envelopes))
	}
	return p.Step(reply)
}

// readSome reads a stretch of any length.
func (p *Party) readSome() error {
	news := int64(p.keeper().count()) - int64(p.machine.Count())
	return p.read(1 + p.sim.choose.IntN(int(max(news, 1))))
}

// keeper is the aggregator that serves this party: a two-faced one has two boards.
func (p *Party) keeper() *Aggregator {
	if p.sim.Twin != nil && p.sim.Behind[p.Name] {
		return p.sim.Twin
	}
	return p.sim.Aggregator
}

// upToDate reports whether the party has seen all of the board at this time.
func (p *Party) upToDate() bool {
	return p.asked == p.sim.Now && p.machine.Count() == p.keeper().count()
}

func changed(a, b session.Status) bool {
	return a.State != b.State || a.WaitFor != b.WaitFor || fmt.Sprint(a.From) != fmt.Sprint(b.From) || a.Until != b.Until
}
