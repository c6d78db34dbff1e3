package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Table is a part of a result as rows of single values, for notebooks, files and pages. The lists
// of pairs are one table, "numbers". Everything else becomes tables by one rule, so that a kind's
// section is in them as soon as it is in the document:
//
//   - the single values of a structure are the columns of one row; those of a nested structure
//     follow, prefixed with the field's name;
//   - a list is a table of its own, named after the path to it. Each row begins with the
//     position in each list on that path;
//   - a structure behind a pointer is a table too. It has no row if it is absent.
//
// Two tags of the document's fields say what positions mean. The tag "by" has a word for each
// dimension of a list, and of lists within its items that have no such tag:
//
//   - "features" and "classes" are lists of an enclosing structure. A position among the
//     features becomes the columns i, feature, party, column and value or, if both dimensions are
//     features, i, feature_i, j and feature_j. A position among the classes becomes the column class.
//     A name in front, as in "predicted=classes", is the column's name instead;
//   - the key of a text or number of the items, like "share", replaces the position;
//   - "-" leaves the position out;
//   - any other word is the column of the position, counted from 0, or from n if "+n" follows,
//     which also skips n names of a list.
//
// The tag "of" says into which list whole numbers index, by the same words. Otherwise it names the
// column of a list of single values.
type Table struct {
	Name    string // words of the document's keys joined by "_", like "k_means_sizes"
	Columns []Column
	Rows    [][]any // by Columns: string, int64, float64, bool, or nil if there is no value

	// More reads Further more rows from the files beside the document. It calls take with each
	// until take returns an error, which it returns. Take must not keep the row. Nil: there are
	// none.
	More    func(take func(row []any) error) error
	Further int64
}

// Each calls take with every row, of Rows and More, until it returns an error, which Each returns.
func (t Table) Each(take func(row []any) error) error {
	for _, row := range t.Rows {
		if err := take(row); err != nil {
			return err
		}
	}
	if t.More == nil {
		return nil
	}
	return t.More(take)
}

// Len returns the number of rows.
func (t Table) Len() int64 { return int64(len(t.Rows)) + t.Further }

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

// Tables of the document as a whole. The lists and sections in the last two are named without their
// prefix.
const (
	NumbersTable  = "numbers" // of all pairs, whatever the kind
	resultTable   = "result"
	analysesTable = "analyses"
)

// Tables returns the whole result: every number of a pair in "numbers", who is in it, what was
// asked and promised, and the sections of all kinds. What belongs to an analysis has the analysis's
// position in the document as its first column.
func (r Result) Tables() []Table {
	f := &flattener{tables: []Table{r.numbers()}}
	f.row(resultTable, path{}, reflect.ValueOf(r), place{})
	return f.done()
}

// Tables returns what an analysis holds beside its pairs: its features, the repaired matrix and its
// kind's section.
func (a Analysis) Tables() []Table {
	f := &flattener{}
	f.row(analysesTable, path{}, reflect.ValueOf(a), place{})
	return slices.DeleteFunc(f.done(), func(t Table) bool { return t.Name == analysesTable })
}

// numbers returns the table with one row for each pair; pairs of dense tables come last.
func (r Result) numbers() Table {
	out := Table{Name: NumbersTable, Columns: []Column{
		{"analysis", Integer}, {"kind", Text}, {"of", Text}, {"i", Integer}, {"j", Integer}, {"feature_i", Text}, {"feature_j", Text},
	}}
	for _, f := range fields {
		out.Columns = append(out.Columns, Column{f.name, Real})
	}
	fill := func(row []any, at int, of string, p Pair) []any {
		a := r.Analyses[at]
		row = append(row, int64(at), string(a.Kind), of, int64(p.I), int64(p.J), a.Features[p.I].Name(), a.Features[p.J].Name())
		for _, f := range fields {
			row = append(row, optional(*f.of(&p.Number)))
		}
		return append(row, p.Undefined)
	}
	out.Columns = append(out.Columns, Column{"undefined", Text})
	for at, a := range r.Analyses {
		for _, list := range []struct {
			of    string
			pairs []Pair
		}{{"pair", a.Pairs}, {"shift", a.Shifts}} {
			for _, p := range list.pairs {
				out.Rows = append(out.Rows, fill(make([]any, 0, len(out.Columns)), at, list.of, p))
			}
		}
		if a.Dense != nil {
			out.Further += a.Dense.Pairs
		}
	}
	if out.Further == 0 {
		return out
	}
	out.More = func(take func(row []any) error) error {
		row := make([]any, 0, len(out.Columns))
		for at, a := range r.Analyses {
			if a.Dense == nil {
				continue
			}
			if err := a.EachPair(func(p Pair) error {
				row = fill(row[:0], at, "pair", p)
				return take(row)
			}); err != nil {
				return err
			}
		}
		return nil
	}
	return out
}

