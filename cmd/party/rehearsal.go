package main

import (
	"context"
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
)

// rehearse makes the release and throws it away. It needs no approval and no network.
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
		present.Text(w, r.Blocks())
		if refusal == nil {
			c.Say("Next: %s", next(st, g, s))
		}
	})
	if err != nil {
		return err
	}
	return refusal
}
