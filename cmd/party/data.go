package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol"
)

type dataCommands struct {
	Show    dataShow    `cmd:"" help:"Show what data hold, column by column."`
	Add     dataAdd     `cmd:"" help:"Name data in the site file, so that studies can ask for them."`
	Use     dataUse     `cmd:"" help:"Say in the site file which data answer a study."`
	Columns dataColumns `cmd:"" help:"Write the list of columns that an operator drafts a study from."`
	Check   dataCheck   `cmd:"" help:"Read the data against a study as run does before its first message."`
}

type dataCheck struct {
	Study string `arg:"" help:"The beginning of the study's id."`
}

type checkedData struct {
	Study   string          `json:"study"`
	Records int64           `json:"records"`
	Skipped int64           `json:"skipped"` // left out for a missing value
	Columns []checkedColumn `json:"columns"`
	Origins []origin        `json:"origins"`
	CSV     string          `json:"csv,omitempty"` // what all CSV files agree on, for the site file
	Limit   int64           `json:"limit"`         // most records that the study can take
	Allowed bool            `json:"allowed"`
	Refusal string          `json:"refusal,omitempty"`
}

type checkedColumn struct {
	Name    string `json:"name"`
	Clipped int64  `json:"clipped"`
	Missing int64  `json:"missing"`
}

type origin struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	CSV    string `json:"csv,omitempty"`    // YAML of the dialect; CSV alone
	SHA256 string `json:"sha256,omitempty"` // CSV alone
}

// Run reads the data and asks policy and budget. It needs no approval, and no network.
func (cmd dataCheck) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, s, index, err := openStudy(g.OpenReadOnly, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	talk := newTalk(c, s, index)
	defer talk.end()
	summary, refusal, err := node.CheckData(ctx, node.DataOptions{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(g.Config) }, Now: console.Now, Study: s,
		Observe: talk.observe,
	})
	if err != nil {
		return err
	}
	talk.end()
	out := checkedData{Study: s.ID.String(), Records: summary.Records, Skipped: summary.Skipped, Limit: summary.Limit, Columns: []checkedColumn{}, Origins: []origin{}, Allowed: refusal == nil}
	if refusal != nil {
		out.Refusal = refusal.Error()
	}
	for _, f := range summary.Fields {
		out.Columns = append(out.Columns, checkedColumn{f.Name, f.Clamped, f.Missing})
	}
	for _, o := range summary.Origins {
		one := origin{Name: o.Name, Format: o.Format}
		if o.Digest != (protocol.Digest{}) {
			one.SHA256, one.CSV = o.Digest.String(), o.Dialect.YAML()
		}
		out.Origins = append(out.Origins, one)
	}
	out.CSV = dialectOf(summary.Origins)
	err = c.Print(out, func(w io.Writer) {
		out.write(w)
		if refusal == nil {
			c.Say("Next: %s", next(st, g, s))
		}
	})
	if err != nil {
		return err
	}
	return refusal
}

// dialectOf is what fixes how all CSV files are read, where they agree; empty where
// there is nothing to fix.
func dialectOf(origins []dataset.Origin) string {
	var common *dataset.Dialect
	for _, o := range origins {
		switch {
		case o.Dialect == (dataset.Dialect{}):
		case common == nil:
			common = &o.Dialect
		default:
			both := common.Common(o.Dialect)
			common = &both
		}
	}
	if common == nil || *common == (dataset.Dialect{}) {
		return ""
	}
	return common.YAML()
}

// write prints the check for people.
func (d checkedData) write(w io.Writer) {
	fmt.Fprintf(w, "The data fit the study: %d records of at most %d, %d left out for a missing value.\n\n", d.Records, d.Limit, d.Skipped)
	t := console.NewTable("column", ">clipped", ">missing")
	for _, f := range d.Columns {
		t.Add(f.Name, fmt.Sprint(f.Clipped), fmt.Sprint(f.Missing))
	}
	t.Write(w)
	fmt.Fprintln(w)
	for _, o := range d.Origins {
		console.Paragraph(w, "", o.Name+": "+o.Format)
	}
	if d.CSV != "" {
		fmt.Fprintf(w, "To have this fixed instead of detected, add to the dataset in the site file:\n    csv: %s\n", d.CSV)
	}
	verdict := "Policy and budget would allow the release."
	if !d.Allowed {
		verdict = "Policy or budget would refuse the release."
	}
	fmt.Fprintln(w, verdict+" Nothing has left.")
}
