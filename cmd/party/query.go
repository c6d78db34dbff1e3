package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

type queryCommand struct {
	Study  string         `arg:"" help:"The beginning of the study's id."`
	Files  []string       `arg:"" name:"file" help:"New records, in the form of the study's data; the label may be missing."`
	Output string         `short:"o" placeholder:"FILE" help:"Write the table there, for its owner alone, instead of printing it."`
	DryRun bool           `env:"-" help:"Read the records, say what the query would cost, and stop."`
	Wait   *time.Duration `env:"-" placeholder:"DURATION" help:"How long to try to reach the aggregator, such as 90s; 0 gives up at once. Default: until it answers."`
}

func (queryCommand) Help() string {
	return `Asks which records of all parties are nearest to new records of this party. THIS IS A RELEASE: the new records are sketched and noised, the ledger is debited, and the noised rows go to the aggregator. The study file says under queries how often you may ask. This party's own neighbours have their ids, those of others their party and a handle.

Asking about the same records again finishes or repeats the same query: nothing is drawn, spent or sent anew.

Examples: party advanced query 5f0c1b0e new.csv --dry-run, party advanced query 5f0c1b0e new.csv -o near.csv`
}

// Validate refuses an invalid --wait.
func (cmd queryCommand) Validate() error { return runCommand{Wait: cmd.Wait}.Validate() }

type queried struct {
	Study     string     `json:"study"`
	Query     int        `json:"query"`
	Of        int        `json:"of"` // number of queries that the study allows
	Again     bool       `json:"again"`
	Epsilon   float64    `json:"epsilon"` // cost of this query; it may have been paid earlier
	Delta     float64    `json:"delta"`
	Level     float64    `json:"level,omitempty"` // confidence level of all intervals of one record together
	Undefined string     `json:"undefined,omitempty"`
	File      string     `json:"file,omitempty"` // file with the table, if it is not printed
	Columns   []string   `json:"columns,omitempty"`
	Count     int64      `json:"count"`
	Records   [][]string `json:"records,omitempty"` // by Columns
}

// Run asks the query.
func (cmd queryCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, s, index, err := openStudy(g.Open, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	talk := newTalk(c, s, index)
	defer talk.end()
	ctx, observe, stop := runCommand{Wait: cmd.Wait}.patience(ctx, talk.observe)
	defer stop()
	logger := slog.New(slog.DiscardHandler) // talk reports events
	if g.LogLevel != nil {
		logger = c.Logger(site.Log)
	}
	self, err := newParty(st, site, g, logger, observe)
	if err != nil {
		return err
	}
	defer self.Close()
	asked, err := self.Ask(ctx, s.ID, party.Question{Files: cmd.Files, DryRun: cmd.DryRun})
	talk.end()
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fail.NoResultHere.New(s.Name, s.ID.Short())
	case err != nil:
		return failedBecause(ctx, err)
	}
	out := queried{
		Study: s.ID.String(), Query: asked.Number, Of: s.Queries.Releases, Again: asked.Before, Count: asked.Records,
		Epsilon: float64(asked.Promise.Epsilon()), Delta: float64(asked.Promise.Delta()),
		Level: asked.Answer.Level, Undefined: asked.Answer.Undefined, Columns: asked.Columns,
	}
	cost := dp.Budget{Epsilon: asked.Promise.Epsilon(), Delta: asked.Promise.Delta()}
	if cmd.DryRun {
		return c.Print(out, func(to io.Writer) {
			if asked.Before {
				fmt.Fprintf(to, "These %d records were asked about in query %d: asking again spends nothing.\n", asked.Records, asked.Number)
				return
			}
			fmt.Fprintf(to, "Query %d of %d, about %d records, would cost %v. Nothing was spent, and nothing has left.\n", asked.Number, s.Queries.Releases, asked.Records, cost)
		})
	}
	table, err := tableOf(cmd.Output, len(s.Records.ID), asked.Columns, asked.Table)
	if err != nil {
		return fmt.Errorf("writing neighbours: %w (the answer is stored: ask again, which spends nothing)", err)
	}
	if out.File = cmd.Output; cmd.Output == "" {
		out.Records = asked.Table
	}
	return c.Print(out, func(to io.Writer) {
		table.print(c, to)
		if asked.Answer.Undefined != "" {
			c.Say("Distances have no intervals: %s.", asked.Answer.Undefined)
		}
		if asked.Before {
			c.Say("Query %d of %d, as it was asked before: nothing was spent.", asked.Number, s.Queries.Releases)
			return
		}
		c.Say("Query %d of %d about %d records: it cost %v.", asked.Number, s.Queries.Releases, asked.Records, cost)
	})
}
