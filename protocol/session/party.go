package session

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// PartyConfig configures a party's machine.
type PartyConfig struct {
	Study    *study.Study    // required
	Signer   protocol.Signer // required: one of the study's parties
	Entropy  io.Reader       // required: for the agreement's secrets; crypto/rand outside tests
	Restored PartyRestored   // default: a fresh start

	// Welcome reports whether this party gives the seed to a late party that the study lists.
	// Default: to nobody.
	Welcome func(newcomer protocol.PeerID) bool
}

// PartyRestored is what a party had made durable; its zero value is a fresh start. The stored board
// follows as Board events.
type PartyRestored struct {
	Own      []protocol.Verified    // every own envelope that was persisted
	Secrets  map[uint32]seed.Hidden // by attempt, as last saved
	Document protocol.Digest        // of the newest result fetched and stored; zero if there is none
}

// Format writes a fixed text for every verb.
func (r PartyRestored) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "%d own envelopes, secrets of %d attempts (hidden)", len(r.Own), len(r.Secrets))
}

// Party is the machine of one party in one study. It is not safe for concurrent use.
type Party struct {
	study    *study.Study
	signer   protocol.Signer
	entropy  io.Reader
	welcomes func(protocol.PeerID) bool
	view     *view
	now      protocol.Instant

	own        []protocol.Verified
	consented  bool
	tries      map[uint32]*agreement
	seeded     *agree.Outcome // from the certificate on, as long as it is needed
	seededIn   uint32         // the attempt of the certificate, which seeds for good; 0 before it
	challenged bool           // a roster was shown after the certificate
	live       bool           // the board was read since this machine was made
	offered    map[string]bool
	examined   map[protocol.PeerID]bool // newcomers whose proof was checked
	caught     []Culprit                // those whose proof is of another seed
	purge      []DestroySecrets         // secrets that outlived the release they were for
	released   bool
	uploaded   bool
	document   protocol.Digest // of the newest stored result
	failure    error
}

// agreement is what this party holds for one attempt.
type agreement struct {
	secrets *agree.Secrets           // nil once spent or destroyed
	outcome *agree.Outcome           // set once every share was opened
	checked map[protocol.PeerID]bool // confirmations that verified
}

// NewParty makes or restores a party's machine.
func NewParty(c PartyConfig) (*Party, error) {
	if _, ok := c.Study.PartyIndex(c.Signer.ID()); !ok {
		return nil, fmt.Errorf("study %s does not list this party (%s)", c.Study.ID.Short(), c.Signer.ID())
	}
	p := &Party{
		study: c.Study, signer: c.Signer, entropy: c.Entropy, welcomes: c.Welcome, view: newView(c.Study, c.Signer.ID()),
		own: c.Restored.Own, document: c.Restored.Document,
		tries: map[uint32]*agreement{}, offered: map[string]bool{}, examined: map[protocol.PeerID]bool{},
	}
	if p.welcomes == nil {
		p.welcomes = func(protocol.PeerID) bool { return false }
	}
	for _, e := range p.own {
		p.consented = p.consented || e.Kind() == protocol.KindApprove || e.Kind() == protocol.KindJoin
		if e.Kind() == protocol.KindRelease { // a release is made under a certificate
			p.seededIn = max(p.seededIn, e.Attempt())
		}
	}
	released := p.seededIn
	if released > 0 && !p.keepsSeed() {
		p.purge = stale(c.Restored.Secrets, released)
		if !p.study.Masked() && len(p.purge) > 0 {
			p.purge = []DestroySecrets{{}}
		}
	}
	for attempt, data := range c.Restored.Secrets {
		if len(p.purge) > 0 && attempt <= released {
			continue
		}
		if err := p.restoreSecrets(attempt, data.Reveal()); err != nil {
			return nil, fmt.Errorf("restoring study %s: %w", c.Study.ID.Short(), err)
		}
	}
	p.released = released > 0 && p.seededIn == released
	return p, nil
}

// Event is an event for a party's machine.
type Event interface{ partyEvent() }

