package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type dataShow struct {
	Data    string   `arg:"" help:"Name of a dataset of the site file, or a file."`
	ID      []string `env:"-" placeholder:"COLUMN" help:"Columns that together identify a record, to look for repeated ones. Default: the dataset's, or the study's."`
	Study   string   `env:"-" placeholder:"STUDY" help:"Also count values outside a study's public bounds: the beginning of its id, or a study file."`
	Columns []string `env:"-" placeholder:"NAME" help:"Draw histograms of these columns."`
	All     bool     `env:"-" help:"Draw histograms of all columns."`

	sheetFlag
	readingFlags
}

// Help says who may see the output.
func (dataShow) Help() string {
	return "Reads all the data and prints what they hold: likely kinds of columns, missing and different values, least and greatest. For the data's owner: nothing leaves, and nothing is logged.\n\nExample: party data show patients.csv --id patient --columns age,ward"
}

type shownData struct {
	Records int64                       `json:"records"`
	Columns []dataset.ColumnDescription `json:"columns"`
	IDs     *dataset.IDDescription      `json:"ids,omitempty"`
	Origins []origin                    `json:"origins"`
	Study   string                      `json:"study,omitempty"`
	Absent  []string                    `json:"absent_columns,omitempty"` // of the study, missing in the data

	Problems []shownProblem `json:"problems"` // that keep studies from using values

	drawn  []string // columns to draw
	bounds map[string]string
	found  problems
}

// Run describes the data.
func (cmd dataShow) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	d, err := findData(g, cmd.Data, cmd.sheetFlag, cmd.readingFlags)
	if err != nil {
		return err
	}
	if len(cmd.ID) > 0 {
		d.ID = cmd.ID
	}
	out := shownData{bounds: map[string]string{}}
	var asked *study.Study
	var o dataset.DescribeOptions
	if cmd.Study != "" {
		if asked, err = console.StudyOrFile(g, store.Party, cmd.Study); err != nil {
			return err
		}
		out.Study = asked.ID.String()
		if o.Fields, err = cmd.fields(g, asked, out.bounds); err != nil {
			return err
		}
		o.Bits = asked.Bits
	}
	o.ID, o.Normalize = identified(d, asked), normalization(asked)
	held, err := described(ctx, c, d, o)
	if err != nil {
		return err
	}
	out.Records, out.Columns, out.IDs, out.Origins = held.Records, held.Columns, held.IDs, originsOf(held.Origins)
	out.found = problems{held.Problems, remedyCommand(showing(cmd), d)}
	out.Problems = out.found.document()
	has := func(name string) bool {
		return slices.ContainsFunc(held.Columns, func(c dataset.ColumnDescription) bool { return c.Name == name })
	}
	for _, f := range o.Fields {
		if !has(f.Header) {
			out.Absent = append(out.Absent, f.Header)
		}
	}
	out.drawn = cmd.Columns
	if cmd.All {
		out.drawn = nil
		for _, column := range held.Columns {
			if out.kind(column) != "id" && !slices.Contains(out.drawn, column.Name) {
				out.drawn = append(out.drawn, column.Name)
			}
		}
	}
	for _, name := range out.drawn {
		if !has(name) {
			return fail.Usage.Of(fmt.Errorf("%s has no column %.40q", cmd.Data, name))
		}
	}
	return c.Print(out, func(w io.Writer) { present.Text(w, out.blocks()) })
}

// showing is the command without the options for how data are read.
func showing(cmd dataShow) string {
	text := "party data show " + console.Word(cmd.Data)
	if len(cmd.ID) > 0 {
		text += " --id " + console.Word(strings.Join(cmd.ID, ","))
	}
	if cmd.Study != "" {
		text += " --study " + console.Word(cmd.Study)
	}
	return text + cmd.sheetFlag.again()
}

// fields are the study's columns of this party, under their names in the file. It puts the public
// bounds of each, in words, into bounds.
func (cmd dataShow) fields(g *console.Globals, s *study.Study, bounds map[string]string) ([]dataset.Field, error) {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	party, err := self(st, s)
	if err != nil {
		return nil, err
	}
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return nil, fail.Usage.Of(err)
	}
	var out []dataset.Field
	for _, i := range s.OwnColumns(party) {
		column := s.Columns[i]
		f := dataset.Field{Name: column.Name, Header: column.Name, Kind: column.Kind, Scale: column.Scale, Values: column.Values}
		if header, mapped := site.Studies[s.ID].Columns[column.Name]; mapped {
			f.Header = header
		}
		switch {
		case f.Kind == study.Categorical:
			bounds[f.Header] = fmt.Sprintf("one of %d values", len(f.Values))
		case f.Kind == study.Binary:
			bounds[f.Header] = "0 or 1"
		default:
			bounds[f.Header] = f.Scale.Short()
		}
		out = append(out, f)
	}
	return out, nil
}

