package main

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/study"
)

// next is the command that advances a study at this party: name its data, set their cap, approve
// it, or run it.
func next(st *store.Store, g *console.Globals, s *study.Study) string {
	short := s.ID.Short()
	now, err := console.StudySnapshot(st, s.ID)
	switch {
	case err != nil:
		return "party doctor " + short
	case !now.Active():
		return "party status " + short
	}
	if missing := unprepared(g, s); missing != "" {
		return missing
	}
	decision, _, err := st.Decision(s.ID)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return "party doctor " + short
	case decision == store.Approve || decision == store.Withdraw:
		return "party run " + short
	}
	return "party study approve " + short
}

// unprepared is the command for what the site file lacks before a study can be served; empty if it
// lacks nothing.
func unprepared(g *console.Globals, s *study.Study) string {
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return "party doctor " + s.ID.Short()
	}
	entry, named := site.Studies[s.ID]
	switch {
	case !named:
		return site.Naming(s.ID)
	case s.Privacy.Mechanism != dp.None && site.Datasets[entry.Dataset].Caps == (config.Caps{}):
		return fmt.Sprintf("party advanced budget cap %s %s EPSILON DELTA", entry.Dataset, s.Privacy.Unit)
	}
	return ""
}
