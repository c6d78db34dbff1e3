package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wait"
	"github.com/cosketch/cosketch/protocol/wire"
)

// AggregatorConfig configures an aggregator's machine. Both fields are required.
type AggregatorConfig struct {
	Study  *study.Study
	Signer protocol.Signer // must be the study's aggregator
}

// Aggregator is the aggregator's machine in one study: it keeps the board. It is not safe for
// concurrent use.
type Aggregator struct {
	study  *study.Study
	signer protocol.Signer
	view   *view
	now    protocol.Instant

	collected map[protocol.PeerID]bool // releases with every chunk stored
	computing bool
	failure   error
}

// NewAggregator returns a machine with an empty board. Use Restore to replay a stored board.
func NewAggregator(c AggregatorConfig) (*Aggregator, error) {
	if c.Signer.ID() != c.Study.Aggregator.ID {
		return nil, fmt.Errorf("study %s names the aggregator %s, this one is %s (was identity.key swapped for another node's?)", c.Study.ID.Short(), c.Study.Aggregator.ID, c.Signer.ID())
	}
	return &Aggregator{study: c.Study, signer: c.Signer, view: newView(c.Study, c.Signer.ID()), collected: map[protocol.PeerID]bool{}}, nil
}

// Restore admits the stored board, before the first Step. Send Collected events for completely
// stored releases next, and only then the time: at the deadline, releases not reported yet count as
// missing.
func (a *Aggregator) Restore(board []protocol.Verified) error {
	for i, e := range board {
		if err := a.view.admit(e); err != nil {
			return fmt.Errorf("restoring study %s: envelope %d of the stored board: %w", a.study.ID.Short(), i, err)
		}
	}
	return nil
}

// AggregatorEvent is an event for an aggregator's machine.
type AggregatorEvent interface{ aggregatorEvent() }

// Post delivers an envelope from a peer.
type Post struct{ Envelope protocol.Verified }

// Collected reports that every chunk of a party's release is stored and matches
// its header.
type Collected struct{ Party protocol.PeerID }

// Computed reports that the job Compute is done and its documents are stored.
type Computed struct {
	Releases []Header
	Firsts   []First // instead of Releases, if the first round is the answer
	Document protocol.Document
	PerParty []protocol.PartyDocument
}

func (Tick) aggregatorEvent()      {}
func (Post) aggregatorEvent()      {}
func (Collected) aggregatorEvent() {}
func (Computed) aggregatorEvent()  {}
func (JobFailed) aggregatorEvent() {}

// Step processes one event. An error refuses the event: for a Post it is returned to the sender,
// and a *protocol.Fault names the culprit. A refusal may have effects too: a message that proves
// its sender's fault ends the attempt. The driver must carry out the effects before it answers.
func (a *Aggregator) Step(ev AggregatorEvent) (Effects, error) {
	var out Effects
	var refused error
	switch ev := ev.(type) {
	case Tick:
		a.now = max(a.now, ev.Now)
	case Post:
		if refused = a.post(ev.Envelope, &out); refused != nil && len(out.Persist) == 0 {
			return Effects{}, refused
		}
	case Collected:
		a.collected[ev.Party] = true
		if _, ok := a.Release(ev.Party); !ok {
			delete(a.collected, ev.Party)
			return Effects{}, fmt.Errorf("the release of %s was collected, but it has posted none", ev.Party)
		}
	case InterimComputed:
		if err := a.interim(ev, &out); err != nil {
			return Effects{}, err
		}
	case Computed:
		if err := a.computed(ev, &out); err != nil {
			return Effects{}, err
		}
	case Cancel:
		if err := a.cancel(ev, &out); err != nil {
			return Effects{}, err
		}
	case JobFailed:
		if !a.computing {
			return Effects{}, fmt.Errorf("a job failed, but no analyses are running in study %s", a.study.ID.Short())
		}
		a.computing = false
		if a.view.ended() {
			break // it was cancelled meanwhile
		}
		a.end(fmt.Sprintf("the analyses failed: %v", ev.Err), nil, &out)
	default:
		return Effects{}, fmt.Errorf("unknown event %T", ev)
	}
	a.advance(&out)
	return out, refused
}

// post admits a party's envelope.
func (a *Aggregator) post(e protocol.Verified, out *Effects) error {
	if e.Kind().FromAggregator() {
		return fault(e, fmt.Errorf("%s is not for others to post", e.Kind()))
	}
	if err := a.closedTo(e); err != nil {
		return fault(e, err)
	}
	if err := a.view.allSealed(e); err != nil {
		return fault(e, err)
	}
	bare := e.With(nil, nil)
	if err := a.view.admit(bare); err != nil {
		a.accuseOf(bare, err, out)
		return err
	}
	out.Persist = append(out.Persist, SaveEnvelope{e})
	return nil
}

