package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/protocol/block"
)

type dataCheck struct {
	Study string `arg:"" help:"The beginning of the study's id."`
}

func (dataCheck) Help() string { return "Example: party data check 5f0c1b0e" }

type checkedData struct {
	Study   string `json:"study"`
	Records int64  `json:"records"`
	Skipped int64  `json:"skipped"` // left out for a missing value
	source.Effect
	Origins []origin `json:"origins"`
	CSV     string   `json:"csv,omitempty"` // dialect shared by all CSV files, for the site file
	Limit   int64    `json:"limit"`         // most records that the study can use
	Allowed bool     `json:"allowed"`
	Refusal string   `json:"refusal,omitempty"`
}

type origin struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	CSV    string `json:"csv,omitempty"`    // the dialect as YAML; only for CSV
	SHA256 string `json:"sha256,omitempty"` // only for CSV
}

// Run reads the data and checks policy and budget. It needs no approval and no network.
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
		if wrong := (*dataset.Error)(nil); errors.As(err, &wrong) && wrong.Line+wrong.Row > 0 {
			site, siteErr := o.Site()
			if siteErr == nil {
				printMisfits(ctx, c, o, site.Studies[s.ID].Dataset)
			}
		}
		return err
	}
	out := checkedData{Study: s.ID.String(), Records: summary.Records, Skipped: summary.Skipped, Limit: summary.Limit, Effect: summary.Effect, Origins: originsOf(summary.Origins), Allowed: refusal == nil}
	if refusal != nil {
		out.Refusal = refusal.Error()
	}
	out.CSV = dialectOf(summary.Origins)
	err = c.Print(out, func(w io.Writer) {
		present.Text(w, out.blocks())
		if refusal == nil {
			c.Say("Next: %s", next(st, g, s))
		}
	})
	if err != nil {
		return err
	}
	return refusal
}

// printMisfits lists all values that do not fit, because reading stops at the first.
func printMisfits(ctx context.Context, c *console.Console, o source.Options, name string) {
	misfits, err := source.Misfits(ctx, o)
	if err != nil || len(misfits) == 0 {
		return // the error that stopped the reading is reported anyway
	}
	c.Say("What does not fit study %s, column by column:", o.Study.ID.Short())
	problems{misfits, "party data change " + console.Word(name)}.tell(c)
	c.Say("Kinds are the study's, and the same at every party: have values read otherwise, correct the data, or ask the operator for another kind.")
}

// dialectOf is the setting that fixes how all CSV files are read, if they agree; empty if there is
// nothing to fix.
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

// blocks shows the check.
func (d checkedData) blocks() []block.Block {
	atMost := ""
	if d.Records > d.Limit/10 { // otherwise the limit is irrelevant
		atMost = fmt.Sprintf(" of at most %d", d.Limit)
	}
	out := []block.Block{block.Text{Text: fmt.Sprintf("The data fit the study: %s%s, %d left out for a missing value.", block.Counted(d.Records, "record", "records"), atMost, d.Skipped)}}
	out = append(append(out, d.Effect.Blocks()...), originBlocks(d.Origins)...)
	if d.CSV != "" {
		out = append(out, block.Text{Text: "To have this fixed instead of detected, add to the dataset in the site file:"}, block.Command{Lines: []string{"  csv: " + d.CSV}})
	}
	return append(out, block.Text{Text: local.Allowed(d.Allowed) + " Nothing has left."})
}

// originBlocks shows the format of the files read.
func originBlocks(origins []origin) (out []block.Block) {
	for _, o := range origins {
		out = append(out, block.Text{Text: o.Name + ": " + o.Format})
	}
	return out
}