func optional(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// Name returns the feature's name for people and tables, like "north: ward=a".
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
type flattener struct{ tables []Table }

// path is the beginning of a row: the positions in the lists around it.
type path struct {
	columns []Column
	values  []any
}

func (p path) with(name string, kind ColumnType, value any) path {
	return path{append(slices.Clip(p.columns), Column{name, kind}), append(slices.Clip(p.values), value)}
}

// place is the context of a value: the structures around it, and its tags.
type place struct {
	around []reflect.Value // the enclosing structures, outermost first
	by     []string        // word for each dimension of lists
	of     string
	key    string // the field that already stands for the structure's position
	letter string // j inside a list of lists by features and features
}

// done returns the tables that have rows, and the numbers table.
func (f *flattener) done() []Table {
	return slices.DeleteFunc(f.tables, func(t Table) bool { return len(t.Rows) == 0 && t.Name != NumbersTable })
}

// add appends a row to the named table, which it creates if necessary.
func (f *flattener) add(name string, row path) {
	at := slices.IndexFunc(f.tables, func(t Table) bool { return t.Name == name })
	if at < 0 {
		at = len(f.tables)
		f.tables = append(f.tables, Table{Name: name, Columns: row.columns})
	}
	f.tables[at].Rows = append(f.tables[at].Rows, row.values)
}

// row adds a structure's values as a row of the named table, and the structure's lists and pointers
// as tables of their own.
func (f *flattener) row(name string, at path, v reflect.Value, in place) {
	row, begin := at, name+"_"
	if name == resultTable || name == analysesTable {
		begin = ""
	}
	in.around = append(slices.Clip(in.around), v)
	type later struct {
		name string
		v    reflect.Value
		in   place
	}
	var nested []later
	f.fields("", v, in, func(c Column, x any) {
		row = row.with(c.Name, c.Type, x)
	}, func(field string, v reflect.Value, in place) { nested = append(nested, later{begin + field, v, in}) })
	if len(row.columns) > len(at.columns) || in.key != "" { // a structure with only lists has no row
		f.add(name, row)
	}
	for _, n := range nested {
		switch {
		case n.v.Kind() != reflect.Pointer:
			f.list(n.name, at, n.v, n.in)
		case !n.v.IsNil():
			f.row(n.name, at, n.v.Elem(), n.in)
		}
	}
}

// fields calls single with each single value of a structure, and nested with each field that has a
// table of its own.
func (f *flattener) fields(prefix string, v reflect.Value, in place, single func(Column, any), nested func(string, reflect.Value, place)) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		name, here := prefix+keyOf(field), place{around: in.around, by: in.by, of: field.Tag.Get("of")}
		if words, ok := field.Tag.Lookup("by"); ok {
			here.by = strings.Split(words, ",")
		}
		switch kind := field.Type.Kind(); {
		case !field.IsExported() || keyOf(field) == "-" || field.Type == reflect.TypeFor[[]Pair]() && v.Type() == reflect.TypeFor[Analysis](): // pairs are in numbers
		case field.Anonymous && kind == reflect.Struct:
			f.fields(prefix, value, in, single, nested)
		case field.Type == reflect.TypeFor[Feature]():
			value.Interface().(Feature).columns(name, name+"_", single)
		case kind == reflect.Struct:
			inner := name + "_"
			f.fields(inner, value, here, func(c Column, x any) {
				if field.Type == reflect.TypeFor[Number]() && c.Name == inner+"estimate" {
					c.Name = name // an estimate is named after its field
				}
				single(c, x)
			}, nested)
		case kind == reflect.Slice || kind == reflect.Array || kind == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct:
			nested(name, value, here)
		case name == in.key:
		case kind == reflect.Int && here.of != "":
			here.position(name, value.Int(), single)
		case kind == reflect.Int && in.of != "": // such as clusters I and J
			single(Column{in.of + "_" + name, Integer}, value.Int())
		default:
			single(valueOf(name, value))
		}
	}
}

// list adds the items of a list: structures as rows, and single values as rows with one value.
func (f *flattener) list(name string, at path, v reflect.Value, in place) {
	by, within := singular(name[strings.LastIndexByte(name, '_')+1:]), in
	if len(in.by) > 0 {
		by, within.by = in.by[0], in.by[1:]
	}
	letter := in.letter
	if within.letter = ""; len(in.by) > 1 && by == "features" && in.by[1] == by {
		letter, within.letter = "i", "j"
	}
	for i := range v.Len() {
		item, row := v.Index(i), at
		for item.Kind() == reflect.Pointer && !item.IsNil() {
			item = item.Elem()
		}
		add := func(c Column, x any) { row = row.with(c.Name, c.Type, x) }
		within.key = ""
		switch field, ok := keyed(item, by); {
		case ok:
			within.key = by
			add(valueOf(by, field))
		default:
			in.index(letter, by, i, add)
		}
		switch {
		case item.Type() == reflect.TypeFor[Feature]():
			item.Interface().(Feature).columns("feature", "", add)
			f.add(name, row)
		case item.Kind() == reflect.Struct:
			f.row(name, row, item, within)
		case item.Kind() == reflect.Slice || item.Kind() == reflect.Array:
			f.list(name, row, item, within)
		case item.Kind() == reflect.Int:
			in.position(cmp.Or(in.of, "value"), item.Int(), add)
			f.add(name, row)
		default:
			add(valueOf(cmp.Or(in.of, "value"), item))
			f.add(name, row)
		}
	}
}

