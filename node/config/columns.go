package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/sniff"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/day"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// ColumnList is what a party tells the operator who drafts a study: who it is, and which columns it
// can contribute. It holds names, kinds and public numbers, never data.
type ColumnList struct {
	Path    string
	Name    string // the party's name, for the study file
	ID      protocol.PeerID
	Records []string // columns that identify a record
	About   int64    // approximate number of records; 0 if not given
	Columns []file.DraftColumn
	Made    []string // names made of headers that a study cannot use; only for the steward, not in the file
}

// Text is the list as party data columns writes it. It asks for what only people know: a typical
// centre and spread of each numeric column, and the values of each categorical one.
func (l ColumnList) Text() string {
	var b strings.Builder
	records, counted := "id: "+list(l.Records), ""
	if l.About > 0 {
		records += fmt.Sprintf(", about: %d", l.About)
		counted = " and the rounded number of records"
	}
	b.WriteString(schema.Comment(fmt.Sprintf("What %s could bring to a study, for aggregator study draft --columns. Nothing here was computed from values, except the guess of each column's kind%s: correct a wrong guess. Read all of it before you send it.", printable(l.Name), counted)))
	b.WriteString(schema.Comment("Add what is missing, from what is public already: a code book, a norm, the literature, experience. Never compute it from the data: no noise protects what stands here. You may say where a number is from: source: census 2021."))
	b.WriteString("#\n# Numbers, best first:\n#   centre: 50, spread: 20                    # or as centre: TYPICAL, spread: DEVIATION\n")
	b.WriteString("#   transform: log, centre: 2000, spread: 3   # amounts of which a few are very large: two thirds lie\n")
	b.WriteString("#                                             # between 2000/3 and 2000*3; none is 0 or less\n")
	b.WriteString("#   transform: asinh, unit: 100, centre: 2000, spread: 3   # the same where 0 and less occur; the\n")
	b.WriteString("#                                             # unit is an amount that is small among the others\n")
	b.WriteString("#   bounds: [LOW, HIGH]                       # second best; of dates always, as in bounds:\n")
	b.WriteString("#                                             # [1930-01-01, 2009-12-31]\n")
	b.WriteString(schema.Comment(file.Describing))
	b.WriteString("#\n")
	b.WriteString(schema.Comment("Binary columns hold only 0 and 1, at every party. A column that may hold more at another party, such as a count, is numeric."))
	fmt.Fprintf(&b, "cosketch: %s\nparty: {name: %s, id: %s}\nrecords: {%s}\ncolumns:\n", columnsVersion, scalar(l.Name), l.ID, records)
	for _, c := range l.Columns {
		line := fmt.Sprintf("  - {name: %s, kind: %s", scalar(c.Name), scalar(string(c.Kind)))
		for _, t := range c.Terms {
			line += ", " + t.Key + ": " + t.Value
		}
		if c.Source != "" {
			line += ", source: " + scalar(c.Source)
		}
		if c.Role != "" {
			line += ", role: " + scalar(c.Role)
		}
		line += "}"
		switch {
		case c.Terms != nil:
		case c.Dates:
			line += "  # dates: add bounds: [FIRST-DAY, LAST-DAY]"
		case c.Kind == study.Numeric:
			line += "  # add centre: TYPICAL, spread: DEVIATION"
		case c.Kind == study.Categorical:
			line += "  # add values: [ALL, OF, THEM]"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// printable removes what would end a comment's line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// columnsVersion is the value of the first key of a column list.
const columnsVersion = "columns/1"

// LoadColumns reads a column list, as party data columns writes it.
func LoadColumns(path string) (ColumnList, error) {
	source, root, err := load("column list", sniff.Columns, path, "")
	if errors.Is(err, fs.ErrNotExist) {
		return ColumnList{}, fmt.Errorf("%w (a party writes one: party data columns NAME)", err)
	}
	l := columnList{ColumnList: ColumnList{Path: source.path}}
	if err == nil {
		err = l.parse(source, root)
	}
	if err != nil {
		return ColumnList{}, err
	}
	return l.ColumnList, nil
}

// ParseColumns reads the text of a column list; errors call it name.
func ParseColumns(name string, text []byte) (ColumnList, error) {
	l := columnList{ColumnList: ColumnList{Path: name}}
	s := source{what: "column list", path: name}
	if len(text) > maxBytes {
		return ColumnList{}, fmt.Errorf("reading %s %s: more than %d bytes", s.what, name, maxBytes)
	}
	err := s.expect(text, sniff.Columns)
	var root *yaml.Node
	if err == nil {
		root, err = s.document(text)
	}
	if err == nil {
		err = l.parse(s, root)
	}
	if err != nil {
		return ColumnList{}, err
	}
	return l.ColumnList, nil
}

// columnListKeys are the keys of a column list.
func columnListKeys() schema.Keys[columnList] {
	return schema.Keys[columnList]{
		{Name: "cosketch", Form: schema.Text(func(l *columnList) *string { return &l.version }, nil)},
		{Name: "party", Form: schema.Table(schema.Itself[columnList], schema.Keys[columnList]{
			{Name: "name", Form: schema.Text(func(l *columnList) *string { return &l.Name }, nil)},
			{Name: "id", Form: schema.Parsed(func(l *columnList) *protocol.PeerID { return &l.ID }, "peer id", protocol.ParsePeerID, protocol.PeerID.String)},
		})},
		{Name: "records", Form: schema.Table(schema.Itself[columnList], schema.Keys[columnList]{
			{Name: "id", Form: schema.List(func(l *columnList) *[]string { return &l.Records }, text(), 1, most)},
			{Name: "about", Form: schema.AtLeast(func(l *columnList) *int64 { return &l.About }, 1)},
		})},
		{Name: "columns", Form: schema.List(func(l *columnList) *[]file.DraftColumn { return &l.Columns }, draftColumn(), 0, most)},
	}
}

// draftColumn reads one column. It keeps the terms as written: the study file's parser checks them.
func draftColumn() schema.Form[file.DraftColumn] {
	type column = file.DraftColumn
	keys := schema.Keys[column]{
		{Name: "name", Form: schema.Text(func(c *column) *string { return &c.Name }, nil)},
		{Name: "kind", Form: schema.Text(func(c *column) *study.ColumnKind { return &c.Kind }, nil)},
	}
	for _, term := range []string{"transform", "unit", "bounds", "centre", "spread", "values"} {
		keys = append(keys, schema.Key[column]{Name: term, Form: schema.Custom("as in a study file", func(r *schema.Reader, at schema.Item, c *column) {
			checkDates(r, at)
			c.Terms = append(c.Terms, file.DraftTerm{Key: term, Value: spelled(at.Node)})
		})})
	}
	keys = append(keys,
		schema.Key[column]{Name: "source", Form: schema.Text(func(c *column) *string { return &c.Source }, nil)},
		schema.Key[column]{Name: "role", Form: schema.Text(func(c *column) *string { return &c.Role }, nil)})
	return schema.Entry(keys).Then(func(r *schema.Reader, at schema.Item, c *column) {
		if c.Name == "" || c.Kind == "" {
			r.Fail(at.Path, "a column needs a name and a kind")
		}
	})
}

// checkDates refuses dates that do not exist, here, where their line is known.
func checkDates(r *schema.Reader, at schema.Item) {
	if at.Node.Kind == yaml.ScalarNode && day.Written(at.Node.Value) {
		r.Amount(at)
	}
	for i, entry := range at.Node.Content {
		checkDates(r, schema.Item{Node: entry, Path: fmt.Sprintf("%s[%d]", at.Path, i)})
	}
}

// columnList is a list with its stated version.
type columnList struct {
	ColumnList
	version string
}

func (l *columnList) parse(s source, root *yaml.Node) error {
	err := read(s, root, columnListKeys(), l)
	version := l.version
	switch {
	case version != "" && version != columnsVersion:
		return fmt.Errorf("reading %s %s: it is of kind %.40q, not a column list with cosketch: %s (use a file that party data columns wrote)", s.what, s.path, version, columnsVersion)
	case err != nil:
		return err
	case version != columnsVersion:
		return fmt.Errorf("reading %s %s: its first key must be cosketch: %s (use a file that party data columns wrote)", s.what, s.path, columnsVersion)
	case l.Name == "" || l.ID == (protocol.PeerID{}) || len(l.Records) == 0 || len(l.Columns) == 0:
		return fmt.Errorf("reading %s %s: it needs party (name, id), records (id) and columns", s.what, s.path)
	}
	return nil
}

// ParseColumn reads one column in the form of a column list, like {name: age, kind: numeric,
// centre: 47, spread: 21}.
func ParseColumn(text string) (file.DraftColumn, error) {
	s := source{what: "column", path: fmt.Sprintf("%.80q", text)}
	root, err := s.document([]byte(text))
	switch {
	case err != nil:
		return file.DraftColumn{}, err
	case root == nil || root.Kind != yaml.MappingNode:
		return file.DraftColumn{}, fmt.Errorf("reading column %.80q: want {name: …, kind: …, centre: …, spread: …}, as a column list has it", text)
	}
	var c file.DraftColumn
	r := &schema.Reader{Lenient: true}
	if r.Survey(root, "") {
		draftColumn().Read(r, schema.Item{Node: root}, &c)
	}
	if r.Failure() != nil {
		return file.DraftColumn{}, s.error(r.Errs[0])
	}
	return c, nil
}

// spelled writes a term on one line as it was written, with its quotes.
func spelled(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		entries := make([]string, len(n.Content))
		for i, entry := range n.Content {
			entries[i] = spelled(entry)
		}
		return "[" + strings.Join(entries, ", ") + "]"
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return strconv.Quote(n.Value)
	}
	return flow(n)
}
