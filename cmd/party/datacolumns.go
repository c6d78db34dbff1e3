package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

type dataColumns struct {
	Data      string   `arg:"" help:"Name of a dataset of the site file, or a file."`
	Name      string   `required:"" env:"-" placeholder:"PARTY" help:"This party's name, for the study file."`
	ID        []string `env:"-" placeholder:"COLUMN" help:"Columns that together identify a record. Default: the dataset's."`
	Header    bool     `env:"-" help:"The first row of the CSV file holds names, although one looks like a value."`
	Uncounted bool     `env:"-" help:"Leave out the number of records. By default the list has it, rounded to two digits."`
	Output    string   `short:"o" env:"-" placeholder:"FILE" help:"Write the list there instead of printing it; it must not exist."`

	sheetFlag
	readingFlags
}

// Help explains the purpose of the list.
func (dataColumns) Help() string {
	return "The list holds names and kinds of columns and the rounded number of records (--uncounted leaves it out). Only the guess of the kinds was computed from values. Free text stays out. Read the list, add public centres and spreads, and send it to the operator, who runs aggregator study draft --columns FILE.\n\nExample: party data columns patients --name north -o north.yaml"
}

type listedColumns struct {
	File    string         `json:"file,omitempty"`
	Party   string         `json:"party"`
	ID      string         `json:"id"`
	Records []string       `json:"records"`
	About   int64          `json:"about,omitempty"` // number of records, rounded
	Columns []listedColumn `json:"columns"`
	LeftOut []string       `json:"left_out"`
}

type listedColumn struct {
	Name string           `json:"name"`
	Kind study.ColumnKind `json:"kind"`
}

// Run reads the data and writes the list.
func (cmd dataColumns) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	d, err := findData(g, cmd.Data, cmd.sheetFlag, cmd.readingFlags)
	if err != nil {
		return err
	}
	if len(cmd.ID) > 0 {
		d.ID = cmd.ID
	}
	if len(d.ID) == 0 {
		return fail.Usage.Of(fmt.Errorf("which columns of %s identify a record? Name them with --id COLUMN", cmd.Data))
	}
	held, err := described(ctx, c, d, dataset.DescribeOptions{ID: d.ID, Normalize: normalization(nil)})
	if err != nil {
		return err
	}
	found := problems{held.Problems, remedyCommand("party data columns "+console.Word(cmd.Data)+" --name "+console.Word(cmd.Name)+cmd.sheetFlag.again(), d)}
	if err := found.stopping(d.Source); err != nil {
		found.tell(c)
		return err
	}
	list, left, err := cmd.list(g, held)
	if err != nil {
		return err
	}
	out := listedColumns{File: cmd.Output, Party: list.Name, ID: list.ID.String(), Records: list.Records, About: list.About, LeftOut: left, Columns: []listedColumn{}}
	for _, column := range list.Columns {
		out.Columns = append(out.Columns, listedColumn{column.Name, column.Kind})
	}
	if cmd.Output != "" {
		if err := writeList(cmd.Output, list.Text()); err != nil {
			return err
		}
	}
	return c.Print(out, func(w io.Writer) {
		if cmd.Output == "" {
			io.WriteString(w, list.Text())
		} else {
			fmt.Fprintln(w, cmd.Output)
		}
		if len(left) > 0 {
			c.Say("Left out: %s.", strings.Join(left, ", "))
		}
		for _, made := range list.Made {
			c.Say("%s: names of columns in studies have letters, digits, _ - . and single spaces.", made)
		}
		for _, doubt := range guesses(held, list.Columns) {
			c.Say("%s", doubt)
		}
		c.Say("Next: read it, correct kinds, add what it asks for from public knowledge, and send it to the operator. Nothing has left.")
	})
}

