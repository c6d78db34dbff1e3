package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wait"
)

// ended reports whether the party has nothing left to do.
func (p *Party) ended() bool { return p.everSigned(protocol.KindWithdraw) || p.finished() }

// finished reports whether the last possible result is stored.
func (p *Party) finished() bool {
	r := p.view.result()
	return r != nil && r.Document.Hash == p.document && p.view.ended()
}

// Status returns the state of the study for this party.
func (p *Party) Status() Status {
	s := p.status()
	s.Faults, s.Blame = p.view.story(), append(p.view.culprits(s.Failure), p.caught...)
	return s
}

func (p *Party) status() Status {
	switch {
	case p.everSigned(protocol.KindWithdraw):
		return Status{State: Withdrawn}
	case p.finished():
		return Status{State: Done}
	case p.failure != nil:
		return Status{State: Failed, Failure: p.failure}
	case p.endsOnFirst():
		s := Status{State: Halfway, WaitFor: wait.Fetching, From: p.self(), Until: p.study.Closes()}
		if p.uploaded {
			s.State = Released
		}
		return s
	case p.awaitsFirst():
		return Status{State: Halfway, WaitFor: wait.Result, From: p.aggregator(), Until: p.study.Closes()}
	case p.seededIn != 0:
		return p.seededStatus()
	case p.isLate() && p.consented:
		return p.lateStatus()
	case p.consented:
		return p.agreementStatus()
	}
	until := p.study.Expires
	if p.view.current() != nil || p.now >= until {
		until = max(until, p.study.LateUntil)
	}
	return Status{State: Invited, WaitFor: wait.Approval, From: p.self(), Until: until}
}

func (p *Party) self() []protocol.PeerID       { return []protocol.PeerID{p.signer.ID()} }
func (p *Party) aggregator() []protocol.PeerID { return []protocol.PeerID{p.study.Aggregator.ID} }

// agreementStatus returns the status from approval to confirmation, in the newest attempt.
func (p *Party) agreementStatus() Status {
	a := p.view.current()
	if a == nil {
		from, until := p.view.undecided(), p.study.Expires
		if len(from) == 0 || p.now >= until {
			return Status{State: Approved, WaitFor: wait.Roster, From: p.aggregator(), Until: p.study.Deadline}
		}
		return Status{State: Approved, WaitFor: wait.Approvals, From: from, Until: until}
	}
	until := p.patience(a)
	if a.over() {
		return Status{State: Approved, WaitFor: wait.NextRoster, From: p.aggregator(), Until: until}
	}
	for _, round := range []struct {
		kind protocol.Kind
		at   State
	}{{protocol.KindConfirm, Confirmed}, {protocol.KindShare, Shared}, {protocol.KindCommit, Committed}} {
		if !p.signed(round.kind, a.number) {
			continue
		}
		if p.signed(protocol.KindComplaint, a.number) {
			return Status{State: round.at, WaitFor: wait.AttemptEnd, From: p.aggregator(), Until: until}
		}
		if !p.live {
			return Status{State: round.at, WaitFor: wait.Board, From: p.aggregator(), Until: until}
		}
		return Status{State: round.at, WaitFor: wait.Messages(round.kind), From: a.lacking(round.kind), Until: until}
	}
	if !p.live {
		return Status{State: Approved, WaitFor: wait.Board, From: p.aggregator(), Until: until}
	}
	return Status{State: Approved, WaitFor: wait.Abandons, From: p.abandonmentsMissing(a), Until: until}
}

// patience returns the time until which an attempt's messages are awaited: its end, or the study's
// deadline if that has passed.
func (p *Party) patience(a *attempt) protocol.Instant {
	if until := p.study.AgreeBy(a.number); p.now < until {
		return until
	}
	return p.study.Deadline
}

