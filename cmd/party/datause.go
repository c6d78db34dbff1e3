package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/protocol/fail"
)

type dataUse struct {
	Name    string            `arg:"" help:"A dataset of the site file."`
	Study   string            `arg:"" help:"The study that it answers: the beginning of the study's id."`
	Column  map[string]string `env:"-" mapsep:"none" placeholder:"STUDYS=DATAS" help:"The study's name of a column and the data's, where they differ. Once for each."`
	Release *string           `env:"-" enum:"auto,ask" placeholder:"WORD" help:"auto: the release follows the seed at once. ask: it is held until party advanced release. Default: as the site file has it, or else auto; ask where the data are elsewhere."`
}

// Help says what is changed.
func (dataUse) Help() string {
	return "Writes into the site file, in place, which data answer a study. You may run it again until the release is made. Nothing is approved, and nothing leaves.\n\nExample: party data use patients 5f0c1b0e --column income=INCOME_EUR"
}

type usedData struct {
	Study   string `json:"study"`
	Dataset string `json:"dataset"`
	Config  string `json:"config"`
	Lines   string `json:"lines"` // lines of the site file for it
}

// Run changes the site file.
func (cmd dataUse) Run(_ context.Context, c *console.Console, g *console.Globals) error {
	st, s, party, err := openStudy(g.OpenReadOnly, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	var names []string
	for _, i := range s.OwnColumns(party) {
		names = append(names, s.Columns[i].Name)
	}
	answer := config.Answer{Dataset: cmd.Name, Columns: cmd.Column, Release: config.ReleaseMode(console.Chosen(cmd.Release))}
	if site, err := config.LoadParty(g.Config); err == nil && answer.Release == "" && site.Datasets[cmd.Name].Source.Elsewhere != "" {
		answer.Release = config.ReleaseAsk // until their parts arrive
	}
	if err := answer.Check(names); err != nil {
		return fail.Usage.Of(err)
	}
	lines, err := config.UseDataset(g.Config, s.ID, answer)
	if err != nil {
		return fail.Usage.Of(err)
	}
	out := usedData{Study: s.ID.String(), Dataset: cmd.Name, Config: g.Config, Lines: lines}
	return c.Print(out, func(w io.Writer) {
		fmt.Fprintf(w, "%s answers %s (%s).\n", cmd.Name, s.Name, s.ID.Short())
		c.Say("%s says so.", g.Config)
		if missing := unprepared(g, s); missing != "" {
			c.Say("Next: %s, then party data check %s", missing, s.ID.Short())
			return
		}
		c.Say("Next: party data check %s", s.ID.Short())
	})
}
