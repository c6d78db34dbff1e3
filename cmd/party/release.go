package main

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

type releaseCommand struct {
	Study string `arg:"" help:"The beginning of the study's id."`
}

func (releaseCommand) Help() string {
	return `The steward's decision if the site file says release: ask. A running party run or serve carries it out within seconds: it debits the budget, draws the noise and sends the release, which can then no longer be changed. A change of the held sketch before that revokes the decision.

Example: party advanced release 5f0c1b0e`
}

type releasedHeld struct {
	Study     string `json:"study"`
	Name      string `json:"name"`
	Records   int64  `json:"records"`
	Withdrawn int64  `json:"withdrawn"`
	Shards    int    `json:"shards"`
	Look      bool   `json:"look,omitempty"` // of the sums for a first look, on which the sketch depends
}

// Run stores the decision.
func (cmd releaseCommand) Run(c *console.Console, g *console.Globals) error {
	st, s, _, err := openStudy(g.Open, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	h, err := local.ReleaseHeld(sourceOf(st, g, s, nil))
	if err != nil {
		return err
	}
	out := releasedHeld{s.ID.String(), s.Name, h.Records, h.Withdrawn, len(h.Shards), h.Look}
	return c.Print(out, func(w io.Writer) {
		out.write(w, s)
		c.Say("Next: party run %s carries it out; one that waits, or party serve, does so by itself.", s.ID.Short())
		if h.Look {
			c.Say("Then party advanced sketch %s --job FILE writes the job of the sketch itself.", s.ID.Short())
		}
	})
}

func (r releasedHeld) write(w io.Writer, s *study.Study) {
	what := "to be released: %s (%s), the sketch of %s from %s, %s."
	if r.Look {
		what = "to be debited and drawn: %s (%s), the noisy first look at %s from %s, %s."
	}
	present.Text(w, []block.Block{block.Text{Text: fmt.Sprintf(what, r.Name, s.ID.Short(),
		block.Counted(r.Records, "record", "records"), block.Counted(int64(r.Shards), "shard", "shards"), block.Counted(r.Withdrawn, "id withdrawn", "ids withdrawn"))}})
}