// originsOf describes the files read.
func originsOf(origins []dataset.Origin) []origin {
	out := []origin{}
	for _, o := range origins {
		one := origin{Name: o.Name, Format: o.Format}
		if o.Digest != (protocol.Digest{}) {
			one.SHA256, one.CSV = o.Digest.String(), o.Dialect.YAML()
		}
		out = append(out, one)
	}
	return out
}

// blocks shows the description.
func (d shownData) blocks() []block.Block {
	t := block.Table{Columns: block.Headed("column", "kind", ">missing", ">different", ">least", ">median", ">greatest"), AllRows: true}
	for _, c := range d.Columns {
		different, numbers := fmt.Sprint(c.Distinct), []string{"", "", ""}
		if c.More {
			different = "> " + different
		}
		if n := c.Numbers; n != nil && d.kind(c) != "id" { // ids are not quantities
			for i, x := range []float64{n.Least, n.Quantiles[2], n.Greatest} {
				numbers[i] = numberText(c, x)
			}
		}
		t.Rows = append(t.Rows, append(block.Cells(c.Name, d.kind(c), fmt.Sprint(c.Missing), different), block.Cells(numbers...)...))
	}
	out := []block.Block{
		block.Text{Text: fmt.Sprintf("%s of %s. This is for you, who own the data. Nothing has left.",
			block.Counted(d.Records, "record", "records"), block.Counted(int64(len(d.Columns)), "column", "columns"))}, t,
	}
	for _, note := range d.notes() {
		out = append(out, block.Text{Text: note})
	}
	out = append(out, d.found.blocks()...)
	out = append(append(out, originBlocks(d.Origins)...), d.against()...)
	for _, name := range d.drawn {
		for _, c := range d.Columns {
			if c.Name == name {
				out = append(out, drawn(c)...)
			}
		}
	}
	return out
}

// kind is the kind of a column, in words.
func (d shownData) kind(c dataset.ColumnDescription) string {
	if d.IDs != nil && slices.Contains(d.IDs.Columns, c.Name) {
		return "id"
	}
	return string(c.Kind)
}

// notes lists what to look at.
func (d shownData) notes() (out []string) {
	if text := doubts(d.Columns); text != "" {
		out = append(out, text)
	}
	for _, c := range d.Columns {
		say := func(format string, args ...any) {
			out = append(out, fmt.Sprintf("%q: ", c.Name)+fmt.Sprintf(format, args...)+".")
		}
		switch {
		case c.Holds != "":
			say("holds %s, which no study can use", c.Holds)
		case c.Kind == dataset.KindEmpty:
			say("no record has a value")
		case c.Constant():
			say("every value is the same")
		}
		if len(c.Truths) > 0 {
			words := dataset.Replacements{Values: map[string]map[string]string{c.Name: {}}}
			for value, means := range c.Truths {
				if means == "" {
					words.Missing = append(words.Missing, value)
				} else {
					words.Values[c.Name][value] = means
				}
			}
			slices.Sort(words.Missing)
			with, _ := options(dataset.Reading{Words: words})
			out = append(out, fmt.Sprintf("%q: yes or no in words. Where a study asks for 0 and 1, this option reads them so:%s", c.Name, with))
		}
	}
	if d.IDs != nil {
		out = append(out, fmt.Sprintf("%s (id: %s).", idText(*d.IDs), strings.Join(d.IDs.Columns, ", ")))
		if d.IDs.LedBy0 > 0 {
			out = append(out, fmt.Sprintf("Record ids that begin with 0: %d. Ids are text, and keep it: 007 and 7 are two records, here and at other parties.", d.IDs.LedBy0))
		}
	}
	return out
}

// doubts warns if the first row of a CSV file may not hold names.
func doubts(columns []dataset.ColumnDescription) string {
	var which []string
	for i, c := range columns {
		if c.Doubtful {
			which = append(which, strconv.Itoa(i+1))
		}
	}
	if which == nil {
		return ""
	}
	if more := len(which) - 10; more > 0 {
		which = append(which[:10], fmt.Sprintf("and %d more", more))
	}
	return "Is the first row data? It has to name the columns, and these of its names are empty, numbers, dates or values of their own columns: " + strings.Join(which, ", ") + "."
}

