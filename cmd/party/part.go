package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/dataset/arrow"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

type partCommand struct {
	Job    string   `required:"" env:"-" placeholder:"FILE" help:"The job that party advanced sketch STUDY --job FILE wrote at the node."`
	Shard  string   `env:"-" default:"1/1" placeholder:"N/M" help:"Which of how many shards the records are: each of 1/M to M/M is made once."`
	Files  []string `arg:"" optional:"" name:"files" help:"The shard: .parquet, CSV (also gzip or zstd) or .xlsx, read as one; or one .arrow. - or nothing: CSV or an Arrow stream from standard input."`
	Output string   `short:"o" env:"-" placeholder:"FILE" help:"Write the part there, whole or not at all. Default: standard output."`
	Temp   string   `env:"-" placeholder:"DIR" help:"Where keyed hashes of ids wait to be compared, 24 bytes each. Default: the system's temporary directory."`
}

func (partCommand) Help() string {
	return `Makes a part of a sketch where the data are: the exact sketch of one shard, sealed to the node's key, which party advanced sketch STUDY --parts adds up there. It needs the job and the shard, and no state directory, site file or network. The part has no noise, and only the node opens it.

The job is as secret as the data. Without a file, or with -, it reads what another program writes, such as duckdb -csv.

Examples: party advanced part --job study.job --shard 3/16 lake/month=3/*.parquet -o parts/3.part, party advanced part --job study.job < visits.csv > whole.part`
}

type madePart struct {
	Study   string        `json:"study"`
	Dataset string        `json:"dataset"`
	Job     string        `json:"job"`
	Shard   int           `json:"shard"`
	Of      int           `json:"of"`
	File    string        `json:"file,omitempty"`
	Records int64         `json:"records"`
	Skipped int64         `json:"skipped"` // left out for a missing value
	Clipped []int64       `json:"clipped"` // clipped records, by sketch
	Columns []part.Column `json:"columns"`
}

// Run makes the part.
func (cmd partCommand) Run(ctx context.Context, c *console.Console) error {
	shard, err := parseShard(cmd.Shard)
	if err != nil {
		return fail.Usage.Of(err)
	}
	job, err := part.ReadJob(cmd.Job)
	if err != nil {
		return err
	}
	from, closing, err := cmd.source(c)
	if err != nil {
		return err
	}
	defer closing()
	party, _ := job.Study.PartyIndex(job.Party)
	talk := newTalk(c, job.Study, party)
	o := local.PartOptions{Env: environment(talk.observe), Job: job, Shard: shard, From: from, SpillDir: cmd.Temp}
	var counts part.Counts
	write := func(w io.Writer) (err error) {
		counts, err = local.MakePart(ctx, w, o)
		return err
	}
	if cmd.Output != "" {
		err = console.WriteFileAtomic(cmd.Output, write)
	} else {
		out := bufio.NewWriter(c.Out)
		if err = write(out); err == nil {
			err = out.Flush()
		}
	}
	talk.end()
	if err != nil {
		return err
	}
	said := madePart{
		Study: job.Study.ID.String(), Dataset: job.Entry.Dataset, Job: job.ID().String(), Shard: shard.Number, Of: shard.Of, File: cmd.Output,
		Records: counts.Records, Skipped: counts.Skipped, Clipped: counts.Clipped, Columns: counts.Columns,
	}
	if cmd.Output == "" {
		c.Say("%s", said.text())
		return nil
	}
	return c.Print(said, func(w io.Writer) {
		fmt.Fprintln(w, cmd.Output)
		c.Say("%s", said.text())
	})
}

// source returns the shard's data, and a function that ends their reading.
func (cmd partCommand) source(c *console.Console) (dataset.Source, func(), error) {
	if len(cmd.Files) == 0 || len(cmd.Files) == 1 && cmd.Files[0] == "-" {
		return dataset.Source{Stream: &dataset.Stream{Name: "standard input", From: c.In, Arrow: arrow.Open}}, func() {}, nil
	}
	if !slices.ContainsFunc(cmd.Files, arrowFile) {
		return dataset.Files(cmd.Files...), func() {}, nil
	}
	if len(cmd.Files) > 1 {
		return dataset.Source{}, nil, fail.Usage.Of(errors.New("one Arrow file at a time makes a part: give each a shard of its own"))
	}
	f, err := os.Open(cmd.Files[0])
	if err != nil {
		return dataset.Source{}, nil, fail.Usage.Of(err)
	}
	return dataset.Source{Stream: &dataset.Stream{Name: cmd.Files[0], From: f, Arrow: arrow.Open}}, func() { f.Close() }, nil
}

// arrowFile reports whether a file's name is that of an Arrow file.
func arrowFile(name string) bool {
	return slices.Contains([]string{".arrow", ".arrows", ".ipc"}, strings.ToLower(filepath.Ext(name)))
}

// text describes the part, in counts.
func (p madePart) text() string {
	text := fmt.Sprintf("shard %d of %d of study %.8s: %s", p.Shard, p.Of, p.Study, block.Counted(p.Records, "record", "records"))
	if p.Skipped > 0 {
		text += fmt.Sprintf(", %d left out for a missing value", p.Skipped)
	}
	for _, column := range p.Columns {
		if column.Clamped > 0 {
			text += fmt.Sprintf("; %q: %d values outside the public bounds were clipped to them", column.Name, column.Clamped)
		}
		if column.Missing > 0 {
			text += fmt.Sprintf("; %q: %d missing", column.Name, column.Missing)
		}
	}
	for i, n := range p.Clipped {
		if n > 0 {
			text += fmt.Sprintf("; sketch %d: %d records clipped", i+1, n)
		}
	}
	return text
}

// parseShard parses a shard like 3/16.
func parseShard(text string) (part.Shard, error) {
	number, of, ok := strings.Cut(text, "/")
	n, first := strconv.Atoi(number)
	m, second := strconv.Atoi(of)
	if !ok || first != nil || second != nil {
		return part.Shard{}, fmt.Errorf("--shard %q: want two numbers, like 3/16", text)
	}
	s := part.Shard{Number: n, Of: m}
	return s, s.Check()
}
