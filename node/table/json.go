package table

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// JSON writes a table as a list of objects. NaN and infinities are null.
func JSON(w io.Writer, t analysis.Table) error {
	out := bufio.NewWriter(w)
	separator := "["
	object := map[string]any{}
	err := t.Each(func(row []any) error {
		for j, c := range t.Columns {
			value := row[j]
			if x, ok := value.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
				value = nil
			}
			object[c.Name] = value
		}
		body, err := json.Marshal(object)
		out.WriteString(separator)
		separator = ","
		out.Write(body)
		return err
	})
	if separator == "[" {
		out.WriteString(separator)
	}
	out.WriteString("]\n")
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing table %s as JSON: %w", t.Name, err)
	}
	return nil
}
