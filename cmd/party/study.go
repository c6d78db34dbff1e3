package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type studyAdd struct {
	File string `arg:"" help:"The study file."`
}

func (studyAdd) Help() string { return "Example: party study add study.yaml" }

// Run checks and stores a study.
func (cmd studyAdd) Run(c *console.Console, g *console.Globals) error {
	s, err := console.ReadStudy(cmd.File)
	if err != nil {
		return err
	}
	st, err := g.Open(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	if _, err := self(st, s); err != nil {
		return err
	}
	if err := console.AddStudy(st, s, max(s.Expires, s.LateUntil), console.Now()); err != nil {
		return err
	}
	if err := console.Namesakes(c, st, s); err != nil {
		return err
	}
	return c.Print(console.AddedStudy{Study: s.ID.String(), Name: s.Name}, func(w io.Writer) {
		fmt.Fprintln(w, s.ID)
		c.Say("It can be approved %s. Next: party study explain %s", node.Until(s.Expires, console.Now()), s.ID.Short())
	})
}

type studyFetch struct {
	Address string `arg:"" help:"The aggregator's address, such as /dns4/agg.example.org/tcp/7424/p2p/12D3KooW…"`
}

func (studyFetch) Help() string {
	return "Example: party study fetch /dns4/agg.example.org/tcp/7424/p2p/12D3KooWPAQzh2AUCQBMaWvk8g6HHUn3BNF6mxXMEwW7agHGSmQE"
}

type fetchedStudy struct {
	Study   string `json:"study"`
	Name    string `json:"name"`
	Known   bool   `json:"known"` // it was here before
	Expires string `json:"expires"`
}

// Run asks the aggregator for studies, and checks and stores them.
func (cmd studyFetch) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	out, err := cmd.fetch(ctx, st, g)
	if err != nil {
		return err
	}
	return c.Print(out, func(w io.Writer) {
		for _, f := range out {
			fmt.Fprintf(w, "%s  %s\n", f.Study, f.Name)
		}
		unseen := slices.IndexFunc(out, func(f fetchedStudy) bool { return !f.Known })
		switch {
		case len(out) == 0:
			c.Say("It has no study for this party that can be approved: its peer id may be missing in the study file (party identity prints it).")
		case unseen < 0:
			c.Say("Nothing is new: all of this was here before. Next: party status")
		default:
			c.Say("Compare the id with the other organisations, by another way than this aggregator.")
			c.Say("Next: party study explain %s", out[unseen].Study[:8])
		}
	})
}

// fetch asks the aggregator for studies, and checks and stores them.
func (cmd studyFetch) fetch(ctx context.Context, st *store.Store, g *console.Globals) ([]fetchedStudy, error) {
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return nil, fail.Usage.Of(err)
	}
	offered, err := aggregator.FetchStudies(ctx, aggregator.FetchOptions{Identity: st.Identity, Address: cmd.Address, Network: site.Network, Version: console.Version()})
	if err != nil {
		return nil, fmt.Errorf("fetching studies: %w", err)
	}
	out := []fetchedStudy{}
	for _, s := range offered {
		if _, err := self(st, s); err != nil {
			return nil, err
		}
		_, err := st.Study(s.ID)
		known := err == nil
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err := console.AddStudy(st, s, max(s.Expires, s.LateUntil), console.Now()); err != nil {
			return nil, err
		}
		out = append(out, fetchedStudy{s.ID.String(), s.Name, known, s.Expires.String()})
	}
	return out, nil
}

type studyExplain struct {
	Study string `arg:"" help:"The beginning of a study's id, or a study file."`
}

func (studyExplain) Help() string { return "Example: party study explain 5f0c1b0e" }

// Run explains a study, from this party's point of view if it is in the study.
func (cmd studyExplain) Run(c *console.Console, g *console.Globals) error {
	s, err := console.StudyOrFile(g, store.Party, cmd.Study)
	if err != nil {
		return err
	}
	party := viewer(c, g, s, "Explained")
	err = console.PrintExplained(c, s, party)
	if err == nil && s.Privacy.Mechanism == dp.None {
		c.Say("party advanced audit %s --data tries out what a release of your data would give away.", s.ID.Short())
	}
	if err == nil {
		sayNext(c, g, s)
	}
	return err
}

