package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

type studySheet struct {
	Study  string `arg:"" help:"The beginning of a study's id, or a study file."`
	Output string `short:"o" env:"-" placeholder:"FILE" help:"Write it as a page to print, like sheet.html."`
}

// Help says what it is for.
func (studySheet) Help() string {
	return "Shows what the study is for, what leaves, how people are protected, what that spends and what the answers are worth, with lines to sign. party study explain says all of it at length.\n\nExamples: party study sheet 5f0c1b0e, party study sheet 5f0c1b0e -o sheet.html"
}

// Run shows the sheet, with what this party's data say where the site file names them.
func (cmd studySheet) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	s, err := console.StudyOrFile(g, store.Party, cmd.Study)
	if err != nil {
		return err
	}
	sheet, err := cmd.sheet(ctx, c, g, s, viewer(c, g, s, "Written"))
	if err != nil {
		return err
	}
	if cmd.Output == "" {
		return c.Print(sheet, func(w io.Writer) { present.Text(w, sheetBlocks(sheet)) })
	}
	if err := console.WriteFileWhole(cmd.Output, func(w io.Writer) error {
		return present.HTML(w, present.Page{Title: sheet.Name, Kicker: sheet.Headline(), Headline: sheet.Name, Footer: "Made " + console.Now().String() + " by cosketch " + console.Version(), Blocks: sheet.Blocks()})
	}); err != nil {
		return err
	}
	return c.Print(sheet, func(w io.Writer) {
		fmt.Fprintln(w, cmd.Output)
		c.Say("Next: print it, or open it in any browser; then party study approve %s", s.ID.Short())
	})
}

// sheet makes it, with what this party's data say where the site file names them.
func (studySheet) sheet(ctx context.Context, c *console.Console, g *console.Globals, s *study.Study, party int) (local.Sheet, error) {
	o := local.SheetOptions{Study: s, Party: party}
	var own *source.CheckedData
	if o.Party != study.Everyone {
		st, err := g.OpenReadOnly(store.Party)
		if err != nil {
			return local.Sheet{}, err
		}
		defer st.Close()
		if own = ownData(ctx, c, g, st, s, o.Party); own != nil {
			o.Records = own.Records
		}
		if err := ctx.Err(); err != nil {
			return local.Sheet{}, err
		}
		if spending, hint, err := spend(g, s, o.Party, s.Queries.Releases > 0); err == nil && hint == "" {
			o.Spending = spending
		}
	}
	p, err := forecast(s, o.Party, console.PlanFlags{}, sync.OnceValue(func() *source.CheckedData { return own }))
	if err == nil {
		v := console.NewVerdict(p)
		o.Worth = append(o.Worth, v.Worth()...)
	} else {
		c.Say("What answers will be worth is not on the sheet: %v", err)
	}
	return local.NewSheet(o)
}

// sheetBlocks are a sheet under its headline.
func sheetBlocks(s local.Sheet) []block.Block {
	return append([]block.Block{block.Heading{Text: s.Headline(), Of: s.Name}}, s.Blocks()...)
}
