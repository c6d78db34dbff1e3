package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wait"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Two rounds: members post the noised sketches of the first round in full, so anybody can compute
// the input of the second round from them. The aggregator answers with that input, the interim,
// whose bytes are binding. Then each member releases as in any study: the sketches of the first
// round again, unchanged, and those of the second. A member that is not in the interim takes no
// further part. Under masked sums that is nobody, because a sum needs every member.

// First is a posted first round.
type First struct {
	ID    protocol.Digest // of the envelope
	Party study.Party
	First protocol.First
}

// ErrOtherRound reports a release that repeats a first round other than the one its party has
// posted.
var ErrOtherRound error = fail.OtherRound

// first admits a member's first round, with a certificate on the board.
func (v *view) first(e protocol.Verified) error {
	if !v.study.TwoRounds() {
		return errors.New("the study has one round")
	}
	a, err := v.ofMember(e)
	if err != nil {
		return err
	}
	f, err := firstOf(e)
	if err != nil {
		return err
	}
	if t2 := a.transcript(); f.T2 != t2 {
		return v.disagrees(e.Sender(), protocol.OnSeed, "agreement T2", f.T2, t2, otherBoard, ErrOtherSeed)
	}
	party, _ := v.study.PartyIndex(e.Sender())
	of, err := a.releaseChecks()
	if err != nil {
		return err
	}
	if err := of.CheckFirst(party, f); err != nil {
		return err
	}
	if n := f.Sketches[0].Masked; n != 0 && n != len(a.members) {
		return fmt.Errorf("first round masked for %d members, the attempt has %d", n, len(a.members))
	}
	a.firsts.put(e)
	return nil
}

// takeInterim admits the aggregator's answer to the first rounds that it names.
func (v *view) takeInterim(e protocol.Verified) error {
	if !v.study.TwoRounds() {
		return errors.New("the study has one round")
	}
	i, err := wire.DecodeInterim(e.Payload())
	if err != nil {
		return err
	}
	a := v.at(e.Attempt())
	if t2 := a.transcript(); i.T2 != t2 {
		return v.disagrees(e.Sender(), protocol.OnSeed, "agreement T2", i.T2, t2, otherBoard, ErrOtherSeed)
	}
	used := a.used(i)
	switch {
	case len(used) != len(i.Firsts):
		return errors.New("interim names a first round that is not on the board, or names them in another order than their senders' keys")
	case len(used) < v.study.Quorum:
		return fmt.Errorf("interim uses %d first rounds, the quorum is %d", len(used), v.study.Quorum)
	case v.study.Masked() && len(used) != len(a.members):
		return fmt.Errorf("interim uses %d of %d masked first rounds; masks cancel only in the sum of all", len(used), len(a.members))
	}
	if err := release.CheckInterim(v.study, i.Basis); err != nil {
		return err
	}
	a.interim, a.interimStudy, a.headers, a.inInterim = &i, v.study.WithBasis(i.Basis), nil, map[protocol.PeerID]bool{}
	for _, f := range used {
		a.inInterim[f.Party.ID] = true
	}
	return nil
}

// effectiveStudy returns the study as the first round fixes it.
func (a *attempt) effectiveStudy() *study.Study {
	if a.interim == nil {
		return a.study
	}
	return a.interimStudy
}

// used returns the first rounds that an interim names, in its order, up to one that is not on the
// board in that order.
func (a *attempt) used(i protocol.Interim) (out []First) {
	for _, f := range a.firstsInOrder() {
		if len(out) < len(i.Firsts) && i.Firsts[len(out)] == f.ID {
			out = append(out, f)
		}
	}
	return out
}

// between reports whether the attempt has a seed and still needs its interim.
func (a *attempt) between() bool { return a.study.TwoRounds() && a.interim == nil }

