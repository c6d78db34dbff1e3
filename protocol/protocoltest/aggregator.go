package protocoltest

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/session/drive"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Aggregator is the simulated aggregator: a machine over a virtual store of its board and the
// complete releases.
type Aggregator struct {
	cancelled bool // by its operator

	Signer protocol.Signer
	Stored []protocol.Verified        // the board
	Whole  []protocol.Digest          // ids of the complete releases, in the order of arrival
	sealed map[protocol.Digest]sealed // by the id of a share: what came beside it

	sim     *Simulation
	machine *drive.Aggregator // nil while the node is down
	jobs    []session.Compute
	shown   session.Status
}

// Status returns the status of the running node.
func (a *Aggregator) Status() session.Status {
	if a.machine == nil {
		return session.Status{}
	}
	return a.machine.Status()
}

// Board returns the stored board, for a keeper that will change it.
func (a *Aggregator) Board() Board {
	return Board{Study: a.sim.Study.ID, Keeper: a.Signer, Envelopes: slices.Clone(a.Stored)}
}

// start makes the machine from the store: first the board, then the complete releases, then the
// time.
func (a *Aggregator) start() error {
	machine, err := drive.OpenAggregator(session.AggregatorConfig{Study: a.sim.Study, Signer: a.Signer}, a.Stored, shelf{a})
	if err != nil {
		return err
	}
	a.machine, a.jobs = machine, nil
	for _, p := range a.sim.Study.Parties {
		if h, posted := machine.Release(p.ID); !posted || !slices.Contains(a.Whole, h.ID) {
			continue
		}
		if err := a.step(session.Collected{Party: p.ID}); err != nil {
			return err
		}
	}
	return a.step(session.Tick{Now: a.sim.Now})
}

// Post delivers an envelope, and returns why it was refused.
func (a *Aggregator) Post(e protocol.Verified) error {
	if err := a.step(session.Tick{Now: a.sim.Now}); err != nil {
		return err
	}
	return a.step(session.Post{Envelope: e})
}

func (a *Aggregator) step(ev session.AggregatorEvent) error {
	if a.machine == nil {
		return errCrashed
	}
	run, refused, broken := a.machine.Step(ev)
	if broken != nil {
		return broken
	}
	a.jobs = append(a.jobs, run...)
	if s := a.Status(); changed(s, a.shown) {
		a.shown = s
		a.sim.show("aggregator", s)
	}
	return refused
}

// shelf stores the aggregator's board. The aggregator can crash after each envelope.
type shelf struct{ *Aggregator }

func (a shelf) Append(envelopes []protocol.Verified) error {
	for _, e := range envelopes {
		a.Stored = append(a.Stored, a.keep(e))
		a.sim.note("aggregator persists %s", a.sim.names([]protocol.Verified{e}))
		if a.sim.crashes(a.crash) {
			return errCrashed
		}
	}
	return nil
}

// Cancel ends the study by the operator's decision.
func (a *Aggregator) Cancel(reason string) error {
	a.sim.note("aggregator's operator decides: cancel")
	a.cancelled = true
	return a.step(session.Cancel{Reason: reason})
}

func (a *Aggregator) crash() {
	a.sim.note("aggregator crashes")
	a.machine, a.jobs = nil, nil
}

func (a *Aggregator) count() uint64 { return uint64(len(a.Stored)) }

// reply answers a read, encoded and decoded as a party gets it. Many parties instead share the
// messages that the aggregator decoded, so that not each holds a copy of all.
func (a *Aggregator) reply(to *Party, from uint64, most int) (session.Board, error) {
	end := min(from+uint64(most), a.count())
	if a.sim.many() {
		out := session.Board{From: from, Head: a.machine.HeadAt(end)}
		for _, e := range a.Stored[from:end] {
			out.Envelopes = append(out.Envelopes, a.sealedTo(to, e))
		}
		return out, nil
	}
	raw := wire.BoardReply{From: from, Head: a.machine.HeadAt(end)}
	for _, e := range a.Stored[from:end] {
		raw.Envelopes = append(raw.Envelopes, a.sealedTo(to, e).Envelope())
	}
	reply, err := wire.DecodeBoardReply(wire.EncodeBoardReply(raw), a.sim.Study.ID)
	if err != nil {
		return session.Board{}, err
	}
	out := session.Board{From: reply.From, Head: reply.Head}
	for _, plain := range reply.Envelopes {
		e, err := a.sim.verify(plain)
		if err != nil {
			return session.Board{}, err
		}
		out.Envelopes = append(out.Envelopes, e)
	}
	return out, nil
}

// collect stores all of a party's release.
func (a *Aggregator) collect(id protocol.PeerID) error {
	if a.machine == nil {
		return errCrashed
	}
	h, posted := a.machine.Release(id)
	if !posted {
		return fmt.Errorf("%s uploads a release that is not on the board", a.sim.name(id))
	}
	if !slices.Contains(a.Whole, h.ID) {
		a.Whole = append(a.Whole, h.ID)
	}
	if a.machine.Collected(id) {
		return nil
	}
	if a.sim.crashes(a.crash) {
		return errCrashed
	}
	return a.step(session.Collected{Party: id})
}

// work runs the analyses: their document hashes to the releases they read.
func (a *Aggregator) work() error {
	job := a.jobs[0]
	a.jobs = a.jobs[1:]
	if err := a.sim.Outcome("aggregator", job); err != nil {
		a.sim.note("aggregator cannot do its job: %v", err)
		return a.step(session.JobFailed{Err: err})
	}
	if job.Between() {
		a.sim.note("aggregator answers %d first rounds", len(job.Firsts))
		if a.sim.crashes(a.crash) {
			return errCrashed
		}
		return a.step(session.InterimComputed{Firsts: job.Firsts, Basis: a.sim.Study.PlaceholderBasis()})
	}
	if a.sim.Study.Masked() && len(job.Releases) > 0 {
		if err := a.sim.summed(job); err != nil {
			a.sim.breach("the aggregator adds up %d masked releases: %v", len(job.Releases), err)
		}
	}
	var ids []byte
	done := session.Computed{Releases: job.Releases, Firsts: job.Firsts}
	for _, f := range job.Firsts {
		ids = append(ids, f.ID[:]...)
	}
	for _, h := range job.Releases {
		ids = append(ids, h.ID[:]...)
		done.PerParty = append(done.PerParty, protocol.PartyDocument{
			Party: h.Party.ID, Document: protocol.Document{Hash: protocol.Hash("labels", h.ID[:]), Size: 1},
		})
	}
	done.Document = protocol.Document{Hash: protocol.Hash("result", ids), Size: 1}
	if len(job.Firsts) > 0 {
		a.sim.note("aggregator computes from %d first rounds alone", len(job.Firsts))
	} else {
		a.sim.note("aggregator computes from %d releases", len(job.Releases))
	}
	if a.sim.crashes(a.crash) {
		return errCrashed
	}
	if err := a.step(done); err != nil {
		return fmt.Errorf("aggregator takes its result: %w", err)
	}
	return nil
}
