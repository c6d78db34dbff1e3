package main

import (
	"errors"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

type resultCommand struct {
	Study  string `arg:"" help:"The beginning of the study's id."`
	Output string `placeholder:"DIR" help:"Write result.json there and, where records were clustered or classified, labels.csv with this party's own ids. The labels never leave."`
}

// Run prints the stored result or writes it to files.
func (cmd resultCommand) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	labels, err := node.OwnLabels(st, s)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return console.Result{Study: s, Store: st, Output: cmd.Output, Labels: labels, Hint: "party run " + s.ID.Short() + " fetches it"}.Print(c)
}
