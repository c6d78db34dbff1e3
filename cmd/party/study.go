package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/study"
)

type studyCommands struct {
	Fetch   studyFetch          `cmd:"" help:"Ask an aggregator for the studies that list this party, and keep them. Nothing is approved."`
	Add     studyAdd            `cmd:"" help:"Check a study file and keep it. Nothing leaves."`
	Explain studyExplain        `cmd:"" help:"Say in plain words what would leave, to whom, under which guarantee."`
	Diff    console.DiffCommand `cmd:"" help:"Say what differs between two studies."`
	Approve studyApprove        `cmd:"" help:"Approve a study: the steward's decision."`
	Cosign  studyCosign         `cmd:"" help:"Say a second person's yes to a study, with a key of their own."`
	Decline studyDecline        `cmd:"" help:"Decline a study: it will not be served."`
}

// openStudy opens the state directory, by one of Globals' ways, and finds a study in it and
// this party's index in the study. The caller closes the store.
func openStudy(open func(store.Role) (*store.Store, error), prefix string) (st *store.Store, s *study.Study, index int, err error) {
	if st, err = open(store.Party); err != nil {
		return nil, nil, 0, err
	}
	if s, err = console.FindStudy(st, prefix); err == nil {
		index, err = self(st, s)
	}
	if err != nil {
		return nil, nil, 0, errors.Join(err, st.Close())
	}
	return st, s, index, nil
}

// self returns this party's index in a study.
func self(st *store.Store, s *study.Study) (int, error) {
	id, err := st.ID()
	if err != nil {
		return 0, err
	}
	index, ok := s.PartyIndex(id)
	if _, err := st.Study(s.ID); !ok && err == nil { // no study is kept that does not list the party
		return 0, console.WithCode(console.Usage, fmt.Errorf("study %s (%s), which was kept here, does not list the peer id of identity.key, %s (were two nodes' key files swapped? party doctor says more)", s.Name, s.ID.Short(), id))
	}
	if !ok {
		return 0, console.WithCode(console.Usage, fmt.Errorf("study %s (%s) does not list this party; its peer id is %s", s.Name, s.ID.Short(), id))
	}
	return index, nil
}

type studyAdd struct {
	File string `arg:"" help:"The study file."`
}

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
		c.Say("It can be approved %s. Next: party study explain %s", console.Until(s.Expires, console.Now()), s.ID.Short())
	})
}

type studyFetch struct {
	Address string `arg:"" help:"The aggregator's address, such as /dns4/agg.example.org/tcp/7424/p2p/12D3KooW…"`
}

type fetchedStudy struct {
	Study   string `json:"study"`
	Name    string `json:"name"`
	Known   bool   `json:"known"` // it was here before
	Expires string `json:"expires"`
}

// Run asks, checks and stores.
func (cmd studyFetch) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return console.WithCode(console.Usage, err)
	}
	offered, err := aggregator.FetchStudies(ctx, aggregator.FetchOptions{Identity: st.Identity, Address: cmd.Address, Network: site.Network, Version: console.Version()})
	if err != nil {
		return fmt.Errorf("fetching studies: %w", err)
	}
	out := []fetchedStudy{}
	var unseen *study.Study
	for _, s := range offered {
		if _, err := self(st, s); err != nil {
			return err
		}
		_, err := st.Study(s.ID)
		known := err == nil
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := console.AddStudy(st, s, max(s.Expires, s.LateUntil), console.Now()); err != nil {
			return err
		}
		if !known && unseen == nil {
			unseen = s
		}
		out = append(out, fetchedStudy{s.ID.String(), s.Name, known, s.Expires.String()})
	}
	return c.Print(out, func(w io.Writer) {
		for _, f := range out {
			fmt.Fprintf(w, "%s  %s\n", f.Study, f.Name)
		}
		switch {
		case len(out) == 0:
			c.Say("It has no study for this party that can be approved: its peer id may be missing in the study file (party identity prints it).")
		case unseen == nil:
			c.Say("Nothing is new: all of this was here before. Next: party status")
		default:
			c.Say("Compare the id with the other organisations, by another way than this aggregator.")
			c.Say("Next: party study explain %s", unseen.ID.Short())
		}
	})
}

type studyExplain struct {
	Study string `arg:"" help:"The beginning of a study's id, or a study file."`
}

// Run explains a study from this party's point of view, where there is one.
func (cmd studyExplain) Run(c *console.Console, g *console.Globals) error {
	s, err := console.StudyOrFile(g, store.Party, cmd.Study)
	if err != nil {
		return err
	}
	party := viewer(c, g, s, "Explained")
	err = console.PrintExplained(c, s, party)
	if err == nil && s.Privacy.Mechanism == dp.None {
		c.Say("party audit %s --data tries out what a release of your data would give away.", s.ID.Short())
	}
	if err == nil {
		sayNext(c, g, s)
	}
	return err
}

// sayNext says what to do with a study that was looked at, where it is here.
func sayNext(c *console.Console, g *console.Globals, s *study.Study) {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return // who explains a file need not be a party
	}
	defer st.Close()
	if _, err := self(st, s); err != nil {
		return
	}
	if _, err := st.Study(s.ID); err != nil {
		c.Say("Next: party study add FILE")
		return
	}
	c.Say("Next: %s", next(st, g, s))
}

// viewer is from whose point of view a study is explained, planned or audited: this party's, or
// everyone's where there is no such party in it.
func viewer(c *console.Console, g *console.Globals, s *study.Study, done string) int {
	st, err := g.OpenReadOnly(store.Party)
	if err == nil {
		defer st.Close()
		var party int
		if party, err = self(st, s); err == nil {
			return party
		}
	}
	c.Say("%s for everyone: %v.\n", done, err)
	return study.Everyone
}