// Tick sets the time. Drivers send one before every other event. A party acts on the time only with
// that event, so the news in the event counts first: after a restart, or at a deadline, the board
// says more than the clock. An aggregator keeps the board, so it acts on a Tick at once.
type Tick struct{ Now protocol.Instant }

// Consent is the steward's approval of this study's id.
type Consent struct{}

// Retract is the steward's withdrawal.
type Retract struct{}

// Board delivers the next envelopes of the board, and the signed head after them.
type Board struct {
	From      uint64
	Envelopes []protocol.Verified
	Head      protocol.Head
	Stored    bool // replayed from the own store: the real board may be longer
}

// ReleaseStored reports that the job MakeRelease is done: the ledger is debited
// and the release with this signed header is durable.
type ReleaseStored struct{ Header protocol.Verified }

// FirstStored reports that the job MakeFirst is done: the ledger is debited, and the signed first round is durable.
type FirstStored struct{ First protocol.Verified }

// ReleaseUploaded reports that the aggregator acknowledged every chunk.
type ReleaseUploaded struct{}

// ResultStored reports that a result was fetched, verified and stored.
type ResultStored struct{ Document protocol.Digest }

// JobFailed reports that a job cannot be done at all: a retry is pointless.
type JobFailed struct{ Err error }

func (Tick) partyEvent()            {}
func (Consent) partyEvent()         {}
func (Retract) partyEvent()         {}
func (Board) partyEvent()           {}
func (ReleaseStored) partyEvent()   {}
func (FirstStored) partyEvent()     {}
func (ReleaseUploaded) partyEvent() {}
func (ResultStored) partyEvent()    {}
func (JobFailed) partyEvent()       {}

// ErrRolledBack reports an own message on the board that the store lacks: the store was restored
// from a backup, and continuing could release twice.
var ErrRolledBack error = fail.RolledBack

// ErrBoardRewritten reports a board that does not extend what was seen before.
var ErrBoardRewritten error = fail.BoardRewritten

// Step processes one event. An error means that the event itself was impossible. A failure of the
// study shows in Status, and the machine then asks for nothing more.
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
			break // its view may hold part of a refused board
		}
		p.live = p.live || !ev.Stored
		if err := p.extend(ev, &out); err != nil {
			p.fail(err)
		}
	case FirstStored:
		p.storedFirst(ev.First, &out)
	case ReleaseStored:
		p.storedRelease(ev.Header, &out)
	case ReleaseUploaded:
		p.uploaded = true
	case ResultStored:
		p.document = ev.Document
	case JobFailed:
		p.fail(ev.Err)
	default:
		return out, fmt.Errorf("unknown event %T", ev)
	}
	for _, destroy := range p.purge {
		out.Persist = append(out.Persist, destroy)
	}
	p.purge = nil
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

// consent signs the approval, once. If the study takes late parties, a consent too late for the
// roster makes the party join.
func (p *Party) consent(out *Effects) error {
	if p.consented {
		return nil
	}
	late := p.now >= p.study.Expires || p.view.current() != nil
	if late && (p.study.LateUntil == 0 || p.now >= p.study.LateUntil) {
		return &DeadlineError{"this party's approval", max(p.study.Expires, p.study.LateUntil)}
	}
	p.consented = true
	if !late {
		p.sign(protocol.KindApprove, 0, wire.EncodeApprove(protocol.Approve{Meaning: p.study.Meaning}), out)
	}
	return nil
}

func (p *Party) retract(out *Effects) error {
	if p.everSigned(protocol.KindCommit) || p.everSigned(protocol.KindJoin) {
		return errors.New("this party has taken part in the seed agreement: an approval can be withdrawn only before that")
	}
	if !p.everSigned(protocol.KindWithdraw) {
		p.sign(protocol.KindWithdraw, 0, nil, out)
	}
	return nil
}

// sign makes an own envelope and asks for it to be persisted before it is sent.
func (p *Party) sign(kind protocol.Kind, attempt uint32, payload []byte, out *Effects) {
	p.signBeside(kind, attempt, payload, nil, out)
}

