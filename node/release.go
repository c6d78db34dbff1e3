package node

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// makeRelease is the one way from data to a release:
//
//	project → debit durably → draw noise → store durably → (only then) send
//
// A crash before the debit leaves nothing. A crash after it leaves a debit that
// the next run finds and does not repeat; the noise is drawn then, for the first
// time that anything can leave. A crash after the store leaves the release,
// which is only ever re-sent as it is.
func (r *service) makeRelease(ctx context.Context, job session.MakeRelease) (session.Event, error) {
	raw, err := r.Store.ReleaseHeader(r.study.ID)
	if err == nil {
		header, err := decodeVerified(raw)
		if err != nil {
			return nil, fmt.Errorf("stored release: %w", err)
		}
		return session.ReleaseStored{Header: header}, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	src, err := r.source()
	if err != nil {
		return nil, err
	}
	var builders []*release.Builder
	for _, plan := range src.plans {
		b, err := plan.NewBuilder(job.Seed, max(r.Workers, 1))
		if err != nil {
			return nil, err
		}
		builders = append(builders, b)
	}
	exact, err := r.project(ctx, src, builders)
	if err != nil {
		return nil, err
	}
	if err := r.acceptable(src, exact.records); err != nil {
		return nil, err
	}
	r.Observe(Progress{Study: r.study.ID, Milestone: Projected, Note: exact.note})
	if err := r.debit(ctx, src); err != nil {
		return nil, err
	}
	header, err := r.noiseAndStore(src, exact, job)
	if err != nil {
		return nil, err
	}
	return session.ReleaseStored{Header: header}, nil
}

// debit spends the budget, once per sketch, durably.
func (r *service) debit(ctx context.Context, src *source) error {
	_, err := r.Store.Debit(ctx, func(entries []ledger.Entry) ([]ledger.Entry, error) {
		next, err := r.debits(src, entries)
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
		return fmt.Errorf("debiting the ledger: %w", err)
	}
	r.Observe(Progress{Study: r.study.ID, Milestone: Debited})
	return nil
}

// noiseAndStore draws the noise into the exact sketches, which no longer exist
// afterwards, and stores the release with its signed header.
func (r *service) noiseAndStore(src *source, exact *exact, job session.MakeRelease) (protocol.Verified, error) {
	header := protocol.Release{T2: job.T2, Records: exact.records}
	files := map[string]io.Reader{}
	for i, plan := range src.plans {
		one := exact.sketches[i]
		if err := plan.Noise.Add(one.Sketch.Data, r.Entropy); err != nil {
			return protocol.Verified{}, fmt.Errorf("noising sketch %d: %w", i+1, err)
		}
		described, data, err := release.Encode(one.Sketch)
		if err != nil {
			return protocol.Verified{}, err
		}
		header.Sketches = append(header.Sketches, described)
		files[sketchFile(i)] = bytes.NewReader(data)
		if one.Sketch.Side == sketch.Records {
			rows, err := rowsCSV(exact.ids, one.Order)
			if err != nil {
				return protocol.Verified{}, err
			}
			files[rowsFile(i)] = bytes.NewReader(rows)
		}
	}
	signed := r.signer.Seal(r.study.ID, protocol.KindRelease, job.Attempt, wire.EncodeRelease(header))
	err := r.Store.SaveRelease(r.study.ID, store.Release{Header: wire.EncodeEnvelope(signed.Envelope()), Files: files})
	if err != nil {
		return protocol.Verified{}, fmt.Errorf("storing the release: %w", err)
	}
	r.Observe(Progress{Study: r.study.ID, Milestone: Stored})
	return signed, nil
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
		return nil, fmt.Errorf("the aggregator counts %d sketches, the release has %d", len(progress.Missing), len(job.Header.Sketches))
	}
	var total, done int64
	for _, s := range job.Header.Sketches {
		total += s.Size()
	}
	for i, s := range job.Header.Sketches {
		if progress.Complete {
			break
		}
		sent, err := r.uploadSketch(ctx, i, s, progress.Missing[i], func(n int64) {
			r.Observe(Progress{Study: r.study.ID, Milestone: Uploading, Done: done + n, Total: total})
		})
		if err != nil {
			return nil, err
		}
		done += sent
	}
	r.Observe(Progress{Study: r.study.ID, Milestone: Uploaded, Done: total, Total: total})
	return session.ReleaseUploaded{}, nil
}

// uploadSketch sends one sketch from its first missing chunk on.
func (r *service) uploadSketch(ctx context.Context, i int, s protocol.ReleasedSketch, from int, report func(int64)) (int64, error) {
	file, err := r.Store.OpenReleaseFile(r.study.ID, sketchFile(i))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	buf := make([]byte, protocol.ChunkSize)
	for index := from; index < len(s.Chunks); index++ {
		at := int64(index) * protocol.ChunkSize
		piece := buf[:min(protocol.ChunkSize, s.Size()-at)]
		if _, err := file.ReadAt(piece, at); err != nil {
			return 0, fmt.Errorf("reading the stored release: %w", err)
		}
		if err := r.client.chunk(ctx, i, index, piece); err != nil {
			return 0, err
		}
		report(at + int64(len(piece)))
	}
	return s.Size(), nil
}

// fetchResult fetches what this party may see, checks it against the hashes that
// the aggregator signed, and stores it.
func (r *service) fetchResult(ctx context.Context, job session.FetchResult) (session.Event, error) {
	for _, d := range job.Result.PerParty {
		if d.Party != r.signer.ID() {
			continue
		}
		data, err := r.client.document(ctx, d.Document)
		if err != nil {
			return nil, err
		}
		if err := r.Store.PutResult(r.study.ID, labelsFile, data); err != nil {
			return nil, err
		}
	}
	data, err := r.client.document(ctx, job.Result.Document)
	if err != nil {
		return nil, err
	}
	if _, err := analysis.Decode(data, r.study.ID); err != nil {
		return nil, fmt.Errorf("the aggregator's result: %w", err)
	}
	if err := r.Store.PutResult(r.study.ID, resultFile, data); err != nil {
		return nil, err
	}
	return session.ResultStored{Document: job.Result.Document.Hash}, nil
}
