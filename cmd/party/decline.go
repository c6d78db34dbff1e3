package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type studyDecline struct {
	Study string `arg:"" help:"The beginning of the study's id."`
}

func (studyDecline) Help() string { return "Example: party study decline 5f0c1b0e" }

// Run records that the study will not be served.
func (cmd studyDecline) Run(c *console.Console, g *console.Globals) error {
	return record(c, g, cmd.Study, store.Decline, func(s *study.Study) {
		c.Say("It is not served. Tell the others, who wait for this party; party study approve %s undoes it.", s.ID.Short())
	})
}

type studyWithdraw struct {
	Study string `arg:"" help:"The beginning of the study's id."`
}

func (studyWithdraw) Help() string { return "Example: party study withdraw 5f0c1b0e" }

// Run records the withdrawal; it reaches the board when the study is next served.
func (cmd studyWithdraw) Run(c *console.Console, g *console.Globals) error {
	return record(c, g, cmd.Study, store.Withdraw, func(s *study.Study) {
		c.Say("Next: party run %s tells the others. A withdrawal is final.", s.ID.Short())
	})
}

// record stores a decision other than approval, while nothing serves the study.
func record(c *console.Console, g *console.Globals, prefix string, d store.Decision, next func(*study.Study)) error {
	st, err := g.Open(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, prefix)
	if err != nil {
		return err
	}
	unlock, err := st.LockStudy(s.ID)
	if err != nil {
		return err
	}
	defer unlock()
	if err := undecided(st, s, d); err != nil {
		return err
	}
	if err := st.PutDecision(s.ID, d, console.Now()); err != nil {
		return fmt.Errorf("recording the decision: %w", err)
	}
	return c.Print(console.AddedStudy{Study: s.ID.String(), Name: s.Name}, func(w io.Writer) {
		said := "declined"
		if d == store.Withdraw {
			said = "withdrawn"
		}
		fmt.Fprintf(w, "%s: %s (%s)\n", said, s.Name, s.ID.Short())
		next(s)
	})
}

// undecided refuses a decision that comes too late: after a withdrawal, after the end, or, for a
// withdrawal, once this party has signed its part of the seed agreement, on which others count. A
// study with queries stays open after its end, to answer these.
func undecided(st *store.Store, s *study.Study, d store.Decision) error {
	before, _, err := st.Decision(s.ID)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	case before == store.Withdraw && d != store.Withdraw:
		return fail.Withdrawn.New()
	case d == store.Approve:
		return nil
	}
	if now, err := console.StudySnapshot(st, s.ID); err != nil {
		return err
	} else if before != d && !now.Active() && s.Queries == (study.Queries{}) {
		return fail.Refused.Of(fmt.Errorf("study %s (%s) has ended, it is %s: there is nothing to decide, and no more data will be sent (party budget lists what was released)", s.Name, s.ID.Short(), now.State))
	}
	own, err := st.Own(s.ID)
	if err != nil {
		return err
	}
	for _, o := range own {
		if d == store.Withdraw && o.Kind == protocol.KindCommit {
			return fail.TooLateToWithdraw.New(s.Name, s.ID.Short())
		}
	}
	return nil
}