// signBeside is sign for a message with texts beside it.
func (p *Party) signBeside(kind protocol.Kind, attempt uint32, payload []byte, texts [][]byte, out *Effects) {
	e, err := p.signer.Seal(p.study.ID, kind, attempt, payload)
	if err != nil {
		p.fail(err)
		return
	}
	e = e.With(texts, nil)
	p.own = append(p.own, e)
	out.Persist = append(out.Persist, SaveEnvelope{e})
}

// mine returns the own envelope of a kind in an attempt, if it was signed.
func (p *Party) mine(kind protocol.Kind, attempt uint32) (protocol.Verified, bool) {
	for _, e := range p.own {
		if e.Kind() == kind && e.Attempt() == attempt {
			return e, true
		}
	}
	return protocol.Verified{}, false
}

func (p *Party) signed(kind protocol.Kind, attempt uint32) bool {
	_, ok := p.mine(kind, attempt)
	return ok
}

// everSigned reports whether a kind was signed in any attempt.
func (p *Party) everSigned(kind protocol.Kind) bool {
	for _, e := range p.own {
		if e.Kind() == kind {
			return true
		}
	}
	return false
}

// unposted returns the own envelopes that are not on the board and whose turn it is. An envelope
// that has lost its turn is never sent again: it would be passed over for ever.
func (p *Party) unposted() []protocol.Verified {
	var out []protocol.Verified
	for _, e := range p.own {
		switch {
		case p.view.holds(e):
		case p.view.turn(e) != nil && !p.answers(e):
		case e.Kind() == protocol.KindRelease && p.awaitsFirst():
		case e.Kind() == protocol.KindWelcome && (p.now >= p.study.LateUntil || !p.view.awaited(e)):
		default:
			out = append(out, e)
		}
	}
	return out
}

// answers reports whether e is a certificate that answers a later roster. This party's view ends
// with the certificate, so it cannot know whose turn it is on the board.
func (p *Party) answers(e protocol.Verified) bool {
	return p.challenged && !p.view.ended() && e.Kind() == protocol.KindCertificate
}

// Carries reports whether chunks of the own release must go into the next bundle. Bundles cannot
// ask which chunks have arrived, so all go until a result includes the release.
func (p *Party) Carries() bool {
	header, ok := p.mine(protocol.KindRelease, p.seededIn)
	if !ok || !p.view.holds(header) && p.view.turn(header) != nil {
		return false
	}
	r := p.view.result()
	return !p.view.ended() && (r == nil || !slices.Contains(r.Releases, header.ID()))
}

// StoppedError reports a study that the aggregator stopped.
type StoppedError struct {
	Stop   protocol.Stop
	Cause  StopCause
	Causes []error // why the last attempt ended, if it did
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("the aggregator stopped the study at %s: %s", e.Stop.At, e.Reason())
}

// Fail returns the error as an entry of the catalogue.
func (e *StoppedError) Fail() *fail.Error { return fail.Stopped.Fail() }

// Reason returns the aggregator's reason, made safe to print.
func (e *StoppedError) Reason() string { return printable(e.Stop.Reason) }

// Unwrap returns the causes, so that errors.Is recognises a stop for want of agreement.
func (e *StoppedError) Unwrap() []error { return e.Causes }

// StruckError reports a member that was removed; the others continue without it.
type StruckError struct{ Removal Removal }

func (e *StruckError) Error() string {
	if e.Removal.Proved {
		return fmt.Sprintf("this party was struck from the roster by a proved fault: %v", e.Removal.Err)
	}
	return fmt.Sprintf("this party was struck from the roster on the aggregator's word: %v", e.Removal.Err)
}

// Fail returns the error as an entry of the catalogue.
func (e *StruckError) Fail() *fail.Error { return fail.Struck.Fail() }

func (e *StruckError) Unwrap() error { return e.Removal.Err }

// DeadlineError reports a wait that the study's own dates ended.
type DeadlineError struct {
	What  string
	Until protocol.Instant
}

func (e *DeadlineError) Error() string { return e.Fail().Error() }

// Fail returns the error as an entry of the catalogue.
func (e *DeadlineError) Fail() *fail.Error { return fail.DeadlinePassed.New(e.What, e.Until) }
