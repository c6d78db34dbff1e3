package party

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// world implements job.World for a study's release.
type world struct {
	*service
	src     *source.Dataset
	seed    seed.Seed
	t2      protocol.Digest
	locked  bool              // the held sketch is locked against commands
	note    string            // what was sketched, in counts
	interim *protocol.Interim // of two rounds: the basis of the second
}

// Stored returns the header of the stored release.
func (w *world) Stored() ([]byte, error) { return none(w.Store.ReleaseHeader(w.Study.ID)) }

// none turns store.ErrNotFound into nil data.
func none(data []byte, err error) ([]byte, error) {
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return data, err
}

func (w *world) Debit(ctx context.Context, due func([]ledger.Entry) ([]ledger.Entry, error)) error {
	return w.Spend(ctx, w.src, due)
}

// Countersign has the aggregator countersign the ledger's head.
func (w *world) Countersign(ctx context.Context) error { return w.vouchPatiently(ctx) }

func (w *world) StoredLook() ([]byte, error) { return none(w.Store.Look(w.Study.ID)) }

func (w *world) StoreLook(data []byte) error { return w.Store.PutLook(w.Study.ID, data) }

// Look reads the data for a first look. If they are elsewhere, it takes the sum of their parts once
// the steward has released it, and returns errUndecided until then.
func (w *world) Look(ctx context.Context, looks []*release.Look) (int64, error) {
	if w.src.Data.Source.Elsewhere != "" {
		set, err := w.Held(w.src, agree.Outcome{Seed: w.seed, T2: w.t2})
		if err != nil {
			return 0, err
		}
		if !set.Looked() {
			return 0, w.awaitParts()
		}
		if err := w.decided(set); err != nil {
			return 0, err
		}
		return set.RestoreLooks(looks)
	}
	return (&source.Data{Source: &w.Source, From: w.src}).Look(ctx, looks)
}

// Exact reads the data into the builders. If the steward is asked, it returns the held sketches
// once the steward has released them, and errUndecided until then. Held sketches are used even if
// the site file no longer asks, since records may have been withdrawn from them.
func (w *world) Exact(ctx context.Context, builders []*release.Builder) (job.Records, error) {
	set, err := w.Held(w.src, agree.Outcome{Seed: w.seed, T2: w.t2})
	if err != nil {
		return job.Records{}, err
	}
	asks := w.src.Site.Release == config.ReleaseAsk
	if !set.Exists() {
		if !asks {
			data := &source.Data{Source: &w.Source, From: w.src}
			records, err := data.Exact(ctx, builders)
			w.note = data.Note
			return records, err
		}
		if w.src.Data.Source.Elsewhere != "" {
			return job.Records{}, w.awaitParts()
		}
		if _, err := set.Update(ctx); err != nil {
			return job.Records{}, err
		}
	}
	if asks {
		if err := w.decided(set); err != nil {
			return job.Records{}, err
		}
	}
	w.note = heldText(set.Summary())
	return taken(set)
}

// awaitParts reports that parts of data that are elsewhere are missing.
func (w *world) awaitParts() error {
	w.once(event.Parts, w.src.Data.Source.Elsewhere)
	return errUndecided
}

// decided returns errUndecided until the steward has released what is held.
func (w *world) decided(set *held.Set) error {
	decided, err := w.Store.Held(w.Study.ID).Decided()
	if err == nil && !decided {
		w.heldFor(heldText(set.Summary()))
		err = errUndecided
	}
	return err
}

func (w *world) Drop() error { return w.Store.DropRelease(w.Study.ID) }

// Save stores the release, together with what is never sent: the order of its rows, and how many
// records were clipped.
func (w *world) Save(s job.Sealed) error {
	files := map[string]io.Reader{}
	for i, data := range s.Sketches() {
		files[filename.Sketch(i)] = bytes.NewReader(data)
	}
	for i, order := range s.Orders() {
		if order == nil {
			continue
		}
		rows, err := stored.RowsCSV(s.IDs(), order)
		if err != nil {
			return err
		}
		files[filename.Rows(i)] = bytes.NewReader(rows)
	}
	if w.interim != nil {
		files[filename.Interim] = bytes.NewReader(wire.EncodeInterim(*w.interim))
	}
	counts, err := stored.ClippedJSON(w.Study, s.Clipped())
	if err != nil {
		return err
	}
	if counts != nil {
		files[filename.Clipped] = bytes.NewReader(counts)
	}
	return w.Store.SaveRelease(w.Study.ID, store.Release{Header: s.Header(), Files: files})
}

// Cleanup destroys what was kept on the way. The seed may be needed for late parties; the exact
// sketch is not.
func (w *world) Cleanup() error {
	if !w.locked {
		return w.destroyHeld()
	}
	if err := w.Store.Held(w.Study.ID).Destroy(); err != nil {
		return err
	}
	return w.Store.DestroyLook(w.Study.ID)
}

// firstWorld implements job.World for the first of two rounds.
type firstWorld struct{ *world }

// Stored returns the stored first round.
func (w firstWorld) Stored() ([]byte, error) { return none(w.Store.First(w.Study.ID)) }

// Drop destroys the first round of a void attempt.
func (w firstWorld) Drop() error { return w.Store.DestroyFirst(w.Study.ID) }

// Save stores the first round, all of which is in its envelope.
func (w firstWorld) Save(s job.Sealed) error { return w.Store.PutFirst(w.Study.ID, s.Header()) }

// At notifies the observer.
func (w firstWorld) At(stage job.Stage) { w.tell(stage, protocol.KindFirst) }

// At notifies the observer.
func (w *world) At(stage job.Stage) { w.tell(stage, "") }

// tell reports a job's stage to the observer; kind is that of a message other than a release.
func (w *world) tell(stage job.Stage, kind protocol.Kind) {
	p := event.Progress{Study: w.Study.ID}
	switch stage {
	case job.Projected:
		p.Milestone, p.Note = event.Projected, w.note
	case job.Debited:
		p.Milestone = event.Debited
	case job.Saved:
		p.Milestone, p.Kind = event.Stored, kind
	default:
		return
	}
	w.Observe(p)
}
