package session

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// AggregatorConfig makes an aggregator's machine. Both fields are required.
type AggregatorConfig struct {
	Study  *study.Study
	Signer protocol.Signer // must be the study's aggregator
}

// Aggregator is the machine of the aggregator in one study: the keeper of the
// board. It is not safe for concurrent use: one goroutine owns it.
type Aggregator struct {
	study  *study.Study
	signer protocol.Signer
	view   *view
	now    protocol.Instant

	collected map[protocol.PeerID]bool // releases of which every chunk is stored
	computing bool
	failure   error
}

// NewAggregator makes a machine with an empty board; a stored board is replayed
// through Restore.
func NewAggregator(c AggregatorConfig) (*Aggregator, error) {
	if c.Signer.ID() != c.Study.Aggregator.ID {
		return nil, fmt.Errorf("study %s names the aggregator %s, this one is %s", c.Study.ID.Short(), c.Study.Aggregator.ID, c.Signer.ID())
	}
	return &Aggregator{study: c.Study, signer: c.Signer, view: newView(c.Study), collected: map[protocol.PeerID]bool{}}, nil
}

// Restore takes the stored board in, before the first Step. The releases that are
// wholly stored follow as Collected events, and only then the time: what the
// machine has not been told of at the deadline is missing.
func (a *Aggregator) Restore(board []protocol.Verified) error {
	for i, e := range board {
		if err := a.view.admit(e); err != nil {
			return fmt.Errorf("restoring study %s: envelope %d of the stored board: %w", a.study.ID.Short(), i, err)
		}
	}
	return nil
}

// AggregatorEvent is what happens to an aggregator.
type AggregatorEvent interface{ aggregatorEvent() }

// Post brings an envelope from a peer.
type Post struct{ Envelope protocol.Verified }

// Collected reports that every chunk of a party's release is stored and matches
// its header.
type Collected struct{ Party protocol.PeerID }

// Computed reports that the job Compute is done and its documents are stored.
type Computed struct {
	Releases []Header
	Complete bool
	Document protocol.Document
	PerParty []protocol.PartyDocument
}

func (Tick) aggregatorEvent()      {}
func (Post) aggregatorEvent()      {}
func (Collected) aggregatorEvent() {}
func (Computed) aggregatorEvent()  {}
func (JobFailed) aggregatorEvent() {}

// Step takes one event. An error refuses the event and leaves the board as it
// was: for a Post it goes back to the sender, and a *protocol.Fault names the
// culprit.
func (a *Aggregator) Step(ev AggregatorEvent) (Effects, error) {
	var out Effects
	switch ev := ev.(type) {
	case Tick:
		a.now = max(a.now, ev.Now)
	case Post:
		if err := a.post(ev.Envelope, &out); err != nil {
			return Effects{}, err
		}
	case Collected:
		if _, ok := a.view.releases[ev.Party]; !ok {
			return Effects{}, fmt.Errorf("collected a release of %s, who has posted none", ev.Party)
		}
		a.collected[ev.Party] = true
	case Computed:
		if err := a.computed(ev, &out); err != nil {
			return Effects{}, err
		}
	case JobFailed:
		if !a.computing {
			return Effects{}, fmt.Errorf("a job failed although no analyses run in study %s", a.study.ID.Short())
		}
		a.stop(fmt.Sprintf("the analyses failed: %v", ev.Err), nil, &out)
	default:
		return Effects{}, fmt.Errorf("unknown event %T", ev)
	}
	a.advance(&out)
	return out, nil
}

// post admits a party's envelope.
func (a *Aggregator) post(e protocol.Verified, out *Effects) error {
	if e.Kind().FromAggregator() {
		return fault(e, fmt.Errorf("%s is not for others to post", e.Kind()))
	}
	if err := a.closedTo(e); err != nil {
		return fault(e, err)
	}
	if err := a.view.admit(e); err != nil {
		return err
	}
	out.Persist = append(out.Persist, SaveEnvelope{e})
	return nil
}

// closedTo holds the study's dates. A message that is on the board already is
// not refused for its date, and a withdrawal is in time until the party commits.
func (a *Aggregator) closedTo(e protocol.Verified) error {
	if _, posted := a.view.posted(e.Sender(), e.Kind()); posted {
		return nil
	}
	if e.Kind() == protocol.KindApprove && a.now >= a.study.Expires {
		return fmt.Errorf("%w: approval closed at %s", ErrPremature, a.study.Expires)
	}
	if a.now >= a.study.Deadline {
		return fmt.Errorf("%w: upload closed at %s", ErrPremature, a.study.Deadline)
	}
	return nil
}

// own signs a message of the aggregator and puts it on the board.
func (a *Aggregator) own(kind protocol.Kind, payload []byte, out *Effects) error {
	e := a.signer.Seal(a.study.ID, kind, theAttempt, payload)
	if err := a.view.admit(e); err != nil {
		return err
	}
	out.Persist = append(out.Persist, SaveEnvelope{e})
	return nil
}

// advance takes every step that what is known now allows: the aggregator's
// transition table.
func (a *Aggregator) advance(out *Effects) {
	v := a.view
	switch {
	case v.stop != nil || v.result != nil:
	case v.members == nil:
		a.toRoster(out)
	case a.leaver() != nil:
		a.stop(fmt.Sprintf("%s withdrew after the roster was fixed", a.leaver().Name), nil, out)
	case !v.complete(protocol.KindConfirm):
		if a.now >= a.study.Deadline {
			a.stop("the seed agreement was not complete at the deadline", a.owing(), out)
		}
	default:
		a.toComputed(out)
	}
}

