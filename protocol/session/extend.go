package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
)

// extend admits the next part of the board. It checks that this extends what was seen, that the
// aggregator signed it, that every message is admissible, and that this party knows all of its own
// messages. Each sender answers for what it signed, but the aggregator for having posted it: it
// applies the same rules, so it is to blame.
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
		if err := p.take(e, out); err != nil {
			return err
		}
	}
	if p.view.chain() != ev.Head.Chain {
		return p.blameAggregator(fmt.Errorf("%w: the hash chain differs", ErrBoardRewritten))
	}
	if len(ev.Envelopes) > 0 {
		out.Persist = append(out.Persist, AppendBoard{From: ev.From, Envelopes: ev.Envelopes, Head: ev.Head})
	}
	return nil
}

// take admits one envelope. A confirmation may complete a certificate, which then takes effect
// before the envelopes after it.
func (p *Party) take(e protocol.Verified, out *Effects) error {
	if e.Sender() == p.signer.ID() && e.Study() == p.study.ID && !p.wrote(e) {
		return ErrRolledBack
	}
	err := p.view.admit(e)
	if err != nil && p.seededIn != 0 && p.view.certified() != nil && aboutAgreement(e.Kind()) {
		// A party that holds the certificate is seeded for good. What others do to the agreement
		// later does not concern it, except that it answers those who start another attempt.
		p.view.pass(e)
		p.challenged = p.challenged || e.Kind() == protocol.KindRoster
		return nil
	}
	if errors.Is(err, ErrPosted) {
		return p.blameAggregator(fmt.Errorf("%w: %s is on it twice", ErrBoardRewritten, e))
	}
	if err != nil {
		return p.blameAggregator(err)
	}
	if a := p.view.at(e.Attempt()); e.Kind() == protocol.KindFault && a.void {
		p.leave(a, out)
	}
	if e.Kind() == protocol.KindConfirm || e.Kind() == protocol.KindCertificate {
		if a := p.view.certified(); a != nil {
			p.certify(a, out)
		}
	}
	return nil
}

// aboutAgreement reports whether a kind is about how the seed is agreed on.
func aboutAgreement(kind protocol.Kind) bool {
	switch kind {
	case protocol.KindRoster, protocol.KindFault, protocol.KindComplaint, protocol.KindAbandon, protocol.KindCertificate:
		return true
	}
	return kind.Agreement()
}

// wrote reports whether an envelope is among our own.
func (p *Party) wrote(e protocol.Verified) bool {
	for _, own := range p.own {
		if own.ID() == e.ID() {
			return true
		}
	}
	return false
}

func (p *Party) blameAggregator(err error) error {
	f := &protocol.Fault{Culprit: p.study.Aggregator.ID, Kind: "board", Err: err}
	if a := p.view.current(); a != nil {
		f.Attempt = a.number
	}
	return f
}
