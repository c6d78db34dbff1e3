package party

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
)

// makeRelease is the one way from data to a release:
//
//	project → debit durably → have the ledger's head countersigned → draw noise →
//	store durably → (only then) send
//
// Randomised response draws its noise into the values as they are read, so there the
// debit comes first:
//
//	debit durably → draw noise and project → store durably → (only then) send
//
// Where a release takes a first look at the data, the debit comes before that is drawn (look.go).
// Where sums are masked, noised sketches are masked before they are stored (masked.go).
// Where the steward is asked, what was projected is held until the decision (held.go).
// A crash before the debit leaves nothing. A crash after it leaves a debit that
// the next run finds and does not repeat; the noise is drawn then, for the first
// time that anything can leave. A crash after the store leaves the release,
// which is only ever re-sent as it is.
func (r *service) makeRelease(ctx context.Context, job session.MakeRelease) (session.Event, error) {
	if err := r.keep(job.Seed); err != nil {
		return nil, err
	}
	header, err := r.ReleasedIn(job.Attempt)
	if err == nil {
		if err := r.destroyHeld(); err != nil { // it was released
			return nil, err
		}
		return session.ReleaseStored{Header: header}, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	src, err := r.Readied(job.Attempt, job.Pairs.Members())
	if err != nil {
		return nil, err
	}
	unlock, err := r.lockHeld()
	if err != nil {
		return nil, err
	}
	defer unlock()
	exact, err := r.sketched(ctx, src, job)
	if err != nil {
		return nil, err
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return nil, err
	}
	if err := r.Acceptable(src, exact.Records, entries); err != nil {
		return nil, err
	}
	r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Projected, Note: exact.Note})
	if !source.SpendsEarly(r.Study) {
		if err := r.debit(ctx, src); err != nil {
			return nil, err
		}
	}
	if err := r.GiveUp(job.Attempt); err != nil {
		return nil, err
	}
	header, err = r.noiseAndStore(src, exact, job)
	if err != nil {
		return nil, err
	}
	// The seed may be needed for late parties; the exact sketch is not.
	if err := r.Store.Held(r.Study.ID).Destroy(); err != nil {
		return nil, err
	}
	if err := r.Store.DestroyLook(r.Study.ID); err != nil {
		return nil, err
	}
	r.asking, r.told = false, false // a masked sum that is void asks the steward anew
	return session.ReleaseStored{Header: header}, nil
}

// randomise debits the ledger and lets the builders draw their noise. That the data can
// be read was found out before the party's first message.
func (r *service) randomise(ctx context.Context, src *source.Opened, builders []*release.Builder) error {
	if err := r.debit(ctx, src); err != nil {
		return err
	}
	for _, b := range builders {
		if err := b.Randomise(r.Entropy); err != nil {
			return err
		}
	}
	return nil
}

// debit spends the budget, once per sketch, durably, and has the ledger's head
// countersigned.
func (r *service) debit(ctx context.Context, src *source.Opened) error {
	return r.spend(ctx, src, func(entries []ledger.Entry) ([]ledger.Entry, error) { return r.Debits(src, entries) })
}

// spend appends what is due to the ledger, durably, unless it is of people whose budget is under another name,
// and has the ledger's head countersigned.
func (r *service) spend(ctx context.Context, src *source.Opened, due func([]ledger.Entry) ([]ledger.Entry, error)) error {
	if err := r.Remember(src); err != nil {
		return err
	}
	_, err := r.Store.Debit(ctx, func(entries []ledger.Entry) ([]ledger.Entry, error) {
		if refusal, err := r.Recognised(src, entries); refusal != nil || err != nil {
			return nil, errors.Join(refusal, err)
		}
		next, err := due(entries)
		if err != nil {
			return nil, err
		}
		for i := range next {
			if _, err := io.ReadFull(r.Entropy, next[i].Salt[:]); err != nil {
				return nil, fmt.Errorf("drawing salt: %w", err)
			}
		}
		return next, nil
	})
	if err != nil {
		return err
	}
	r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Debited})
	if err := r.vouchPatiently(ctx); err != nil {
		return fmt.Errorf("having the ledger countersigned: %w", err)
	}
	return nil
}

// noiseAndStore draws the noise into the exact sketches, which no longer exist
// afterwards, and stores the release with its signed header.
func (r *service) noiseAndStore(src *source.Opened, exact *source.Exact, job session.MakeRelease) (protocol.Verified, error) {
	if err := r.Noise(src, exact); err != nil {
		return protocol.Verified{}, err
	}
	if err := r.Mask(src, exact, job); err != nil {
		return protocol.Verified{}, err
	}
	described, files, err := exact.Encode()
	if err != nil {
		return protocol.Verified{}, err
	}
	header := protocol.Release{T2: job.T2, Records: exact.Records, Sketches: described}
	if header.Published, err = release.Publish(r.Study, job.Seed); err != nil {
		return protocol.Verified{}, err
	}
	counts, err := stored.ClippedJSON(r.Study, exact.Clipped())
	if err != nil {
		return protocol.Verified{}, err
	}
	if counts != nil {
		files[filename.Clipped] = bytes.NewReader(counts)
	}
	signed, err := r.Signer.Seal(r.Study.ID, protocol.KindRelease, job.Attempt, wire.EncodeRelease(header))
	if err != nil {
		return protocol.Verified{}, err
	}
	err = r.Store.SaveRelease(r.Study.ID, store.Release{Header: wire.EncodeEnvelope(signed.Envelope()), Files: files})
	if err != nil {
		return protocol.Verified{}, err
	}
	r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Stored})
	return signed, nil
}

// keep stores the row keys of the records side where the study lets parties place new
// records later. It comes before the release is stored, after which the seed may go.
func (r *service) keep(root seed.Seed) error {
	if r.Study.NewRecords == 0 || r.Now() >= r.Study.NewRecords {
		return nil
	}
	kept, err := root.Keep(release.PlacingKeys()...)
	if err != nil {
		return err
	}
	return r.Store.PutKept(r.Study.ID, kept.Bytes())
}
