package main

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
)

type budgetCap struct {
	Dataset string   `arg:"" help:"Name of a dataset of the site file."`
	Unit    string   `arg:"" enum:"record,attribute" help:"What one change means: record or attribute."`
	Epsilon float64  `arg:"" help:"The most that all studies together may spend."`
	Delta   *float64 `arg:"" optional:"" help:"The δ at which that is counted, such as 1e-6. Under unit attribute it is 0 by default, which no gaussian release keeps."`
}

// noDelta refuses a cap without δ under unit record: drafted studies, which are gaussian, could
// never keep it. It shows how to write one that they can keep, and one only for pure releases.
func noDelta(usual, pure string) error {
	return fmt.Errorf("a cap under unit record names a δ, since no gaussian release keeps δ = 0: %s, or %s if only laplace and randomised response may release", usual, pure)
}

func (budgetCap) Help() string {
	return "Changes the site file in place; comments and order stay. A cap below what was spent is allowed and stops all further releases.\n\nExample: party advanced budget cap patients record 2 1e-6"
}

// Run changes the site file and says what is left of the cap.
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
	limit := config.Budget{Epsilon: dp.Epsilon(cmd.Epsilon)}
	switch {
	case cmd.Delta != nil:
		limit.Delta = dp.Delta(*cmd.Delta)
	case dp.Unit(cmd.Unit) == dp.Record:
		return fail.Usage.Of(noDelta(fmt.Sprintf("party advanced budget cap %s record %s 1e-6", cmd.Dataset, block.Brief(cmd.Epsilon)), "0 in place of 1e-6"))
	}
	var own []ledger.Entry
	for _, e := range entries {
		if e.Dataset == cmd.Dataset {
			own = append(own, e)
		}
	}
	t := total(own, ledger.Account{Dataset: cmd.Dataset, Unit: dp.Unit(cmd.Unit)}, limit)
	if t.Epsilon == nil && !t.Unbounded {
		return fail.Usage.Of(fmt.Errorf("what was spent of %s has no ε at δ = %s, so that nothing more could be released under this cap: name a greater δ, as in party advanced budget cap %s %s %s 1e-6", cmd.Dataset, block.Brief(t.Delta), cmd.Dataset, cmd.Unit, block.Brief(cmd.Epsilon)))
	}
	if err := config.SetCap(g.Config, cmd.Dataset, dp.Unit(cmd.Unit), limit); err != nil {
		return fail.Usage.Of(err)
	}
	return c.Print(t, func(w io.Writer) {
		fmt.Fprintf(w, "The cap of %s under unit %s is ε = %s at δ = %s, in %s.\n", cmd.Dataset, cmd.Unit, block.Brief(*t.Cap), block.Brief(t.Delta), g.Config)
		fmt.Fprintf(w, "Spent: ε = %s (releases: %d). Left: ε = %s.\n", local.Spent(t.Epsilon), t.Releases, dp.AtLeast(*t.Left, 4))
		switch {
		case t.Unbounded:
			c.Say("Something was released without noise: that bounds nothing, and nothing more is released under any cap.")
		case *t.Epsilon > *t.Cap:
			c.Say("More than this was spent already, and stays spent. Nothing more is released under this cap until it is raised.")
		case *t.Left == 0:
			c.Say("All of it is spent: nothing more is released under this cap until it is raised.")
		default:
			c.Say("A release that would bring the total above it is refused. Next: party budget %s", cmd.Dataset)
		}
	})
}
