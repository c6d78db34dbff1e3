package stored

import (
	"bytes"
	"encoding/hex"
	"errors"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Documents are the result files of a node.
type Documents interface {
	Results(study protocol.StudyID) ([]string, error)
	Result(study protocol.StudyID, name string) ([]byte, error)
	OpenResult(study protocol.StudyID, name string) (*store.File, error)
}

// Tables reads the parts of a study's tables from its result files.
type Tables struct {
	Documents
	Study protocol.StudyID
}

func (t Tables) OpenPart(name protocol.Digest) (analysis.PartFile, error) {
	return t.OpenResult(t.Study, filename.Table(name))
}

// StoredTables lists the parts that the stored result names.
func StoredTables(st Documents, id protocol.StudyID) ([]protocol.Document, error) {
	raw, err := st.Result(id, filename.Result)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	before, err := analysis.Decode(raw, id)
	if err != nil {
		return nil, nil // it is about to be replaced; fsck reports its leftovers
	}
	return before.Parts()
}

// DropTables removes parts that no stored document names any more, after another result replaced
// theirs.
func DropTables(st node.State, s *study.Study, before []protocol.Document, now analysis.Result) error {
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
	further, _, err := Statements(st, s)
	if err != nil {
		return err
	}
	for _, f := range further {
		raw, err := st.Result(s.ID, filename.Further(f.Document.Hash)+".json")
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		for _, p := range before {
			named[p.Hash] = named[p.Hash] || bytes.Contains(raw, []byte(hex.EncodeToString(p.Hash[:])))
		}
	}
	for _, p := range before {
		if !named[p.Hash] {
			if err := st.DropResult(s.ID, filename.Table(p.Hash)); err != nil {
				return err
			}
		}
	}
	return nil
}
