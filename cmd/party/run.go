package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type runCommand struct {
	Study string         `arg:"" help:"The beginning of the study's id."`
	Wait  *time.Duration `env:"-" placeholder:"DURATION" help:"How long to wait for others, such as 90s; 0 gives up when the aggregator is not there at once. Default: as long as the study's dates allow."`
}

func (runCommand) Help() string { return "Example: party run 5f0c1b0e" }

// Validate refuses an invalid --wait.
func (cmd runCommand) Validate() error {
	if cmd.Wait != nil && *cmd.Wait < 0 {
		return fmt.Errorf("--wait: %v is in the past", *cmd.Wait)
	}
	return nil
}

// Run serves one study to its end.
func (cmd runCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, s, index, err := openStudy(g.Open, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := cmd.serve(ctx, c, g, st, s, index); err != nil {
		return err
	}
	return c.Print(map[string]string{"study": s.ID.String(), "name": s.Name, "state": "done"}, func(w io.Writer) {
		fmt.Fprintf(w, "done: %s (%s)\n", s.Name, s.ID.Short())
		c.Say("Next: party result %s", s.ID.Short())
	})
}

// serve serves the study and reports progress.
func (cmd runCommand) serve(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, index int) error {
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	if err := inTime(st, s); err != nil {
		return err
	}
	talk := newTalk(c, s, index)
	defer talk.end()
	ctx, observe, stop := cmd.patience(ctx, talk.observe)
	defer stop()
	logger := slog.New(slog.DiscardHandler) // talk reports events
	if g.LogLevel != nil {
		logger = c.Logger(site.Log)
	}
	party, err := newParty(st, site, g, logger, observe)
	if err != nil {
		return err
	}
	defer party.Close()
	if err := party.Run(ctx, s.ID); err != nil {
		return failedBecause(ctx, err)
	}
	return nil
}

// inTime refuses an approval that was not signed before the study expired: it can no longer be.
func inTime(st *store.Store, s *study.Study) error {
	own, err := st.Own(s.ID)
	if err == nil && len(own) == 0 && console.Now() >= max(s.Expires, s.LateUntil) {
		return console.Expired(s)
	}
	return err
}

// patience makes --wait end the context: after that time, or if it is 0, at the first failed call,
// which is the cause.
func (cmd runCommand) patience(ctx context.Context, observe event.Observer) (context.Context, event.Observer, context.CancelFunc) {
	switch {
	case cmd.Wait == nil:
		return ctx, observe, func() {}
	case *cmd.Wait > 0:
		ctx, cancel := context.WithTimeout(ctx, *cmd.Wait)
		return ctx, observe, cancel
	}
	ctx, cancel := context.WithCancelCause(ctx)
	first := func(p event.Progress) {
		if p.Milestone == event.Retrying {
			cancel(&impatience{p.Err})
			return
		}
		observe(p)
	}
	return ctx, first, func() { cancel(nil) }
}

// impatience is the first failure of a run that does not wait.
type impatience struct{ error }

func (i *impatience) Unwrap() error { return i.error }

// failedBecause returns the failure that ended the context, or else err.
func failedBecause(ctx context.Context, err error) error {
	if first := (*impatience)(nil); errors.As(context.Cause(ctx), &first) {
		return first
	}
	return err
}

func newParty(st *store.Store, site config.Party, g *console.Globals, logger *slog.Logger, observe event.Observer) (*party.Party, error) {
	if err := local.SameIdentity(st); err != nil {
		return nil, err
	}
	if err := removeKept(st); err != nil {
		return nil, err
	}
	env := environment(observe)
	env.Log = logger
	return party.New(party.Options{Env: env, Store: st, Site: siteFile(g), Network: site.Network})
}
