package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type studyHost struct {
	File    string `arg:"" help:"The study file."`
	Records string `env:"-" placeholder:"N|NAME=N,…" help:"Records at each party, at single ones by name, for the forecast. Default: what the study file says, and else 10000."`
}

func (studyHost) Help() string { return "Example: aggregator study host study.yaml" }

// Run checks and stores a study.
func (cmd studyHost) Run(c *console.Console, g *console.Globals) error {
	s, err := console.ReadStudy(cmd.File)
	if err != nil {
		return err
	}
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	o, err := deskOptions(g, st)
	if err != nil {
		return err
	}
	d := operator{st, o.Quotas}
	verdict, err := d.judge(s, cmd.Records)
	if err != nil {
		return err
	}
	if err := d.add(s); err != nil {
		return err
	}
	if err := console.Namesakes(c, st, s); err != nil {
		return err
	}
	return c.Print(console.AddedStudy{Study: s.ID.String(), Name: s.Name, Verdict: &verdict}, func(w io.Writer) {
		fmt.Fprintln(w, s.ID)
		verdict.Tell(c)
		if verdict.Useless {
			c.Say("Parties approve it only with --although-useless. aggregator study plan %s says what would help.", s.ID.Short())
		}
		printShares(c, s, o.Quotas)
		c.Say("Next: aggregator serve, and give the same file, byte for byte, to every party.")
		c.Say("Parties can approve %s.", node.Until(s.Expires, console.Now()))
	})
}

// printShares says how many records parties can release at most, if the quotas limit them.
func printShares(c *console.Console, s *study.Study, q aggregator.Quotas) {
	shares, err := q.Shares(s)
	if err != nil || shares == nil {
		return
	}
	var said []string
	for i, n := range shares {
		said = append(said, fmt.Sprintf("%s %d", s.Parties[i].Name, n))
	}
	c.Say("Records that each party can release at most, by the quotas of this aggregator: %s. Larger releases are refused before they are sent.", strings.Join(said, ", "))
}

type studyCheck struct {
	File string `arg:"" help:"The study file."`
}

func (studyCheck) Help() string { return "Example: aggregator study check study.yaml" }

// Run checks a study file like host, and stores nothing.
func (cmd studyCheck) Run(c *console.Console, g *console.Globals) error {
	s, err := console.ReadStudy(cmd.File)
	if err != nil {
		return err
	}
	if err := analysis.Deliverable(s); err != nil {
		return fail.Usage.Of(fmt.Errorf("study %s: %w", s.Name, err))
	}
	return c.Print(console.AddedStudy{Study: s.ID.String(), Name: s.Name}, func(w io.Writer) {
		fmt.Fprintln(w, s.ID)
		if err := console.Expired(s); console.Now() >= s.Expires {
			c.Say("aggregator study host will refuse it: %v", err)
			return
		}
		c.Say("%s is a study of %d parties. Next: aggregator study plan %s, then aggregator study host %s", s.Name, len(s.Parties), cmd.File, cmd.File)
	})
}

type studyExplain struct {
	Study string `arg:"" help:"The beginning of a study's id, or a study file."`
}

func (studyExplain) Help() string { return "Example: aggregator study explain study.yaml" }

// Run explains a study.
func (cmd studyExplain) Run(c *console.Console, g *console.Globals) error {
	s, err := console.StudyOrFile(g, store.Aggregator, cmd.Study)
	if err != nil {
		return err
	}
	return console.PrintExplained(c, s, study.Everyone)
}