// closedTo enforces the study's dates and the aggregator's own declarations. It does not refuse a
// message that is already on the board for its date. A withdrawal is in time until the party
// commits.
func (a *Aggregator) closedTo(e protocol.Verified) error {
	if a.view.holds(e) {
		return nil
	}
	until := a.study.Deadline
	switch e.Kind() {
	case protocol.KindApprove:
		if a.now >= a.study.Expires {
			return fmt.Errorf("%w: approval closed at %s", ErrClosed, a.study.Expires)
		}
	case protocol.KindFirst, protocol.KindRelease, protocol.KindJoin, protocol.KindWelcome, protocol.KindJoined:
		until = a.study.Closes()
	case protocol.KindCertificate:
		// If an attempt is over on its own board, this aggregator never showed it certified to
		// anybody convinced by the confirmations. Only members can check tags: without this rule a
		// member could revive an attempt by a wrong confirmation of its own.
		if t := a.view.at(e.Attempt()); t != nil && t.over() {
			return fmt.Errorf("%w: attempt %d was over before all had confirmed it", ErrPremature, t.number)
		}
	}
	if a.now >= until {
		return fmt.Errorf("%w: upload closed at %s", ErrClosed, until)
	}
	return nil
}

// accuseOf ends the current attempt if a refused message shows that its sender can take no further
// part in it.
func (a *Aggregator) accuseOf(e protocol.Verified, refusal error, out *Effects) {
	t := a.view.current()
	if t == nil || e.Attempt() != t.number || !e.Kind().Agreement() || !t.member(e.Sender()) || t.over() || a.view.certified() != nil {
		return
	}
	one := protocol.Accusation{Culprit: e.Sender(), Kind: e.Kind()}
	var u *unfit
	switch {
	case errors.Is(refusal, ErrConflict):
		there, _ := a.view.posted(e.Sender(), e.Kind(), e.Attempt())
		one.Cause, one.Evidence = protocol.CauseConflict, []protocol.Envelope{there.Envelope(), e.Envelope()}
	case errors.As(refusal, &u):
		one.Cause, one.Evidence = u.cause, []protocol.Envelope{e.Envelope()}
	default:
		return
	}
	a.own(protocol.KindFault, t.number, wire.EncodeAccusations(protocol.Accusations{At: a.now, Against: []protocol.Accusation{one}}), out)
}

// own signs a message of the aggregator and puts it on the board.
func (a *Aggregator) own(kind protocol.Kind, attempt uint32, payload []byte, out *Effects) {
	e, err := a.signer.Seal(a.study.ID, kind, attempt, payload)
	if err == nil {
		err = a.view.admit(e)
	}
	if err != nil {
		a.failure = cmp.Or(a.failure, err)
		return
	}
	out.Persist = append(out.Persist, SaveEnvelope{e})
}

// number returns the attempt that the aggregator's own messages refer to.
func (a *Aggregator) number() uint32 {
	for _, t := range []*attempt{a.view.certified(), a.view.current()} {
		if t != nil {
			return t.number
		}
	}
	return 1
}

// advance takes every step that is possible now (see AggregatorTransitions).
func (a *Aggregator) advance(out *Effects) {
	v := a.view
	switch t := v.current(); {
	case v.ended() || a.failure != nil:
	case v.certified() != nil:
		a.toComputed(v.certified(), out)
	case t == nil:
		a.toRoster(out)
	case t.over():
		a.toNextRoster(t, out)
	default:
		a.toOverdue(t, out)
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
		a.own(protocol.KindRoster, 1, wire.EncodeRoster(protocol.Roster{Approvals: ids}), out)
	case expired:
		a.stop(fmt.Sprintf("%d of %d parties approved before approval closed; the quorum is %d", len(parties), len(a.study.Parties), a.study.Quorum), undecided, out)
	case len(a.study.Parties)-len(a.view.withdrawn) < a.study.Quorum:
		a.stop("too many parties withdrew for a quorum", nil, out)
	}
}

// toNextRoster: agreeing → agreeing, in the next attempt, without the members that the board
// removes.
func (a *Aggregator) toNextRoster(t *attempt, out *Effects) {
	switch n := len(t.survivors()); {
	case n < a.study.Quorum:
		a.stop(fmt.Sprintf("attempt %d ended: %s; %d parties are left and the quorum is %d", t.number, a.view.why(t), n, a.study.Quorum), nil, out)
	case int64(t.number) >= int64(a.study.Attempts):
		a.stop(fmt.Sprintf("the last of %d attempts ended: %s", a.study.Attempts, a.view.why(t)), nil, out)
	default:
		a.own(protocol.KindRoster, t.number+1, wire.EncodeRoster(a.view.nextRoster()), out)
		a.advance(out)
	}
}

