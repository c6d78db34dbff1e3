package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cosketch/cosketch/research/defaults"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/program"
)

type roundsTable struct {
	Data          string `placeholder:"DIR" help:"Folder of public data sets, laid out as research/docs/data.md says, of which adult, diabetes130, heart and retail are measured too. Default: ${data}."`
	Only          string `placeholder:"TEXT" help:"Measure only data with this in their name."`
	Seeds         int    `default:"10" help:"Studies of each row, each with other declared scales, directions and noise."`
	Nodes         bool   `help:"Play drafted studies on three parties and an aggregator, real processes of this machine, in place of kernels in this process."`
	program.Timed `embed:"" set:"timeout=2h"`
}

// Run measures k-means in one and in two rounds.
func (o roundsTable) Run(ctx context.Context, s program.Streams) error {
	if o.Seeds < 1 {
		return program.UsageErrorf("%d seeds: want at least 1 (see rounds --help)", o.Seeds)
	}
	var folder *corpus.Corpus
	switch data, err := corpus.Open(o.Data, os.Getenv); {
	case err == nil:
		folder = &data
	case !errors.Is(err, corpus.ErrNone):
		return program.UsageError(err)
	}
	if o.Nodes {
		dir, err := os.MkdirTemp("", "cosketch-rounds-")
		if err != nil {
			return fmt.Errorf("making a directory for the nodes: %w", err)
		}
		defer os.RemoveAll(dir)
		if err := network.Build(ctx, dir); err != nil {
			return err
		}
		return defaults.OnNodes(ctx, folder, o.Only, o.Seeds, dir, s.Out)
	}
	return defaults.Rounds(ctx, folder, o.Only, o.Seeds, s.Out)
}
