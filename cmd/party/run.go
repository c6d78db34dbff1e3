package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

type runCommand struct {
	Study string        `arg:"" help:"The beginning of the study's id."`
	Wait  time.Duration `default:"-1s" placeholder:"DURATION" help:"How long to wait for others, such as 90s; 0 gives up when the aggregator is not there at once. Default: as long as the study's dates allow."`
}

// Run serves one study to its end.
func (cmd runCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := open(g)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	talk := newTalk(c, s.Name)
	defer talk.end()
	observe, logger := talk.observe, slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if cmd.Wait == 0 {
		observe = func(p node.Progress) {
			talk.observe(p)
			if p.Milestone == node.Retrying {
				cancel(p.Err) // --wait 0: the first failure is the last
			}
		}
	}
	if cmd.Wait > 0 {
		timed, stop := context.WithTimeout(ctx, cmd.Wait)
		defer stop()
		ctx = timed
	}
	if site, err := config.LoadParty(g.Config); err == nil {
		logger = c.Logger(site.Log)
	}
	party, err := newParty(st, g, logger, observe)
	if err != nil {
		return err
	}
	defer party.Close()
	err = party.Run(ctx, s.ID)
	if cause := context.Cause(ctx); err != nil && cmd.Wait == 0 && cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if err != nil {
		return err
	}
	talk.end()
	return c.Print(map[string]string{"study": s.ID.String(), "name": s.Name, "state": "done"}, func(w io.Writer) {
		fmt.Fprintf(w, "done: %s (%s)\n", s.Name, s.ID.Short())
		c.Say("Next: party result %s", s.ID.Short())
	})
}

func newParty(st *store.Store, g *console.Globals, logger *slog.Logger, observe node.Observer) (*node.Party, error) {
	return node.NewParty(node.PartyOptions{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(g.Config) },
		Entropy: rand.Reader, Now: console.Now, Version: console.Version(), Logger: logger, Observe: observe,
		Workers: runtime.GOMAXPROCS(0),
	})
}

type serveCommand struct{}

// Run serves all approved studies, also those approved while it runs.
func (serveCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := open(g)
	if err != nil {
		return err
	}
	defer st.Close()
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return console.WithCode(console.Usage, err)
	}
	logger := c.Logger(site.Log)
	party, err := newParty(st, g, logger, logProgress(logger))
	if err != nil {
		return err
	}
	defer party.Close()
	c.Say("party %s serves; stop with Ctrl-C", party.ID())
	var running sync.WaitGroup
	defer running.Wait()
	taken := map[protocol.StudyID]bool{}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		due, err := approved(st)
		if err != nil {
			return err
		}
		for _, id := range due {
			if taken[id] {
				continue
			}
			taken[id] = true
			running.Go(func() {
				if err := party.Run(ctx, id); err != nil && ctx.Err() == nil {
					logger.Error("study ended", "study", id.Short(), "error", err)
				}
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
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

// logProgress logs what a daemon's operator wants to find later.
func logProgress(logger *slog.Logger) node.Observer {
	return func(p node.Progress) {
		study := p.Study.Short()
		switch p.Milestone {
		case node.Waiting:
			logger.Info("study", "study", study, "state", p.Status.State, "waits_for", p.Status.WaitFor)
		case node.Checked, node.Projected:
			logger.Info("data "+string(p.Milestone), "study", study, "note", p.Note)
		case node.Persisted:
			logger.Debug("message stored", "study", study, "kind", p.Kind)
		case node.Debited, node.Stored, node.Uploaded, node.Finished:
			logger.Info("release "+string(p.Milestone), "study", study)
		}
	}
}
