package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/fail"
)

// readingFlags say how data are read, like csv, missing and values in the site file.
type readingFlags struct {
	Delimiter *string  `env:"-" enum:"comma,semicolon,tab,bar" placeholder:"WORD" help:"The delimiter of a CSV file: comma, semicolon, tab or bar. Default: detected."`
	Decimal   *string  `env:"-" enum:"point,comma" placeholder:"WORD" help:"The decimal mark of a CSV file: point or comma. Default: detected."`
	Thousands *string  `env:"-" enum:"point,comma,space,apostrophe" placeholder:"WORD" help:"The thousands separator of a CSV file: point, comma, space or apostrophe. Default: nothing."`
	Encoding  *string  `env:"-" enum:"utf-8,windows-1252" placeholder:"WORD" help:"utf-8 or windows-1252, which reads latin1, too. Default: utf-8."`
	Date      *string  `env:"-" enum:"YYYY-MM-DD,DD.MM.YYYY,DD/MM/YYYY,MM/DD/YYYY" placeholder:"FORM" help:"The format of dates: DD.MM.YYYY, DD/MM/YYYY or MM/DD/YYYY. YYYY-MM-DD is always read."`
	Missing   []string `env:"-" placeholder:"WORD" help:"A word for a missing value, such as NA, in every column but those of the id. Once for each, or with commas."`
	Values    []string `env:"-" sep:"none" placeholder:"COLUMN=VALUE:READ,..." help:"Replacements for values of a column, such as 'smoker=yes:1,no:0'. Nothing after the colon means a missing value. Once for each column."`
}

// sheetFlag says where in a workbook data are.
type sheetFlag struct {
	Sheet string `env:"-" placeholder:"NAME" help:"The sheet of .xlsx files. Default: the first."`
}

// again writes the flag for a command line, if it is given.
func (f sheetFlag) again() string {
	if f.Sheet == "" {
		return ""
	}
	return " --sheet " + console.Word(f.Sheet)
}

// reading returns what the flags say.
func (f readingFlags) reading() (r dataset.Reading, err error) {
	r.CSV = dataset.Dialect{
		Delimiter: dataset.Delimiter(console.Chosen(f.Delimiter)), Decimal: dataset.Decimal(console.Chosen(f.Decimal)), Thousands: dataset.Thousands(console.Chosen(f.Thousands)),
		Encoding: dataset.Encoding(console.Chosen(f.Encoding)), Date: dataset.DateForm(console.Chosen(f.Date)),
	}
	if err := r.CSV.Check(); err != nil {
		return r, err
	}
	r.Words.Missing = f.Missing
	for _, text := range f.Values {
		column, pairs, found := strings.Cut(text, "=")
		of := map[string]string{}
		for pair := range strings.SplitSeq(pairs, ",") {
			value, read, colon := strings.Cut(pair, ":")
			if !found || !colon || column == "" || value == "" {
				return r, fmt.Errorf("--values %.60q: want COLUMN=VALUE:READ,VALUE:READ, such as smoker=yes:1,no:0 (a value with a comma or a colon is for values in the site file)", text)
			}
			of[value] = read
		}
		r = r.With(dataset.Reading{Words: dataset.Replacements{Values: map[string]map[string]string{column: of}}})
	}
	return r, nil
}

// options writes a reading as flags; all is false if flags cannot express all of it.
func options(r dataset.Reading) (text string, all bool) {
	all = true
	for _, f := range [][2]string{
		{"--delimiter", string(r.CSV.Delimiter)}, {"--decimal", string(r.CSV.Decimal)}, {"--thousands", string(r.CSV.Thousands)},
		{"--encoding", string(r.CSV.Encoding)}, {"--date", string(r.CSV.Date)}, {"--missing", strings.Join(r.Words.Missing, ",")},
	} {
		if f[1] != "" {
			text += " " + f[0] + " " + console.Word(f[1])
		}
	}
	for _, column := range slices.Sorted(maps.Keys(r.Words.Values)) {
		var pairs []string
		for value, read := range r.Words.Values[column] {
			all = all && !strings.ContainsAny(value, ",:") && !strings.Contains(read, ",")
			pairs = append(pairs, value+":"+read)
		}
		all = all && !strings.Contains(column, "=")
		slices.Sort(pairs)
		text += " --values " + console.Word(column+"="+strings.Join(pairs, ","))
	}
	return text, all
}

// findData returns the dataset of the site file with this name, or else the file of this name as an
// unnamed dataset.
func findData(g *console.Globals, name string, sheet sheetFlag, flags readingFlags) (config.Dataset, error) {
	site, siteErr := config.LoadParty(g.Config)
	said, err := flags.reading()
	if err != nil {
		return config.Dataset{}, fail.Usage.Of(err)
	}
	if d, known := site.Datasets[name]; known {
		if !said.IsZero() || sheet.Sheet != "" {
			return d, fail.Usage.Of(fmt.Errorf("%q is a dataset of the site file: how it is read is fixed there (party data change %s changes it)", name, console.Word(name)))
		}
		return d, nil
	}
	d := config.Dataset{Source: dataset.Source{Files: []string{name}, CSV: said.CSV, Sheet: sheet.Sheet, Words: said.Words}}
	_, err = d.Source.Paths()
	switch {
	case errors.Is(err, fs.ErrNotExist) && siteErr != nil:
		return d, fail.Usage.Of(siteErr)
	case errors.Is(err, fs.ErrNotExist) && len(site.Datasets) > 0:
		return d, fail.Usage.Of(fmt.Errorf("%q is neither a file nor a dataset of the site file (there are: %s)", name, strings.Join(slices.Sorted(maps.Keys(site.Datasets)), ", ")))
	}
	return d, err
}
