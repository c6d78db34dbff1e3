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
	As     string `enum:"sheet,dpia" default:"sheet" env:"-" help:"What to show: sheet, or dpia, a data protection impact assessment with what this node knows filled in."`
	Output string `short:"o" env:"-" placeholder:"FILE" help:"Write it as a page to print, like sheet.html."`
}

// Help explains the purpose of the sheet.
func (studySheet) Help() string {
	return "Shows what the study is for, what leaves, how people are protected, what that spends and what the answers are worth, with lines to sign. party study explain says all of it at length.\n\nExamples: party study sheet 5f0c1b0e, party study sheet 5f0c1b0e -o sheet.html, party study sheet 5f0c1b0e --as dpia -o dpia.html"
}

// Run shows the sheet, with facts from this party's data if the site file names them.
func (cmd studySheet) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	s, err := console.StudyOrFile(g, store.Party, cmd.Study)
	if err != nil {
		return err
	}
	o, err := cmd.options(ctx, c, g, s, viewer(c, g, s, "Written"))
	if err != nil {
		return err
	}
	var sheet onePage
	var next string
	switch cmd.As {
	case "dpia":
		sheet, err = local.NewAssessment(o)
		next = "open it in a browser or a word processor, and fill in what stands behind TO FILL IN"
	default:
		sheet, err = local.NewSheet(o)
		next = "print it, or open it in any browser; then party study approve " + s.ID.Short()
	}
	if err != nil {
		return err
	}
	if cmd.Output == "" {
		return c.Print(sheet, func(w io.Writer) { present.Text(w, pageBlocks(sheet, s.Name)) })
	}
	if err := console.WriteFileAtomic(cmd.Output, func(w io.Writer) error {
		return present.HTML(w, present.Page{Title: s.Name, Kicker: sheet.Headline(), Headline: s.Name, Footer: "Made " + console.Now().String() + " by cosketch " + console.Version(), Blocks: sheet.Blocks()})
	}); err != nil {
		return err
	}
	return c.Print(sheet, func(w io.Writer) {
		fmt.Fprintln(w, cmd.Output)
		c.Say("Next: %s", next)
	})
}

// onePage is a sheet or an assessment.
type onePage interface {
	Headline() string
	Blocks() []block.Block
}

// sheet makes the sheet, with facts from this party's data if the site file names them.
func (cmd studySheet) sheet(ctx context.Context, c *console.Console, g *console.Globals, s *study.Study, party int) (local.Sheet, error) {
	o, err := cmd.options(ctx, c, g, s, party)
	if err != nil {
		return local.Sheet{}, err
	}
	return local.NewSheet(o)
}

func (studySheet) options(ctx context.Context, c *console.Console, g *console.Globals, s *study.Study, party int) (local.SheetOptions, error) {
	o := local.SheetOptions{Study: s, Party: party}
	var own *source.CheckedData
	if o.Party != study.Everyone {
		st, err := g.OpenReadOnly(store.Party)
		if err != nil {
			return o, err
		}
		defer st.Close()
		if own, _ = ownData(ctx, c, g, st, s, o.Party); own != nil {
			o.Records = own.Records
		}
		if err := ctx.Err(); err != nil {
			return o, err
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
	return o, nil
}

// sheetBlocks shows a sheet under its headline.
func sheetBlocks(s local.Sheet) []block.Block { return pageBlocks(s, s.Name) }

func pageBlocks(s onePage, name string) []block.Block {
	return append([]block.Block{block.Heading{Text: s.Headline(), Of: name}}, s.Blocks()...)
}
