package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/protocol"
)

// PutChunk is for aggregators. It stores one chunk of a party's sketch, which the caller has
// checked against the party's signed header. Storing equal bytes again is a no-op; other bytes are
// ErrConflict. Durable when it returns nil.
func (s *Store) PutChunk(study protocol.StudyID, party protocol.PeerID, sketch, index int, data []byte) error {
	if err := s.putChunk(s.chunkPath(study, party, sketch, index), data); err != nil {
		return fmt.Errorf("storing chunk %d of sketch %d of %s in study %s: %w", index+1, sketch+1, party, study.Short(), err)
	}
	return nil
}

func (s *Store) putChunk(path string, data []byte) error {
	if err := s.writable(); err != nil {
		return err
	}
	switch before, err := os.ReadFile(path); {
	case err == nil && bytes.Equal(before, data):
		return nil
	case err == nil:
		return ErrConflict
	case !os.IsNotExist(err):
		return err
	}
	if err := durable.Mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	return writeFile(path, data)
}

// FirstMissing returns the number of a sketch's first chunk that is not stored, from which an
// upload resumes; chunks if all are there.
func (s *Store) FirstMissing(study protocol.StudyID, party protocol.PeerID, sketch, chunks int) (int, error) {
	for i := range chunks {
		switch _, err := os.Stat(s.chunkPath(study, party, sketch, i)); {
		case os.IsNotExist(err):
			return i, nil
		case err != nil:
			return 0, fmt.Errorf("looking for chunks of %s in study %s: %w", party, study.Short(), err)
		}
	}
	return chunks, nil
}

// Chunk reads a chunk of a party's sketch, or returns ErrNotFound. It returns at most one byte more
// than a chunk may have. The caller must check its hash, since disks change bytes.
func (s *Store) Chunk(study protocol.StudyID, party protocol.PeerID, sketch, index int) ([]byte, error) {
	data, err := readChunk(s.chunkPath(study, party, sketch, index))
	if err != nil {
		return nil, fmt.Errorf("chunk %d of sketch %d of %s in study %s: %w", index+1, sketch+1, party, study.Short(), missing(err))
	}
	return data, nil
}

func readChunk(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, protocol.ChunkSize+1))
}

// DropChunk removes a damaged chunk, so that its party sends it again. It is no error if there is
// none.
func (s *Store) DropChunk(study protocol.StudyID, party protocol.PeerID, sketch, index int) error {
	path := s.chunkPath(study, party, sketch, index)
	err := s.writable()
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		err = durable.SyncDir(filepath.Dir(path))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing chunk %d of sketch %d of %s in study %s: %w", index+1, sketch+1, party, study.Short(), err)
	}
	return nil
}

func (s *Store) chunkPath(study protocol.StudyID, party protocol.PeerID, sketch, index int) string {
	return s.path(uploadsDir, study.String(), party.String(), "sketch-"+strconv.Itoa(sketch), strconv.Itoa(index))
}

// PutResult stores a result file of a study, replacing one of the same name.
// Durable when it returns nil.
func (s *Store) PutResult(study protocol.StudyID, name string, data []byte) error {
	err := errors.Join(s.writable(), checkName(name))
	if err == nil {
		err = durable.Mkdir(s.path(resultsDir, study.String()))
	}
	if err == nil {
		err = writeFile(s.path(resultsDir, study.String(), name), data)
	}
	if err != nil {
		return fmt.Errorf("storing result %q of study %s: %w", name, study.Short(), err)
	}
	return nil
}

// NewFile is a temporary file being written. Keep gives it its name, atomically and durably;
// Discard removes it. One of the two must be called.
type NewFile interface {
	io.Writer
	Keep(name string) error
	Discard()
}

// NewResult begins a result file of a study, which may be larger than memory.
func (s *Store) NewResult(study protocol.StudyID) (NewFile, error) {
	out := &newResult{study: study}
	dir := s.path(resultsDir, study.String())
	err := s.writable()
	if err == nil {
		err = durable.Mkdir(dir)
	}
	if err == nil {
		out.File, err = os.CreateTemp(dir, "part.*.tmp")
	}
	if err != nil {
		return nil, out.failed(err)
	}
	return out, nil
}

type newResult struct {
	*os.File
	study protocol.StudyID
}

func (n *newResult) failed(err error) error {
	return fmt.Errorf("storing a result of study %s: %w", n.study.Short(), err)
}

// Write appends to the file.
func (n *newResult) Write(p []byte) (int, error) {
	written, err := n.File.Write(p)
	if err != nil {
		return written, n.failed(err)
	}
	return written, nil
}

// Keep closes the file and renames it to name, replacing an existing file.
func (n *newResult) Keep(name string) error {
	dir := filepath.Dir(n.Name())
	err := errors.Join(checkName(name), n.Sync())
	if err = errors.Join(err, n.Close()); err == nil {
		err = durable.Rename(n.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return n.failed(errors.Join(err, os.Remove(n.Name())))
	}
	return nil
}

// Discard closes and removes the file.
func (n *newResult) Discard() {
	n.Close()
	os.Remove(n.Name()) // if this fails, Strays reports the file
}

// OpenResult opens a result file of a study, or returns ErrNotFound.
func (s *Store) OpenResult(study protocol.StudyID, name string) (*File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	f, err := openFile(s.path(resultsDir, study.String(), name))
	if err != nil {
		return nil, fmt.Errorf("result %q of study %s: %w", name, study.Short(), err)
	}
	return f, nil
}

// DropResult removes a result file of a study. It is no error if there is none.
func (s *Store) DropResult(study protocol.StudyID, name string) error {
	err := errors.Join(s.writable(), checkName(name))
	if err == nil {
		err = os.Remove(s.path(resultsDir, study.String(), name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing result %q of study %s: %w", name, study.Short(), err)
	}
	return nil
}

// Results returns the names of a study's result files, sorted.
func (s *Store) Results(study protocol.StudyID) ([]string, error) {
	entries, err := os.ReadDir(s.path(resultsDir, study.String()))
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("listing results of study %s: %w", study.Short(), err)
	}
	var names []string
	for _, e := range entries {
		if checkName(e.Name()) == nil { // skips incomplete files left by a crash
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Result returns a result file of a study, or ErrNotFound.
func (s *Store) Result(study protocol.StudyID, name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(s.path(resultsDir, study.String(), name))
	if err != nil {
		return nil, fmt.Errorf("result %q of study %s: %w", name, study.Short(), missing(err))
	}
	return data, nil
}
