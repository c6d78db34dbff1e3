package session

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// PartyConfig makes a party's machine. All fields but Restored are required.
type PartyConfig struct {
	Study    *study.Study
	Signer   protocol.Signer // must be one of the study's parties
	Entropy  io.Reader       // for the agreement's secrets; crypto/rand outside tests
	Restored PartyRestored
}

// PartyRestored is what a party had made durable before; its zero value is a
// fresh start. The stored board follows as Board events.
type PartyRestored struct {
	Own      []protocol.Verified // every own envelope that was persisted
	Secrets  []byte              // of the attempt, as last saved; nil when there are none
	Released bool                // the release is stored (its header is among Own)
	Finished bool                // the result was fetched and stored
}

// Party is the machine of one party in one study. It is not safe for
// concurrent use: one goroutine owns it.
type Party struct {
	study   *study.Study
	signer  protocol.Signer
	entropy io.Reader
	view    *view
	now     protocol.Instant

	own      []protocol.Verified
	secrets  *agree.Secrets // until the certificate
	seeded   *agree.Outcome // from the confirmation on, until the release is stored
	certain  bool           // all confirmations verified under the own seed: seeded for good
	checked  map[protocol.PeerID]bool
	offered  map[string]bool // jobs given out since this machine was made
	purge    bool            // secrets outlived the release they were for
	released bool
	uploaded bool
	finished bool
	failure  error
}

// NewParty makes or restores a party's machine.
func NewParty(c PartyConfig) (*Party, error) {
	if _, ok := c.Study.PartyIndex(c.Signer.ID()); !ok {
		return nil, fmt.Errorf("study %s does not list this party (%s)", c.Study.ID.Short(), c.Signer.ID())
	}
	p := &Party{
		study: c.Study, signer: c.Signer, entropy: c.Entropy, view: newView(c.Study),
		own: c.Restored.Own, released: c.Restored.Released, finished: c.Restored.Finished,
		certain: c.Restored.Released, // it was made under a certificate
		checked: map[protocol.PeerID]bool{}, offered: map[string]bool{},
	}
	if c.Restored.Secrets != nil && c.Restored.Released {
		p.purge = true
	} else if c.Restored.Secrets != nil {
		if err := p.restoreSecrets(c.Restored.Secrets); err != nil {
			return nil, fmt.Errorf("restoring study %s: %w", c.Study.ID.Short(), err)
		}
	}
	return p, nil
}

// Event is what happens to a party.
type Event interface{ partyEvent() }

// Tick tells the time. Drivers send one before every other event. A party acts on
// it with that event, so that the news which the event brings count first: after
// a restart, or at a deadline, the board says more than the clock. An aggregator,
// which keeps the board, acts on it at once.
type Tick struct{ Now protocol.Instant }

// Consent is the steward's approval of this study's id.
type Consent struct{}

// Retract is the steward's withdrawal.
type Retract struct{}

// Board brings the next envelopes of the board, and the signed head after them.
type Board struct {
	From      uint64
	Envelopes []protocol.Verified
	Head      protocol.Head
}

// ReleaseStored reports that the job MakeRelease is done: the ledger is debited
// and the release with this signed header is durable.
type ReleaseStored struct{ Header protocol.Verified }

// ReleaseUploaded reports that the aggregator acknowledged every chunk.
type ReleaseUploaded struct{}

// ResultStored reports that the result was fetched, verified and stored.
type ResultStored struct{}

// JobFailed reports that a job cannot be done at all: a trial later is pointless.
type JobFailed struct{ Err error }

func (Tick) partyEvent()            {}
func (Consent) partyEvent()         {}
func (Retract) partyEvent()         {}
func (Board) partyEvent()           {}
func (ReleaseStored) partyEvent()   {}
func (ReleaseUploaded) partyEvent() {}
func (ResultStored) partyEvent()    {}
func (JobFailed) partyEvent()       {}

// ErrRolledBack reports an own message on the board that the store lacks: the
// store was restored from a backup, and going on could release twice.
var ErrRolledBack = errors.New("the board holds a message of ours that our store lacks: the store was rolled back; only a withdrawal can follow")

// ErrBoardRewritten reports a board that does not extend what was seen before.
var ErrBoardRewritten = errors.New("the board does not extend the one that was seen before")

// Step takes one event. An error means that the event itself was impossible; a
// study that fails says so in Status and asks for nothing any more.
func (p *Party) Step(ev Event) (Effects, error) {
	var out Effects
	switch ev := ev.(type) {
	case Tick:
		p.now = max(p.now, ev.Now)
		return out, nil
	case Consent:
		if err := p.consent(&out); err != nil {
			return out, err
		}
	case Retract:
		if err := p.retract(&out); err != nil {
			return out, err
		}
	case Board:
		if p.failure != nil {
			break // its view may hold part of a board that was refused
		}
		if err := p.extend(ev, &out); err != nil {
			p.fail(err)
		}
	case ReleaseStored:
		p.storedRelease(ev.Header, &out)
	case ReleaseUploaded:
		p.uploaded = true
	case ResultStored:
		p.finished = true
	case JobFailed:
		p.fail(ev.Err)
	default:
		return out, fmt.Errorf("unknown event %T", ev)
	}
	if p.purge {
		p.purge = false
		out.Persist = append(out.Persist, DestroySecrets{})
	}
	p.advance(&out)
	if p.failure == nil {
		out.Send = append(out.Send, p.unposted()...)
	}
	return out, nil
}

