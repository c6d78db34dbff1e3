package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/block"
)

// rehearse makes the release and throws it away. It needs no approval, and no network.
func (cmd sketchCommand) rehearse(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, s, index, err := openStudy(g.OpenReadOnly, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	talk := newTalk(c, s, index)
	defer talk.end()
	r, refusal, err := local.Rehearse(ctx, sourceOf(st, g, s, talk.observe))
	if err != nil {
		return err
	}
	talk.end()
	err = c.Print(r, func(w io.Writer) {
		writeRehearsal(w, r)
		if refusal == nil {
			c.Say("Next: %s", next(st, g, s))
		}
	})
	if err != nil {
		return err
	}
	return refusal
}

// writeRehearsal prints a rehearsal for people.
func writeRehearsal(w io.Writer, r local.Rehearsal) {
	present.Paragraph(w, "", fmt.Sprintf("%s (study %.8s): %d bytes would leave, made of %s of dataset %q; %s left out for a missing value.",
		r.Name, r.Study, r.Bytes, counted(r.Records, "record", "records"), r.Dataset, counted(r.Skipped, "record", "records")))
	for i, s := range r.Sketches {
		fmt.Fprintln(w)
		present.Paragraph(w, "", fmt.Sprintf("Sketch %d: %s side, %s: %d × %d entries of %d bytes, %d bytes; %d records clipped.",
			i+1, s.Side, s.Projection, s.Rows, s.Cols, s.Width, s.Bytes, s.Clipped))
		where := "entry"
		if s.Bits {
			where = "bit"
		}
		present.Paragraph(w, "  ", fmt.Sprintf("%s: a standard deviation of %s units in each %s.", capital(s.Noise), block.Brief(s.Deviation), where))
		if s.Labels != "" {
			present.Paragraph(w, "  ", "Last column: "+s.Labels+".")
		}
		present.Paragraph(w, "  ", s.Statement)
	}
	fmt.Fprintln(w)
	tellData(w, r.Effect)
	fmt.Fprintln(w)
	accounts := present.NewTable("budget per", ">ε before", ">ε after", ">of cap", ">at δ")
	for _, a := range r.Budget {
		limit := "no cap"
		if a.Cap != nil {
			limit = block.Brief(*a.Cap)
		}
		accounts.Add(a.Unit, bounded(a.Before), bounded(a.After), limit, block.Brief(a.Delta))
	}
	accounts.Write(w)
	fmt.Fprintln(w)
	t := r.Seconds
	present.Paragraph(w, "", fmt.Sprintf("Reading and projecting took %.2f s (%.2f s of it projecting), noise %.2f s, encoding %.2f s.", t.Pass, t.Project, t.Noise, t.Encode))
	verdict := "Policy and budget would allow the release."
	if !r.Allowed {
		verdict = "Policy or budget would refuse the release."
	}
	fmt.Fprintln(w, verdict+" Nothing was spent, nothing is kept, nothing has left.")
}

// bounded prints an ε, or that there is none.
func bounded(epsilon *float64) string {
	if epsilon == nil {
		return "unbounded"
	}
	return block.Brief(*epsilon)
}

// capital begins a sentence; the first character is ASCII.
func capital(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}