type studyApprove struct {
	Study    string `arg:"" help:"The beginning of the study's id."`
	ID       string `env:"-" placeholder:"HEX" help:"At least the first eight characters of the study's id. Default: asked for."`
	Cosigned string `env:"-" placeholder:"FILE" help:"What party advanced study cosign wrote, if the site file asks for a second person's yes."`
	Records  string `env:"-" placeholder:"N|NAME=N,…" help:"Records at each party, at single ones by name, for the forecast. Default: this party's own are counted where the site file names its data; of others what the study file says, and else 10000."`

	AlthoughUseless bool `env:"-" help:"Approve although no analysis is forecast to be usable: privacy is spent for nothing."`
}

func (studyApprove) Help() string { return "Example: party study approve 5f0c1b0e" }

// Run records the steward's approval. It asks for the first eight characters of the id, so that
// nobody approves the wrong study.
func (cmd studyApprove) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, s, party, err := openStudy(g.Open, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := undecided(st, s, store.Approve); err != nil {
		return err
	}
	if console.Now() >= max(s.Expires, s.LateUntil) { // late parties may join after the roster is fixed
		return console.Expired(s)
	}
	if s.Privacy.Mechanism == dp.None {
		if err := sayExposed(ctx, c, g, st, s, party); err != nil {
			return err
		}
	}
	if err := show(c, cmd.ID, s, party); err != nil {
		return err
	}
	verdict, err := cmd.judge(ctx, c, g, st, s, party)
	if err != nil {
		return err
	}
	if err := ask(ctx, c, cmd.ID, s); err != nil {
		return err
	}
	if err := cmd.record(st, s); err != nil {
		return err
	}
	return c.Print(console.AddedStudy{Study: s.ID.String(), Name: s.Name, Verdict: &verdict}, func(w io.Writer) {
		fmt.Fprintf(w, "approved: %s (%s)\n", s.Name, s.ID.Short())
		if site, err := config.LoadParty(g.Config); err == nil && len(site.Second) > 0 && cmd.Cosigned == "" {
			c.Say("The site file asks for a second person's yes, too. Next: party advanced study cosign %s --key THEIR-KEY, and party study approve %s --cosigned FILE with what it prints.", s.ID.Short(), s.ID.Short())
			return
		}
		then := next(st, g, s)
		if run := "party run " + s.ID.Short(); then != run {
			then += ", then " + run
		}
		c.Say("The others learn of it when the study is served. Next: %s, or let a running party serve take it up.", then)
	})
}

// record stores the approval, with a second person's cosignature if given.
func (cmd studyApprove) record(st *store.Store, s *study.Study) error {
	if cmd.Cosigned != "" {
		if err := takeCosignature(st, s, cmd.Cosigned); err != nil {
			return err
		}
	}
	if err := st.PutDecision(s.ID, store.Approve, console.Now()); err != nil {
		return fmt.Errorf("approving: %w", err)
	}
	return nil
}

// judge shows what a study would do to this party's data, and its forecast. To approve a useless
// study, the steward must say so once: with the flag, or at a terminal.
func (cmd studyApprove) judge(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, party int) (console.Verdict, error) {
	read := sync.OnceValues(func() (*source.CheckedData, error) { return ownData(ctx, c, g, st, s, party) })
	p, err := forecast(s, party, console.PlanFlags{Records: cmd.Records}, func() *source.CheckedData {
		data, _ := read()
		return data
	})
	if err != nil {
		return console.Verdict{}, err
	}
	decision, _, err := st.Decision(s.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return console.Verdict{}, err
	}
	data, refusal := read()
	if refusal != nil && decision != store.Approve { // others would wait for a party that cannot release
		return console.Verdict{}, fmt.Errorf("not approved: %w", refusal)
	}
	if c.Format == console.Text {
		if data != nil {
			about := fmt.Sprintf("What the study would do to the %s of this party:", block.Counted(data.Records, "record", "records"))
			present.Text(c.Stderr(), append([]block.Block{block.Text{Text: about}}, data.Effect.Blocks()...))
			fmt.Fprintln(c.Stderr())
		}
	}
	v := console.NewVerdict(p)
	v.Tell(c)
	switch {
	case !v.Useless || cmd.AlthoughUseless || decision == store.Approve:
		return v, nil
	case !c.Interactive():
		return v, fail.Useless.New(s.Name, s.ID.Short())
	}
	const yes = "although useless"
	answer, err := c.Ask(ctx, "\nNothing that this study asks is usable as it stands, and privacy would be spent all the same.\nTo go on, type: "+yes, func(string) error { return nil })
	if err == nil && answer != yes {
		err = fmt.Errorf("the answer %q leaves a useless study undecided", answer)
	}
	if err != nil {
		return v, fail.Refused.Of(fmt.Errorf("not approved: %w", err))
	}
	return v, nil
}
