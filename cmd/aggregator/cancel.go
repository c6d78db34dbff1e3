package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

type studyCancel struct {
	Study  string `arg:"" help:"The beginning of the study's id."`
	Reason string `placeholder:"TEXT" env:"-" help:"Why, in a line that every party is shown. Default: none."`
}

// Help says who is told, and what is kept.
func (studyCancel) Help() string {
	return "Ends a study that has no result, also while aggregator serve runs. The board then says so, signed, with the reason, and every party stops when it reads it. What parties have debited stays debited. What they sent stays until you purge it.\n\nExample: aggregator study cancel 5f0c1b0e --reason 'south sent the wrong year'"
}

// mostReason bounds a reason, in bytes: a line or two.
const mostReason = 300

// Validate refuses a reason that is not one line of text.
func (cmd studyCancel) Validate() error {
	if err := checkReason(cmd.Reason); err != nil {
		return fmt.Errorf("--reason: %w", err)
	}
	return nil
}

// checkReason refuses text that is not one line.
func checkReason(text string) error {
	if len(text) > mostReason {
		return fmt.Errorf("%d bytes, at most %d", len(text), mostReason)
	}
	for _, r := range text {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return errors.New("want one line of printable text")
		}
	}
	return nil
}

type stopped struct {
	Study  string `json:"study"`
	Name   string `json:"name"`
	At     string `json:"at"`
	Reason string `json:"reason"` // as on the board
	Before bool   `json:"before"` // it had been stopped before
}

// Run cancels the study, by itself or through the aggregator that serves it.
func (cmd studyCancel) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	id, err := console.FindID(st, cmd.Study)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, handOverTime)
	defer cancel()
	got, err := aggregator.Cancel(ctx, options(st), st, id, cmd.Reason)
	if err != nil {
		return err
	}
	out := stopped{id.String(), got.Name, got.Stop.At.String(), got.Stop.Reason, got.Before}
	return c.Print(out, func(w io.Writer) {
		if got.Before {
			fmt.Fprintf(w, "%s (%s) was stopped before, at %s: %s\n", got.Name, id.Short(), got.Stop.At, got.Stop.Reason)
			return
		}
		fmt.Fprintf(w, "%s (%s) is stopped: %s\n", got.Name, id.Short(), got.Stop.Reason)
		if got.Damage != nil {
			c.Say("The stored %s is damaged: it is given up here, and parties are told when they ask. The board cannot say so: tell them yourself, too.", got.Damage.What)
			return
		}
		c.Say("Parties learn it from the board: over the network from aggregator serve, by hand from aggregator advanced export %s", id.Short())
	})
}
