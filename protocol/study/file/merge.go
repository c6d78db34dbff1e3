package file

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Merged returns the columns of the study, each once. notes has a line for the operator about each
// decision where the parties' lists differ. A vertical study has the columns of all parties. A
// horizontal one has the first party's, described by all lists together:
//
//   - numeric wins over binary, as 0 and 1 are also numbers; among other kinds the first list
//     wins;
//   - a centre and spread win over bounds; among equals the first list wins;
//   - values of categorical columns are those of all lists.
//
// A column in Own overrides all lists.
func (d Draft) Merged() (columns []DraftColumn, notes []string) {
	if d.Partition == study.Horizontal && len(d.Parties) > 0 {
		by := map[string][]said{}
		for _, p := range d.Parties {
			for _, c := range p.Columns {
				by[c.Name] = append(by[c.Name], said{p.Name, c})
			}
		}
		for _, c := range d.Parties[0].Columns {
			if own, ok := d.own(c.Name); ok {
				columns = append(columns, own)
				continue
			}
			one, why := merge(by[c.Name])
			columns, notes = append(columns, one), append(notes, why...)
		}
		return columns, notes
	}
	for _, p := range d.Parties {
		for _, c := range p.Columns {
			if own, ok := d.own(c.Name); ok {
				c = own
			}
			columns = append(columns, c)
		}
	}
	return columns, nil
}

func (d Draft) own(name string) (DraftColumn, bool) {
	i := slices.IndexFunc(d.Own, func(c DraftColumn) bool { return c.Name == name })
	if i < 0 {
		return DraftColumn{}, false
	}
	return d.Own[i], true
}

// said is a column as in one party's list.
type said struct {
	party  string
	column DraftColumn
}

// merge makes one description of a column from those of the lists.
func merge(all []said) (out DraftColumn, notes []string) {
	first := all[0].column
	note := func(format string, args ...any) {
		notes = append(notes, fmt.Sprintf("column %s: ", first.Name)+fmt.Sprintf(format, args...)+fmt.Sprintf(" (otherwise: --column '{name: %s, kind: …}')", quoted(first.Name)))
	}
	kind, role := first.Kind, ""
	for _, s := range all {
		role = cmp.Or(role, s.column.Role)
	}
	isOf := func(k study.ColumnKind) func(said) bool { return func(s said) bool { return s.column.Kind == k } }
	if kind == study.Binary && role != "label" && slices.ContainsFunc(all, isOf(study.Numeric)) {
		kind = study.Numeric
	}
	if other := slices.IndexFunc(all, func(s said) bool { return s.column.Kind != first.Kind }); other >= 0 {
		note("%s at %s and %s at %s: the study says %s", first.Kind, all[0].party, all[other].column.Kind, all[other].party, kind)
		all = slices.DeleteFunc(all, func(s said) bool { return s.column.Kind != kind })
	}
	best := all[0]
	for _, s := range all[1:] {
		if s.column.rank() > best.column.rank() {
			best = s
		}
	}
	if out = best.column; kind == study.Categorical {
		out.Terms = together(all, best)
	}
	for _, s := range all {
		if len(s.column.Terms) > 0 && terms(s.column) != terms(out) {
			note("{%s} at %s, and the study says {%s}", terms(s.column), s.party, terms(out))
		}
	}
	out.Role = role
	return out, notes
}

// rank orders descriptions of one kind: complete ones before incomplete ones, and a centre and
// spread before bounds.
func (c DraftColumn) rank() int {
	switch {
	case len(c.Terms) == 0:
		return 0
	case c.open() != "":
		return 1
	case c.has("bounds"):
		return 2
	}
	return 3
}

func (c DraftColumn) has(key string) bool {
	return slices.ContainsFunc(c.Terms, func(t DraftTerm) bool { return t.Key == key })
}

// together returns the terms of a categorical column with the values of all lists, in the order of
// their first occurrence. If some values are not a list, it returns those of the best description.
func together(all []said, best said) []DraftTerm {
	var values []string
	for _, s := range all {
		for _, t := range s.column.Terms {
			if t.Key != "values" {
				continue
			}
			n, err := schema.Load([]byte(t.Value))
			if err != nil || n.Kind != yaml.SequenceNode {
				return best.column.Terms
			}
			for _, v := range n.Content {
				if v.Kind != yaml.ScalarNode {
					return best.column.Terms
				}
				if !slices.Contains(values, v.Value) {
					values = append(values, v.Value)
				}
			}
		}
	}
	if len(values) == 0 {
		return best.column.Terms
	}
	out := []DraftTerm{{"values", quotedList(values)}}
	for _, t := range best.column.Terms {
		if t.Key != "values" {
			out = append(out, t)
		}
	}
	return out
}

// agreeHorizontal refuses parties whose columns differ from the first's, in any order, and names
// all columns that differ.
func (d Draft) agreeHorizontal() error {
	first := d.Parties[0]
	var wrong []string
	for _, p := range d.Parties[1:] {
		for _, pair := range [][2]DraftParty{{first, p}, {p, first}} {
			switch more := only(pair[0], pair[1]); len(more) {
			case 0:
			case 1:
				wrong = append(wrong, fmt.Sprintf("column %s of %s has no equal at %s", more[0], pair[0].Name, pair[1].Name))
			default:
				wrong = append(wrong, fmt.Sprintf("columns %s of %s have no equal at %s", strings.Join(more, ", "), pair[0].Name, pair[1].Name))
			}
		}
	}
	if wrong != nil {
		return fmt.Errorf("parties of a horizontal study have the same columns: %s (is the study vertical? else use the same column names in all lists; each party's site file can map them to its own)", strings.Join(wrong, "; "))
	}
	return nil
}

// mostNoted bounds the number of names in a note.
const mostNoted = 100

// only lists the columns of a that b does not have, quoted; at most mostNoted of them.
func only(a, b DraftParty) (out []string) {
	has := map[string]bool{}
	for _, c := range b.Columns {
		has[c.Name] = true
	}
	for _, c := range a.Columns {
		if !has[c.Name] {
			out = append(out, strconv.Quote(c.Name))
		}
	}
	if more := len(out) - mostNoted; more > 0 {
		out = append(out[:mostNoted], fmt.Sprintf("and %d more", more))
	}
	return out
}
