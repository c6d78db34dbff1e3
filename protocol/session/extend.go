package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
)

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

// take takes one envelope in. A confirmation may complete a certificate: then it
// counts before whatever stands behind it.
func (p *Party) take(e protocol.Verified, out *Effects) error {
	if e.Sender() == p.signer.ID() && e.Study() == p.study.ID && !p.wrote(e) {
		return ErrRolledBack
	}
	err := p.view.admit(e)
	if err != nil && p.seededIn != 0 && p.view.certified() != nil && aboutAgreement(e.Kind()) {
		// Whoever holds the certificate is seeded for good: what others do to the
		// agreement after it is not this party's concern any more, except that it
		// answers who goes on with another attempt.
		p.view.pass(e)
		p.challenged = p.challenged || e.Kind() == protocol.KindRoster
		return nil
	}
	if errors.Is(err, ErrPosted) {
		return p.blameAggregator(fmt.Errorf("%w: %s stands on it twice", ErrBoardRewritten, e))
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

// aboutAgreement reports whether a kind has to do with how the seed comes about.
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
