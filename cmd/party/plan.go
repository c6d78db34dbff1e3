package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

type studyPlan struct {
	Study string `arg:"" help:"The beginning of a study's id, or a study file."`
	console.PlanFlags
}

func (studyPlan) Help() string {
	return "Example: party study plan 5f0c1b0e --records north=20000,south=8000 --spread income=40000"
}

// planned is a plan with its effect on the budget.
type planned struct {
	plan.Plan
	Budget []local.Spending `json:"budget"`
	Hint   string           `json:"budget_hint,omitempty"` // why there is no budget to show

	Queries *queriesPlan `json:"queries,omitempty"` // if the study allows queries
}

// Run forecasts a study from this party's point of view. It uses the number of records in its own
// data, if the site file names them.
func (cmd studyPlan) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	s, err := console.StudyOrFile(g, store.Party, cmd.Study)
	if err != nil {
		return err
	}
	party := viewer(c, g, s, "Planned")
	var st *store.Store // opened if it exists: the reader of a study file need not be a party
	if party != study.Everyone {
		if st, err = g.OpenReadOnly(store.Party); err != nil {
			return err
		}
		defer st.Close()
	}
	p, err := forecast(s, party, cmd.PlanFlags, func() *source.CheckedData {
		data, _ := ownData(ctx, c, g, st, s, party)
		return data
	})
	if err = cmp.Or(ctx.Err(), err); err != nil { // data that were not read to their end give no figures
		return err
	}
	out := planned{Plan: p, Budget: []local.Spending{}}
	if party != study.Everyone {
		if out.Budget, out.Hint, err = spend(g, s, party, false); err != nil {
			return err
		}
		if out.Queries, err = planQueries(g, s, party); err != nil {
			return err
		}
	}
	err = c.Print(out, func(w io.Writer) {
		present.Text(w, out.blocks())
		c.Say("Where that is not enough, the study file can be changed, with the other parties.")
		for _, b := range out.Budget {
			if b.Refused() {
				c.Say("Next: party advanced budget cap %s %s EPSILON DELTA, if more may be spent", b.Dataset, b.Unit)
				return
			}
		}
		sayNext(c, g, s)
	})
	if err != nil {
		return err
	}
	return console.NewVerdict(p).Err(s)
}

// forecast plans a study for a party. If the flags leave this party's number of records open, it
// takes that of its own data, if there are any.
func forecast(s *study.Study, party int, flags console.PlanFlags, own func() *source.CheckedData) (plan.Plan, error) {
	said, err := console.Records(flags.Records)
	if err != nil {
		return plan.Plan{}, err
	}
	if party != study.Everyone {
		name := s.Parties[party].Name
		_, named := said[name]
		if _, all := said[""]; !named && !all {
			if data := own(); data != nil {
				least := max(data.Records, 2) // plans need at least two
				flags.Records = strings.TrimPrefix(fmt.Sprintf("%s,%s=%d", flags.Records, name, least), ",")
			}
		}
	}
	return flags.Make(s, party)
}

// ownData reads this party's data for a study; it returns nil if the site file names none. It
// reports unreadable data but does not fail: data check and run explain what is wrong with them.
func ownData(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, party int) (data *source.CheckedData, refusal error) {
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return nil, nil // commands that need the site file report it
	}
	if _, named := site.Studies[s.ID]; !named {
		return nil, nil
	}
	talk := newTalk(c, s, party)
	defer talk.end()
	read, refusal, err := source.CheckData(ctx, source.Options{
		Env: environment(talk.observe), Store: st, Site: func() (config.Party, error) { return site, nil }, Study: s,
	})
	talk.end()
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		c.Say("This party's own records could not be counted for the forecast: %v", err)
		return nil, nil
	}
	return &read, refusal
}

// spend computes the budget before and after a study, with all its queries if asked. If there is no
// site file, or the study's dataset is not in it, a hint says what to add.
func spend(g *console.Globals, s *study.Study, party int, queries bool) ([]local.Spending, string, error) {
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return nil, "", fail.Usage.Of(err)
	}
	if _, err := site.Study(s.ID); err != nil {
		return []local.Spending{}, err.Error(), nil
	}
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return nil, "", err
	}
	defer st.Close()
	before, err := st.Ledger()
	if err != nil {
		return nil, "", err
	}
	out, err := spendings(site, before, s, party, queries)
	return out, "", err
}

// spendings is what a study in the site file would add to what was spent before.
func spendings(site config.Party, before []ledger.Entry, s *study.Study, party int, queries bool) ([]local.Spending, error) {
	entry := site.Studies[s.ID]
	after := before[:len(before):len(before)]
	for i := range s.Sketches {
		p, err := release.For(s, party, i)
		if err != nil {
			return nil, err
		}
		next := ledger.Entry{Dataset: entry.Dataset, Study: s.ID, Sketch: i, Unit: s.Privacy.Unit, Attributes: max(p.Attributes(), 1)}
		if next = next.Promised(p.Guarantee()); !paid(before, next) {
			after = append(after, next)
		}
	}
	if queries {
		due, err := queriesDue(before, s, party, entry.Dataset)
		if err != nil {
			return nil, err
		}
		after = append(after, due...)
	}
	caps := site.Datasets[entry.Dataset].Caps
	return []local.Spending{
		spent(before, after, ledger.Account{Dataset: entry.Dataset, Unit: dp.Record, Delta: s.Privacy.Delta}, caps.Record),
		spent(before, after, ledger.Account{Dataset: entry.Dataset, Unit: dp.Attribute, Delta: s.Privacy.Delta}, caps.Attribute),
	}, nil
}

// paid reports whether the ledger already holds a debit.
func paid(before []ledger.Entry, next ledger.Entry) bool {
	_, paid := ledger.Debited(before, next)
	return paid
}

// spent states one account before and after, at the δ of its cap if there is one.
func spent(before, after []ledger.Entry, account ledger.Account, limit config.Budget) local.Spending {
	first, second := total(before, account, limit), total(after, account, limit)
	return local.Spending{Dataset: account.Dataset, Unit: account.Unit, Delta: second.Delta, Before: first.Epsilon, After: second.Epsilon, Cap: second.Cap}
}

// blocks shows the plan with its budget.
func (p planned) blocks() []block.Block {
	out := p.Plan.Blocks()
	switch {
	case p.Hint != "":
		return append(out, block.Heading{ID: "budget", Text: "Budget", Says: "not known here"}, block.Text{Text: p.Hint})
	case len(p.Budget) == 0:
		return out
	}
	return append(append(out, block.Heading{ID: "budget", Text: "Budget"}, local.Spendings(p.Budget)), p.Queries.blocks()...)
}
