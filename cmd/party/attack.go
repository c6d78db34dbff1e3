package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/study"
)

// attack attacks a release of the party's own data.
func (cmd auditCommand) attack(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.Trials != 0 {
		return console.WithCode(console.Usage, errors.New("--trials goes with made-up data, not with --data"))
	}
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	index, err := self(st, s)
	if err != nil {
		return err
	}
	out, err := attackData(ctx, c, g, st, s, index)
	if why := (*node.Unattackable)(nil); errors.As(err, &why) {
		return console.WithCode(console.Usage, err)
	}
	if err != nil {
		return err
	}
	return c.Print(out, func(w io.Writer) { writeAttacked(w, out) })
}

// attackData attacks a release of the data that the site file names.
func attackData(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, index int) (node.Attacked, error) {
	talk := newTalk(c, s, index)
	defer talk.end()
	return node.Attack(ctx, node.DataOptions{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(g.Config) }, Now: console.Now, Study: s,
		Observe: talk.observe, Entropy: rand.Reader, Workers: runtime.GOMAXPROCS(0),
	})
}

// attackFirst shows a steward who is about to approve a study without noise what a release
// of the party's data would give away, or why that cannot be shown yet.
func attackFirst(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, index int) {
	out, err := attackData(ctx, c, g, st, s, index)
	if err != nil {
		fmt.Fprintf(c.Err, "\nWhat a release of your data would give away is not shown (party audit %s --data): %v\n", s.ID.Short(), err)
		return
	}
	fmt.Fprintln(c.Err, "\nWHAT WHOEVER KNOWS R RECOVERS")
	writeAttacked(c.Err, out)
}

// writeAttacked prints what attacks recovered, for people.
func writeAttacked(w io.Writer, a node.Attacked) {
	console.Paragraph(w, "", fmt.Sprintf("%s (study %.8s): what somebody who knows the random matrix recovers from a release of dataset %q. The aggregator knows it with the help of one other party. %d of %d records were attacked.",
		a.Name, a.Study, a.Dataset, a.Sample, a.Records))
	console.Paragraph(w, "  ", a.Promise)
	for _, s := range a.Sketches {
		fmt.Fprintln(w)
		console.Paragraph(w, "", fmt.Sprintf("Sketch %d: %s side, %s, %s.", s.Sketch, s.Side, s.Made, s.Noise))
		t := console.NewTable("attack", ">recovered", ">guessing", "of")
		knows := map[string]string{}
		var order []string
		for _, one := range s.Attacks {
			t.Add(one.Name, share(one.Value), share(one.Baseline), one.Measure)
			if _, said := knows[one.Name]; !said {
				order = append(order, one.Name)
			}
			knows[one.Name] = one.Knows
		}
		t.Write(w)
		for _, name := range order {
			console.Paragraph(w, "  ", fmt.Sprintf("%s: knows %s.%s", name, knows[name], details(s.Attacks, name)))
		}
	}
	fmt.Fprintln(w)
	console.Paragraph(w, "", "These are attacks that are known, not all that there may be: what is promised is the statement above. The ledger was not touched, and nothing has left.")
}

// details joins what there is to add to an attack's numbers.
func details(all []node.AttackedResult, name string) (text string) {
	for _, one := range all {
		if one.Name == name && one.Detail != "" {
			text += " " + capital(one.Detail) + "."
		}
	}
	return text
}

func share(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
