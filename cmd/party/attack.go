package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/audit"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
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
		return c.Print(out, func(w io.Writer) { writeReport(w, out.Name, out.Study, attackedOf(s, &out)) })
	}
	if s.Privacy.Mechanism == dp.None {
		return cmd.page(c, s, attackedOf(s, &out))
	}
	audited, err := cmd.audit(ctx, c, g, s)
	if err != nil {
		return err
	}
	return cmp.Or(cmd.page(c, s, audit.Report{Attacked: &out, Audited: &audited}), failed(audited))
}

// attackOwn attacks a release of the party's own data and reports progress.
func attackOwn(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, index int) (audit.AttackReport, error) {
	talk := newTalk(c, s, index)
	defer talk.end()
	return audit.Attack(ctx, sourceOf(st, g, s, talk.observe))
}

// sayExposed says, before a study without noise is approved, what a release of the party's data
// would reveal.
func sayExposed(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, index int) error {
	if c.Format != console.Text {
		return nil // nobody would read it
	}
	out, err := attackOwn(ctx, c, g, st, s, index)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	tell := func(blocks ...block.Block) { present.Text(c.Stderr(), blocks) }
	tell(block.Text{Text: fmt.Sprintf("%s (study %.8s) asks for sketches without noise, which promise nothing.", s.Name, s.ID)})
	if err != nil {
		c.Say("What a release of your data would give away could not be tried out yet. Do it before anything is\nreleased, by party advanced audit %s --data. The reason: %v", s.ID.Short(), err)
		return nil
	}
	if c.Interactive() {
		tell(append([]block.Block{block.Heading{ID: "recovered", Text: "What whoever knows R recovers"}}, attackedOf(s, &out).Blocks()...)...)
	} else {
		for _, flag := range out.Flags() {
			tell(block.Text{Tone: block.Warn, Lead: "Flag", Text: flag + "."})
		}
	}
	tell(block.Text{Text: fmt.Sprintf("%s party advanced audit %s --data says which attacks these are; with -o FILE, as a page.", out.Summary(), s.ID.Short())})
	return nil
}

// attackedOf is a report with attacks only.
func attackedOf(s *study.Study, a *audit.AttackReport) audit.Report {
	return audit.Report{Attacked: a, Bare: s.Privacy.Mechanism == dp.None}
}
