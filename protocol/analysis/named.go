package analysis

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/study"
)

// A document comes from an aggregator. It is printed, drawn and written to files beside a party's
// own ids. So every name in it must be a name of the study, and every text must be printable.

// named holds the names that documents of a study may contain.
type named struct {
	name    string
	parties map[string]bool
	columns map[string][]string // by title, and by name: the values of a categorical column
	label   map[string][]string // by name, of label columns: their classes
}

func namedBy(s *study.Study) named {
	n := named{s.Name, map[string]bool{}, map[string][]string{}, map[string][]string{}}
	for _, p := range s.Parties {
		n.parties[p.Name] = true
	}
	for _, c := range s.Columns {
		n.columns[c.Title()], n.columns[c.Name] = c.Values, c.Values
		if c.Label {
			n.label[c.Name] = c.Classes()
		}
	}
	return n
}

// CheckNames returns an error if a result contains a name unknown to its study, or text that is not
// plain.
func (r Result) CheckNames(s *study.Study) error {
	n := namedBy(s)
	err := n.result(r)
	if err == nil {
		err = n.walk(reflect.ValueOf(r))
	}
	if err != nil {
		return fmt.Errorf("checking the names in a result: %w", err)
	}
	return nil
}

func (n named) result(r Result) error {
	if r.Name != n.name {
		return fmt.Errorf("study %.40q, not %q", r.Name, n.name)
	}
	for _, p := range r.Parties {
		if err := n.party(p.Name); err != nil {
			return err
		}
	}
	for _, name := range r.Absent {
		if err := n.party(name); err != nil {
			return err
		}
	}
	for i, a := range r.Analyses {
		if err := n.analysis(a); err != nil {
			return fmt.Errorf("analysis %d: %w", i+1, err)
		}
	}
	return nil
}

// analysis checks the names that are not features. Walk checks features wherever they are.
func (n named) analysis(a Analysis) error {
	for _, s := range a.sections() {
		if naming, ok := s.(interface{ names(n named) error }); ok {
			if err := naming.names(n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n named) party(name string) error {
	if !n.parties[name] {
		return fmt.Errorf("the study has no party %.40q", name)
	}
	return nil
}

func (n named) classes(column string, named []string) error {
	values, ok := n.label[column]
	if !ok {
		return fmt.Errorf("the study has no label column %.40q", column)
	}
	for _, class := range named {
		if !slices.Contains(values, class) {
			return fmt.Errorf("label column %q has no class %.40q", column, class)
		}
	}
	return nil
}

// feature checks the name of a row or column of a matrix: a party, a single record of a party, or a
// column.
func (n named) feature(f Feature) error {
	if f == (Feature{}) {
		return nil
	}
	if f.Party != "" {
		party, row, single := strings.Cut(f.Party, "/")
		if err := n.party(party); err != nil {
			return err
		}
		if single && (f.Column != "" || !whole(row, 0)) {
			return fmt.Errorf("record %.40q is not named PARTY/ROW", f.Party)
		}
	}
	if f.Column == "" && f.Value == "" {
		return nil
	}
	values, ok := n.columns[f.Column]
	if !ok {
		return fmt.Errorf("the study has no column %.40q", f.Column)
	}
	if f.Value != "" && !slices.Contains(values, f.Value) {
		return fmt.Errorf("column %q has no value %.40q", f.Column, f.Value)
	}
	return nil
}

// walk checks every feature of a document, and every text in it.
func (n named) walk(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		return checkPlain(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return n.walk(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); reflect.Bool <= k && k <= reflect.Complex128 {
			return nil // numbers contain no names, and there are many
		}
		for i := range v.Len() {
			if err := n.walk(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if f, ok := reflect.TypeAssert[Feature](v); ok {
			return n.feature(f)
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if err := n.walk(v.Field(i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkPlain returns an error if s has characters that control a terminal, or that reorder or hide
// others.
func checkPlain(s string) error {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) }) {
		return nil
	}
	return fmt.Errorf("%+.60q has characters that are not shown", s)
}

// CheckNames returns an error if the names or texts of the columns are not such as analyses of the
// study produce.
func (l Labels) CheckNames(s *study.Study) error {
	return namedBy(s).rows("labels", l.Party, l.Columns)
}

// CheckNames is the same check for the answer to a party's query.
func (a QueryAnswer) CheckNames(s *study.Study) error {
	err := checkPlain(a.Undefined)
	if err == nil {
		err = namedBy(s).rows("an answer", a.Party, a.Columns)
	}
	return err
}

func (n named) rows(what, party string, columns []RowColumn) error {
	err := n.party(party)
	for _, c := range columns {
		if err == nil {
			err = n.column(c)
		}
	}
	if err != nil {
		return fmt.Errorf("checking the names in %s: %w", what, err)
	}
	return nil
}

// Names of the columns of labels. Those of neighbours are followed by a rank, like neighbor_1.
const (
	clusterColumn      = "cluster"
	predictedColumn    = "predicted"
	scoreColumn        = "outlier_score"
	outlierColumn      = "outlier_rank"
	neighborColumn     = "neighbor"
	distanceColumn     = "distance"
	distanceLowColumn  = "distance_low"
	distanceHighColumn = "distance_high"
)

func (n named) column(c RowColumn) error {
	if c.Analysis < 0 || c.Analysis > mostAtTop {
		return fmt.Errorf("column %.40q is of analysis %d: want 1 to %d", c.Name, c.Analysis+1, mostAtTop+1)
	}
	text := func(string) bool { return false } // the column has no texts
	switch c.Name {
	case clusterColumn, scoreColumn, outlierColumn:
	case predictedColumn:
		text = n.isClass
	default:
		at := max(strings.LastIndexByte(c.Name, '_'), 0)
		stem, rank := c.Name[:at], strings.TrimPrefix(c.Name[at:], "_")
		if !slices.Contains([]string{neighborColumn, distanceColumn, distanceLowColumn, distanceHighColumn}, stem) || !whole(rank, 1) {
			return fmt.Errorf("unknown column %.40q: no analysis writes it", c.Name)
		}
		if stem == neighborColumn {
			text = n.isHandle
		}
	}
	for row, s := range c.Texts {
		if s != "" && !text(s) {
			return fmt.Errorf("column %q, row %d: unexpected text %+.40q", c.Name, row, s)
		}
	}
	return nil
}

// isClass reports whether s is a value of a label.
func (n named) isClass(s string) bool {
	for _, values := range n.label {
		if slices.Contains(values, s) {
			return true
		}
	}
	return false
}

// isHandle reports whether s names a record of another party, as neighbours are told: PARTY:HANDLE,
// with 16 hexadecimal digits.
func (n named) isHandle(s string) bool {
	at := strings.LastIndexByte(s, ':')
	if at < 0 || len(s)-at-1 != 2*handleBytes || strings.Trim(s[at+1:], "0123456789abcdef") != "" {
		return false
	}
	return n.parties[s[:at]]
}

// whole reports whether s is an integer of at least least, in digits without leading zeros.
func whole(s string, least int) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= least && strconv.Itoa(n) == s
}

// cells checks the names of a column and of its cells. Any text may name a range of a numeric
// column.
func (n named) cells(column string, cells []string) error {
	if column == "" && len(cells) == 0 {
		return nil
	}
	values, ok := n.columns[column]
	if !ok {
		return fmt.Errorf("the study has no column %.40q", column)
	}
	for _, cell := range cells {
		if len(values) > 0 && cell != absentCell && !slices.Contains(values, cell) {
			return fmt.Errorf("column %q has no value %.40q", column, cell)
		}
	}
	return nil
}
