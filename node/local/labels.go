package local

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// OwnLabels joins the labels that a study's analyses give to this party's records, such as their
// clusters, with the party's own ids. The CSV has the id columns, then one column for each kind of
// label. It returns store.ErrNotFound if nothing was labelled. The ids are normalised as the study
// says. The join happens here and the file never leaves the party.
func OwnLabels(st *store.Store, s *study.Study) ([]byte, error) {
	return ownLabels(st, s, filename.Labels)
}

// FurtherLabels is OwnLabels for a further result.
func FurtherLabels(st *store.Store, s *study.Study, f protocol.Further) ([]byte, error) {
	self, err := st.ID()
	if err != nil {
		return nil, err
	}
	return ownLabels(st, s, filename.FurtherLabels(f.Document.Hash, self))
}

// OwnRows lists the names by which an analysis of chosen records calls this party's records. The
// CSV has the id columns, normalised, then the record's name, like "north/12". It returns
// store.ErrNotFound before the party's release, and an error if no sketch of the study has a row
// for each record. The file never leaves the party; a name does not reveal whose record it is.
func OwnRows(st *store.Store, s *study.Study, party string) ([]byte, error) {
	sk, ok := s.SketchFor(study.Analysis{Kind: study.RecordDistance})
	if !ok {
		return nil, fmt.Errorf("study %s (%s) releases no row for each record: it has no sketch of side %s", s.Name, s.ID.Short(), sketch.Records)
	}
	order, err := stored.ReadOrder(st, s.ID, sk)
	if err != nil {
		return nil, err
	}
	rows := make([][]string, len(order))
	for row, o := range order {
		id, err := stored.IdFields(o.ID, len(s.Records.ID))
		if err != nil {
			return nil, err
		}
		rows[o.Record] = append(id, study.RecordName{Party: party, Row: row}.String())
	}
	return asCSV(len(s.Records.ID), append(append([]string(nil), s.Records.ID...), "record"), rows)
}

// asCSV encodes a table as CSV. The first so many columns are the party's own ids.
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

// ownTable has a party's records, by position in the data file, and their labels.
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
	orders := map[int][]stored.Ordered{} // by sketch
	for _, l := range labels.Columns {
		name := l.Name
		if named[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, l.Analysis)
		}
		t.header = append(t.header, name)
		if orders[l.Sketch] == nil {
			order, err := stored.ReadOrder(st, s.ID, l.Sketch)
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

// add appends a column. If a value refers to another of the party's own records by its row, the
// table has that record's id, its parts joined by slashes.
func (t *ownTable) add(l analysis.RowColumn, order []stored.Ordered, idColumns int) error {
	if len(order) != l.Rows() {
		return fmt.Errorf("%d labels for the %d rows of the stored release", l.Rows(), len(order))
	}
	if t.rows == nil {
		t.rows = make([][]string, len(order))
		for _, o := range order {
			id, err := stored.IdFields(o.ID, idColumns)
			if err != nil {
				return err
			}
			t.rows[o.Record] = id
		}
	}
	if len(t.rows) != len(order) {
		return fmt.Errorf("releases of %d and of %d rows", len(t.rows), len(order))
	}
	for row, o := range order {
		text := l.Text(row)
		if row < len(l.Own) && l.Own[row] >= 0 {
			text = strings.Join(t.rows[order[l.Own[row]].Record][:idColumns], "/")
		}
		t.rows[o.Record] = append(t.rows[o.Record], text)
	}
	return nil
}