// repeats checks that a release repeats the first round that its sender posted.
func (a *attempt) repeats(sender protocol.PeerID, r protocol.Release) error {
	if !a.study.TwoRounds() {
		return nil
	}
	e, _ := a.firsts.of(sender)
	posted, err := firstOf(e)
	if err != nil {
		return err
	}
	at := 0
	if r.Records != posted.Records {
		return fmt.Errorf("%w: it has %d records, the posted first round has %d", ErrOtherRound, r.Records, posted.Records)
	}
	for i, s := range r.Sketches {
		if a.study.SecondRound(i) {
			continue
		}
		if at >= len(posted.Sketches) || !same(s, posted.Sketches[at]) {
			return fmt.Errorf("sketch %d: %w", i+1, ErrOtherRound)
		}
		at++
	}
	return nil
}

// same reports whether a and b describe the same bytes.
func same(a, b protocol.ReleasedSketch) bool {
	return a.Side == b.Side && a.Rows == b.Rows && a.Cols == b.Cols && a.Width == b.Width && a.Masked == b.Masked &&
		slices.Equal(a.Chunks, b.Chunks) && slices.Equal(a.RowColumns, b.RowColumns)
}

// toInterim: seeded → between the rounds, when the first round is stored and posted; done if the
// interim is there.
func (p *Party) toInterim(a *attempt, out *Effects) (done bool, err error) {
	switch {
	case !a.between():
		return true, nil
	case p.signed(protocol.KindFirst, a.number):
		return false, nil
	case p.seeded == nil:
		return false, errors.New("this node has lost the seed before using it, and cannot continue the study")
	}
	if p.offer(fmt.Sprintf("first %d", a.number)) {
		out.Run = append(out.Run, MakeFirst{Attempt: a.number, Seed: p.seeded.Seed, T2: p.seeded.T2, Pairs: p.seeded.Pairs})
	}
	return false, nil
}

// storedFirst puts the durable first round on the board.
func (p *Party) storedFirst(e protocol.Verified, out *Effects) {
	if e.Attempt() != p.seededIn || p.signed(protocol.KindFirst, e.Attempt()) {
		return // of a void attempt
	}
	p.own = append(p.own, e)
	out.Persist = append(out.Persist, SaveEnvelope{e})
}

// second returns the input of the own second-round release in a study of two rounds; nil in others.
func (p *Party) second(a *attempt) (*Second, error) {
	if !p.study.TwoRounds() {
		return nil, nil
	}
	own, ok := p.mine(protocol.KindFirst, a.number)
	if !ok {
		return nil, errors.New("the interim names this party's first round, which the local store lacks")
	}
	f, err := wire.DecodeFirst(own.Payload())
	return &Second{Own: f, Firsts: a.used(*a.interim), Interim: *a.interim}, err
}

// If too few release the second round, the first round alone is the answer, as far as it answers
// anything. All of it is on the board: nothing more leaves, and nothing more is debited.

// firstOnly reports whether the first rounds of a certified attempt can be its result.
func (v *view) firstOnly(a *attempt) bool { return a.interim != nil && v.study.FirstAnswers() }

// checkFirstOnly checks such a result against the interim.
func (v *view) checkFirstOnly(a *attempt, r protocol.Result) error {
	switch {
	case !v.firstOnly(a):
		return errors.New("result of the first round alone, but there is no interim, or the first round answers no analysis")
	case !slices.Equal(r.Releases, a.interim.Firsts):
		return errors.New("result of other first rounds than the interim's")
	case r.Completed:
		return errors.New("result of the first round alone says that it is complete")
	}
	return nil
}

// endsOnFirst reports whether the study has ended with its first round for this party.
func (p *Party) endsOnFirst() bool {
	r := p.view.result()
	return r != nil && r.FirstOnly && p.view.contributor(p.signer.ID())
}

// awaitsFirst reports whether this party's release is not on the board when upload closes, and its
// first round may be the result. The party then makes and sends no release.
func (p *Party) awaitsFirst() bool {
	a, me := p.view.certified(), p.signer.ID()
	if a == nil || p.now < p.study.Closes() || !p.view.firstOnly(a) || !p.view.contributor(me) {
		return false
	}
	_, posted := a.releases[me]
	return !posted
}

