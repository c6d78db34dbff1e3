package protocoltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/session/drive"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Party is one simulated party: a machine over a virtual store, with the driver and order of
// release of real parties.
type Party struct {
	Name   string
	Signer protocol.Signer
	Store  Store
	Away   bool  // the node is switched off until this is false again
	Role   *Role // what it does instead of the protocol; nil for an honest party
	Hand   bool  // it carries the study by hand, in bundles instead of calls
	Debits int   // how often its budget was durably spent

	// Excused parties were away or slow while others waited for them: the aggregator may have
	// accused them of that.
	Excused bool
	Over    error // a refusal that no retry can fix: the node gave up
	Seed    [32]byte
	attempt uint32          // the attempt that gave Seed
	T2      protocol.Digest // Seed and T2 are those that releases were made under

	Welcome func(newcomer protocol.PeerID) bool // the site's rule for late parties; default: nobody

	sim      *Simulation
	entropy  io.Reader
	machine  *drive.Party    // nil while the node is down
	begins   bool            // the next record is the first that a step asks for
	offered  map[string]bool // jobs seen since the node started
	shown    session.Status
	sent     map[string][32]byte // by title
	restored bool                // its store was reset to an earlier state, so it may sign again
	asked    protocol.Instant    // when the board was last read
	way      *bundleTrip         // a bundle on its way; nil if there is none
}

// errCrashed reports that the node crashed; this is not a breach.
var errCrashed = errors.New("crashed")

// Status returns the status of the running node.
func (p *Party) Status() session.Status {
	if p.machine == nil {
		return session.Status{}
	}
	return p.machine.Status()
}

// start makes the machine from the store, replays the board and repeats the steward's decision.
func (p *Party) start() error {
	p.machine, p.offered, p.asked, p.begins = nil, map[string]bool{}, 0, true
	machine, err := drive.Open(
		session.PartyConfig{Study: p.sim.Study, Signer: p.Signer, Entropy: p.entropy, Welcome: p.Welcome},
		disk{p}, func() protocol.Instant { return p.sim.Now })
	if err != nil {
		return fmt.Errorf("%s starts: %w", p.Name, err)
	}
	if p.machine = machine; len(p.Store.Board) > 0 {
		p.look()
	}
	return p.decided()
}

// Approve records the steward's consent. It is durable even if the node is down.
func (p *Party) Approve() error { return p.decide("approve") }

// Withdraw records the steward's withdrawal.
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

// Step sets the machine's time, processes the event, and makes durable what the machine asks for.
// If the machine refuses the event, Step returns its error.
func (p *Party) Step(event session.Event) error {
	return p.driven(func() error { return p.machine.Step(event) })
}

// driven runs one action of the driver, and examines the jobs that it offers.
func (p *Party) driven(do func() error) error {
	if p.machine == nil {
		return errCrashed
	}
	p.begins = true
	if err := do(); err != nil || p.machine == nil {
		return err
	}
	p.look()
	return nil
}

// look examines newly offered jobs.
func (p *Party) look() {
	_, jobs := p.due()
	for _, job := range jobs {
		if name := named(job); !p.offered[name] {
			p.offered[name] = true
			p.watch(job)
		}
	}
}

// named returns a name that distinguishes the jobs of one machine.
func named(job session.Job) string {
	switch job := job.(type) {
	case session.MakeFirst:
		return fmt.Sprintf("first round %d", job.Attempt)
	case session.MakeRelease:
		return fmt.Sprintf("release %d", job.Attempt)
	case session.Upload:
		return fmt.Sprintf("upload %s", job.Header.T2)
	case session.FetchResult:
		return fmt.Sprintf("fetch %s", job.Result.Document.Hash)
	}
	return fmt.Sprintf("%T", job)
}

// due returns the messages to be posted and the jobs to be run.
func (p *Party) due() ([]protocol.Verified, []session.Job) {
	if p.machine == nil {
		return nil, nil
	}
	return p.machine.Due()
}

// disk is the party's store for the driver. The node can crash before the first record of a step,
// and after each record.
type disk struct{ *Party }

func (d disk) Restored() (session.PartyRestored, error) { return d.Store.restored(), nil }

func (d disk) Board() (session.Board, error) {
	n := len(d.Store.Board)
	return session.Board{Envelopes: d.Store.Board[:n:n], Head: d.Store.Head}, nil
}

func (d disk) Persist(record session.Record) error {
	if d.begins && d.sim.crashes(d.crash) {
		return errCrashed
	}
	d.begins = false
	what, err := d.Store.persist(record)
	if err != nil {
		d.sim.breach("%s %v", d.Name, err)
	}
	if what == "" {
		return nil
	}
	d.sim.note("%s persists %s", d.Name, what)
	return d.mayCrash()
}

// Show records the status if it changed.
func (d disk) Show(s session.Status) error {
	if changed(s, d.shown) {
		d.shown = s
		d.sim.show(d.Name, s)
	}
	return nil
}

// watch checks what must be true when a job is offered.
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
	if _, first := job.(session.MakeFirst); !ok && !first && !late && len(p.Store.Secrets) > 0 {
		p.sim.breach("%s is past its release and holds secrets", p.Name)
	}
}

// certain checks that every confirmation on the board is under the seed of a release job.
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
	p.sim.mu.Lock()
	p.sim.Crashes++
	p.sim.mu.Unlock()
	p.sim.note("%s crashes", p.Name)
	p.machine = nil
}

// over reports whether the node no longer works on the study.
func (p *Party) over() bool {
	if p.machine == nil {
		return false
	}
	s := p.machine.Status()
	post, _ := p.due()
	return p.Over != nil || s.Terminal() && !(s.State == session.Withdrawn && len(post) > 0)
}

// post sends the first waiting envelope. If it is refused, the board may show why, for example
// because the study was stopped. If it does not, the node gives up.
func (p *Party) post() error {
	var refused error
	err := p.driven(func() (err error) {
		refused, err = p.machine.Post(context.Background(), network{p, most}, 1)
		return err
	})
	switch {
	case errors.Is(err, errLost), errors.Is(err, errCrashed):
	case err != nil:
		return err
	case refused != nil && !p.Status().Terminal():
		p.Over = refused
	}
	if p.machine == nil {
		return errCrashed
	}
	return p.mayCrash()
}

// most is longer than any board.
const most = 1 << 20

// read reads the next part of the board, at most that many messages.
func (p *Party) read(atMost int) error {
	return p.driven(func() error { return p.machine.Read(context.Background(), network{p, atMost}, 0) })
}

// readSome reads a random number of messages.
func (p *Party) readSome() error {
	news := int64(p.keeper().count()) - int64(p.machine.Count())
	return p.read(1 + p.sim.choose.IntN(int(max(news, 1))))
}

// keeper returns the aggregator that serves this party: a two-faced one has two boards.
func (p *Party) keeper() *Aggregator {
	if p.sim.Twin != nil && p.sim.Behind[p.Name] {
		return p.sim.Twin
	}
	return p.sim.Aggregator
}

// upToDate reports whether the party has read all of the board at the current time.
func (p *Party) upToDate() bool {
	return p.asked == p.sim.Now && p.machine.Count() == p.keeper().count()
}

func changed(a, b session.Status) bool {
	return a.State != b.State || a.WaitFor != b.WaitFor || !slices.Equal(a.From, b.From) || a.Until != b.Until
}
