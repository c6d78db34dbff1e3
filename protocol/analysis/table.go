package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Table is a part of a result as rows of single values: what files for notebooks and pages
// hold. Every part of the document but its lists of pairs becomes tables by one rule, so
// that a kind's section is in them as soon as it is in the document:
//
//   - the single values of a structure are the columns of one row, those of structures
//     within it behind the name of the field;
//   - a list is a table of its own, named after the path to it, with a column for the
//     position in each list on the way, from 0 as in the document; of a list of lists, the
//     second position is "column";
//   - so is a structure behind a pointer, which has no row where it is absent.
type Table struct {
	Name    string // words of the document's keys joined by "_", like "k_means_sizes"
	Columns []Column
	Rows    [][]any // by Columns: string, int64, float64, bool, or nil where there is no value
}

// Column is a column of a table.
type Column struct {
	Name string
	Type ColumnType
}

// ColumnType says what the values of a column are.
type ColumnType string

// The types of columns.
const (
	Text    ColumnType = "text"    // string
	Integer ColumnType = "integer" // int64
	Real    ColumnType = "real"    // float64
	Truth   ColumnType = "truth"   // bool
)

// numbersTable is the table of all pairs, whatever the kind.
const numbersTable = "numbers"

// Tables returns the whole result: who is in it, what was asked and promised, every
// number of a pair in "numbers", and what the kinds' own sections hold. Tables of one name
// from several analyses are one, with the analysis's position in the document as its first
// column.
func (r Result) Tables() []Table {
	out := []Table{r.numbers()}
	flat := &flattener{shallow: true}
	flat.list("analyses", nil, reflect.ValueOf(r.Analyses))
	flat.list("parties", nil, reflect.ValueOf(r.Parties))
	flat.list("sketches", nil, reflect.ValueOf(r.Sketches))
	out = append(out, flat.tables...)
	for i, a := range r.Analyses {
		for _, t := range a.Tables() {
			at := slices.IndexFunc(out, func(o Table) bool { return o.Name == t.Name })
			if at < 0 {
				at = len(out)
				out = append(out, Table{Name: t.Name, Columns: append([]Column{{"analysis", Integer}}, t.Columns...)})
			}
			for _, row := range t.Rows {
				out[at].Rows = append(out[at].Rows, append([]any{int64(i)}, row...))
			}
		}
	}
	return out
}

// Tables returns what an analysis holds beside its pairs: the repaired matrix and its
// kind's section.
func (a Analysis) Tables() []Table {
	flat := &flattener{}
	v := reflect.ValueOf(a)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && f.Type().Elem().Kind() == reflect.Struct && !f.IsNil() {
			flat.row(keyOf(v.Type().Field(i)), nil, f.Elem())
		}
	}
	return slices.DeleteFunc(flat.tables, func(t Table) bool { return len(t.Rows) == 0 })
}

// numbers has one row for each pair.
func (r Result) numbers() Table {
	out := Table{Name: numbersTable, Columns: []Column{
		{"analysis", Integer}, {"kind", Text}, {"of", Text}, {"i", Integer}, {"j", Integer}, {"feature_i", Text}, {"feature_j", Text},
		{"estimate", Real}, {"standard_error", Real}, {"low", Real}, {"high", Real}, {"undefined", Text},
	}}
	for at, a := range r.Analyses {
		for _, list := range []struct {
			of    string
			pairs []Pair
		}{{"pair", a.Pairs}, {"shift", a.Shifts}} {
			for _, p := range list.pairs {
				out.Rows = append(out.Rows, []any{
					int64(at), string(a.Kind), list.of, int64(p.I), int64(p.J), a.Features[p.I].Name(), a.Features[p.J].Name(),
					optional(p.Estimate), optional(p.StandardError), optional(p.Low), optional(p.High), p.Undefined,
				})
			}
		}
	}
	return out
}