// toRoster: open → agreeing, when every party has decided, or at expiry, with a
// quorum of approvals.
func (a *Aggregator) toRoster(out *Effects) {
	parties, ids := a.view.approvals()
	expired := a.now >= a.study.Expires
	undecided := a.view.undecided()
	switch {
	case (expired || len(undecided) == 0) && len(parties) >= a.study.Quorum:
		if err := a.own(protocol.KindRoster, wire.EncodeRoster(protocol.Roster{Approvals: ids}), out); err != nil {
			a.failure = err
		}
	case expired:
		a.stop(fmt.Sprintf("%d of %d parties approved before approval closed; the quorum is %d", len(parties), len(a.study.Parties), a.study.Quorum), undecided, out)
	case len(a.study.Parties)-len(a.view.withdrawn) < a.study.Quorum:
		a.stop("too many parties withdrew for a quorum", nil, out)
	}
}

// leaver returns a member that withdrew between the roster and its commit.
func (a *Aggregator) leaver() *study.Party {
	for i, m := range a.view.members {
		if a.view.withdrawn[m.ID] {
			return &a.view.members[i]
		}
	}
	return nil
}

// toComputed: collecting → computing, when every release is in, or at the
// deadline with a quorum of them.
func (a *Aggregator) toComputed(out *Effects) {
	if a.computing {
		return
	}
	ready := a.ready()
	complete := len(ready) == len(a.view.members)
	switch {
	case complete, a.now >= a.study.Deadline && len(ready) >= a.study.Quorum:
		a.computing = true
		_, t2 := a.view.transcripts()
		out.Run = append(out.Run, Compute{T2: t2, Releases: ready, Complete: complete})
	case a.now >= a.study.Deadline:
		a.stop(fmt.Sprintf("%d of %d releases arrived before the deadline; the quorum is %d", len(ready), len(a.view.members), a.study.Quorum), a.owing(), out)
	}
}

// ready lists the releases that are wholly here, in roster order.
func (a *Aggregator) ready() []Header {
	var out []Header
	for _, h := range inOrder(a.view, a.view.releases) {
		if a.collected[h.Party.ID] {
			out = append(out, h)
		}
	}
	return out
}

func (a *Aggregator) computed(ev Computed, out *Effects) error {
	if !a.computing {
		return fmt.Errorf("a result came although no analyses run in study %s", a.study.ID.Short())
	}
	_, t2 := a.view.transcripts()
	r := protocol.Result{
		Count: a.view.count(), Chain: a.view.chain(), T2: t2,
		Document: ev.Document, PerParty: ev.PerParty, Completed: ev.Complete,
	}
	for _, h := range ev.Releases {
		r.Releases = append(r.Releases, h.ID)
	}
	return a.own(protocol.KindResult, wire.EncodeResult(r), out)
}

func (a *Aggregator) stop(reason string, missing []protocol.PeerID, out *Effects) {
	s := protocol.Stop{Reason: reason, At: a.now, Missing: missing}
	if err := a.own(protocol.KindStop, wire.EncodeStop(s), out); err != nil {
		a.failure = err
	}
}

// round is the first kind that members still owe, in the order of an attempt.
func (a *Aggregator) round() protocol.Kind {
	for _, kind := range []protocol.Kind{protocol.KindCommit, protocol.KindShare, protocol.KindConfirm} {
		if !a.view.complete(kind) {
			return kind
		}
	}
	return protocol.KindRelease
}

// owing lists who has not delivered what the current round waits for.
func (a *Aggregator) owing() []protocol.PeerID {
	if kind := a.round(); kind != protocol.KindRelease {
		return a.view.lacking(kind)
	}
	var out []protocol.PeerID
	for _, m := range a.view.members {
		if !a.collected[m.ID] {
			out = append(out, m.ID)
		}
	}
	return out
}

// Status says where the study stands.
func (a *Aggregator) Status() Status {
	v := a.view
	switch {
	case a.failure != nil:
		return Status{State: Stopped, Failure: a.failure}
	case v.stop != nil:
		return Status{State: Stopped, Failure: &StoppedError{*v.stop}}
	case v.result != nil:
		return Status{State: Closed}
	case a.computing:
		return Status{State: Computing, WaitFor: "the analyses", From: []protocol.PeerID{a.signer.ID()}}
	case v.members == nil:
		return Status{State: Open, WaitFor: "approvals", From: v.undecided(), Until: a.study.Expires}
	case !v.complete(protocol.KindConfirm):
		return Status{State: Agreeing, WaitFor: fmt.Sprintf("%s messages", a.round()), From: a.owing(), Until: a.study.Deadline}
	}
	return Status{State: Collecting, WaitFor: "releases", From: a.owing(), Until: a.study.Deadline}
}

// Head signs the board as it stands.
func (a *Aggregator) Head() protocol.Head {
	return a.signer.SignHead(a.study.ID, a.view.count(), a.view.chain())
}

// HeadAt signs the first count envelopes of the board.
func (a *Aggregator) HeadAt(count uint64) protocol.Head {
	count = min(count, a.view.count())
	return a.signer.SignHead(a.study.ID, count, a.view.chains[count])
}

// Release returns the header that a party has posted.
func (a *Aggregator) Release(party protocol.PeerID) (Header, bool) {
	h, ok := a.view.releases[party]
	return h, ok
}

// Collected reports whether all of a party's release is here.
func (a *Aggregator) Collected(party protocol.PeerID) bool { return a.collected[party] }

// Result returns the result statement, once there is one.
func (a *Aggregator) Result() (protocol.Result, bool) {
	if a.view.result == nil {
		return protocol.Result{}, false
	}
	return *a.view.result, true
}