// toOverdue ends an attempt at its time, removing members whose messages are missing, if the others
// are a quorum and may try again. Otherwise it waits until the deadline.
func (a *Aggregator) toOverdue(t *attempt, out *Effects) {
	missing := a.blocking(t)
	again := int64(t.number) < int64(a.study.Attempts) && len(t.members)-len(missing) >= a.study.Quorum
	switch {
	case a.now >= a.study.Deadline:
		a.stop("the seed agreement was not complete at the deadline", missing, out)
	case a.now >= a.study.AgreeBy(t.number) && again:
		x := protocol.Accusations{At: a.now}
		for _, id := range missing {
			x.Against = append(x.Against, protocol.Accusation{Culprit: id, Cause: protocol.CauseMissing, Kind: t.round()})
		}
		a.own(protocol.KindFault, t.number, wire.EncodeAccusations(x), out)
		a.advance(out)
	}
}

// blocking lists the members whose messages an attempt waits for. A member that confirmed an
// earlier attempt which ended on the aggregator's word commits only once every member has abandoned
// that one. If some have not, they are listed, and not the members that wait for them.
func (a *Aggregator) blocking(t *attempt) []protocol.PeerID {
	missing := t.lacking(t.round())
	if t.round() != protocol.KindCommit {
		return missing
	}
	var silent []protocol.PeerID
	for _, id := range missing {
		if slices.ContainsFunc(a.view.attempts, func(before *attempt) bool {
			return before.number < t.number && before.doubtful() && before.member(id) && !before.abandoned[id]
		}) {
			silent = append(silent, id)
		}
	}
	if len(silent) > 0 {
		return silent
	}
	return missing
}

// toComputed: collecting → computing, when every release is in, or at the deadline with a quorum of
// them; and again for late releases. A study that takes late parties closes when none can come any
// more.
func (a *Aggregator) toComputed(t *attempt, out *Effects) {
	if a.computing {
		return
	}
	if t.between() {
		a.toInterim(t, out)
		return
	}
	if a.study.Masked() {
		a.toSummed(t, out)
		return
	}
	ready, holders := a.ready(t), a.view.contributors()
	complete := len(ready) == len(holders)
	used := 0
	if r := a.view.result(); r != nil {
		used = len(r.Releases)
	}
	switch {
	case len(ready) > used && (complete || a.now >= a.study.Deadline && len(ready) >= a.study.Quorum):
		a.computing = true
		out.Run = append(out.Run, Compute{Attempt: t.number, T2: t.transcript(), Releases: ready, Complete: complete, Interim: t.interim})
	case used > 0 && a.study.LateUntil != 0 && (a.now >= a.study.LateUntil || complete && len(a.view.absent()) == 0):
		a.own(protocol.KindClose, t.number, wire.EncodeClose(protocol.Close{At: a.now}), out)
	case used == 0 && a.now >= a.study.Closes():
		a.toFirstOnly(t, fmt.Sprintf("%d of %d releases arrived before the deadline; the quorum is %d", len(ready), len(holders), a.study.Quorum), a.awaited(), out)
	}
}

// ready lists the complete releases, by raw public key.
func (a *Aggregator) ready(t *attempt) []Header {
	var out []Header
	for _, p := range a.study.Parties {
		if h, ok := t.header(p); ok && a.collected[p.ID] {
			out = append(out, h)
		}
	}
	return out
}

func (a *Aggregator) computed(ev Computed, out *Effects) error {
	if !a.computing {
		return fmt.Errorf("a result came, but no analyses are running in study %s", a.study.ID.Short())
	}
	a.computing = false
	if a.view.ended() {
		return nil // it was cancelled meanwhile: the result stays unsigned
	}
	t := a.view.certified()
	r := protocol.Result{
		Count: a.view.count(), Chain: a.view.chain(), T2: t.transcript(),
		Document: ev.Document, PerParty: ev.PerParty, Completed: len(ev.Releases) == len(a.view.contributors()),
		FirstOnly: len(ev.Firsts) > 0,
	}
	for _, f := range ev.Firsts {
		r.Releases = append(r.Releases, f.ID)
	}
	for _, h := range ev.Releases {
		r.Releases = append(r.Releases, h.ID)
	}
	a.own(protocol.KindResult, t.number, wire.EncodeResult(r), out)
	return nil
}

