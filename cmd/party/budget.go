package main

import (
	"fmt"
	"io"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/protocol/ledger"
)

type budgetCommands struct {
	Show budgetShow `cmd:"" help:"Show every release and what each dataset's releases add up to."`
}

type budgetShow struct{}

type budget struct {
	Entries []budgetEntry `json:"entries"`
	Totals  []budgetTotal `json:"totals"`
}

type budgetEntry struct {
	Sequence  uint64  `json:"sequence"`
	Dataset   string  `json:"dataset"`
	Study     string  `json:"study"`
	Sketch    int     `json:"sketch"`
	Unit      string  `json:"unit"`
	Mechanism string  `json:"mechanism"`
	Epsilon   float64 `json:"epsilon"`
	Delta     float64 `json:"delta"`
	At        string  `json:"at"`
}

type budgetTotal struct {
	Dataset   string   `json:"dataset"`
	Unit      string   `json:"unit"`
	Epsilon   *float64 `json:"epsilon"` // null when unbounded
	Delta     float64  `json:"delta"`
	Unbounded bool     `json:"unbounded"`
	Releases  int      `json:"releases"`
}

// Run prints the ledger, whose chain it verifies.
func (budgetShow) Run(c *console.Console, g *console.Globals) error {
	st, err := openReadOnly(g)
	if err != nil {
		return err
	}
	defer st.Close()
	entries, err := st.Ledger()
	if err != nil {
		return err
	}
	b := summarise(entries)
	return c.Print(b, func(w io.Writer) { writeBudget(w, b) })
}

func summarise(entries []ledger.Entry) budget {
	out := budget{Entries: []budgetEntry{}, Totals: []budgetTotal{}}
	delta := map[string]dp.Delta{} // the largest δ of each dataset's releases: ε is stated at it
	var datasets []string
	for _, e := range entries {
		out.Entries = append(out.Entries, budgetEntry{
			Sequence: e.Sequence, Dataset: e.Dataset, Study: e.Study.String(), Sketch: e.Sketch, Unit: string(e.Unit),
			Mechanism: string(e.Mechanism), Epsilon: float64(e.Epsilon), Delta: float64(e.Delta), At: e.At.String(),
		})
		if _, seen := delta[e.Dataset]; !seen {
			datasets = append(datasets, e.Dataset)
		}
		delta[e.Dataset] = max(delta[e.Dataset], e.Delta)
	}
	for _, d := range datasets {
		for _, unit := range []dp.Unit{dp.Record, dp.Attribute} {
			spent := ledger.Total(entries, ledger.Account{Dataset: d, Unit: unit, Delta: delta[d]})
			total := budgetTotal{Dataset: d, Unit: string(unit), Delta: float64(spent.Delta), Unbounded: spent.Unbounded, Releases: spent.Releases}
			if e := float64(spent.Epsilon); !math.IsInf(e, 0) {
				total.Epsilon = &e
			}
			out.Totals = append(out.Totals, total)
		}
	}
	return out
}

func writeBudget(w io.Writer, b budget) {
	if len(b.Entries) == 0 {
		fmt.Fprintln(w, "nothing was released yet")
	}
	for _, e := range b.Entries {
		promise := "no guarantee"
		if e.Mechanism != string(dp.None) {
			promise = fmt.Sprintf("ε = %.4g, δ = %.4g per %s", e.Epsilon, e.Delta, e.Unit)
		}
		fmt.Fprintf(w, "%4d  %s  dataset %s, study %s, sketch %d: %s, %s\n", e.Sequence, e.At, e.Dataset, e.Study[:8], e.Sketch, e.Mechanism, promise)
	}
	for _, t := range b.Totals {
		if t.Epsilon == nil {
			fmt.Fprintf(w, "dataset %s, per %s: unbounded, for something was released without noise\n", t.Dataset, t.Unit)
			continue
		}
		fmt.Fprintf(w, "dataset %s, per %s: ε = %.4g at δ = %.4g from %d releases\n", t.Dataset, t.Unit, *t.Epsilon, t.Delta, t.Releases)
	}
}
