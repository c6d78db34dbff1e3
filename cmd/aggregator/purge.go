package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type purgeCommand struct {
	Study  []string `arg:"" optional:"" help:"The beginnings of studies' ids. Default: with --days, all that ended so long ago."`
	Days   *int     `placeholder:"N" env:"-" help:"All studies that ended at least so many days ago: stopped, closed, or past their last date."`
	DryRun bool     `env:"-" help:"Say what would be removed, and remove nothing."`
}

// Help says what is kept.
func (purgeCommand) Help() string {
	return "Removes the sketches that parties sent, once a study takes no more of them: after its last date, when it was stopped, or when it has its last possible result. The board, the results and their signatures stay; nothing further can be asked.\n\nExamples: aggregator purge 5f0c1b0e, aggregator purge --days 90 --dry-run"
}

type purged struct {
	Study string `json:"study"`
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Run purges studies; the aggregator may be serving.
func (cmd purgeCommand) Run(c *console.Console, g *console.Globals) error {
	if (len(cmd.Study) == 0) == (cmd.Days == nil) || cmd.Days != nil && *cmd.Days < 0 {
		return fail.Usage.Of(errors.New("purging: name studies, or give --days N"))
	}
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	due, err := cmd.due(st)
	if err != nil {
		return err
	}
	out := []purged{}
	for _, s := range due {
		size, err := cmd.purge(st, s)
		if err != nil {
			return err
		}
		out = append(out, purged{s.ID.String(), s.Name, size})
	}
	return c.Print(out, func(w io.Writer) {
		done := "removed"
		if cmd.DryRun {
			done = "would be removed"
		}
		for _, p := range out {
			fmt.Fprintf(w, "%s  %s: %s of sketches %s\n", p.Study[:8], p.Name, block.Bytes(p.Bytes), done)
		}
		if len(out) == 0 {
			c.Say("No study is due.")
		}
	})
}

// purge removes a study's sketches. In a dry run it only returns their size, or why it would not
// remove them.
func (cmd purgeCommand) purge(st *store.Store, s *study.Study) (bytes int64, err error) {
	if !cmd.DryRun {
		return local.Purge(st, s, console.Now())
	}
	e, err := local.EndingOf(st, s)
	if err != nil {
		return 0, err
	}
	if !e.Over && console.Now() < e.At {
		return 0, &local.NotEndedError{Study: s.ID, Until: e.At}
	}
	return st.UploadSize(s.ID)
}

// due returns the named studies, or those that ended long enough ago and still have sketches.
func (cmd purgeCommand) due(st *store.Store) ([]*study.Study, error) {
	var out []*study.Study
	for _, prefix := range cmd.Study {
		s, err := console.FindStudy(st, prefix)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if cmd.Days == nil {
		return out, nil
	}
	entries, err := st.Studies()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch _, err := st.Purged(e.ID); {
		case err == nil:
			continue
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		s, err := console.FindStudy(st, e.ID.String())
		if errors.As(err, new(*stored.DamagedError)) {
			continue // its dates are unreadable
		}
		if err != nil {
			return nil, err
		}
		ending, err := local.EndingOf(st, s)
		if err != nil {
			return nil, err
		}
		if console.Now() >= ending.At+protocol.Instant(*cmd.Days)*86400 {
			out = append(out, s)
		}
	}
	return out, nil
}
