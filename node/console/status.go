package console

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
)

// StatusCommand prints where studies stand. It reads beside a running node.
type StatusCommand struct {
	Study string `arg:"" optional:"" help:"The beginning of a study's id. Default: all."`
	Watch bool   `help:"Print again whenever something changes, until every study has ended."`

	Role store.Role `kong:"-"` // whose state directory it is; set by the program
}

// Run prints once, or until everything has ended.
func (cmd StatusCommand) Run(ctx context.Context, c *Console, g *Globals) error {
	st, err := store.Open(g.State, cmd.Role, store.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer st.Close()
	var before []node.Snapshot
	for first := true; ; first = false {
		now, err := Snapshots(st, cmd.Study)
		if err != nil {
			return err
		}
		if first || !slices.EqualFunc(before, now, node.Snapshot.Equal) {
			before = now
			err := c.Print(now, func(w io.Writer) {
				if !first {
					fmt.Fprintln(w)
				}
				WriteSnapshots(w, now)
			})
			if err != nil {
				return err
			}
		}
		if !cmd.Watch || !slices.ContainsFunc(now, node.Snapshot.Active) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}