func optional(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// Name is the feature as people and tables call it, like "north: ward=a".
func (f Feature) Name() string {
	name := f.Column
	if f.Value != "" {
		name += "=" + f.Value
	}
	switch {
	case f.Party == "":
		return name
	case name == "":
		return f.Party
	}
	return f.Party + ": " + name
}

// flattener makes tables of a document's structures and lists.
type flattener struct {
	tables  []Table
	shallow bool // leaves the lists and pointers within structures out
}

// key is a column that says where in a list a row stands.
type key struct {
	name string
	at   int64
}

// row adds a structure's values as a row of the table of its name, and the structure's
// lists and pointers as tables of theirs.
func (f *flattener) row(name string, keys []key, v reflect.Value) {
	var columns []Column
	var values []any
	for _, k := range keys {
		columns, values = append(columns, Column{k.name, Integer}), append(values, k.at)
	}
	at := f.table(name)
	f.fields("", v, func(column Column, value any) {
		columns, values = append(columns, column), append(values, value)
	}, func(field string, v reflect.Value) { f.nested(name+"_"+field, keys, v) })
	if len(columns) > len(keys) { // a structure of lists alone has no row
		f.tables[at].Columns, f.tables[at].Rows = columns, append(f.tables[at].Rows, values)
	}
}

// fields hands out a structure's single values, and what has a table of its own.
func (f *flattener) fields(prefix string, v reflect.Value, single func(Column, any), nested func(string, reflect.Value)) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		name := prefix + keyOf(field)
		switch kind := field.Type.Kind(); {
		case !field.IsExported() || keyOf(field) == "-":
		case field.Anonymous && kind == reflect.Struct:
			f.fields(prefix, value, single, nested)
		case kind == reflect.Struct:
			inner := name + "_"
			f.fields(inner, value, func(c Column, x any) {
				if field.Type == reflect.TypeFor[Number]() && c.Name == inner+"estimate" {
					c.Name = name // a number goes by the name of what it is
				}
				single(c, x)
			}, nested)
		case kind == reflect.Slice || kind == reflect.Array || kind == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct:
			if !f.shallow {
				nested(name, value)
			}
		default:
			single(valueOf(name, value))
		}
	}
}

// nested adds a list, or the structure behind a pointer.
func (f *flattener) nested(name string, keys []key, v reflect.Value) {
	switch {
	case v.Kind() != reflect.Pointer:
		f.list(name, keys, v)
	case !v.IsNil():
		f.row(name, keys, v.Elem())
	}
}

// list adds the items of a list: structures as rows, single values as rows of one
// value, and lists of those with the second position as "column".
func (f *flattener) list(name string, keys []key, v reflect.Value) {
	at := f.table(name)
	here := key{name: singular(name[strings.LastIndexByte(name, '_')+1:])}
	for i := range v.Len() {
		here.at = int64(i)
		item, path := v.Index(i), append(keys[:len(keys):len(keys)], here)
		if item.Kind() == reflect.Pointer && !item.IsNil() {
			item = item.Elem()
		}
		switch item.Kind() {
		case reflect.Struct:
			f.row(name, path, item)
		case reflect.Slice, reflect.Array:
			for j := range item.Len() {
				inner := append(path[:len(path):len(path)], key{"column", int64(j)})
				if item.Type().Elem().Kind() == reflect.Struct {
					f.row(name, inner, item.Index(j))
				} else {
					f.value(at, inner, item.Index(j))
				}
			}
		default:
			f.value(at, path, item)
		}
	}
}

// value adds a row of a list of single values.
func (f *flattener) value(at int, keys []key, v reflect.Value) {
	column, x := valueOf("value", v)
	row, columns := []any{}, []Column{}
	for _, k := range keys {
		row, columns = append(row, k.at), append(columns, Column{k.name, Integer})
	}
	f.tables[at].Columns, f.tables[at].Rows = append(columns, column), append(f.tables[at].Rows, append(row, x))
}

// table returns the position of the table of a name, which it adds where there is none.
func (f *flattener) table(name string) int {
	if at := slices.IndexFunc(f.tables, func(t Table) bool { return t.Name == name }); at >= 0 {
		return at
	}
	f.tables = append(f.tables, Table{Name: name})
	return len(f.tables) - 1
}

// valueOf returns a single value and the column that it belongs to. What has no type of
// its own among the columns is text, as the document has it.
func valueOf(name string, v reflect.Value) (Column, any) {
	kind, absent := v.Type(), false
	if kind.Kind() == reflect.Pointer {
		kind, absent = kind.Elem(), v.IsNil()
		if !absent {
			v = v.Elem()
		}
	}
	column, x := Column{name, Text}, any(nil)
	switch {
	case kind.Kind() == reflect.String:
		x = v.String()
	case reflect.Int <= kind.Kind() && kind.Kind() <= reflect.Int64:
		column.Type = Integer
		if !absent {
			x = v.Int()
		}
	case reflect.Uint <= kind.Kind() && kind.Kind() <= reflect.Uint32:
		column.Type = Integer
		if !absent {
			x = int64(v.Uint())
		}
	case kind.Kind() == reflect.Float64:
		column.Type = Real
		if !absent {
			x = v.Float()
		}
	case kind.Kind() == reflect.Bool:
		column.Type = Truth
		if !absent {
			x = v.Bool()
		}
	default:
		raw, err := json.Marshal(v.Interface())
		if err != nil {
			panic(fmt.Sprintf("analysis: %s is in a document and no JSON: %v", kind, err))
		}
		x = string(raw)
	}
	if absent {
		return column, nil
	}
	return column, x
}

// keyOf is a field's key in the document.
func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, strings.ToLower(f.Name))
}

// singular names one item of a list.
func singular(list string) string {
	for _, ending := range [][2]string{{"yses", "ysis"}, {"ies", "y"}, {"ches", "ch"}, {"ices", "ex"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(list, ending[0]); ok && stem != "" {
			return stem + ending[1]
		}
	}
	return list
}