// seededStatus returns the status from the certificate on.
func (p *Party) seededStatus() Status {
	until, result := p.study.Closes(), p.view.result()
	switch {
	case !p.released && p.view.at(p.seededIn) != nil && p.view.at(p.seededIn).between():
		return p.betweenStatus(p.view.at(p.seededIn))
	case !p.released:
		return Status{State: Seeded, WaitFor: wait.Sketch, From: p.self(), Until: p.view.releaseBy(p.view.certified())}
	case !p.uploaded && (result == nil || result.Document.Hash != p.document):
		return Status{State: Sketched, WaitFor: wait.Sending, From: p.self(), Until: p.view.releaseBy(p.view.certified())}
	case result != nil && result.Document.Hash != p.document:
		return Status{State: Released, WaitFor: wait.Fetching, From: p.self(), Until: until}
	case result != nil && len(p.unwelcomed()) > 0:
		return Status{State: Released, WaitFor: wait.OwnWelcome, From: p.self(), Until: until}
	case result != nil && len(p.view.absent()) > 0:
		return Status{State: Released, WaitFor: wait.Late, From: p.view.absent(), Until: until}
	case result != nil:
		return Status{State: Released, WaitFor: wait.Close, From: p.aggregator(), Until: until}
	}
	return Status{State: Released, WaitFor: wait.Result, From: p.aggregator(), Until: until}
}

// lateStatus returns the status of a party that can only join as a newcomer.
func (p *Party) lateStatus() Status {
	s := Status{State: Approved, WaitFor: wait.Seed, From: p.aggregator(), Until: p.study.LateUntil}
	if a := p.view.certified(); a != nil {
		s.State, s.WaitFor, s.From = Joining, wait.Welcome, nil
		for _, m := range a.members {
			s.From = append(s.From, m.ID)
		}
	}
	return s
}

// Announced reports whether others know of this party: its approval, withdrawal or join is on the
// board.
func (p *Party) Announced() bool {
	for _, e := range p.own {
		switch e.Kind() {
		case protocol.KindApprove, protocol.KindWithdraw, protocol.KindJoin:
			if p.view.holds(e) {
				return true
			}
		}
	}
	return false
}

// Count returns how many envelopes of the board the machine has seen.
func (p *Party) Count() uint64 { return p.view.count() }

// Result returns the aggregator's newest result statement, if there is one on the board.
func (p *Party) Result() (protocol.Result, bool) {
	if r := p.view.result(); r != nil {
		return *r, true
	}
	return protocol.Result{}, false
}

// story explains why each ended attempt ended.
func (v *view) story() []string {
	var out []string
	for _, a := range v.attempts {
		if a.over() {
			text := fmt.Sprintf("attempt %d ended: %s", a.number, v.why(a))
			if a.void {
				text += "; its masked sum is void, and the remaining members release again"
			}
			out = append(out, text)
		}
	}
	return out
}

// why names the culprits of an attempt by their names in the study.
func (v *view) why(a *attempt) string {
	var out []string
	for _, r := range a.removals {
		text := r.Err.Error()
		var f *protocol.Fault
		switch {
		case errors.As(r.Err, &f) && errors.Is(f.Err, ErrNotReceived):
			text = fmt.Sprintf("its %s was %v", f.Kind, f.Err)
		case errors.As(r.Err, &f) && r.Proved:
			text = fmt.Sprintf("%s: %v", f.Kind, f.Err)
		case errors.As(r.Err, &f):
			text = fmt.Sprintf("%s: %v, on the aggregator's word", f.Kind, f.Err)
		}
		out = append(out, v.nameOf(r.Member)+": "+text)
	}
	return strings.Join(out, "; ")
}

func (v *view) nameOf(id protocol.PeerID) string {
	if i, ok := v.study.PartyIndex(id); ok {
		return v.study.Parties[i].Name
	}
	if id == v.study.Aggregator.ID {
		return "the aggregator"
	}
	return id.String()
}

// blame lists the faults of all attempts in the board's order: removals by a fault, proved or
// claimed.
func (v *view) blame() (out []Removal) {
	for _, a := range v.attempts {
		for _, r := range a.removals {
			if r.Err != ErrWithdrew {
				out = append(out, r)
			}
		}
	}
	return out
}

// lastBlame lists why the newest attempt ended, by member, if it is over.
func (v *view) lastBlame() (out []error) {
	a := v.current()
	if a == nil || !a.over() {
		return nil
	}
	for _, r := range a.removals {
		out = append(out, r.Err)
	}
	return out
}
