package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// CSV writes a table as RFC 4180 has it, with a header. A number is written so that reading
// it gives the same bits; what has no value is an empty field.
func CSV(w io.Writer, t analysis.Table) error {
	out := csv.NewWriter(w)
	var header []string
	for _, c := range t.Columns {
		header = append(header, c.Name)
	}
	out.Write(header)
	fields := make([]string, len(t.Columns))
	err := t.Each(func(row []any) error {
		for i, value := range row {
			fields[i] = field(value)
		}
		return out.Write(fields)
	})
	out.Flush()
	if err := errors.Join(err, out.Error()); err != nil {
		return fmt.Errorf("writing table %s: %w", t.Name, err)
	}
	return nil
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
		return strconv.FormatFloat(x, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	}
	panic(fmt.Sprintf("table: a value of type %T", value))
}
