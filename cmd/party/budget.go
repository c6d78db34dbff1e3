package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
)

type budgetCommand struct {
	Dataset string `arg:"" optional:"" help:"Name of one dataset; default: all."`
}

func (budgetCommand) Help() string { return "Example: party budget patients" }

type budget struct {
	Entries []budgetEntry `json:"entries"`
	Totals  []budgetTotal `json:"totals"`
	Kept    []budgetKept  `json:"kept,omitempty"`
}

// budgetKept is what an active study will need for its second round.
type budgetKept struct {
	Dataset string  `json:"dataset"`
	Study   string  `json:"study"`
	Unit    string  `json:"unit"`
	Epsilon float64 `json:"epsilon"` // of the second round alone
	Delta   float64 `json:"delta"`
}

type budgetEntry struct {
	Sequence   uint64   `json:"sequence"`
	Dataset    string   `json:"dataset"`
	Study      string   `json:"study"`
	Aggregator string   `json:"aggregator"`
	Sketch     int      `json:"sketch"`
	Query      int      `json:"query,omitempty"` // number of a later query; 0: the study's release
	Unit       string   `json:"unit"`
	Mechanism  string   `json:"mechanism"`
	Epsilon    float64  `json:"epsilon"`
	Delta      float64  `json:"delta"`
	Person     *float64 `json:"epsilon_per_person"` // of this release, for all of a person's values here; null if unbounded
	At         string   `json:"at"`
}

type budgetTotal struct {
	Dataset    string        `json:"dataset"`
	Unit       string        `json:"unit"`
	Epsilon    *float64      `json:"epsilon"` // null if unbounded at delta
	Delta      float64       `json:"delta"`   // for every epsilon here: the cap's, if there is one
	Unbounded  bool          `json:"unbounded"`
	Releases   int           `json:"releases"`
	Cap        *float64      `json:"cap"`          // on epsilon, from the site file; null: counted but not limited
	Left       *float64      `json:"left"`         // of the cap; null without a cap
	DeltaAtCap *float64      `json:"delta_at_cap"` // the delta at which all releases together keep the cap's epsilon; null without a cap
	Studies    []budgetStudy `json:"studies"`      // ordered by their first releases
}

type budgetStudy struct {
	Study     string   `json:"study"`
	Epsilon   *float64 `json:"epsilon"` // of its releases alone; the total of several studies can be less than their sum
	Unbounded bool     `json:"unbounded"`
	Releases  int      `json:"releases"`
}

// Run verifies the ledger's chain and prints the ledger with the site file's caps.
func (cmd budgetCommand) Run(c *console.Console, g *console.Globals) error {
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
		return fail.Usage.Of(err)
	}
	names := datasets(entries, site.Datasets)
	if cmd.Dataset != "" {
		if !slices.Contains(names, cmd.Dataset) {
			return fail.Usage.Of(fmt.Errorf("dataset %.40q is neither in the site file nor in the ledger (there are: %s)", cmd.Dataset, strings.Join(names, ", ")))
		}
		names = []string{cmd.Dataset}
	}
	b := summarise(entries, site.Datasets, names)
	if b.Kept, err = keptIn(st, console.Now(), names, entries); err != nil {
		return err
	}
	return c.Print(b, func(w io.Writer) { present.Text(w, b.blocks()) })
}

