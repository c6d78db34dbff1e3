package stored

import (
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Result returns this node's stored result, parsed and as received. It returns store.ErrNotFound
// before there is one.
func Result(st Documents, id protocol.StudyID) (analysis.Result, []byte, error) {
	raw, err := st.Result(id, filename.Result)
	if err != nil {
		return analysis.Result{}, nil, err
	}
	r, err := analysis.Decode(raw, id)
	if err != nil {
		return r, nil, fmt.Errorf("reading stored result: %w", err)
	}
	return r.With(Tables{st, id}), raw, nil
}

// Ordered is one row of a records-side release: which record it is.
type Ordered struct {
	Record int
	ID     []byte
}

// ReadOrder reads what RowsCSV wrote.
func ReadOrder(st *store.Store, id protocol.StudyID, sketch int) ([]Ordered, error) {
	return OrderIn(st.OpenReleaseFile(id, filename.Rows(sketch)))
}

// OrderIn reads an open file of this kind and closes it.
func OrderIn(f *store.File, err error) ([]Ordered, error) {
	if err != nil {
		return nil, fmt.Errorf("reading the order of rows: %w", err)
	}
	defer f.Close()
	records, err := csv.NewReader(io.NewSectionReader(f, 0, f.Size())).ReadAll()
	if err != nil || len(records) == 0 {
		return nil, fmt.Errorf("reading the order of rows: the file is damaged")
	}
	out := make([]Ordered, len(records)-1)
	for i, fields := range records[1:] {
		record, err1 := strconv.Atoi(fields[1])
		raw, err2 := hex.DecodeString(fields[2])
		if err1 != nil || err2 != nil || record < 0 || record >= len(out) {
			return nil, fmt.Errorf("reading the order of rows: row %d is damaged", i)
		}
		out[i] = Ordered{record, raw}
	}
	return out, nil
}

// OwnName is the id of the record in a row of the party's release, its parts joined by slashes.
func OwnName(order []Ordered, row, idColumns int) (string, error) {
	if row >= len(order) {
		return "", fmt.Errorf("row %d of the %d of the stored release", row, len(order))
	}
	id, err := IdFields(order[row].ID, idColumns)
	return strings.Join(id, "/"), err
}

// IdFields splits a joined id into its columns.
func IdFields(id []byte, columns int) ([]string, error) {
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
