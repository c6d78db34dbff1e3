package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

type dataCheck struct {
	Study string `arg:"" help:"The beginning of the study's id."`
}

type checkedData struct {
	Study   string `json:"study"`
	Records int64  `json:"records"`
	Skipped int64  `json:"skipped"` // left out for a missing value
	source.Effect
	Origins []origin `json:"origins"`
	CSV     string   `json:"csv,omitempty"` // what all CSV files agree on, for the site file
	Limit   int64    `json:"limit"`         // most records that the study can take
	Allowed bool     `json:"allowed"`
	Refusal string   `json:"refusal,omitempty"`
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
	o := sourceOf(st, g, s, talk.observe)
	summary, refusal, err := source.CheckData(ctx, o)
	talk.end()
	if err != nil {
		if wrong := (*dataset.Error)(nil); errors.As(err, &wrong) && wrong.Column != "" {
			tellMisfits(ctx, c, o)
		}
		return err
	}
	out := checkedData{Study: s.ID.String(), Records: summary.Records, Skipped: summary.Skipped, Limit: summary.Limit, Effect: summary.Effect, Origins: []origin{}, Allowed: refusal == nil}
	if refusal != nil {
		out.Refusal = refusal.Error()
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

// tellMisfits says everything that does not fit, as reading stops at the first value.
func tellMisfits(ctx context.Context, c *console.Console, o source.Options) {
	misfits, err := source.Misfits(ctx, o)
	if err != nil || len(misfits) == 0 {
		return // what stopped the reading is said anyway
	}
	c.Say("What does not fit study %s, column by column:", o.Study.ID.Short())
	for _, m := range misfits {
		c.Say("  %s", m)
	}
	c.Say("Kinds are the study's, and the same at every party: correct the data, or ask the operator for another kind.")
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
	atMost := ""
	if d.Records > d.Limit/10 { // else it is a number that nobody need think about
		atMost = fmt.Sprintf(" of at most %d", d.Limit)
	}
	fmt.Fprintf(w, "The data fit the study: %s%s, %d left out for a missing value.\n\n", counted(d.Records, "record", "records"), atMost, d.Skipped)
	tellData(w, d.Effect)
	for _, o := range d.Origins {
		present.Paragraph(w, "", o.Name+": "+o.Format)
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

// tellData says what the study would do to a party's data, the biggest problem first. It is exact:
// it is for the party's own terminal.
func tellData(w io.Writer, e source.Effect) {
	for _, text := range e.Warnings {
		present.Paragraph(w, "", "WARNING: "+text)
	}
	if len(e.Warnings) > 0 {
		fmt.Fprintln(w)
	}
	far := slices.ContainsFunc(e.Columns, func(c source.ColumnEffect) bool { return c.Beyond > 0 })
	head := []string{"column", ">clipped", ">missing"}
	if far {
		head = append(head, ">beyond 3 spreads")
	}
	t := present.NewTable(head...)
	for _, c := range e.Columns {
		row := []string{c.Name, fmt.Sprint(c.Clipped), fmt.Sprint(c.Missing)}
		if far {
			row = append(row, fmt.Sprint(c.Beyond))
		}
		t.Add(row...)
	}
	t.Write(w)
	fmt.Fprintln(w)
	for _, c := range e.Columns {
		if c.NoLogarithm > 0 {
			present.Paragraph(w, "", fmt.Sprintf("%s: %d values are 0 or less. They have no logarithm, and count as the lower bound, or as three spreads below the centre. If such values are common, ask the operator for transform: asinh.", c.Name, c.NoLogarithm))
		}
	}
	if slices.ContainsFunc(e.Columns, func(c source.ColumnEffect) bool { return c.Missing > 0 }) {
		present.Paragraph(w, "", map[study.Missing]string{
			study.MissingCentre: "A missing value counts as the public centre.",
			study.MissingCount:  "Moments leave a missing value out and count it, with noise. In other sketches it counts as the public centre.",
			study.MissingSkip:   "A record that lacks a value is left out.",
		}[e.Missing])
	}
	if far {
		present.Paragraph(w, "", "Values beyond three spreads stay as they are. A record that is too long is shortened as a whole.")
	}
	for _, s := range e.Cuts {
		present.Paragraph(w, "", s.String())
	}
}
