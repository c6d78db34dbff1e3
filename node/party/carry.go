package party

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/carry"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Export does all that the party can do by itself for an approved study, as Run would, and writes a
// bundle for the aggregator with all of this party's messages. It can be repeated at any time:
// nothing is drawn or signed twice.
func (p *Party) Export(ctx context.Context, id protocol.StudyID, w io.Writer) (carry.Carried, error) {
	c, err := p.byHand(ctx, id, nil, func(r *service) (bundle.Label, error) { return r.export(w) })
	if err != nil {
		return c, fmt.Errorf("exporting study %s: %w", id.Short(), err)
	}
	return c, nil
}

// Import reads a bundle of the aggregator and continues the study from there.
func (p *Party) Import(ctx context.Context, in io.Reader) (carry.Carried, error) {
	label, err := bundle.ReadLabel(in)
	if err != nil {
		return carry.Carried{}, fmt.Errorf("importing: %w", err)
	}
	if label.To != p.ID() {
		return carry.Carried{}, fmt.Errorf("importing: %w", fail.BundleElsewhere.Of(fmt.Errorf("it is for %s, this is %s", label.To, p.ID())))
	}
	news := func(s *study.Study) (*carry.Mail, error) {
		if label.From != s.Aggregator.ID {
			return nil, fmt.Errorf("%w: it is from %s, the study's aggregator is %s", bundle.ErrElsewhere, label.From, s.Aggregator.ID)
		}
		key, err := carry.MailboxKey(p.Store.Identity(), s.ID)
		if err != nil {
			return nil, err
		}
		reader, err := bundle.Open(in, label, key)
		if err != nil {
			return nil, err
		}
		return carry.ReadMail(reader, label, p.Store.Dir())
	}
	c, err := p.byHand(ctx, label.Study, news, func(*service) (bundle.Label, error) { return label, nil })
	if err != nil {
		return c, fmt.Errorf("importing study %s: %w", label.Study.Short(), err)
	}
	return c, nil
}

// byHand serves a study as far as the news allow, and then calls last.
func (p *Party) byHand(ctx context.Context, id protocol.StudyID, news func(*study.Study) (*carry.Mail, error), last func(*service) (bundle.Label, error)) (c carry.Carried, err error) {
	unlock, err := p.Store.LockStudy(id)
	if err != nil {
		return c, err
	}
	defer unlock()
	r, err := p.open(id)
	if err != nil {
		return c, err
	}
	r.sure = r.Now() // there is no clock to compare with
	from := &carry.Mail{}
	if news != nil {
		if from, err = news(r.Study); err != nil {
			return c, err
		}
	}
	defer from.Close()
	r.client = calls.Client{Carrier: from, Study: r.Study}
	if err := r.handle(ctx); err != nil {
		return c, err
	}
	if _, err := r.fetchFurther(ctx); err != nil {
		return c, err
	}
	c.Status = r.status()
	c.Bundle, err = last(r)
	return c, err
}

// handle does what the news allow: it reads the board and runs jobs, in turn. Messages wait for the
// next bundle.
func (r *service) handle(ctx context.Context) error {
	if err := r.decide(ctx); err != nil {
		return err
	}
	if err := r.vouch(ctx); err != nil {
		return err
	}
	for {
		for r.busy() {
			err := r.machine.Work(ctx, work{r}, &link{service: r})
			if errors.Is(err, errUndecided) { // the steward must decide; the next command continues
				r.asking = true
				return r.show()
			}
			if err != nil {
				return err
			}
		}
		err := r.read(ctx, 0)
		if errors.Is(err, carry.ErrNoNews) {
			break
		}
		if err != nil {
			return err
		}
	}
	if status := r.machine.Status(); status.State == session.Failed {
		return &node.FailedError{Err: status.Failure}
	}
	return nil
}

// busy reports whether there is a job to do.
func (r *service) busy() bool {
	_, run := r.machine.Due()
	return len(run) > 0 && !r.machine.Status().Terminal()
}

// export writes the own envelopes that are due and, until a result includes it, the whole release.
func (r *service) export(w io.Writer) (bundle.Label, error) {
	sealed := &carry.Counted{Writer: w}
	label, err := r.seal(sealed)
	if err != nil {
		return label, err
	}
	return label, r.out.note(journal.Entry{Event: journal.Exported, Bytes: sealed.N})
}

func (r *service) seal(w io.Writer) (bundle.Label, error) {
	label := bundle.Label{Study: r.Study.ID, From: r.Signer.ID(), To: r.Study.Aggregator.ID}
	out, err := bundle.Create(w, label, r.Study.Aggregator.HPKE)
	if err != nil {
		return label, err
	}
	key, err := carry.MailboxKey(r.Store.Identity(), r.Study.ID)
	if err != nil {
		return label, err
	}
	mailbox := r.Signer.SignMailbox(r.Study.ID, key.PublicKey().Bytes())
	if err := out.Add(carry.PartMailbox, mailbox.Encode()); err != nil {
		return label, err
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return label, err
	}
	head := ledger.HeadFor(entries, label.To)
	if err := out.Add(calls.Ledger, wire.EncodeLedgerHead(r.Signer.SignLedgerHead(label.To, head.Count, head.Hash))); err != nil {
		return label, err
	}
	due, _ := r.machine.Due()
	for _, e := range due { // envelopes of this party on the board have arrived
		if err := out.Add(calls.Post, wire.EncodePost([]protocol.Envelope{e.Envelope()})); err != nil {
			return label, err
		}
	}
	if r.machine.Carries() {
		if err := r.exportRelease(out); err != nil {
			return label, err
		}
	}
	return label, out.Close()
}

func (r *service) exportRelease(out *bundle.Writer) error {
	raw, err := r.Store.ReleaseHeader(r.Study.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	e, err := stored.DecodeVerified(raw)
	if err != nil {
		return fmt.Errorf("stored release: %w", err)
	}
	header, err := wire.DecodeRelease(e.Payload())
	if err != nil {
		return fmt.Errorf("stored release: %w", err)
	}
	for i, s := range header.Sketches {
		send := func(index int, piece []byte) error {
			return out.Add(calls.Chunk, wire.EncodeChunk(wire.Chunk{Study: r.Study.ID, Sketch: i, Index: index, Data: piece}))
		}
		if err := r.EachChunk(i, s, 0, send); err != nil {
			return err
		}
	}
	return nil
}
