package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

type resultCommand struct {
	Study   string `arg:"" help:"The beginning of the study's id."`
	Further string `placeholder:"NAME" help:"A further result instead of the study's own: the beginning of its name, which the result lists."`
	Fetch   bool   `env:"-" help:"Ask the aggregator first for further results that it published since."`
	Output  string `short:"o" placeholder:"DIR" help:"Write result.json and signed.json (by which programs verify it) there; with --format text, csv, parquet or npy also text, tables or matrices. If the result is about records, labels.csv has this party's own ids, which never leave."`
	Rows    string `placeholder:"FILE" xor:"what" help:"Write there the name, like north/12, of each of this party's records in aggregator analyze STUDY record-distance. The file never leaves; the names do not identify people."`
	Label   string `placeholder:"FILE" xor:"what" help:"If sums answered k-means or lda: read this party's data again and write there the cluster or predicted class of each record. The file never leaves."`
}

func (resultCommand) Help() string {
	return "Verifies the aggregator's signature, and prints the result.\n\nExample: party result 5f0c1b0e --format csv -o results"
}

// Formats adds the formats of files.
func (resultCommand) Formats() []console.Format { return console.ResultFormats() }

// Run prints the stored result or writes it to files.
func (cmd resultCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.Fetch {
		if err := cmd.fetch(ctx, c, g); err != nil {
			return err
		}
	}
	if cmd.Rows != "" {
		return cmd.rows(c, g)
	}
	if cmd.Label != "" {
		return cmd.label(ctx, c, g)
	}
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	d, err := console.FindDocument(st, store.Party, cmd.Study, cmd.Further)
	if err != nil {
		return err
	}
	if err := d.OwnLabels(st); err != nil {
		return err
	}
	return d.Show(c, cmd.Output)
}

// fetch stores the further results that are not here yet.
func (cmd resultCommand) fetch(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	party, err := newParty(st, site, g, slog.New(slog.DiscardHandler), func(event.Progress) {})
	if err != nil {
		return err
	}
	defer party.Close()
	n, err := party.FetchFurther(ctx, s.ID)
	if err != nil {
		return err
	}
	c.Say("%s: %s", s.Name, fetched(n))
	return nil
}

func fetched(n int) string {
	if n == 1 {
		return "1 further result is new"
	}
	return fmt.Sprintf("%d further results are new", n)
}

// create makes a file about the party's own records, which nobody else may read.
func create(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fail.Usage.Of(fmt.Errorf("writing what belongs to own ids: %w", err))
	}
	return file, nil
}

// rows writes the names of the party's own records.
func (cmd resultCommand) rows(c *console.Console, g *console.Globals) error {
	if cmd.Output != "" || cmd.Further != "" {
		return fail.Usage.Of(errors.New("--rows is about the release, which has no --output or --further: give it alone"))
	}
	st, s, index, err := openStudy(g.OpenReadOnly, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	table, err := local.OwnRows(st, s, s.Parties[index].Name)
	if errors.Is(err, store.ErrNotFound) {
		return fail.NoRelease.New(s.Name, s.ID.Short())
	}
	if err != nil {
		return fail.Usage.Of(err)
	}
	file, err := create(cmd.Rows)
	if err != nil {
		return err
	}
	_, err = file.Write(table)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		os.Remove(cmd.Rows)
		return fmt.Errorf("writing the names of rows: %w", err)
	}
	return c.Print(map[string]any{"study": s.ID.String(), "file": cmd.Rows}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: by which name the aggregator knows each of your records. Give it names, never ids.\n", cmd.Rows)
	})
}

// label labels the party's own records with clusters and classes of the published models.
func (cmd resultCommand) label(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.Output != "" {
		return fail.Usage.Of(errors.New("--label and --output do different things: give one of them"))
	}
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	d, err := console.FindDocument(st, store.Party, cmd.Study, cmd.Further)
	if err != nil {
		return err
	}
	s := d.Study
	index, err := self(st, s)
	if err != nil {
		return err
	}
	file, err := create(cmd.Label)
	if err != nil {
		return err
	}
	talk := newTalk(c, s, index)
	defer talk.end()
	written, err := local.LabelRecords(ctx, sourceOf(st, g, s, talk.observe), d.Result, file)
	talk.end()
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		os.Remove(cmd.Label)
		return err
	}
	return c.Print(map[string]any{"study": s.ID.String(), "file": cmd.Label, "records": written}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: what the models say of %d records, by your own ids. It stays here.\n", cmd.Label, written)
	})
}