// datasets are the names in the site file and in the ledger, sorted.
func datasets(entries []ledger.Entry, site map[string]config.Dataset) []string {
	names := map[string]bool{}
	for name := range site {
		names[name] = true
	}
	for _, e := range entries {
		names[e.Dataset] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func summarise(entries []ledger.Entry, site map[string]config.Dataset, names []string) budget {
	out := budget{Entries: []budgetEntry{}, Totals: []budgetTotal{}}
	for _, e := range entries {
		if !slices.Contains(names, e.Dataset) {
			continue
		}
		person := ledger.Total([]ledger.Entry{e}, ledger.Account{Dataset: e.Dataset, Unit: dp.Record, Delta: e.Delta})
		out.Entries = append(out.Entries, budgetEntry{
			Sequence: e.Sequence, Dataset: e.Dataset, Study: e.Study.String(), Aggregator: e.Aggregator.String(), Sketch: e.Sketch, Query: e.Query, Unit: string(e.Unit),
			Mechanism: string(e.Mechanism), Epsilon: float64(e.Epsilon), Delta: float64(e.Delta), Person: local.Finite(person.Epsilon), At: e.At.String(),
		})
	}
	for _, name := range names {
		var own []ledger.Entry
		delta := dp.Delta(0) // the largest δ of the releases: without a cap, ε is stated at it
		for _, e := range entries {
			if e.Dataset == name {
				own, delta = append(own, e), max(delta, e.Delta)
			}
		}
		caps := site[name].Caps
		out.Totals = append(out.Totals,
			total(own, ledger.Account{Dataset: name, Unit: dp.Record, Delta: delta}, caps.Record),
			total(own, ledger.Account{Dataset: name, Unit: dp.Attribute, Delta: delta}, caps.Attribute))
	}
	return out
}

// keptIn lists what second rounds of active studies will need of datasets.
func keptIn(st *store.Store, now protocol.Instant, names []string, entries []ledger.Entry) (out []budgetKept, err error) {
	signer, err := protocol.NewSigner(st.Identity())
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		kept, err := source.SecondRounds(st, signer.ID(), name, now, entries)
		if err != nil {
			return nil, err
		}
		for _, e := range kept {
			out = append(out, budgetKept{name, e.Study.String(), string(e.Unit), float64(e.Epsilon), float64(e.Delta)})
		}
	}
	return out, nil
}

// total composes one account, at the δ of its cap if there is one.
func total(entries []ledger.Entry, account ledger.Account, limit config.Budget) budgetTotal {
	capped := limit.Epsilon > 0
	if capped {
		account.Delta = limit.Delta
	}
	spent := ledger.Total(entries, account)
	out := budgetTotal{
		Dataset: account.Dataset, Unit: string(account.Unit), Epsilon: local.Finite(spent.Epsilon), Delta: float64(spent.Delta),
		Unbounded: spent.Unbounded, Releases: spent.Releases, Studies: byStudy(entries, account),
	}
	if capped {
		most, left, delta := float64(limit.Epsilon), float64(ledger.Left(dp.Budget(limit), spent.Epsilon)), float64(spent.DeltaAt(limit.Epsilon))
		out.Cap, out.Left, out.DeltaAtCap = &most, &left, &delta
	}
	return out
}

// byStudy composes each study's releases separately.
func byStudy(entries []ledger.Entry, account ledger.Account) []budgetStudy {
	out := []budgetStudy{}
	of := map[protocol.StudyID][]ledger.Entry{}
	var order []protocol.StudyID
	for _, e := range entries {
		if of[e.Study] == nil {
			order = append(order, e.Study)
		}
		of[e.Study] = append(of[e.Study], e)
	}
	for _, id := range order {
		spent := ledger.Total(of[id], account)
		out = append(out, budgetStudy{Study: id.String(), Epsilon: local.Finite(spent.Epsilon), Unbounded: spent.Unbounded, Releases: spent.Releases})
	}
	return out
}

// minute drops the seconds from a time of the ledger.
func minute(at string) string {
	if cut := len("2006-01-02T15:04"); len(at) == len("2006-01-02T15:04:05Z") {
		return at[:cut] + "Z"
	}
	return at
}

// blocks shows the releases, then their totals.
func (b budget) blocks() (out []block.Block) {
	if len(b.Entries) == 0 {
		out = append(out, block.Text{Text: "Nothing was released yet."})
	} else {
		t := block.Table{Columns: block.Headed(">no", "time", "dataset", "study", ">sketch", "noise", "unit", ">ε", ">δ", ">ε/person"), AllRows: true}
		for _, e := range b.Entries {
			epsilon, delta, person := "none", "none", "none"
			if e.Mechanism != string(dp.None) {
				epsilon, delta = dp.AtMost(e.Epsilon, 4), dp.AtMost(e.Delta, 4)
			}
			if e.Person != nil {
				person = dp.AtMost(*e.Person, 4)
			}
			t.Rows = append(t.Rows, block.Cells(fmt.Sprint(e.Sequence), minute(e.At), e.Dataset, e.Study[:8], released(e), e.Mechanism, e.Unit, epsilon, delta, person))
		}
		out = append(out, t)
	}
	if len(b.Totals) == 0 {
		return out
	}
	t := block.Table{Columns: block.Headed("dataset", "unit", "study", ">releases", ">ε spent", ">of cap", ">ε left", ">at δ"), AllRows: true}
	for _, s := range b.Totals {
		for _, study := range s.Studies {
			t.Rows = append(t.Rows, block.Cells(s.Dataset, s.Unit, study.Study[:8], fmt.Sprint(study.Releases), local.Spent(study.Epsilon), "", "", block.Brief(s.Delta)))
		}
		left := ""
		if s.Left != nil {
			left = dp.AtLeast(*s.Left, 4)
		}
		t.Rows = append(t.Rows, block.Cells(s.Dataset, s.Unit, "all", fmt.Sprint(s.Releases), local.Spent(s.Epsilon), local.Capped(s.Cap), left, block.Brief(s.Delta)))
	}
	out = append(out, t)
	for _, k := range b.Kept {
		budget := dp.Budget{Epsilon: dp.Epsilon(k.Epsilon), Delta: dp.Delta(k.Delta)}
		out = append(out, block.Text{Text: fmt.Sprintf("Of dataset %q, %v is kept for the second round of study %s, which no other study can spend until it has ended.", k.Dataset, budget, k.Study[:8])})
	}
	return out
}

// released names an entry's release: a sketch of the study's release, or a later query.
func released(e budgetEntry) string {
	if e.Query > 0 {
		return fmt.Sprintf("query %d", e.Query)
	}
	return fmt.Sprint(e.Sketch + 1)
}
