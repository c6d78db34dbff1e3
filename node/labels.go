package node

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// StoredResult returns the result that this node stored, parsed and as it came.
// It is store.ErrNotFound before there is one.
func StoredResult(st *store.Store, id protocol.StudyID) (analysis.Result, []byte, error) {
	raw, err := st.Result(id, resultFile)
	if err != nil {
		return analysis.Result{}, nil, err
	}
	r, err := analysis.Decode(raw, id)
	if err != nil {
		return r, nil, fmt.Errorf("reading stored result: %w", err)
	}
	return r.With(tables{st, id}), raw, nil
}

// OwnLabels joins what a study's analyses say of this party's records, such as
// their clusters, to the party's own ids, as CSV: the id columns, then one column for
// each thing said. It is store.ErrNotFound where nothing was labelled.
// The ids are normalised, as the study has it. The join happens here and the file
// never leaves the party.
func OwnLabels(st *store.Store, s *study.Study) ([]byte, error) {
	return ownLabels(st, s, labelsFile)
}

// FurtherLabels does the same for a further result.
func FurtherLabels(st *store.Store, s *study.Study, f protocol.Further) ([]byte, error) {
	self, err := st.ID()
	if err != nil {
		return nil, err
	}
	return ownLabels(st, s, furtherLabels(f.Document.Hash, self))
}

// OwnRows says by which name an analysis of chosen records knows each of this party's records,
// as CSV: the id columns, normalised, then the record's name, like "north/12". It is
// store.ErrNotFound before the party's release, and an error where no sketch of the study has
// a row for each record. The file never leaves the party; a name says nothing of whose record
// it is.
func OwnRows(st *store.Store, s *study.Study, party string) ([]byte, error) {
	sk, ok := s.SketchFor(study.Analysis{Kind: study.RecordDistance})
	if !ok {
		return nil, fmt.Errorf("study %s (%s) releases no row for each record: it has no sketch of side %s", s.Name, s.ID.Short(), sketch.Records)
	}
	order, err := readOrder(st, s.ID, sk)
	if err != nil {
		return nil, err
	}
	rows := make([][]string, len(order))
	for row, o := range order {
		id, err := idFields(o.id, len(s.Records.ID))
		if err != nil {
			return nil, err
		}
		rows[o.record] = append(id, study.RecordName{Party: party, Row: row}.String())
	}
	return asCSV(len(s.Records.ID), append(append([]string(nil), s.Records.ID...), "record"), rows)
}

// asCSV is a table as a file. So many columns are ids of the party's own.
func asCSV(ids int, header []string, rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	w := table.NewWriter(&out, ids)
	for _, row := range append([][]string{header}, rows...) {
		if err := w.Row(row); err != nil {
			return nil, fmt.Errorf("writing what belongs to own ids: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return nil, fmt.Errorf("writing what belongs to own ids: %w", err)
	}
	return out.Bytes(), nil
}

func ownLabels(st *store.Store, s *study.Study, name string) ([]byte, error) {
	raw, err := st.Result(s.ID, name)
	if err != nil {
		return nil, err
	}
	labels, err := analysis.DecodeLabels(raw, s.ID)
	if err != nil {
		return nil, fmt.Errorf("reading stored labels: %w", err)
	}
	t, err := newOwnTable(st, s, labels)
	if err != nil {
		return nil, err
	}
	return asCSV(len(s.Records.ID), t.header, t.rows)
}

// ownTable is a party's records, by position in the data file, with what is said of them.
type ownTable struct {
	header []string
	rows   [][]string
}

func newOwnTable(st *store.Store, s *study.Study, labels analysis.Labels) (*ownTable, error) {
	t := &ownTable{header: append([]string(nil), s.Records.ID...)}
	named := map[string]int{}
	for _, l := range labels.Columns {
		named[l.Name]++
	}
	orders := map[int][]ordered{} // by sketch
	for _, l := range labels.Columns {
		name := l.Name
		if named[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, l.Analysis)
		}
		t.header = append(t.header, name)
		if orders[l.Sketch] == nil {
			order, err := readOrder(st, s.ID, l.Sketch)
			if err != nil {
				return nil, err
			}
			orders[l.Sketch] = order
		}
		if err := t.add(l, orders[l.Sketch], len(s.Records.ID)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// add appends a column. Where it names another of the party's own records, by its row,
// the table has that record's id, its parts joined by slashes.
func (t *ownTable) add(l analysis.RowColumn, order []ordered, idColumns int) error {
	if len(order) != l.Rows() {
		return fmt.Errorf("%d labels for the %d rows of the stored release", l.Rows(), len(order))
	}
	if t.rows == nil {
		t.rows = make([][]string, len(order))
		for _, o := range order {
			id, err := idFields(o.id, idColumns)
			if err != nil {
				return err
			}
			t.rows[o.record] = id
		}
	}
	if len(t.rows) != len(order) {
		return fmt.Errorf("releases of %d and of %d rows", len(t.rows), len(order))
	}
	for row, o := range order {
		text := l.Text(row)
		if row < len(l.Own) && l.Own[row] >= 0 {
			text = strings.Join(t.rows[order[l.Own[row]].record][:idColumns], "/")
		}
		t.rows[o.record] = append(t.rows[o.record], text)
	}
	return nil
}

// ordered is one row of a records-side release: which record it is.
type ordered struct {
	record int
	id     []byte
}

// readOrder reads what rowsCSV wrote.
func readOrder(st *store.Store, id protocol.StudyID, sketch int) ([]ordered, error) {
	return orderIn(st.OpenReleaseFile(id, rowsFile(sketch)))
}

// orderIn reads an open file of that kind, and closes it.
func orderIn(f *store.File, err error) ([]ordered, error) {
	if err != nil {
		return nil, fmt.Errorf("reading the order of rows: %w", err)
	}
	defer f.Close()
	records, err := csv.NewReader(io.NewSectionReader(f, 0, f.Size())).ReadAll()
	if err != nil || len(records) == 0 {
		return nil, fmt.Errorf("reading the order of rows: the file is damaged")
	}
	out := make([]ordered, len(records)-1)
	for i, fields := range records[1:] {
		record, err1 := strconv.Atoi(fields[1])
		raw, err2 := hex.DecodeString(fields[2])
		if err1 != nil || err2 != nil || record < 0 || record >= len(out) {
			return nil, fmt.Errorf("reading the order of rows: row %d is damaged", i)
		}
		out[i] = ordered{record, raw}
	}
	return out, nil
}

// ownName is the id of the record in a row of the party's release, its parts joined by
// slashes.
func ownName(order []ordered, row, idColumns int) (string, error) {
	if row >= len(order) {
		return "", fmt.Errorf("row %d of the %d of the stored release", row, len(order))
	}
	id, err := idFields(order[row].id, idColumns)
	return strings.Join(id, "/"), err
}

// idFields splits a joined id into its columns again.
func idFields(id []byte, columns int) ([]string, error) {
	if columns == 1 {
		return []string{string(id)}, nil
	}
	var out []string
	for len(id) >= 4 {
		n := int64(binary.BigEndian.Uint32(id))
		if n > int64(len(id)-4) {
			break
		}
		out = append(out, string(id[4:4+n]))
		id = id[4+n:]
	}
	if len(out) != columns || len(id) != 0 {
		return nil, fmt.Errorf("reading the order of rows: an id is damaged")
	}
	return out, nil
}
