package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/audit"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// attack attacks a release of the party's own data.
func (cmd auditCommand) attack(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.Trials != 0 && cmd.Output == "" {
		return fail.Usage.Of(errors.New("--trials goes with made-up data, not with --data"))
	}
	st, s, index, err := openStudy(g.OpenReadOnly, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	out, err := attackOwn(ctx, c, g, st, s, index)
	if err != nil {
		return err
	}
	if cmd.Output == "" {
		return c.Print(out, func(w io.Writer) { writeAttacked(w, out) })
	}
	if s.Privacy.Mechanism == dp.None {
		return cmd.page(c, s, &out, nil)
	}
	audited, err := cmd.audit(ctx, c, g, s)
	if err != nil {
		return err
	}
	return cmp.Or(cmd.page(c, s, &out, &audited), failed(audited))
}

// attackOwn attacks a release of the party's own data and tells how far it is.
func attackOwn(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, index int) (audit.Attacked, error) {
	talk := newTalk(c, s, index)
	defer talk.end()
	return audit.Attack(ctx, sourceOf(st, g, s, talk.observe))
}

// sayExposed tells before the approval of a study without noise what a release of the
// party's data would give away.
func sayExposed(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, index int) error {
	if c.Format != console.Text {
		return nil // nobody reads it
	}
	out, err := attackOwn(ctx, c, g, st, s, index)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	console.Paragraph(c.Talk(), "", fmt.Sprintf("%s (study %.8s) asks for sketches without noise, which promise nothing.", s.Name, s.ID))
	if err != nil {
		c.Say("What a release of your data would give away could not be tried out yet. Do it before anything is\nreleased, by party audit %s --data. The reason: %v", s.ID.Short(), err)
		return nil
	}
	if c.Interactive() {
		fmt.Fprintln(c.Talk(), "\nWHAT WHOEVER KNOWS R RECOVERS")
		writeAttacked(c.Talk(), out)
	} else {
		for _, flag := range out.Flags() {
			console.Paragraph(c.Talk(), "", "FLAG: "+flag+".")
		}
	}
	console.Paragraph(c.Talk(), "", fmt.Sprintf("%s party audit %s --data says which attacks these are; with -o FILE, as a page.", out.Summary(), s.ID.Short()))
	return nil
}

// writeAttacked prints what attacks recovered, for people.
func writeAttacked(w io.Writer, a audit.Attacked) {
	console.Paragraph(w, "", a.Summary())
	fmt.Fprintln(w)
	console.Paragraph(w, "", fmt.Sprintf("%s (study %.8s): what somebody who knows the random matrix recovers from a release of dataset %q. The aggregator knows it with the help of one other party. %d of %d records were attacked.",
		a.Name, a.Study, a.Dataset, a.Sample, a.Records))
	console.Paragraph(w, "  ", a.Promise)
	for _, s := range slices.Concat(a.Sketches, a.Together) {
		fmt.Fprintln(w)
		console.Paragraph(w, "", s.Title()+".")
		for _, flag := range s.Flags {
			console.Paragraph(w, "  ", "FLAG: "+flag+".")
		}
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
func details(all []audit.AttackedResult, name string) (text string) {
	for _, one := range all {
		if one.Name == name && one.Detail != "" {
			text += " " + capital(one.Detail) + "."
		}
	}
	return text
}

func share(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
