package table

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// Parquet writes a table with typed nullable columns, in the order of the table.
func Parquet(w io.Writer, t analysis.Table) error {
	out := parquet.NewGenericWriter[any](w, schema(t), parquet.CreatedBy("cosketch", "", ""), parquet.MaxRowsPerRowGroup(rowGroup))
	one := make([]parquet.Row, 1)
	err := t.Each(func(row []any) error {
		one[0] = one[0][:0]
		for at, value := range row {
			one[0] = append(one[0], cell(at, value))
		}
		_, err := out.WriteRows(one)
		return err
	})
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("writing table %s: %w", t.Name, err)
	}
	return nil
}

// rowGroup is how many rows are buffered in memory before they are written.
const rowGroup = 1 << 17

// schema returns the Parquet schema of a table. parquet-go sorts the fields of a group; ordered
// keeps the table's order.
func schema(t analysis.Table) *parquet.Schema {
	group := ordered{Group: parquet.Group{}}
	for _, c := range t.Columns {
		var leaf parquet.Node
		switch c.Type {
		case analysis.Integer:
			leaf = parquet.Leaf(parquet.Int64Type)
		case analysis.Real:
			leaf = parquet.Leaf(parquet.DoubleType)
		case analysis.Truth:
			leaf = parquet.Leaf(parquet.BooleanType)
		default:
			leaf = parquet.String()
		}
		group.Group[c.Name] = parquet.Optional(leaf)
		group.names = append(group.names, c.Name)
	}
	return parquet.NewSchema(t.Name, group)
}

// ordered is a group whose fields keep their order.
type ordered struct {
	parquet.Group
	names []string
}

// Fields returns the fields in the order of names.
func (o ordered) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range o.Group.Fields() {
		byName[f.Name()] = f
	}
	out := make([]parquet.Field, len(o.names))
	for i, name := range o.names {
		out[i] = byName[name]
	}
	return out
}

func cell(at int, value any) parquet.Value {
	switch x := value.(type) {
	case nil:
		return parquet.NullValue().Level(0, 0, at)
	case string:
		return parquet.ByteArrayValue([]byte(x)).Level(0, 1, at)
	case int64:
		return parquet.Int64Value(x).Level(0, 1, at)
	case float64:
		return parquet.DoubleValue(x).Level(0, 1, at)
	case bool:
		return parquet.BooleanValue(x).Level(0, 1, at)
	}
	panic(fmt.Sprintf("table: a value of type %T", value))
}
