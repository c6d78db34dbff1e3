package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/research/union"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/program"
)

type unionReport struct {
	Data          string    `placeholder:"DIR" help:"Folder of public data sets, laid out as research/docs/data.md says, of which heart and diabetes130 are measured too. Default: ${data}."`
	Trials        int       `default:"20" help:"Studies of each kind, with records dealt out anew, new seeds and new noise."`
	Epsilon       []float64 `default:"0.25,0.5,1,2,4,8" help:"The ε for whole records."`
	Figures       string    `placeholder:"FILE" help:"Draw the accuracy over ε and over the number of records there too, with the plan's forecast on it: a page that stands by itself."`
	program.Timed `embed:"" set:"timeout=20m"`
}

// Run measures horizontal studies with privacy unit record.
func (o unionReport) Run(ctx context.Context, s program.Streams) error {
	asked := union.Options{Trials: o.Trials}
	switch data, err := corpus.Open(o.Data, os.Getenv); {
	case err == nil:
		asked.Corpus = &data
	case !errors.Is(err, corpus.ErrNone):
		return program.UsageError(err)
	}
	for _, e := range o.Epsilon {
		if _, err := dp.Promise(dp.Gaussian, dp.Budget{Epsilon: dp.Epsilon(e), Delta: 1e-6}); err != nil {
			return program.UsageErrorf("%w (see union --help)", err)
		}
		asked.Epsilon = append(asked.Epsilon, dp.Epsilon(e))
	}
	if o.Trials < 1 {
		return program.UsageErrorf("%d trials: want at least 1 (see union --help)", o.Trials)
	}
	var page bytes.Buffer
	if o.Figures != "" {
		asked.Figures = &page
	}
	if err := union.Report(ctx, asked, s.Out); err != nil || o.Figures == "" {
		return err
	}
	if err := os.WriteFile(o.Figures, page.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	fmt.Fprintf(s.Log, "Figures: %s\n", o.Figures)
	return nil
}
