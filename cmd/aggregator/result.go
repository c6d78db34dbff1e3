package main

import (
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

type resultCommand struct {
	Study  string `arg:"" help:"The beginning of the study's id."`
	Output string `placeholder:"DIR" help:"Write result.json there."`
}

// Run prints the stored result or writes it to a file.
func (cmd resultCommand) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	return console.Result{Study: s, Store: st, Output: cmd.Output, Hint: "aggregator status " + s.ID.Short() + " says what it waits for"}.Print(c)
}
