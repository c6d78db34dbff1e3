package node

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
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
	header, err := r.releasedIn(job.Attempt)
	if err == nil {
		if err := r.destroyHeld(); err != nil { // it was released
			return nil, err
		}
		return session.ReleaseStored{Header: header}, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	src, err := r.readied(job.Attempt, job.Pairs.Members())
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
	if err := r.acceptable(src, exact.records, entries); err != nil {
		return nil, err
	}
	r.Observe(Progress{Study: r.study.ID, Milestone: Projected, Note: exact.note})
	if !spendsEarly(r.study) {
		if err := r.debit(ctx, src); err != nil {
			return nil, err
		}
	}
	if err := r.giveUp(job.Attempt); err != nil {
		return nil, err
	}
	header, err = r.noiseAndStore(src, exact, job)
	if err != nil {
		return nil, err
	}
	// The seed may be needed for late parties; the exact sketch is not.
	if err := r.Store.Held(r.study.ID).Destroy(); err != nil {
		return nil, err
	}
	if err := r.Store.DestroyLook(r.study.ID); err != nil {
		return nil, err
	}
	r.asking, r.told = false, false // a masked sum that is void asks the steward anew
	return session.ReleaseStored{Header: header}, nil
}

// drawsEarly reports that the noise is in the values before they are projected.
func drawsEarly(s *study.Study) bool { return s.Privacy.Mechanism == dp.RandomisedResponse }