type studyApprove struct {
	Study    string `arg:"" help:"The beginning of the study's id."`
	ID       string `env:"-" placeholder:"HEX" help:"At least the first eight characters of the study's id: the answer where nobody can be asked."`
	Cosigned string `env:"-" placeholder:"FILE" help:"What party study cosign wrote, where the site file asks for a second person's yes."`
	Records  string `env:"-" placeholder:"N|NAME=N,…" help:"Records at each party, at single ones by name, for the forecast. Default: this party's own are counted where the site file names its data; of others what the study file says, and else 10000."`

	AlthoughUseless bool `env:"-" help:"Approve although the forecast is that no analysis is usable: privacy is spent for nothing."`
}

// Run records the steward's approval. The first eight characters of the id are
// asked for, so that nobody approves one study thinking of another.
func (cmd studyApprove) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, s, party, err := openStudy(g.Open, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	if console.Now() >= max(s.Expires, s.LateUntil) { // who is late for the roster may join
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
	if cmd.Cosigned != "" {
		if err := takeCosignature(st, s, cmd.Cosigned); err != nil {
			return err
		}
	}
	if err := st.PutDecision(s.ID, store.Approve, console.Now()); err != nil {
		return fmt.Errorf("approving: %w", err)
	}
	return c.Print(console.AddedStudy{Study: s.ID.String(), Name: s.Name, Verdict: &verdict}, func(w io.Writer) {
		fmt.Fprintf(w, "approved: %s (%s)\n", s.Name, s.ID.Short())
		if site, err := config.LoadParty(g.Config); err == nil && len(site.Second) > 0 && cmd.Cosigned == "" {
			c.Say("The site file asks for a second person's yes, too. Next: party study cosign %s --key THEIR-KEY, and party study approve %s --cosigned FILE with what it prints.", s.ID.Short(), s.ID.Short())
			return
		}
		then := next(st, g, s)
		if run := "party run " + s.ID.Short(); then != run {
			then += ", then " + run
		}
		c.Say("The others learn of it when the study is served. Next: %s, or let a running party serve take it up.", then)
	})
}

// judge tells what a study would do to this party's data, and its forecast. One of which nothing is usable is approved by who says
// so, once: with the flag, or at a terminal.
func (cmd studyApprove) judge(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, s *study.Study, party int) (console.Verdict, error) {
	own := sync.OnceValue(func() *source.CheckedData { return ownData(ctx, c, g, st, s, party) })
	p, err := forecast(s, party, console.PlanFlags{Records: cmd.Records}, own)
	if err != nil {
		return console.Verdict{}, err
	}
	if c.Format == console.Text {
		if data := own(); data != nil {
			fmt.Fprintf(c.Talk(), "What the study would do to the %s of this party:\n\n", counted(data.Records, "record", "records"))
			tellData(c.Talk(), data.Effect)
			fmt.Fprintln(c.Talk())
		}
	}
	v := console.NewVerdict(p)
	v.Tell(c)
	decision, _, err := st.Decision(s.ID)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return v, err
	case !v.Useless || cmd.AlthoughUseless || decision == store.Approve:
		return v, nil
	case !c.Interactive():
		return v, console.WithCode(console.Refused, fmt.Errorf("not approved: nothing that study %s (%s) asks is usable as it stands, and its privacy would be spent all the same; party plan %s says what would help, --although-useless approves it as it is", s.Name, s.ID.Short(), s.ID.Short()))
	}
	const yes = "although useless"
	answer, err := c.Ask(ctx, "\nNothing that this study asks is usable as it stands, and privacy would be spent all the same.\nTo go on, type: "+yes, func(string) error { return nil })
	if err == nil && answer != yes {
		err = fmt.Errorf("the answer %q leaves a useless study undecided", answer)
	}
	if err != nil {
		return v, console.WithCode(console.Refused, fmt.Errorf("not approved: %w", err))
	}
	return v, nil
}

// confirmed refuses an answer that is not the beginning of the study's id.
func confirmed(answer string, s *study.Study) error {
	if len(answer) < 8 || !strings.HasPrefix(s.ID.String(), strings.ToLower(answer)) {
		return console.WithCode(console.Refused, fmt.Errorf("not approved: %q is not at least the first eight characters of the id of study %s", answer, s.Name))
	}
	return nil
}

// show prints what would leave to who is asked for the id, and refuses where there is a wrong
// id or nobody to ask.
func show(c *console.Console, id string, s *study.Study, party int) error {
	switch {
	case id != "":
		return confirmed(id, s)
	case !c.Interactive():
		return console.WithCode(console.Refused, errors.New("not approved: there is no terminal to ask at; answer with --id and the first eight characters of the study's id"))
	}
	present.Text(c.Talk(), s.Explain(party))
	fmt.Fprintln(c.Talk())
	return nil
}

// ask asks for the id where it was not given.
func ask(ctx context.Context, c *console.Console, id string, s *study.Study) error {
	if id != "" {
		return nil
	}
	id, err := c.Ask(ctx, fmt.Sprintf("\nThe study's id is %s.\nTo approve, type its first eight characters; anything else leaves it undecided.", s.ID), func(string) error { return nil })
	if err != nil {
		return console.WithCode(console.Refused, fmt.Errorf("not approved: %w", err))
	}
	return confirmed(id, s)
}
