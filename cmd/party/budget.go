package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
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
	Sequence  uint64   `json:"sequence"`
	Dataset   string   `json:"dataset"`
	Study     string   `json:"study"`
	Sketch    int      `json:"sketch"`
	Unit      string   `json:"unit"`
	Mechanism string   `json:"mechanism"`
	Epsilon   float64  `json:"epsilon"`
	Delta     float64  `json:"delta"`
	Person    *float64 `json:"epsilon_per_person"` // of this release, for all values of a person here; null when unbounded
	At        string   `json:"at"`
}

type budgetTotal struct {
	Dataset   string   `json:"dataset"`
	Unit      string   `json:"unit"`
	Epsilon   *float64 `json:"epsilon"` // null when unbounded
	Delta     float64  `json:"delta"`   // at which epsilon holds: the cap's where there is one
	Unbounded bool     `json:"unbounded"`
	Releases  int      `json:"releases"`
	Cap       *float64 `json:"cap"` // on epsilon, from the site file; null: counted, not limited
}

// Run prints the ledger, whose chain it verifies, beside the site file's caps.
func (budgetShow) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	entries, err := st.Ledger()
	if err != nil {
		return err
	}
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return console.WithCode(console.Usage, err)
	}
	b := summarise(entries, site.Datasets)
	return c.Print(b, func(w io.Writer) { b.write(w) })
}

func summarise(entries []ledger.Entry, datasets map[string]config.Dataset) budget {
	out := budget{Entries: []budgetEntry{}, Totals: []budgetTotal{}}
	delta := map[string]dp.Delta{} // the largest δ of each dataset's releases: ε is stated at it where there is no cap
	for name := range datasets {
		delta[name] = 0
	}
	for _, e := range entries {
		person := ledger.Total([]ledger.Entry{e}, ledger.Account{Dataset: e.Dataset, Unit: dp.Record, Delta: e.Delta})
		out.Entries = append(out.Entries, budgetEntry{
			Sequence: e.Sequence, Dataset: e.Dataset, Study: e.Study.String(), Sketch: e.Sketch, Unit: string(e.Unit),
			Mechanism: string(e.Mechanism), Epsilon: float64(e.Epsilon), Delta: float64(e.Delta), Person: finite(person.Epsilon), At: e.At.String(),
		})
		delta[e.Dataset] = max(delta[e.Dataset], e.Delta)
	}
	for _, name := range slices.Sorted(maps.Keys(delta)) {
		caps := datasets[name].Caps
		out.Totals = append(out.Totals,
			total(entries, ledger.Account{Dataset: name, Unit: dp.Record, Delta: delta[name]}, caps.Record),
			total(entries, ledger.Account{Dataset: name, Unit: dp.Attribute, Delta: delta[name]}, caps.Attribute))
	}
	return out
}

// total adds up one account, at the δ of its cap where there is one.
func total(entries []ledger.Entry, account ledger.Account, limit config.Budget) budgetTotal {
	var most *float64
	if limit.Epsilon > 0 {
		epsilon := float64(limit.Epsilon)
		most, account.Delta = &epsilon, limit.Delta
	}
	spent := ledger.Total(entries, account)
	out := budgetTotal{
		Dataset: account.Dataset, Unit: string(account.Unit), Delta: float64(spent.Delta),
		Unbounded: spent.Unbounded, Releases: spent.Releases, Cap: most,
	}
	out.Epsilon = finite(spent.Epsilon)
	return out
}

// minute leaves the seconds out of a time as the ledger writes it.
func minute(at string) string {
	if cut := len("2006-01-02T15:04"); len(at) == len("2006-01-02T15:04:05Z") {
		return at[:cut] + "Z"
	}
	return at
}

// finite is nil for what is unbounded.
func finite(e dp.Epsilon) *float64 {
	x := float64(e)
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// write prints the budget for people: what was released, then what it adds up to.
func (b budget) write(w io.Writer) {
	if len(b.Entries) == 0 {
		fmt.Fprintln(w, "Nothing was released yet.")
	} else {
		t := console.NewTable(">no", "time", "dataset", "study", ">sketch", "noise", "unit", ">ε", ">δ", ">ε/person")
		for _, e := range b.Entries {
			epsilon, delta, person := "none", "none", "none"
			if e.Mechanism != string(dp.None) {
				epsilon, delta = console.Brief(e.Epsilon), console.Brief(e.Delta)
			}
			if e.Person != nil {
				person = console.Brief(*e.Person)
			}
			t.Add(fmt.Sprint(e.Sequence), minute(e.At), e.Dataset, e.Study[:8], fmt.Sprint(e.Sketch+1), e.Mechanism, e.Unit, epsilon, delta, person)
		}
		t.Write(w)
	}
	if len(b.Totals) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := console.NewTable("dataset", "unit", ">releases", ">ε spent", ">of cap", ">at δ")
	for _, s := range b.Totals {
		spent, limit := "unbounded", "no cap"
		if s.Epsilon != nil {
			spent = console.Brief(*s.Epsilon)
		}
		if s.Cap != nil {
			limit = console.Brief(*s.Cap)
		}
		t.Add(s.Dataset, s.Unit, fmt.Sprint(s.Releases), spent, limit, console.Brief(s.Delta))
	}
	t.Write(w)
}
