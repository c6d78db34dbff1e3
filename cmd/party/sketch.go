package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

type sketchCommand struct {
	Study    string `arg:"" help:"The beginning of the study's id."`
	Job      string `env:"-" placeholder:"FILE" xor:"made" help:"Write the job by which party advanced part reads data that are elsewhere. It is as secret as the data."`
	Parts    string `env:"-" placeholder:"PATTERN" xor:"what,made" help:"Add the parts up that party advanced part made, all shards at once, and remove them then."`
	Withdraw string `env:"-" placeholder:"FILE" xor:"what,made" help:"Take the records of FILE out, which has the columns and the format of the data. Their ids stay out from then on."`
	DryRun   bool   `env:"-" xor:"what,made" help:"Make the whole release under a seed of its own, say what would leave and what it would cost, and throw it away. Needs neither approval nor network."`
	Rebuild  bool   `env:"-" xor:"what" help:"Read all data afresh; with --job, begin a new sum. Withdrawn records stay out."`
}

func (sketchCommand) Help() string {
	return `If the site file says release: ask, the sketch is held here until party advanced release. Until then party advanced sketch STUDY adds the files that have come to the dataset since.

The held sketch is as secret as the data. Nothing leaves.

Data that are elsewhere (elsewhere: in the site file) are held from parts: --job writes what party advanced part reads them by there, --parts adds up what it made. Noise is drawn here alone.

party advanced sketch STUDY --dry-run rehearses the release of any study instead.

Examples: party advanced sketch 5f0c1b0e, party advanced sketch 5f0c1b0e --withdraw consent-withdrawn.csv, party advanced sketch 5f0c1b0e --job study.job, party advanced sketch 5f0c1b0e --parts 'parts/*.part'`
}

type heldSketch struct {
	Study     string      `json:"study"`
	Name      string      `json:"name"`
	Changed   bool        `json:"changed"`
	Records   int64       `json:"records"`
	Withdrawn int64       `json:"withdrawn"` // ids that are excluded
	Taken     int64       `json:"taken"`     // records removed by this command
	Clipped   []int64     `json:"clipped"`   // records whose contribution is clipped, by sketch
	Shards    []heldShard `json:"shards"`
}

type heldShard struct {
	Name      string        `json:"name"`
	SHA256    string        `json:"sha256"`
	Added     bool          `json:"added"` // by this command
	Records   int64         `json:"records"`
	Withdrawn int64         `json:"withdrawn"`
	Skipped   int64         `json:"skipped"` // left out for a missing value
	Clipped   []int64       `json:"clipped"` // records, by sketch, as read
	Columns   []held.Column `json:"columns"` // as read
}