func (a *Aggregator) stop(reason string, missing []protocol.PeerID, out *Effects) {
	a.own(protocol.KindStop, a.number(), wire.EncodeStop(protocol.Stop{Reason: reason, At: a.now, Missing: missing}), out)
}

// end stops a study, or closes it if it has a result.
func (a *Aggregator) end(reason string, missing []protocol.PeerID, out *Effects) {
	if a.view.result() == nil {
		a.stop(reason, missing, out)
		return
	}
	a.own(protocol.KindClose, a.number(), wire.EncodeClose(protocol.Close{At: a.now}), out)
}

// awaited lists the parties that have not delivered what the study waits for.
func (a *Aggregator) awaited() []protocol.PeerID {
	if t := a.view.current(); a.view.certified() == nil && t != nil {
		return t.lacking(t.round())
	}
	if t := a.view.certified(); t != nil && t.between() {
		return t.firstsMissing()
	}
	return slices.DeleteFunc(a.view.contributors(), func(id protocol.PeerID) bool { return a.collected[id] })
}

// Status returns the state of the study.
func (a *Aggregator) Status() Status {
	s := a.status()
	s.Faults, s.Blame = a.view.story(), a.view.culprits(s.Failure)
	return s
}

func (a *Aggregator) status() Status {
	v, self := a.view, []protocol.PeerID{a.signer.ID()}
	switch t := v.current(); {
	case a.failure != nil:
		return Status{State: Stopped, Failure: a.failure}
	case v.stop != nil:
		return Status{State: Stopped, Failure: &StoppedError{*v.stop, v.stopCause(), v.lastBlame()}}
	case v.ended():
		return Status{State: Closed}
	case a.computing && v.certified() != nil && v.certified().between():
		return Status{State: Computing, WaitFor: wait.Interim, From: self}
	case a.computing:
		return Status{State: Computing, WaitFor: wait.Analyses, From: self}
	case t == nil:
		return Status{State: Open, WaitFor: wait.Approvals, From: v.undecided(), Until: a.study.Expires}
	case v.certified() == nil:
		until := a.study.AgreeBy(t.number)
		if a.now >= until {
			until = a.study.Deadline
		}
		return Status{State: Agreeing, WaitFor: wait.Messages(t.round()), From: a.awaited(), Until: until}
	case v.result() != nil:
		return Status{State: Answered, WaitFor: wait.Late, From: append(a.awaited(), a.view.absent()...), Until: a.study.LateUntil}
	case v.certified().between():
		return Status{State: Collecting, WaitFor: wait.Firsts, From: a.awaited(), Until: a.waiting()}
	case a.study.Masked():
		return a.summing(v.certified())
	case a.now >= a.study.Deadline:
		return Status{State: Collecting, WaitFor: wait.Releases, From: a.awaited(), Until: a.study.Closes()}
	}
	return Status{State: Collecting, WaitFor: wait.Releases, From: a.awaited(), Until: a.study.Deadline}
}

// Head signs the current board.
func (a *Aggregator) Head() protocol.Head {
	return a.signer.SignHead(a.study.ID, a.view.count(), a.view.chain())
}

// HeadAt signs the first count envelopes of the board.
func (a *Aggregator) HeadAt(count uint64) protocol.Head {
	count = min(count, a.view.count())
	return a.signer.SignHead(a.study.ID, count, a.view.chains[count])
}

// Place returns a node's place on the roster of an attempt, and the number of members: texts sealed
// to the node are at that place. It is -1 if the node is not on the roster.
func (a *Aggregator) Place(attempt uint32, member protocol.PeerID) (place, members int) {
	t := a.view.at(attempt)
	if t == nil {
		return -1, 0
	}
	return t.index(member), len(t.members)
}

// Release returns the header that a party has posted.
func (a *Aggregator) Release(party protocol.PeerID) (Header, bool) {
	t := a.view.certified()
	if t == nil {
		return Header{}, false
	}
	i, ok := a.study.PartyIndex(party)
	if !ok {
		return Header{}, false
	}
	return t.header(a.study.Parties[i])
}

// Holds reports whether a message is on the board.
func (a *Aggregator) Holds(e protocol.Verified) bool { return a.view.holds(e) }

// Collected reports whether a party's release is complete here.
func (a *Aggregator) Collected(party protocol.PeerID) bool { return a.collected[party] }

// Result returns the newest result statement, if there is one.
func (a *Aggregator) Result() (protocol.Result, bool) {
	if r := a.view.result(); r != nil {
		return *r, true
	}
	return protocol.Result{}, false
}

// Blame lists the faults that the board shows, of all attempts.
func (a *Aggregator) Blame() []Removal { return a.view.blame() }