// randomise debits the ledger and lets the builders draw their noise. That the data can
// be read was found out before the party's first message.
func (r *service) randomise(ctx context.Context, src *source, builders []*release.Builder) error {
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
func (r *service) debit(ctx context.Context, src *source) error {
	return r.spend(ctx, src, func(entries []ledger.Entry) ([]ledger.Entry, error) { return r.debits(src, entries) })
}

// spend appends what is due to the ledger, durably, unless it is of people whose budget is under another name,
// and has the ledger's head countersigned.
func (r *service) spend(ctx context.Context, src *source, due func([]ledger.Entry) ([]ledger.Entry, error)) error {
	if err := r.remember(src); err != nil {
		return err
	}
	_, err := r.Store.Debit(ctx, func(entries []ledger.Entry) ([]ledger.Entry, error) {
		if refusal, err := r.recognised(src, entries); refusal != nil || err != nil {
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
	r.Observe(Progress{Study: r.study.ID, Milestone: Debited})
	if err := r.vouchPatiently(ctx); err != nil {
		return fmt.Errorf("having the ledger countersigned: %w", err)
	}
	return nil
}

// noiseAndStore draws the noise into the exact sketches, which no longer exist
// afterwards, and stores the release with its signed header.
func (r *service) noiseAndStore(src *source, exact *exact, job session.MakeRelease) (protocol.Verified, error) {
	if err := r.noise(src, exact); err != nil {
		return protocol.Verified{}, err
	}
	if err := r.mask(src, exact, job); err != nil {
		return protocol.Verified{}, err
	}
	described, files, err := exact.encode()
	if err != nil {
		return protocol.Verified{}, err
	}
	header := protocol.Release{T2: job.T2, Records: exact.records, Sketches: described}
	if header.Published, err = release.Publish(r.study, job.Seed); err != nil {
		return protocol.Verified{}, err
	}
	counts, err := clippedJSON(r.study, exact.clipped())
	if err != nil {
		return protocol.Verified{}, err
	}
	if counts != nil {
		files[clippedFile] = bytes.NewReader(counts)
	}
	signed, err := r.signer.Seal(r.study.ID, protocol.KindRelease, job.Attempt, wire.EncodeRelease(header))
	if err != nil {
		return protocol.Verified{}, err
	}
	err = r.Store.SaveRelease(r.study.ID, store.Release{Header: wire.EncodeEnvelope(signed.Envelope()), Files: files})
	if err != nil {
		return protocol.Verified{}, err
	}
	r.Observe(Progress{Study: r.study.ID, Milestone: Stored})
	return signed, nil
}

// noise draws the noise into the exact sketches, which no longer exist afterwards.
func (r *home) noise(src *source, exact *exact) error {
	for i, plan := range src.plans {
		if err := exact.sketches[i].Draw(plan, r.Entropy, max(r.Workers, 1)); err != nil {
			return fmt.Errorf("noising sketch %d: %w", i+1, err)
		}
	}
	return nil
}

// clipped counts, for each sketch, the records whose contribution was clipped.
func (e *exact) clipped() (out []int64) {
	for _, one := range e.sketches {
		out = append(out, one.Clipped)
	}
	return out
}

// encode writes noised sketches and, where rows are records, their secret order.
func (e *exact) encode() ([]protocol.ReleasedSketch, map[string]io.Reader, error) {
	var all []protocol.ReleasedSketch
	files := map[string]io.Reader{}
	for i, one := range e.sketches {
		described, data, err := one.Encode()
		if err != nil {
			return nil, nil, err
		}
		all = append(all, described)
		files[sketchFile(i)] = bytes.NewReader(data)
		if one.Sketch.Side == sketch.Records {
			rows, err := rowsCSV(e.ids, one.Order)
			if err != nil {
				return nil, nil, err
			}
			files[rowsFile(i)] = bytes.NewReader(rows)
		}
	}
	return all, files, nil
}

func sketchFile(i int) string { return fmt.Sprintf("sketch-%d.bin", i) }

// rowsFile is the secret order of a records-side release: which record each of
// its rows is. It never leaves the party.
func rowsFile(i int) string { return fmt.Sprintf("rows-%d.csv", i) }

// rowsCSV writes, for each row of a release, the position of its record in the
// data file (from 0) and the record's id in hexadecimal, as it may be any bytes.
func rowsCSV(ids [][]byte, order []int) ([]byte, error) {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	w.Write([]string{"row", "record", "id"})
	for row, at := range order {
		w.Write([]string{strconv.Itoa(row), strconv.Itoa(at), fmt.Sprintf("%x", ids[at])})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return nil, fmt.Errorf("writing the order of rows: %w", err)
	}
	return buf.Bytes(), nil
}

// upload sends the chunks of the stored release that the aggregator lacks.
func (r *service) upload(ctx context.Context, job session.Upload) (session.Event, error) {
	progress, err := r.client.progress(ctx)
	if err != nil {
		return nil, err
	}
	if !progress.Complete && len(progress.Missing) != len(job.Header.Sketches) {
		return nil, &AnswerError{r.study.Aggregator.ID, callProgress, fmt.Errorf("it counts %d sketches, the release has %d", len(progress.Missing), len(job.Header.Sketches))}
	}
	var total, done int64
	for _, s := range job.Header.Sketches {
		total += s.Size()
	}
	send := func() error {
		for i, s := range job.Header.Sketches {
			sent, err := r.uploadSketch(ctx, i, s, progress.Missing[i], func(n int64) {
				r.Observe(Progress{Study: r.study.ID, Milestone: Uploading, Done: done + n, Total: total})
			})
			if err != nil {
				return err
			}
			done += sent
		}
		return nil
	}
	if !progress.Complete {
		if err := r.out.upload(remaining(job.Header, progress.Missing), send); err != nil {
			return nil, err
		}
	}
	r.Observe(Progress{Study: r.study.ID, Milestone: Uploaded, Done: total, Total: total})
	return session.ReleaseUploaded{}, nil
}

// uploadSketch sends one sketch from its first missing chunk on.
func (r *service) uploadSketch(ctx context.Context, i int, s protocol.ReleasedSketch, from int, report func(int64)) (int64, error) {
	err := r.eachChunk(i, s, from, func(index int, piece []byte) error {
		err := r.client.chunk(ctx, i, index, piece)
		if err == nil {
			r.retry.reset() // what has arrived stays
			report(int64(index)*protocol.ChunkSize + int64(len(piece)))
		}
		return err
	})
	return s.Size(), err
}

// eachChunk reads the chunks of a sketch of the stored release, from one on.
func (r *home) eachChunk(i int, s protocol.ReleasedSketch, from int, send func(index int, piece []byte) error) error {
	file, err := r.Store.OpenReleaseFile(r.study.ID, sketchFile(i))
	if err != nil {
		return err
	}
	defer file.Close()
	buf := make([]byte, protocol.ChunkSize)
	for index := from; index < len(s.Chunks); index++ {
		at := int64(index) * protocol.ChunkSize
		piece := buf[:min(protocol.ChunkSize, s.Size()-at)]
		if _, err := file.ReadAt(piece, at); err != nil {
			return fmt.Errorf("reading the stored release: %w", err)
		}
		if err := send(index, piece); err != nil {
			return err
		}
	}
	return nil
}

// fetchResult fetches what this party may see, checks it against the hashes that
// the aggregator signed, and stores it. What is none of the study is refused once.
func (r *service) fetchResult(ctx context.Context, job session.FetchResult) (session.Event, error) {
	document := job.Result.Document.Hash
	if err := r.refusedBefore(document); err != nil {
		return nil, err
	}
	if err := r.takeResult(ctx, job.Result); err != nil {
		return nil, r.refuse(document, err)
	}
	return session.ResultStored{Document: document}, r.forgive()
}

func (r *service) takeResult(ctx context.Context, signed protocol.Result) error {
	for _, d := range signed.PerParty {
		if d.Party != r.signer.ID() {
			continue
		}
		rows, err := r.ownRows()
		if err != nil {
			return err
		}
		data, err := r.takeLabels(ctx, d.Document, analysis.LabelsOf(r.study, rows))
		if err != nil {
			return fmt.Errorf("the aggregator's labels: %w", err)
		}
		if err := r.Store.PutResult(r.study.ID, labelsFile, data); err != nil {
			return err
		}
	}
	bounds := analysis.BoundsOf(r.study)
	data, err := r.client.document(ctx, signed.Document, bounds.Document)
	if err != nil {
		return fmt.Errorf("the aggregator's result: %w", err)
	}
	before, err := storedTables(r.Store, r.study.ID)
	if err != nil {
		return err
	}
	result, err := r.takeTables(ctx, data, bounds)
	if err != nil {
		return fmt.Errorf("the aggregator's result: %w", err)
	}
	if err := r.Store.PutResult(r.study.ID, resultFile, data); err != nil {
		return err
	}
	return dropTables(r.Store, r.study, before, result)
}

// takeLabels fetches what is said of this party's own records.
func (r *service) takeLabels(ctx context.Context, d protocol.Document, bounds analysis.LabelBounds) ([]byte, error) {
	data, err := r.client.document(ctx, d, bounds.Document)
	if err != nil {
		return nil, err
	}
	labels, err := bounds.Decode(data, r.study.ID)
	if err == nil {
		err = labels.CheckNames(r.study)
	}
	if err != nil {
		return nil, &badDocument{err}
	}
	return data, nil
}
