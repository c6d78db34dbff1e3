package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

type dataCommands struct {
	Check dataCheck `cmd:"" help:"Read the data against a study as run does before its first message."`
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
	SHA256 string `json:"sha256,omitempty"` // CSV alone
}

// Run reads the data and asks policy and budget. It needs no approval, and no network.
func (cmd dataCheck) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	index, err := self(st, s)
	if err != nil {
		return err
	}
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
	out := checkedData{Study: s.ID.String(), Records: summary.Records, Skipped: summary.Skipped, Columns: []checkedColumn{}, Origins: []origin{}, Allowed: refusal == nil}
	if refusal != nil {
		out.Refusal = refusal.Error()
	}
	for _, f := range summary.Fields {
		out.Columns = append(out.Columns, checkedColumn{f.Name, f.Clamped, f.Missing})
	}
	for _, o := range summary.Origins {
		one := origin{Name: o.Name, Format: o.Format}
		if o.Digest != (protocol.Digest{}) {
			one.SHA256 = o.Digest.String()
		}
		out.Origins = append(out.Origins, one)
	}
	if err := c.Print(out, out.write); err != nil {
		return err
	}
	return refusal
}

// write prints the check for people.
func (d checkedData) write(w io.Writer) {
	fmt.Fprintf(w, "The data fit the study: %d records, %d left out for a missing value.\n\n", d.Records, d.Skipped)
	t := console.NewTable("column", ">clipped", ">missing")
	for _, f := range d.Columns {
		t.Add(f.Name, fmt.Sprint(f.Clipped), fmt.Sprint(f.Missing))
	}
	t.Write(w)
	fmt.Fprintln(w)
	for _, o := range d.Origins {
		console.Paragraph(w, "", o.Name+": "+o.Format)
	}
	verdict := "Policy and budget would allow the release."
	if !d.Allowed {
		verdict = "Policy or budget would refuse the release."
	}
	fmt.Fprintln(w, verdict+" Nothing has left.")
}
