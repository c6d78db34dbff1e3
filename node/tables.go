package node

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// The tables of a result are files beside its document, each named by its hash: who has the
// signed document needs nobody's word for them, and a fetch goes on where it was broken off.

const tablePrefix = "table-"

func tableFile(part protocol.Digest) string { return tablePrefix + hex.EncodeToString(part[:]) }

// tableOf is the hash that a result file is named by, if it is of a table.
func tableOf(name string) (part protocol.Digest, ok bool) {
	digits, ok := strings.CutPrefix(name, tablePrefix)
	raw, err := hex.DecodeString(digits)
	return part, ok && err == nil && len(raw) == len(part) && copy(part[:], raw) == len(part)
}

// documents are the result files of a node.
type documents interface {
	Results(study protocol.StudyID) ([]string, error)
	Result(study protocol.StudyID, name string) ([]byte, error)
	OpenResult(study protocol.StudyID, name string) (*store.File, error)
}

// tables are the parts of a study's tables among its result files.
type tables struct {
	documents
	study protocol.StudyID
}

// OpenPart opens a part.
func (t tables) OpenPart(name protocol.Digest) (analysis.PartFile, error) {
	return t.OpenResult(t.study, tableFile(name))
}

// shelf takes the parts of a study's tables in.
type shelf struct {
	State
	study protocol.StudyID
}

// NewPart begins a part.
func (s shelf) NewPart() (analysis.NewPart, error) {
	f, err := s.NewResult(s.study)
	return shelved{f}, err
}

type shelved struct{ store.NewFile }

// Keep keeps the part under its hash.
func (s shelved) Keep(name protocol.Digest) error { return s.NewFile.Keep(tableFile(name)) }

// tableName finds the file of a part, which every party of the study may read.
func (h *hosted) tableName(part protocol.Digest) (string, error) {
	f, err := h.Store.OpenResult(h.study.ID, tableFile(part))
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return tableFile(part), f.Close()
}

// takeTables decodes a fetched document, within bounds, and fetches the tables
// that it names: part after part, with one piece in memory, and those alone that are not here.
// It checks each part's hash before it keeps it, and then what no hash says.
func (r *service) takeTables(ctx context.Context, document []byte, bounds analysis.Bounds) (analysis.Result, error) {
	result, err := bounds.Decode(ctx, document, r.study.ID)
	if err != nil {
		if ctx.Err() != nil {
			return result, ctx.Err()
		}
		return result, &badDocument{err}
	}
	if err := result.CheckNames(r.study); err != nil {
		return result, &badDocument{err}
	}
	parts, err := result.Parts()
	if err != nil {
		return result, err
	}
	var fetched []protocol.Document
	for _, part := range parts {
		isNew, err := r.takePart(ctx, part)
		if err != nil {
			return result, fmt.Errorf("a table of it: %w", err)
		}
		if isNew {
			fetched = append(fetched, part)
		}
	}
	err = result.With(tables{r.Store, r.study.ID}).CheckTables()
	if err != nil { // they are what was signed, and no tables: nothing will speak of them
		if disk := (*fs.PathError)(nil); !errors.As(err, &disk) {
			err = &badDocument{err}
		}
		for _, part := range fetched {
			err = errors.Join(err, r.Store.DropResult(r.study.ID, tableFile(part.Hash)))
		}
	}
	return result, err
}

// takePart fetches a part, unless it is here, and tells whether it did.
func (r *service) takePart(ctx context.Context, part protocol.Document) (isNew bool, err error) {
	f, err := r.Store.OpenResult(r.study.ID, tableFile(part.Hash))
	if err == nil {
		return false, f.Close() // it was checked before it was named
	}
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	to, err := r.Store.NewResult(r.study.ID)
	if err != nil {
		return false, err
	}
	if err := r.client.pieces(ctx, part, to); err != nil {
		to.Discard()
		return false, err
	}
	r.retry.reset() // what has arrived stays
	return true, to.Keep(tableFile(part.Hash))
}

// storedTables lists the parts that the stored result names.
func storedTables(st documents, id protocol.StudyID) ([]protocol.Document, error) {
	raw, err := st.Result(id, resultFile)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	before, err := analysis.Decode(raw, id)
	if err != nil {
		return nil, nil // it is about to be replaced; fsck tells of what it leaves
	}
	return before.Parts()
}

// dropTables removes parts that no stored document names any more, since another result has
// taken the place of theirs.
func dropTables(st State, s *study.Study, before []protocol.Document, now analysis.Result) error {
	if len(before) == 0 {
		return nil
	}
	parts, err := now.Parts()
	if err != nil {
		return err
	}
	named := map[protocol.Digest]bool{}
	for _, p := range parts {
		named[p.Hash] = true
	}
	further, _, err := statements(st, s)
	if err != nil {
		return err
	}
	for _, f := range further {
		raw, err := st.Result(s.ID, furtherFile(f.Document.Hash)+".json")
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		for _, p := range before {
			named[p.Hash] = named[p.Hash] || bytes.Contains(raw, []byte(hex.EncodeToString(p.Hash[:])))
		}
	}
	for _, p := range before {
		if !named[p.Hash] {
			if err := st.DropResult(s.ID, tableFile(p.Hash)); err != nil {
				return err
			}
		}
	}
	return nil
}

// scratch has the parts of an answer that is not published, in a directory that is made for
// them.
type scratch struct{ dir string }

// NewPart begins a part.
func (s *scratch) NewPart() (_ analysis.NewPart, err error) {
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "cosketch-tables-"); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(s.dir, "new-")
	return scratched{f}, err
}

// OpenPart opens a part.
func (s *scratch) OpenPart(name protocol.Digest) (analysis.PartFile, error) {
	return os.Open(filepath.Join(s.dir, tableFile(name)))
}

func (s *scratch) remove() error {
	if s == nil || s.dir == "" {
		return nil
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("removing the tables of an answer: %w", err)
	}
	return nil
}

type scratched struct{ *os.File }

// Keep keeps the part under its hash.
func (s scratched) Keep(name protocol.Digest) error {
	if err := s.Close(); err != nil {
		return err
	}
	return os.Rename(s.Name(), filepath.Join(filepath.Dir(s.Name()), tableFile(name)))
}

// Discard gives the part up.
func (s scratched) Discard() { s.Close() }

// putTables stores the tables of an answer.
func (f Further) putTables(st State, id protocol.StudyID) error {
	parts, err := f.Result.Parts()
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := f.putTable(st, id, part); err != nil {
			return err
		}
	}
	return nil
}

func (f Further) putTable(st State, id protocol.StudyID, part protocol.Document) error {
	from, err := f.tables.OpenPart(part.Hash)
	if err != nil {
		return fmt.Errorf("reading a table of the answer: %w", err)
	}
	defer from.Close()
	to, err := st.NewResult(id)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, io.NewSectionReader(from, 0, part.Size)); err != nil {
		to.Discard()
		return err
	}
	return to.Keep(tableFile(part.Hash))
}