// toFirstOnly: collecting → computing, at the deadline; or the study stops.
func (a *Aggregator) toFirstOnly(t *attempt, reason string, missing []protocol.PeerID, out *Effects) {
	if !a.view.firstOnly(t) {
		a.stop(reason, missing, out)
		return
	}
	a.computing = true
	out.Run = append(out.Run, Compute{Attempt: t.number, T2: t.transcript(), Firsts: t.used(*t.interim), Interim: t.interim})
}

// betweenStatus returns a party's status before the interim.
func (p *Party) betweenStatus(a *attempt) Status {
	by := p.view.firstBy(a)
	if !p.signed(protocol.KindFirst, a.number) {
		return Status{State: Seeded, WaitFor: wait.First, From: p.self(), Until: by}
	}
	if missing := a.firstsMissing(); len(missing) > 0 && p.now < by {
		return Status{State: Halfway, WaitFor: wait.Firsts, From: missing, Until: by}
	}
	return Status{State: Halfway, WaitFor: wait.Interim, From: p.aggregator(), Until: p.view.releaseBy(a)}
}

// firstsMissing lists the members whose first round is not on the board.
func (a *attempt) firstsMissing() (out []protocol.PeerID) {
	for _, m := range a.members {
		if !a.firsts.has(m.ID) {
			out = append(out, m.ID)
		}
	}
	return out
}

// firstBy returns the time until which the first rounds of the certified attempt are sure to be
// awaited.
func (v *view) firstBy(a *attempt) protocol.Instant {
	if v.study.Masked() {
		return v.releaseBy(a)
	}
	return v.study.FirstBy()
}

// InterimComputed reports the outcome of the job Compute for first rounds.
type InterimComputed struct {
	Firsts []First
	Basis  protocol.Basis
}

func (InterimComputed) aggregatorEvent() {}

// toInterim: collecting → computing, when every first round is in, or a quorum of them when their
// time is over.
func (a *Aggregator) toInterim(t *attempt, out *Effects) {
	firsts, missing := t.firstsInOrder(), t.firstsMissing()
	enough := len(missing) == 0 || !a.study.Masked() && a.now >= a.study.FirstBy() && len(firsts) >= a.study.Quorum
	switch {
	case enough:
		a.computing = true
		out.Run = append(out.Run, Compute{Attempt: t.number, T2: t.transcript(), Firsts: firsts})
	case a.now >= a.study.Deadline:
		a.stop(fmt.Sprintf("%d of %d first rounds arrived before the deadline; the quorum is %d", len(firsts), len(t.members), a.study.Quorum), missing, out)
	case a.study.Masked() && a.now >= a.study.AgreeBy(t.number) && a.view.voidable(t) && len(firsts) >= a.study.Quorum:
		a.voidAttempt(t, protocol.KindFirst, missing, out)
	}
}

// waiting returns the time until which first rounds are awaited.
func (a *Aggregator) waiting() protocol.Instant {
	if by := a.view.firstBy(a.view.certified()); a.now < by {
		return by
	}
	return a.study.Deadline
}

// interim posts the answer to the first rounds.
func (a *Aggregator) interim(ev InterimComputed, out *Effects) error {
	t := a.view.certified()
	if !a.computing || t == nil || !t.between() {
		return fmt.Errorf("an interim came although nobody waits for one in study %s", a.study.ID.Short())
	}
	a.computing = false
	if a.view.ended() {
		return nil // it was cancelled meanwhile
	}
	i := protocol.Interim{T2: t.transcript(), Basis: ev.Basis}
	for _, f := range ev.Firsts {
		i.Firsts = append(i.Firsts, f.ID)
	}
	a.own(protocol.KindInterim, t.number, wire.EncodeInterim(i), out)
	return nil
}

// Used returns the first rounds that the interim names, or nil without interim.
func (a *Aggregator) Used() []First {
	if t := a.view.certified(); t != nil && t.interim != nil {
		return t.used(*t.interim)
	}
	return nil
}

// Interim returns the answer to the first rounds, if there is one.
func (a *Aggregator) Interim() (protocol.Interim, bool) {
	if t := a.view.certified(); t != nil && t.interim != nil {
		return *t.interim, true
	}
	return protocol.Interim{}, false
}
