package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
)

type serveCommand struct{}

func (serveCommand) Help() string { return "Example: party serve" }

// Serves marks the command as a console.Server: it logs misspelt variables.
func (serveCommand) Serves() {}

// Run serves all approved studies, including those approved while it runs.
func (serveCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	unlock, err := st.LockServing()
	if err != nil {
		return err
	}
	defer unlock()
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	logger := c.Logger(site.Log)
	c.FollowLevel(ctx, logger, func() (config.Log, error) {
		again, err := config.LoadParty(g.Config)
		return again.Log, err
	})
	if err := console.CheckState(ctx, st, logger); err != nil {
		return err
	}
	var watching, running sync.WaitGroup
	defer watching.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	observe, err := watch(ctx, &watching, st, site.Metrics, logger)
	if err != nil {
		return fail.Usage.Of(err)
	}
	self, err := newParty(st, site, g, logger, observe)
	if err != nil {
		return err
	}
	defer self.Close()
	defer running.Wait()
	defer cancel()
	for _, text := range c.Misspelt {
		logger.Warn(text)
	}
	c.Began(logger, fmt.Sprintf("party %s serves; stop with Ctrl-C", self.ID()), "serving", "id", self.ID().String())
	defer c.Ready()()
	taken := map[protocol.StudyID]bool{}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var swept time.Time
	for {
		if time.Since(swept) > sweepEvery {
			swept = time.Now()
			if err := removeKept(st); err != nil {
				return err
			}
		}
		due, err := approved(st)
		if err != nil {
			return err
		}
		for _, id := range due {
			if !taken[id] {
				taken[id] = true
				running.Go(func() { keepRunning(ctx, self, id, logger) })
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// removeKept removes row keys and sketches whose retention date has passed.
func removeKept(st *store.Store) error {
	if err := local.ForgetKept(st, console.Now()); err != nil {
		return err
	}
	return stored.RemoveAllExpired(st, console.Now())
}

// sweepEvery is the interval between calls of removeKept in serve.
const sweepEvery = time.Hour

// retryAfter is how long serve waits before it retries a study that could not be served, for
// example until the steward has repaired the data or the site file.
const retryAfter = 30 * time.Second

// longestRetry bounds the backoff after a bad result: the aggregator may sign another.
const longestRetry = time.Hour

// keepRunning serves a study to its end. It logs each new error once and retries at a fixed
// interval; after a bad result of the aggregator it backs off.
func keepRunning(ctx context.Context, self *party.Party, id protocol.StudyID, logger *slog.Logger) {
	said, pause := "", retryAfter
	for {
		err := self.Run(ctx, id)
		if err == nil || ctx.Err() != nil {
			return
		}
		if final(err) {
			logger.Error("study ended", "study", id.Short(), "error", err)
			return
		}
		if text := err.Error(); text != said {
			said = text
			logger.Error("study cannot be served; trying again from time to time", "study", id.Short(), "error", fail.Text(err))
		}
		var bad *party.BadResultError
		if errors.As(err, &bad) {
			pause = min(2*pause, longestRetry)
		} else {
			pause = retryAfter
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// final reports whether no later attempt can succeed.
func final(err error) bool {
	var failed *node.FailedError
	var late *session.DeadlineError
	var clock *node.ClockError // a clock can be set
	return errors.As(err, &failed) || errors.As(err, &late) && !errors.As(err, &clock) || errors.Is(err, node.ErrWithdrawn)
}

// approved lists the studies that the steward approved.
func approved(st *store.Store) ([]protocol.StudyID, error) {
	entries, err := st.Studies()
	if err != nil {
		return nil, err
	}
	var out []protocol.StudyID
	for _, e := range entries {
		d, _, err := st.Decision(e.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if d == store.Approve {
			out = append(out, e.ID)
		}
	}
	return out, nil
}