func (p *Party) fail(err error) {
	if p.failure == nil {
		p.failure = err
	}
}

// consent signs the approval, once.
func (p *Party) consent(out *Effects) error {
	if _, done := p.mine(protocol.KindApprove); done {
		return nil
	}
	if p.now >= p.study.Expires {
		return &DeadlineError{"this party's approval", p.study.Expires}
	}
	p.sign(protocol.KindApprove, wire.EncodeApprove(protocol.Approve{Meaning: p.study.Meaning}), out)
	return nil
}

func (p *Party) retract(out *Effects) error {
	if _, committed := p.mine(protocol.KindCommit); committed {
		return errors.New("this party has committed to the seed agreement: an approval can be taken back only before that")
	}
	if _, done := p.mine(protocol.KindWithdraw); !done {
		p.sign(protocol.KindWithdraw, nil, out)
	}
	return nil
}

// sign makes an own envelope and asks for it to be persisted before it is sent.
func (p *Party) sign(kind protocol.Kind, payload []byte, out *Effects) {
	attempt := uint32(theAttempt)
	if kind.PreAttempt() {
		attempt = 0
	}
	e := p.signer.Seal(p.study.ID, kind, attempt, payload)
	p.own = append(p.own, e)
	out.Persist = append(out.Persist, SaveEnvelope{e})
}

// mine returns the own envelope of a kind, if it was ever signed.
func (p *Party) mine(kind protocol.Kind) (protocol.Verified, bool) {
	for _, e := range p.own {
		if e.Kind() == kind {
			return e, true
		}
	}
	return protocol.Verified{}, false
}

// unposted returns the own envelopes that are not on the board.
func (p *Party) unposted() []protocol.Verified {
	var out []protocol.Verified
	for _, e := range p.own {
		if _, there := p.view.posted(p.signer.ID(), e.Kind()); !there {
			out = append(out, e)
		}
	}
	return out
}

// extend takes the next stretch of the board in, after checking that it extends
// what was seen, that the aggregator signed for it, that every message is
// admissible, and that whatever is ours is known to us. Each sender answers for
// what it signed, but the aggregator for having put it there: it holds the same
// rules, and so the blame.
func (p *Party) extend(ev Board, out *Effects) error {
	if ev.Head.Study != p.study.ID {
		return p.blameAggregator(fmt.Errorf("%w: its head is of study %s", ErrBoardRewritten, ev.Head.Study.Short()))
	}
	if err := protocol.VerifyHead(ev.Head, p.study.Aggregator.ID); err != nil {
		return p.blameAggregator(err)
	}
	if ev.From != p.view.count() || ev.Head.Count != ev.From+uint64(len(ev.Envelopes)) {
		return p.blameAggregator(fmt.Errorf("%w: %d envelopes from %d do not lead from %d to %d",
			ErrBoardRewritten, len(ev.Envelopes), ev.From, p.view.count(), ev.Head.Count))
	}
	for _, e := range ev.Envelopes {
		if e.Sender() == p.signer.ID() && e.Study() == p.study.ID {
			if mine, ok := p.mine(e.Kind()); !ok || mine.ID() != e.ID() {
				return ErrRolledBack
			}
		}
		err := p.view.admit(e)
		if err != nil && p.certain && p.view.complete(protocol.KindConfirm) && e.Kind().Agreement() {
			// Whoever holds the certificate is seeded for good: what others do to the
			// agreement after it is not this party's concern any more.
			p.view.pass(e)
			continue
		}
		if err != nil {
			if errors.Is(err, ErrPosted) {
				return p.blameAggregator(fmt.Errorf("%w: %s stands on it twice", ErrBoardRewritten, e))
			}
			return p.blameAggregator(err)
		}
	}
	if p.view.chain() != ev.Head.Chain {
		return p.blameAggregator(fmt.Errorf("%w: the hash chain differs", ErrBoardRewritten))
	}
	if len(ev.Envelopes) > 0 {
		out.Persist = append(out.Persist, AppendBoard(ev))
	}
	return nil
}

func (p *Party) blameAggregator(err error) error {
	return &protocol.Fault{Culprit: p.study.Aggregator.ID, Kind: "board", Attempt: theAttempt, Err: err}
}

// StoppedError reports a study that the aggregator stopped.
type StoppedError struct{ Stop protocol.Stop }

func (e *StoppedError) Error() string {
	return fmt.Sprintf("the aggregator stopped the study at %s: %s", e.Stop.At, e.Stop.Reason)
}

// DeadlineError reports a wait that the study's own dates ended.
type DeadlineError struct {
	What  string
	Until protocol.Instant
}

func (e *DeadlineError) Error() string {
	return fmt.Sprintf("%s did not come before %s", e.What, e.Until)
}
