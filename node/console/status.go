package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wait"
)

// StatusCommand prints where studies stand. The node may be running.
type StatusCommand struct {
	Study string `arg:"" optional:"" help:"The beginning of a study's id. Default: all."`
	Watch bool   `env:"-" help:"Print again at every change, until every study has ended; if there is none, wait for one."`

	Role store.Role `kong:"-"` // role of the state directory; set by the program
}

// Help has an example.
func (StatusCommand) Help() string { return "Example: ${name} status 5f0c1b0e --watch" }

// Run prints once, or with --watch until everything has ended.
func (cmd StatusCommand) Run(ctx context.Context, c *Console, g *Globals) error {
	var before []stored.Snapshot
	for first := true; ; first = false {
		now, err := cmd.look(g)
		if err != nil {
			return err
		}
		if first || !slices.EqualFunc(before, now, stored.Snapshot.Equal) {
			before = now
			err := c.Print(now, func(w io.Writer) {
				if !first {
					fmt.Fprintln(w)
				}
				present.Text(w, stored.Statuses(now, Now()))
				cmd.next(c, now)
			})
			if err != nil {
				return err
			}
		}
		if !cmd.Watch || len(now) > 0 && !slices.ContainsFunc(now, stored.Snapshot.Active) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fail.Signalled.New()
		case <-time.After(time.Second):
		}
	}
}

// look opens the state directory only briefly: one opened on a full disk shows no news.
func (cmd StatusCommand) look(g *Globals) ([]stored.Snapshot, error) {
	st, err := g.OpenReadOnly(cmd.Role)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return snapshots(st, cmd.Study)
}

// next says what to do about the first study for which there is something to do.
func (cmd StatusCommand) next(c *Console, all []stored.Snapshot) {
	if len(all) == 0 {
		if cmd.Role == store.Party {
			c.Say("Next: party study fetch ADDRESS, or party study add FILE")
		} else {
			c.Say("Next: aggregator study host FILE")
		}
		return
	}
	for _, s := range all {
		short := s.Study[:8]
		switch {
		case s.State == stored.Added && cmd.Role == store.Party:
			c.Say("Next: party study explain %s, then party study approve %s", short, short)
		case s.Wait == wait.Steward:
			c.Say("Next: party advanced release %s, or first party advanced sketch %s", short, short)
		case s.State == stored.ApprovedHere, s.Wait == wait.Release:
			c.Say("Next: party run %s, or party serve", short)
		case s.State == stored.Added:
			c.Say("Next: aggregator serve")
		case s.State == string(session.Done) && len(all) == 1:
			c.Say("Next: %s result %s", cmd.Role, short)
		default:
			continue
		}
		return
	}
}

// snapshots returns the status of one study, or of all if prefix is empty.
func snapshots(st *store.Store, prefix string) ([]stored.Snapshot, error) {
	var ids []protocol.StudyID
	if prefix != "" {
		id, err := findID(st, prefix)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	} else {
		entries, err := st.Studies()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			ids = append(ids, e.ID)
		}
	}
	out := []stored.Snapshot{}
	for _, id := range ids {
		one, err := StudySnapshot(st, id)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// Overview reads where all studies of a state directory stand, and its free space.
type Overview struct{ *store.Store }

// Snapshots returns the status of all studies.
func (o Overview) Snapshots() ([]stored.Snapshot, error) { return snapshots(o.Store, "") }

// ActiveStudies returns the stored studies that have not ended on this node.
func ActiveStudies(st *store.Store) ([]*study.Study, error) {
	all, err := snapshots(st, "")
	if err != nil {
		return nil, err
	}
	var out []*study.Study
	for _, one := range all {
		if !one.Active() {
			continue
		}
		s, err := FindStudy(st, one.Study)
		if errors.As(err, new(*stored.DamagedError)) {
			continue // nothing can be done with it
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// StudySnapshot reads a study's status as its node last stored it. For a study that was never
// served, it says what the study waits for.
func StudySnapshot(st *store.Store, id protocol.StudyID) (stored.Snapshot, error) {
	out, err := storedSnapshot(st, id)
	if free, unknown := st.Free(); err == nil && unknown == nil {
		out.OnDisk(st.Dir(), free)
	}
	if err == nil && st.Role() == store.Aggregator {
		err = putBack(st, id, &out)
	}
	return out, err
}

// putBack notes on an aggregator's study that its state was restored after the study was added.
func putBack(st *store.Store, id protocol.StudyID, out *stored.Snapshot) error {
	restored, err := st.RestoredAt()
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := st.Studies()
	for _, s := range all {
		if s.ID == id {
			out.PutBack(s.Added, restored)
		}
	}
	return err
}

func storedSnapshot(st *store.Store, id protocol.StudyID) (stored.Snapshot, error) {
	raw, err := st.Status(id)
	if err == nil {
		return decidedSince(st, id, raw)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return stored.Snapshot{}, err
	}
	s, err := storedStudy(st, id)
	var damaged *stored.DamagedError
	switch {
	case errors.As(err, &damaged):
		return stored.DamagedSnapshot(st, damaged), nil
	case err != nil:
		return stored.Snapshot{}, err
	}
	decision, _, err := st.Decision(id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return stored.Snapshot{}, err
	}
	return stored.Unserved(s, st.Role(), decision), nil
}

// decidedSince reads a stored status. If the steward has released the held sketch since, it updates
// the status; the stored one changes only when the study is served again.
func decidedSince(st *store.Store, id protocol.StudyID, raw []byte) (stored.Snapshot, error) {
	s, err := stored.DecodeSnapshot(raw)
	if err != nil || s.Wait != wait.Steward {
		return s, err
	}
	decided, err := st.Held(id).Decided()
	if errors.Is(err, store.ErrNotFound) {
		return s, nil // released just now
	}
	if decided {
		s.Await(wait.Release)
	}
	return s, err
}
