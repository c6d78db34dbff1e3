package source

import (
	"bytes"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// DrawsEarly reports that the noise is in the values before they are projected.
func DrawsEarly(s *study.Study) bool { return s.Privacy.Mechanism == dp.RandomisedResponse }

// Noise draws the noise into the exact sketches, which no longer exist afterwards.
func (r *Source) Noise(src *Opened, exact *Exact) error {
	for i, plan := range src.Plans {
		if err := exact.Sketches[i].Draw(plan, r.Entropy, max(r.Workers, 1)); err != nil {
			return fmt.Errorf("noising sketch %d: %w", i+1, err)
		}
	}
	return nil
}

// Clipped counts, for each sketch, the records whose contribution was clipped.
func (e *Exact) Clipped() (out []int64) {
	for _, one := range e.Sketches {
		out = append(out, one.Clipped)
	}
	return out
}

// Encode writes noised sketches and, where rows are records, their secret order.
func (e *Exact) Encode() ([]protocol.ReleasedSketch, map[string]io.Reader, error) {
	var all []protocol.ReleasedSketch
	files := map[string]io.Reader{}
	for i, one := range e.Sketches {
		described, data, err := one.Encode()
		if err != nil {
			return nil, nil, err
		}
		all = append(all, described)
		files[filename.Sketch(i)] = bytes.NewReader(data)
		if one.Sketch.Side == sketch.Records {
			rows, err := stored.RowsCSV(e.IDs, one.Order)
			if err != nil {
				return nil, nil, err
			}
			files[filename.Rows(i)] = bytes.NewReader(rows)
		}
	}
	return all, files, nil
}

// EachChunk reads the chunks of a sketch of the stored release, from one on.
func (r *Source) EachChunk(i int, s protocol.ReleasedSketch, from int, send func(index int, piece []byte) error) error {
	file, err := r.Store.OpenReleaseFile(r.Study.ID, filename.Sketch(i))
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
