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

// dialectFlags fix how CSV files are written, as csv in the site file does.
type dialectFlags struct {
	Delimiter string `env:"-" enum:"comma,semicolon,tab,bar," default:"" help:"What stands between values of a CSV file: comma, semicolon, tab or bar. Default: detected."`
	Decimal   string `env:"-" enum:"point,comma," default:"" help:"The decimal mark: point or comma. Default: detected."`
	Encoding  string `env:"-" enum:"utf-8,windows-1252," default:"" help:"utf-8 or windows-1252. Default: utf-8."`
	Date      string `env:"-" enum:"YYYY-MM-DD,DD.MM.YYYY,DD/MM/YYYY,MM/DD/YYYY," default:"" help:"DD.MM.YYYY, DD/MM/YYYY or MM/DD/YYYY, beside YYYY-MM-DD."`
}

func (d dialectFlags) dialect() dataset.Dialect {
	return dataset.Dialect{
		Delimiter: dataset.Delimiter(d.Delimiter), Decimal: dataset.Decimal(d.Decimal),
		Encoding: dataset.Encoding(d.Encoding), Date: dataset.DateForm(d.Date),
	}
}

// findData returns the dataset of the site file that has a name, or else the file of this
// name as a dataset without one.
func findData(g *console.Globals, name string, flags dialectFlags) (config.Dataset, error) {
	site, siteErr := config.LoadParty(g.Config)
	if d, known := site.Datasets[name]; known {
		if flags != (dialectFlags{}) {
			return d, fail.Usage.Of(fmt.Errorf("%q is a dataset of the site file: how it is written is fixed there, under csv", name))
		}
		return d, nil
	}
	d := config.Dataset{Source: dataset.Source{Files: []string{name}, CSV: flags.dialect()}}
	_, err := d.Source.Paths()
	switch {
	case errors.Is(err, fs.ErrNotExist) && siteErr != nil:
		return d, fail.Usage.Of(siteErr)
	case errors.Is(err, fs.ErrNotExist) && len(site.Datasets) > 0:
		return d, fail.Usage.Of(fmt.Errorf("%q is neither a file nor a dataset of the site file (there are: %s)", name, strings.Join(slices.Sorted(maps.Keys(site.Datasets)), ", ")))
	}
	return d, err
}
