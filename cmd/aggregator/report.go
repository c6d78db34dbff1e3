package main

import (
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

type reportCommand struct {
	Study   string `arg:"" help:"The beginning of the study's id."`
	Further string `placeholder:"NAME" help:"A further result instead of the study's own: the beginning of its name, which the result lists."`
	Output  string `short:"o" required:"" placeholder:"FILE" help:"The page to write, like report.html."`
}

func (reportCommand) Help() string {
	return "Verifies the aggregator's signature, and writes the result with its figures as one HTML file that needs nothing else.\n\nExample: aggregator report 5f0c1b0e -o report.html"
}

// Run writes the page.
func (cmd reportCommand) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	d, err := stored(st, cmd.Study, cmd.Further)
	if err != nil {
		return err
	}
	return d.Report(c, st, cmd.Output)
}
