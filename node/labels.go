package node

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/cosketch/cosketch/node/store"
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
	return r, raw, nil
}

// OwnLabels joins what a study's analyses say of this party's records, such as
// their clusters, to the party's own ids, as CSV: the id columns, then one column for
// each thing said. It is store.ErrNotFound where nothing was labelled.
// The ids are normalised, as the study has it. The join happens here and the file
// never leaves the party.
func OwnLabels(st *store.Store, s *study.Study) ([]byte, error) {
	raw, err := st.Result(s.ID, labelsFile)
	if err != nil {
		return nil, err
	}
	var labels analysis.Labels
	if err := json.Unmarshal(raw, &labels); err != nil {
		return nil, fmt.Errorf("reading stored labels: %w", err)
	}
	header := append([]string(nil), s.Records.ID...)
	var rows [][]string // by position of the record in the data file
	named := map[string]int{}
	for _, l := range labels.Columns {
		named[l.Name]++
	}
	for n, l := range labels.Columns {
		name := l.Name
		if named[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, l.Analysis)
		}
		header = append(header, name)
		order, err := readOrder(st, s.ID, l.Sketch)
		if err != nil {
			return nil, err
		}
		if len(order) != l.Rows() {
			return nil, fmt.Errorf("%d labels for the %d rows of the stored release", l.Rows(), len(order))
		}
		if n == 0 {
			rows = make([][]string, len(order))
		}
		for row, o := range order {
			if n == 0 {
				if rows[o.record], err = idFields(o.id, len(s.Records.ID)); err != nil {
					return nil, err
				}
			}
			rows[o.record] = append(rows[o.record], l.Text(row))
		}
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write(header)
	w.WriteAll(rows)
	if err := w.Error(); err != nil {
		return nil, fmt.Errorf("writing labels: %w", err)
	}
	return out.Bytes(), nil
}

// ordered is one row of a records-side release: which record it is.
type ordered struct {
	record int
	id     []byte
}

// readOrder reads what rowsCSV wrote.
func readOrder(st *store.Store, id protocol.StudyID, sketch int) ([]ordered, error) {
	f, err := st.OpenReleaseFile(id, rowsFile(sketch))
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