// Run brings the held sketch up to date, or rehearses the release.
func (cmd sketchCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.DryRun {
		return cmd.rehearse(ctx, c, g)
	}
	if cmd.Job != "" {
		return cmd.write(c, g)
	}
	st, s, index, err := openStudy(g.Open, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	talk := newTalk(c, s, index)
	o := sourceOf(st, g, s, nil)
	o.Observe = talk.observe
	out, err := cmd.change(ctx, o)
	talk.end()
	if err != nil {
		return err
	}
	said := newHeldSketch(s, out)
	return c.Print(said, func(w io.Writer) {
		present.Text(w, said.blocks())
		if out.Look {
			c.Say("Nothing has left. Next: party advanced release %s debits the budget and draws the noisy first look; then party advanced sketch %s --job FILE writes the job of the sketch itself.", s.ID.Short(), s.ID.Short())
			return
		}
		c.Say("Nothing has left. Next: party advanced release %s lets it go as it is now.", s.ID.Short())
	})
}

// change changes what is held.
func (cmd sketchCommand) change(ctx context.Context, o source.Options) (local.Holding, error) {
	if cmd.Parts == "" {
		return local.ChangeHeld(ctx, o, local.HeldChange{Rebuild: cmd.Rebuild, Withdraw: cmd.Withdraw})
	}
	paths, err := dataset.Files(cmd.Parts).Paths()
	if err != nil {
		return local.Holding{}, err
	}
	return local.SumParts(ctx, o, paths)
}

type writtenJob struct {
	Study   string `json:"study"`
	Name    string `json:"name"`
	Job     string `json:"job"`
	File    string `json:"file"`
	Expires string `json:"expires"`
}

// write writes the job.
func (cmd sketchCommand) write(c *console.Console, g *console.Globals) error {
	st, s, _, err := openStudy(g.Open, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	job, err := local.Job(sourceOf(st, g, s, nil), cmd.Rebuild)
	if err != nil {
		return err
	}
	if err := console.WriteFileAtomic(cmd.Job, func(w io.Writer) error {
		_, err := w.Write(job.Encode())
		return err
	}); err != nil {
		return err
	}
	out := writtenJob{s.ID.String(), s.Name, job.ID().String(), cmd.Job, job.Expires().String()}
	return c.Print(out, func(w io.Writer) {
		fmt.Fprintln(w, cmd.Job)
		c.Say("It is as secret as the data: whoever has it can tell whose records are in a part. It is of no use after %s.", out.Expires)
		if job.ForFirstLook() {
			c.Say("Its parts are of a first look, by which the sketch is made: another job follows when that is drawn.")
		}
		c.Say("Next, where the data are: party advanced part --job %s --shard 1/N FILES -o 1.part, to N/N; then here: party advanced sketch %s --parts '*.part'", filepath.Base(cmd.Job), s.ID.Short())
	})
}

func newHeldSketch(s *study.Study, h local.Holding) heldSketch {
	out := heldSketch{
		Study: s.ID.String(), Name: s.Name, Changed: h.Changed, Records: h.Records, Withdrawn: h.Withdrawn, Taken: h.Taken,
		Clipped: h.Clipped, Shards: []heldShard{},
	}
	for _, one := range h.Shards {
		out.Shards = append(out.Shards, heldShard{
			Name: one.Name, SHA256: one.SHA256, Added: slices.Contains(h.Added, one.Name), Records: one.Records,
			Withdrawn: one.Withdrawn, Skipped: one.Skipped, Clipped: one.Clipped, Columns: one.Columns,
		})
	}
	return out
}

// blocks shows the held sketch, then its shards.
func (h heldSketch) blocks() []block.Block {
	changed := "Nothing has changed."
	switch {
	case h.Taken > 0:
		changed = fmt.Sprintf("%s taken out.", block.Counted(h.Taken, "record was", "records were"))
	case h.Changed:
		var added int64
		for _, one := range h.Shards {
			if one.Added {
				added++
			}
		}
		changed = fmt.Sprintf("%s read.", block.Counted(added, "shard was", "shards were"))
	}
	t := block.Table{Columns: block.Headed(">records", ">withdrawn", ">left out", ">values clipped", ">missing", ">records clipped", "SHA-256", "shard"), AllRows: true}
	for _, one := range h.Shards {
		var clamped, missing, clipped int64
		for _, column := range one.Columns {
			clamped, missing = clamped+column.Clamped, missing+column.Missing
		}
		for _, n := range one.Clipped {
			clipped = max(clipped, n)
		}
		t.Rows = append(t.Rows, block.Cells(fmt.Sprint(one.Records), fmt.Sprint(one.Withdrawn), fmt.Sprint(one.Skipped), fmt.Sprint(clamped), fmt.Sprint(missing),
			fmt.Sprint(clipped), one.SHA256[:8], filepath.Base(one.Name)))
	}
	return []block.Block{block.Text{Text: fmt.Sprintf("%s (study %.8s): %s held, %s withdrawn. %s", h.Name, h.Study,
		block.Counted(h.Records, "record", "records"), block.Counted(h.Withdrawn, "id", "ids"), changed)}, t}
}