// list returns what the operator learns of described data, and which columns it leaves out.
func (cmd dataColumns) list(g *console.Globals, held dataset.Description) (list config.ColumnList, left []string, err error) {
	node, err := describe(g)
	if err != nil {
		return list, nil, err
	}
	list = config.ColumnList{Name: cmd.Name}
	names := studyNames(held)
	for _, header := range held.IDs.Columns {
		list.Records = append(list.Records, names[header])
	}
	if list.ID, err = protocol.ParsePeerID(node.ID); err != nil {
		return list, nil, err
	}
	if list.Columns, left, err = listed(held, cmd.Header); err != nil {
		return list, nil, fail.Usage.Of(fmt.Errorf("listing the columns of %s: %w", cmd.Data, err))
	}
	for _, c := range held.Columns {
		if name := names[c.Name]; name != c.Name && (slices.Contains(list.Records, name) || slices.ContainsFunc(list.Columns, func(d file.DraftColumn) bool { return d.Name == name })) {
			list.Made = append(list.Made, fmt.Sprintf("%q is %q in the study", c.Name, name))
		}
	}
	if !cmd.Uncounted {
		list.About = rounded(held.Records)
	}
	return list, left, nil
}

// studyNames maps headers of the data to the names of these columns in studies.
func studyNames(held dataset.Description) map[string]string {
	var headers []string
	for _, c := range held.Columns {
		headers = append(headers, c.Name)
	}
	out := map[string]string{}
	for i, name := range file.ColumnNames(headers) {
		out[headers[i]] = name
	}
	return out
}

// rounded rounds a number of records to two digits, and at least to tens; 0 for none.
func rounded(n int64) int64 {
	if n == 0 {
		return 0
	}
	step := int64(10)
	for n/step >= 100 {
		step *= 10
	}
	return max(step, (n+step/2)/step*step)
}

// rare is the share of records below which a value is so rare that other values may be missing from
// the data.
const rare = 0.01

// guesses warns of columns taken for binary because of a few values: counts of rare events look the
// same. The warnings are for the data's owner and not in the list.
func guesses(held dataset.Description, columns []file.DraftColumn) (out []string) {
	made := studyNames(held)
	for _, c := range held.Columns {
		if c.Kind != dataset.KindBinary || !slices.ContainsFunc(columns, func(d file.DraftColumn) bool { return d.Name == made[c.Name] }) || len(c.Common) == 0 {
			continue
		}
		const or = "If it counts something rare, or another party may have more than 0 and 1, write kind: numeric."
		switch least := c.Common[len(c.Common)-1]; {
		case len(c.Common) == 1:
			out = append(out, fmt.Sprintf("%q is taken as binary because %s is its only value. %s", c.Name, least.Value, or))
		case float64(least.Count) < rare*float64(c.Present):
			out = append(out, fmt.Sprintf("%q is taken as binary, and only %d of %d records have %s. %s", c.Name, least.Count, c.Present, least.Value, or))
		}
	}
	return out
}

// listed selects the columns that a study can use, and gives the reason for leaving out each other.
func listed(held dataset.Description, header bool) (columns []file.DraftColumn, left []string, err error) {
	kinds := map[dataset.Kind]study.ColumnKind{
		dataset.KindNumeric: study.Numeric, dataset.KindDate: study.Numeric, dataset.KindBinary: study.Binary, dataset.KindCategorical: study.Categorical,
	}
	names, made := map[string]int{}, studyNames(held)
	for i, c := range held.Columns {
		if c.Doubtful && !header {
			return nil, nil, fmt.Errorf("name %d of the first row is empty, or looks like a value: a row of data must not leave as names (write names into the first row; --header if these are names)", i+1)
		}
		names[c.Name]++
	}
	left = []string{}
	for _, c := range held.Columns {
		kind, usable := kinds[c.Kind]
		switch {
		case slices.Contains(held.IDs.Columns, c.Name):
		case names[c.Name] > 1 || c.Name == "":
			left = append(left, fmt.Sprintf("%q (not a name of its own)", c.Name))
		case !usable:
			left = append(left, fmt.Sprintf("%q (%s)", c.Name, c.Kind))
		default:
			columns = append(columns, file.DraftColumn{Name: made[c.Name], Kind: kind, Dates: c.Kind == dataset.KindDate})
		}
	}
	if columns == nil {
		return nil, nil, errors.New("no column holds numbers or a few values that repeat: there is nothing that a study could ask for")
	}
	return columns, left, nil
}

// writeList writes a new file, which only the steward can read until they send it.
func writeList(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s exists: name another file", path)
	}
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fail.Usage.Of(fmt.Errorf("writing the list: %w", err))
	}
	return nil
}
