package held

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Files stores a Set. store.Held does so durably.
type Files interface {
	Manifest() ([]byte, error)                    // store.ErrNotFound if there is none
	Open(name string) (*store.File, error)        // of a file that a manifest lists
	Create(name string) (io.WriteCloser, error)   // durable when closed
	Commit(manifest []byte, files []string) error // atomically makes these files the valid ones
	Discard(files []string) error                 // created but not committed
}

// stored describes a file in the manifest.
type stored struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Width  int    `json:"width,omitempty"` // of a sketch: bytes per entry
}

// DamagedError reports a file of a Set that differs from what was written.
type DamagedError struct{ Problem string }

func (e *DamagedError) Error() string { return e.Fail().Error() }

func (e *DamagedError) Fail() *fail.Error { return fail.HeldDamaged.New(e.Problem) }

// stage collects the files of a change until it is committed.
type stage struct {
	files      Files
	generation int
	created    []string
}

// write creates a file from what fill writes.
func (s *stage) write(name string, fill func(io.Writer) error) (stored, error) {
	name = fmt.Sprintf("%s.%d", name, s.generation)
	f, err := s.files.Create(name)
	if err != nil {
		return stored{}, err
	}
	s.created = append(s.created, name)
	w := &hashed{to: f, hash: sha256.New()}
	if err := errors.Join(fill(w), f.Close()); err != nil {
		return stored{}, fmt.Errorf("writing %s of the held sketch: %w", name, err)
	}
	return stored{Name: name, Size: w.size, SHA256: hex.EncodeToString(w.hash.Sum(nil))}, nil
}

// writeSketch writes a sketch at its smallest width; a sketch without records is an empty file.
func (s *stage) writeSketch(name string, sk sketch.Sketch) (stored, error) {
	if sk.Rows == 0 {
		return s.write(name, func(io.Writer) error { return nil })
	}
	width := sk.Width()
	data, err := sk.Encode(width)
	if err != nil {
		return stored{}, err
	}
	out, err := s.write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	out.Width = width
	return out, err
}

// abandon removes the files of a failed change. If that fails, the next commit removes them.
func (s *stage) abandon() error { return s.files.Discard(s.created) }

// hashed counts and hashes what is written to it.
type hashed struct {
	to   io.Writer
	hash hash.Hash
	size int64
}

func (h *hashed) Write(p []byte) (int, error) {
	n, err := h.to.Write(p)
	h.hash.Write(p[:n])
	h.size += int64(n)
	return n, err
}

// open opens a file for sequential reading and checks its size.
func open(files Files, f stored) (*store.File, error) {
	file, err := files.Open(f.Name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &DamagedError{f.Name + " is missing"}
	}
	if err != nil {
		return nil, err
	}
	if file.Size() != f.Size {
		file.Close()
		return nil, &DamagedError{fmt.Sprintf("%s has %d bytes, not %d", f.Name, file.Size(), f.Size)}
	}
	return file, nil
}

// load reads a whole file and checks its hash.
func load(files Files, f stored) ([]byte, error) {
	file, err := open(files, f)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s of the held sketch: %w", f.Name, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, &DamagedError{f.Name + " is not what was written"}
	}
	return data, nil
}

// loadSketch reads a sketch of the given shape.
func loadSketch(files Files, f stored, side sketch.Side, rows, cols int64) (sketch.Sketch, error) {
	data, err := load(files, f)
	if err != nil {
		return sketch.Sketch{}, err
	}
	if rows == 0 && len(data) == 0 {
		return sketch.Sketch{Side: side, Cols: int(cols)}, nil
	}
	s, err := sketch.Decode(side, int(rows), int(cols), f.Width, data)
	if err != nil {
		return sketch.Sketch{}, &DamagedError{fmt.Sprintf("%s: %v", f.Name, err)}
	}
	return s, nil
}

// writeIDs writes ids, each prefixed by its length.
func (s *stage) writeIDs(name string, ids [][]byte) (stored, error) {
	return s.write(name, func(w io.Writer) error {
		var b []byte
		for _, id := range ids {
			b = part.AppendID(b[:0], id)
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// loadIDs reads a file that writeIDs wrote. The ids share memory.
func loadIDs(files Files, f stored, count int64) ([][]byte, error) {
	data, err := load(files, f)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for len(data) > 0 {
		id, rest, ok := part.CutID(data)
		if !ok {
			return nil, &DamagedError{f.Name + " does not hold ids"}
		}
		out, data = append(out, id), rest
	}
	if int64(len(out)) != count {
		return nil, &DamagedError{fmt.Sprintf("%s holds %d ids for %d records", f.Name, len(out), count)}
	}
	return out, nil
}

// loadDigests reads a file that writeDigests wrote. It refuses digests that are not sorted.
func loadDigests(files Files, f stored) ([]runs.Digest, error) {
	data, err := load(files, f)
	if err != nil {
		return nil, err
	}
	out := make([]runs.Digest, 0, len(data)/len(runs.Digest{}))
	for ; len(data) >= len(runs.Digest{}); data = data[len(runs.Digest{}):] {
		out = append(out, runs.Digest(data[:len(runs.Digest{})]))
	}
	if len(data) > 0 || !sortedDigests(out) {
		return nil, &DamagedError{f.Name + " does not hold digests"}
	}
	return out, nil
}

func (s *stage) writeDigests(name string, all []runs.Digest) (stored, error) {
	return s.write(name, func(w io.Writer) error {
		for _, d := range all {
			if _, err := w.Write(d[:]); err != nil {
				return err
			}
		}
		return nil
	})
}

func sortedDigests(all []runs.Digest) bool {
	for i := 1; i < len(all); i++ {
		if bytes.Compare(all[i-1][:], all[i][:]) >= 0 {
			return false
		}
	}
	return true
}