// against shows what a study would clip or refuse.
func (d shownData) against() []block.Block {
	if d.Study == "" {
		return nil
	}
	t := block.Table{Columns: block.Headed("column", "bounds", ">below", ">above", ">of all", ">refused", "first refused"), AllRows: true}
	for _, c := range d.Columns {
		if f := c.Against; f != nil {
			share := "0 %"
			if c.Present > 0 {
				share = shareText(f.Below+f.Above, c.Present)
			}
			t.Rows = append(t.Rows, block.Cells(c.Name, d.bounds[c.Name], fmt.Sprint(f.Below), fmt.Sprint(f.Above), share, fmt.Sprint(f.Refused), f.First))
		}
	}
	out := []block.Block{block.Heading{ID: "against", Text: "Against the public bounds", Of: "study " + d.Study[:8]}, t}
	for _, name := range d.Absent {
		out = append(out, block.Text{Text: fmt.Sprintf("The data have no column %q: columns in the site file's entry of the study can name another.", name)})
	}
	return append(out, block.Text{Text: "Values below and above the bounds are clipped to them. No other bounds are suggested: bounds are public and no noise protects them, so they must come from knowledge that is public, never from these data."})
}

// numberText formats a number of a column, or a date.
func numberText(c dataset.ColumnDescription, x float64) string {
	if c.Kind == dataset.KindDate && math.Abs(x) < 1e7 {
		return time.Unix(int64(math.Round(x))*86400, 0).UTC().Format(time.DateOnly)
	}
	return block.Brief(x)
}

func shareText(n, of int64) string {
	return block.Digits(100*float64(n)/float64(of), 3) + " %"
}

// drawn shows the distribution of a column's values.
func drawn(c dataset.ColumnDescription) []block.Block {
	var bars []dataset.ValueCount
	heading := block.Heading{ID: "values-" + c.Name, Text: "Values", Of: strconv.Quote(c.Name)}
	of, text := c.Present, ""
	switch n := c.Numbers; {
	case n != nil:
		of = int64(n.Sampled)
		for i, count := range n.Histogram {
			bars = append(bars, dataset.ValueCount{Value: binText(c, i), Count: count})
		}
		text = block.Counted(n.Count, "number", "numbers")
		if int64(n.Sampled) < n.Count {
			text += fmt.Sprintf(" (drawn from %d of them)", n.Sampled)
		}
		text += ": "
		for i, p := range dataset.QuantileLevels() {
			text += fmt.Sprintf("%g %% are at most %s, ", 100*p, numberText(c, n.Quantiles[i]))
		}
		text += "the greatest is " + numberText(c, n.Greatest) + "."
	case len(c.Common) > 0:
		text = block.Counted(c.Present, "value", "values") + ":"
		bars = c.Common
	default:
		return []block.Block{heading, block.Text{Text: fmt.Sprintf("%s, nothing to draw", c.Kind)}}
	}
	most := int64(1)
	for _, b := range bars {
		most = max(most, b.Count)
	}
	t := block.Table{Columns: block.Headed("value", ">count", ">share", ""), AllRows: true}
	for _, b := range bars {
		t.Rows = append(t.Rows, block.Cells(clip(b.Value), fmt.Sprint(b.Count), shareText(b.Count, of), block.BarText(b.Count, most)))
	}
	out := []block.Block{heading, block.Text{Text: text}, t}
	if more := c.Distinct - len(bars); c.Numbers == nil && more > 0 {
		out = append(out, block.Text{Text: fmt.Sprintf("and %d more values", more)})
	}
	return out
}

// clip shortens a value so that it fits on one line with its bar.
func clip(value string) string {
	const most = 30
	if runes := []rune(value); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return value
}

// binText names a bin of a histogram.
func binText(c dataset.ColumnDescription, i int) string {
	n := c.Numbers
	switch {
	case n.Width == 0:
		return numberText(c, n.Low)
	case n.Width == 1 && n.Low != math.Trunc(n.Low) && len(n.Histogram) == int(n.Greatest-n.Least)+1: // one bin per whole number
		return numberText(c, n.Low+float64(i)+0.5)
	}
	return numberText(c, n.Low+float64(i)*n.Width) + " to " + numberText(c, n.Low+float64(i+1)*n.Width)
}
