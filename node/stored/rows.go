package stored

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
)

// RowsCSV writes, for each row of a release, the position of its record in the data file (from 0)
// and the record's id in hexadecimal, since it may be any bytes.
func RowsCSV(ids [][]byte, order []int) ([]byte, error) {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	w.Write([]string{"row", "record", "id"})
	for row, at := range order {
		w.Write([]string{strconv.Itoa(row), strconv.Itoa(at), fmt.Sprintf("%x", ids[at])})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return nil, fmt.Errorf("writing the order of rows: %w", err)
	}
	return buf.Bytes(), nil
}