// keyed returns the field of an item that a word of "by" names.
func keyed(item reflect.Value, by string) (reflect.Value, bool) {
	if item.Kind() == reflect.Struct && item.Type() != reflect.TypeFor[Feature]() {
		for i := range item.NumField() {
			switch field := item.Type().Field(i); field.Type.Kind() {
			case reflect.String, reflect.Float64:
				if keyOf(field) == by {
					return item.Field(i), true
				}
			}
		}
	}
	return reflect.Value{}, false
}

// index adds a position in a list, as a word of "by" says. Letter is i or j if it is one of two
// features.
func (in place) index(letter, by string, position int, add func(Column, any)) {
	as, word, ok := strings.Cut(by, "=")
	if !ok {
		word = by
	}
	word, from, _ := strings.Cut(word, "+")
	first, _ := strconv.Atoi(from)
	names := in.names(word)
	switch {
	case word == "-":
	case !names.IsValid():
		add(Column{word, Integer}, int64(first+position))
	case names.Type() != reflect.TypeFor[[]Feature]():
		if !ok {
			as = singular(word)
		}
		itemOf(names, first+position).named(as, add)
	case letter == "":
		add(Column{"i", Integer}, int64(first+position))
		itemOf(names, first+position).columns("feature", "", add)
	default:
		add(Column{letter, Integer}, int64(first+position))
		itemOf(names, first+position).named("feature_"+letter, add)
	}
}

// position adds a whole number of the document and, if "of" says that it is an index into a list of
// names, the name.
func (in place) position(key string, at int64, add func(Column, any)) {
	names := in.names(in.of)
	switch {
	case !names.IsValid():
		add(Column{key, Integer}, at)
	case key == "feature" || key == in.of && names.Type() == reflect.TypeFor[[]Feature]():
		add(Column{"i", Integer}, at)
		itemOf(names, int(at)).columns("feature", "", add)
	case names.Type() == reflect.TypeFor[[]Feature]():
		add(Column{key, Integer}, at)
		itemOf(names, int(at)).named("feature_"+key, add)
	case key == "i" || key == "j":
		add(Column{key, Integer}, at)
		itemOf(names, int(at)).named(singular(in.of)+"_"+key, add)
	default:
		add(Column{key, Integer}, at)
		itemOf(names, int(at)).named(singular(in.of), add)
	}
}

// names returns the list of an enclosing structure that a word refers to.
func (in place) names(word string) reflect.Value {
	for _, v := range slices.Backward(in.around) {
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if keyOf(field) == word && (field.Type == reflect.TypeFor[[]Feature]() || field.Type == reflect.TypeFor[[]string]()) {
				return v.Field(i)
			}
		}
	}
	return reflect.Value{}
}

// columns adds a feature's name and its parts.
func (f Feature) columns(name, prefix string, add func(Column, any)) {
	f.named(name, add)
	for _, part := range []struct{ name, text string }{{"party", f.Party}, {"column", f.Column}, {"value", f.Value}} {
		var x any
		if part.text != "" {
			x = part.text
		}
		add(Column{prefix + part.name, Text}, x)
	}
}

// named adds a feature's name only; nil for the zero feature.
func (f Feature) named(name string, add func(Column, any)) {
	var x any
	if f != (Feature{}) {
		x = f.Name()
	}
	add(Column{name, Text}, x)
}

// itemOf returns an item of a list of names; the zero feature if the list, from another peer, lacks
// it.
func itemOf(names reflect.Value, at int) Feature {
	if at < 0 || at >= names.Len() {
		return Feature{}
	}
	if f, ok := names.Index(at).Interface().(Feature); ok {
		return f
	}
	return Feature{Column: names.Index(at).String()}
}

// valueOf returns a single value and its column. A type without a column type of its own becomes
// text, as JSON.
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

// keyOf returns a field's key in the document.
func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, strings.ToLower(f.Name))
}

// singular returns the name of one item of a list.
func singular(list string) string {
	for _, ending := range [][2]string{{"yses", "ysis"}, {"sses", "ss"}, {"ies", "y"}, {"ches", "ch"}, {"ices", "ex"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(list, ending[0]); ok && stem != "" {
			return stem + ending[1]
		}
	}
	return list
}
