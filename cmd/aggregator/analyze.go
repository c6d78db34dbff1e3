package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

type analyzeCommand struct {
	Study   string   `arg:"" help:"The beginning of the study's id."`
	Kind    string   `arg:"" help:"What to ask, as under analyses in a study file, such as k-means."`
	Options []string `arg:"" optional:"" placeholder:"KEY=VALUE" help:"Its options, as in a study file; lists need no brackets."`
	Output  string   `short:"o" placeholder:"DIR" help:"Write result.json there and, with --format text, csv, parquet or npy, the same as text, tables or matrices."`
	Publish bool     `env:"-" help:"Sign the answer and keep it for the study's parties, who fetch it with party result STUDY --fetch."`
	Report  string   `placeholder:"FILE" help:"Write the answer as a page with figures, too."`
}

func (analyzeCommand) Help() string {
	return "Answers a further analysis from the releases of a study's result, also while aggregator serve runs. " +
		"Nothing leaves any party, and no budget is spent. " +
		"The study file's later lists the kinds that the parties agreed to. Ctrl-C stops it, and nothing is stored.\n\n" +
		"Examples: aggregator analyze 5f0c1b0e k-means clusters=3; aggregator analyze 5f0c1b0e correlation intervals=all -o answers --format csv"
}

// Formats adds the formats of files.
func (analyzeCommand) Formats() []console.Format { return console.ResultFormats() }

// Run answers the question and prints it or writes it to files.
func (cmd analyzeCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	open := g.OpenReadOnly
	if cmd.Publish {
		open = g.Open
	}
	st, err := open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	asked, err := file.Further(s, cmd.Kind, cmd.Options)
	if err != nil {
		return fmt.Errorf("study %s (%s): %w", s.Name, s.ID.Short(), err)
	}
	conf, err := config.LoadAggregator(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	boundAnalysis(conf)
	further, err := cmd.answer(ctx, c, st, s, asked, conf.Memory)
	if err != nil {
		return err
	}
	defer further.Close()
	d := console.Document{Study: s, Result: further.Result, Raw: further.Raw}
	if cmd.Publish {
		statement, err := aggregator.Publish(options(st), s, further)
		if err != nil {
			return err
		}
		if d, err = console.FindDocument(st, store.Aggregator, cmd.Study, statement.Document.Hash.String()); err != nil {
			return err
		}
		c.Say("published as %.8s: parties fetch it with party result %s --fetch", statement.Document.Hash.String(), s.ID.Short())
	}
	if cmd.Report != "" {
		if err := d.Report(c, st, cmd.Report); err != nil {
			return err
		}
	}
	if cmd.Report == "" || cmd.Output != "" {
		err = d.Show(c, cmd.Output)
	}
	c.Say("Nothing was spent: the answer was computed from releases that were already here.")
	return err
}

// answer computes the answer, and every few seconds reports progress.
func (cmd analyzeCommand) answer(ctx context.Context, c *console.Console, st *store.Store, s *study.Study, asked study.Analysis, memory int64) (aggregator.Further, error) {
	type outcome struct {
		further aggregator.Further
		err     error
	}
	done, began := make(chan outcome, 1), time.Now()
	go func() {
		further, err := aggregator.Analyze(ctx, options(st), s, asked, memory)
		done <- outcome{further, err}
	}()
	ticker := time.NewTicker(2 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.Say("%s: computing for %.0f s; Ctrl-C stops it, and nothing is stored", cmd.Kind, time.Since(began).Seconds())
			ticker.Reset(10 * time.Second)
		case out := <-done:
			switch {
			case errors.Is(out.err, store.ErrNotFound):
				return out.further, fail.NoResult.New(s.Name, s.ID.Short())
			case out.err != nil:
				return out.further, fmt.Errorf("analyzing study %s (%s): %w", s.Name, s.ID.Short(), out.err)
			}
			return out.further, nil
		}
	}
}
