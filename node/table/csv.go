package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/cosketch/cosketch/node/plain"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// CSV writes a table as CSV (RFC 4180) with a header. Numbers are written so that reading them
// gives the same bits; an absent value is an empty field.
func CSV(w io.Writer, t analysis.Table) error {
	out := NewWriter(w, 0)
	var header []string
	for _, c := range t.Columns {
		header = append(header, c.Name)
	}
	fields := make([]string, len(t.Columns))
	err := out.Row(header)
	if err == nil {
		err = t.Each(func(row []any) error {
			for i, value := range row {
				fields[i] = field(value)
			}
			return out.Row(fields)
		})
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing table %s: %w", t.Name, err)
	}
	return nil
}

// Writer writes every CSV file that people open. It makes sure that nothing written by others
// becomes a spreadsheet formula or a terminal escape (plain.Cell). Its errors are those of the
// underlying writer.
type Writer struct {
	csv *csv.Writer
	own int
	row []string
}

// NewWriter returns a Writer. The first own columns are the reader's own values, such as ids of
// records. They are written unchanged, since they are used for joins.
func NewWriter(w io.Writer, own int) *Writer { return &Writer{csv: csv.NewWriter(w), own: own} }

// Row writes a row, or the header.
func (w *Writer) Row(fields []string) error {
	w.row = w.row[:0]
	for i, f := range fields {
		if i >= w.own {
			f = plain.Cell(f)
		}
		w.row = append(w.row, f)
	}
	return w.csv.Write(w.row)
}

// Flush writes buffered rows.
func (w *Writer) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

func field(value any) string {
	switch x := value.(type) {
	case nil:
		return ""
	case string:
		return x
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return Number(&x)
	case bool:
		return strconv.FormatBool(x)
	}
	panic(fmt.Sprintf("table: a value of type %T", value))
}

// Number formats a number for CSV such that reading it gives the same bits; nil is an empty field.
func Number(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}
