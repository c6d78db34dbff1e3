package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

type dataList struct{}

func (dataList) Help() string {
	return "No data are read. party budget says what was spent on each.\n\nExample: party data list"
}

type listedData struct {
	Dataset string   `json:"dataset"`
	Data    string   `json:"data"` // its files, or its database without secrets
	ID      []string `json:"id,omitempty"`
	Studies []string `json:"studies"` // the studies that it answers, from the site file
}

// Run prints the site file's datasets.
func (dataList) Run(c *console.Console, g *console.Globals) error {
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	out := []listedData{}
	for _, name := range slices.Sorted(maps.Keys(site.Datasets)) {
		d := site.Datasets[name]
		one := listedData{Dataset: name, Data: d.Source.String(), ID: d.ID, Studies: []string{}}
		for _, id := range answered(site, name) {
			one.Studies = append(one.Studies, id.String())
		}
		out = append(out, one)
	}
	return c.Print(out, func(w io.Writer) {
		if len(out) == 0 {
			c.Say("The site file %s names no data. Next: party data add NAME FILE", g.Config)
			return
		}
		t := block.Table{Columns: []block.Column{block.Words("dataset"), {Name: "data", NoTruncate: true}, block.Words("id"), block.Words("studies")}, AllRows: true}
		for _, d := range out {
			short := make([]string, len(d.Studies))
			for i, id := range d.Studies {
				short[i] = id[:8]
			}
			t.Rows = append(t.Rows, block.Cells(d.Dataset, d.Data, strings.Join(d.ID, ", "), strings.Join(short, ", ")))
		}
		present.Text(w, []block.Block{t})
	})
}

// answered are the studies that a dataset answers, from the site file.
func answered(site config.Party, dataset string) (out []protocol.StudyID) {
	for id, s := range site.Studies {
		if s.Dataset == dataset {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b protocol.StudyID) int { return strings.Compare(a.String(), b.String()) })
	return out
}

type dataRemove struct {
	Name string `arg:"" help:"A dataset of the site file."`
}

// Help says what is kept.
func (dataRemove) Help() string {
	return "The data stay where they are. A dataset of which something was released stays in the site file, too: the same people, named anew, would have a new budget.\n\nExample: party data remove patients"
}

// Run changes the site file.
func (cmd dataRemove) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	if err := removable(st, site, cmd.Name); err != nil {
		return err
	}
	if err := config.RemoveDataset(g.Config, cmd.Name); err != nil {
		return fail.Usage.Of(err)
	}
	return c.Print(map[string]string{"dataset": cmd.Name, "config": g.Config}, func(w io.Writer) {
		fmt.Fprintf(w, "%s is no dataset any more.\n", cmd.Name)
		c.Say("%s says so. The data are where they were.", g.Config)
	})
}

// removable refuses a dataset from which budget was spent, or that an active study needs.
func removable(st *store.Store, site config.Party, name string) error {
	entries, err := st.Ledger()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Dataset == name {
			return fail.Usage.Of(fmt.Errorf("dataset %q stays: something was released of it (party budget %s)", name, console.Word(name)))
		}
	}
	for _, id := range answered(site, name) {
		now, err := console.StudySnapshot(st, id)
		if errors.Is(err, store.ErrNotFound) {
			continue // a study that is not here
		}
		if err != nil {
			return err
		}
		decision, _, err := st.Decision(id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if now.Active() && decision != store.Decline && decision != store.Withdraw {
			return fail.Usage.Of(fmt.Errorf("dataset %q answers study %s (%s), which goes on: party data use OTHER %s, or party study decline %s, and then again", name, now.Name, id.Short(), id.Short(), id.Short()))
		}
	}
	return nil
}
