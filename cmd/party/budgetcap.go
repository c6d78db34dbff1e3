package main

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/ledger"
)

type budgetCap struct {
	Dataset string  `arg:"" help:"Name of a dataset of the site file."`
	Unit    string  `arg:"" enum:"record,attribute" help:"What one change means: record or attribute."`
	Epsilon float64 `arg:"" help:"The most that all studies together may spend."`
	Delta   float64 `arg:"" optional:"" help:"The δ at which that is counted. Default: 0, which no gaussian release keeps."`
}

// Help has an example.
func (budgetCap) Help() string {
	return "Changes the site file in place: its comments and its order stay. What was spent stays spent; a cap below that is allowed, and lets nothing more out.\n\nExample: party budget cap patients record 2 1e-6"
}

// Run changes the site file and says what the cap leaves.
func (cmd budgetCap) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	entries, err := st.Ledger()
	if err != nil {
		return err
	}
	limit := config.Budget{Epsilon: dp.Epsilon(cmd.Epsilon), Delta: dp.Delta(cmd.Delta)}
	if err := config.SetCap(g.Config, cmd.Dataset, dp.Unit(cmd.Unit), limit); err != nil {
		return console.WithCode(console.Usage, err)
	}
	var own []ledger.Entry
	for _, e := range entries {
		if e.Dataset == cmd.Dataset {
			own = append(own, e)
		}
	}
	t := total(own, ledger.Account{Dataset: cmd.Dataset, Unit: dp.Unit(cmd.Unit)}, limit)
	return c.Print(t, func(w io.Writer) {
		fmt.Fprintf(w, "The cap of %s under unit %s is ε = %s at δ = %s, in %s.\n", cmd.Dataset, cmd.Unit, console.Brief(*t.Cap), console.Brief(t.Delta), g.Config)
		fmt.Fprintf(w, "Spent: ε = %s (releases: %d). Left: ε = %s.\n", spentText(t.Epsilon), t.Releases, console.Brief(*t.Left))
		switch {
		case t.Unbounded:
			c.Say("Something was released without noise: that bounds nothing, and nothing more is released under any cap.")
		case t.Epsilon == nil:
			c.Say("Gaussian releases have no ε at δ = %s, so nothing more is released under this cap: name a greater δ, as in party budget cap %s %s %s 1e-6.", console.Brief(t.Delta), cmd.Dataset, cmd.Unit, console.Brief(cmd.Epsilon))
		case *t.Epsilon > *t.Cap:
			c.Say("More than this was spent already, and stays spent. Nothing more is released under this cap until it is raised.")
		case *t.Left == 0:
			c.Say("All of it is spent: nothing more is released under this cap until it is raised.")
		default:
			c.Say("A release that would bring the total above it is refused. Next: party budget show %s", cmd.Dataset)
		}
	})
}
