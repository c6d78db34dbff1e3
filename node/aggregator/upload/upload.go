// Package upload reads the releases that parties have uploaded to an aggregator. It says what is
// missing of them, checks them against their headers and the study, and prepares them for analyses.
package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"

	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Uploads are the stored uploads of a study's parties. All fields are required.
type Uploads struct {
	State node.AggregatorState
	Study *study.Study
	Log   *slog.Logger // receives damaged chunks
}

// ErrUnacceptable reports a release that is complete and matches its hashes, but not its header or
// the study.
var ErrUnacceptable = errors.New("release is not acceptable")

// ReadingError is a failure of the disk during the analyses, not one of the analyses.
type ReadingError struct{ error }

func (e *ReadingError) Unwrap() error { return e.error }

// Progress reports what is missing of a release.
func (u Uploads) Progress(header session.Header) (wire.Progress, error) {
	out := wire.Progress{Complete: true}
	for i, s := range header.Release.Sketches {
		missing, err := u.State.FirstMissing(u.Study.ID, header.Party.ID, stored.Uploaded(header, i), len(s.Chunks))
		if err != nil {
			return wire.Progress{}, err
		}
		out.Missing = append(out.Missing, missing)
		out.Complete = out.Complete && missing == len(s.Chunks)
	}
	return out, nil
}

// acceptable checks what hashes do not cover: that a release decodes as its header claims.
func (u Uploads) acceptable(ctx context.Context, header session.Header) error {
	index, _ := u.Study.PartyIndex(header.Party.ID)
	for i, s := range header.Release.Sketches {
		plan, err := release.For(header.By, index, i)
		if err != nil {
			return err
		}
		err = plan.Check(s, u.sketch(ctx, header, i))
		var disk *fs.PathError
		var damaged *DamagedChunk
		if errors.As(err, &disk) || errors.As(err, &damaged) || errors.Is(err, store.ErrNotFound) || ctx.Err() != nil {
			return fmt.Errorf("reading sketch %d of %s: %w", i+1, header.Party.Name, err) // not the party's fault
		}
		if err != nil {
			return fmt.Errorf("%w: sketch %d of %s: %w", ErrUnacceptable, i+1, header.Party.Name, err)
		}
	}
	return nil
}

// Room provides space for what accompanies the rows of a sketch; nil: memory.
type Room func(sketch int) (room.Allocator, error)

// Contribution prepares a complete release for analyses, which read the rows of its sketches
// themselves.
func (u Uploads) Contribution(ctx context.Context, header session.Header, where Room) (analysis.Contribution, error) {
	index, _ := u.Study.PartyIndex(header.Party.ID)
	out := analysis.Contribution{Party: index, Header: header.ID, Records: header.Release.Records, Published: header.Release.Published}
	out.Scan = func(i int, take func(entries []int64)) error {
		s := header.Release.Sketches[i]
		if err := release.Scan(s, u.sketch(ctx, header, i), take); err != nil {
			return &ReadingError{fmt.Errorf("sketch %d of %s: %w", i+1, header.Party.Name, err)}
		}
		return nil
	}
	for i, s := range header.Release.Sketches {
		out.Masked = s.Masked
		one := sketch.Sketch{Side: s.Side, Rows: int(s.Rows), Cols: int(s.Cols)}
		var labels []int
		var rows release.Rows
		if s.Side == sketch.Records { // their rows are read when they are gathered; those of others when they are merged
			to, err := where(i)
			if err != nil {
				return out, err
			}
			labels, rows, err = beside(header.By, index, i, s, u.sketch(ctx, header, i), to)
			if err != nil {
				return out, fmt.Errorf("sketch %d of %s: %w", i+1, header.Party.Name, err)
			}
			if labels != nil {
				one.Cols--
			}
		}
		out.Sketches, out.Labels, out.Rows = append(out.Sketches, one), append(out.Labels, labels), append(out.Rows, rows)
		out.Bytes += s.Size()
	}
	return out, nil
}

// beside reads what accompanies the rows of a released sketch of records.
func beside(by *study.Study, party, index int, s protocol.ReleasedSketch, from io.Reader, to room.Allocator) ([]int, release.Rows, error) {
	plan, err := release.For(by, party, index)
	if err != nil {
		return nil, release.Rows{}, err
	}
	return plan.ReadRows(s, from, to)
}

// sketch reads a sketch of a party's release. It logs and removes a damaged chunk. Reading ends
// with ctx.
func (u Uploads) sketch(ctx context.Context, header session.Header, index int) io.Reader {
	party, sketch := header.Party, stored.Uploaded(header, index)
	return &chunks{
		read: func(i int) ([]byte, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return u.State.Chunk(u.Study.ID, party.ID, sketch, i)
		},
		sketch: header.Release.Sketches[index],
		bad: func(i int) error {
			damaged := &DamagedChunk{party.Name, sketch, i}
			u.Log.Error("an uploaded chunk is damaged", "study", u.Study.ID.Short(), "error", damaged)
			if err := u.State.DropChunk(u.Study.ID, party.ID, sketch, i); err != nil {
				return err
			}
			return damaged
		},
	}
}
