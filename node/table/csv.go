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

// CSV writes a table as RFC 4180 has it, with a header. A number is written so that reading
// it gives the same bits; what has no value is an empty field.
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

// Writer is the one way to a CSV file that people open: nothing that others wrote becomes a
// formula of a spreadsheet there, or does something in a terminal (plain.Cell). Its errors
// are those of the writer below.
type Writer struct {
	csv *csv.Writer
	own int
	row []string
}

// NewWriter begins a file whose first columns, so many, are the reader's own values, such as
// the ids of its records: they stay as they are, since they are joined by.
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

// Flush writes what is left.
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

// Number is a number as CSV files have it: reading it gives the same bits. Without one the field is empty.
func Number(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}
