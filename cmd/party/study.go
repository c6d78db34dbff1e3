package main

import (
	"bufio"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

type studyCommands struct {
	Add     studyAdd     `cmd:"" help:"Check a study file and keep it. Nothing leaves."`
	Explain studyExplain `cmd:"" help:"Say in plain words what would leave, to whom, under which guarantee."`
	Approve studyApprove `cmd:"" help:"Approve a study: the steward's decision."`
	Decline studyDecline `cmd:"" help:"Decline a study: it will not be served."`
}

// self returns this party's index in a study.
func self(st *store.Store, s *study.Study) (int, error) {
	id, err := protocol.PeerIDFromKey(st.Identity().Public().(ed25519.PublicKey))
	if err != nil {
		return 0, err
	}
	index, ok := s.PartyIndex(id)
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
	st, err := open(g)
	if err != nil {
		return err
	}
	defer st.Close()
	if _, err := self(st, s); err != nil {
		return err
	}
	if err := console.AddStudy(st, s, console.Now()); err != nil {
		return err
	}
	return c.Print(console.AddedStudy{Study: s.ID.String(), Name: s.Name}, func(w io.Writer) {
		fmt.Fprintln(w, s.ID)
		c.Say("Next: party study explain %s, then party study approve %s. Approval closes at %s.", s.ID.Short(), s.ID.Short(), s.Expires)
	})
}

type studyExplain struct {
	Study string `arg:"" help:"The beginning of a study's id, or a study file."`
}

// Run explains a study from this party's point of view, where there is one.
func (cmd studyExplain) Run(c *console.Console, g *console.Globals) error {
	s, err := console.StudyOrFile(func() (*store.Store, error) { return openReadOnly(g) }, cmd.Study)
	if err != nil {
		return err
	}
	party := -1
	if st, err := open(g); err == nil {
		if i, err := self(st, s); err == nil {
			party = i
		}
		st.Close()
	}
	text := s.Explain(party)
	return c.Print(map[string]any{"study": s.ID.String(), "name": s.Name, "text": text}, func(w io.Writer) { io.WriteString(w, text) })
}

type studyApprove struct {
	Study string `arg:"" help:"The beginning of the study's id."`
	ID    string `placeholder:"HEX" help:"At least the first eight characters of the study's id: the answer where nobody can be asked."`
}

// Run records the steward's approval. The first eight characters of the id are
// asked for, so that nobody approves one study thinking of another.
func (cmd studyApprove) Run(c *console.Console, g *console.Globals) error {
	st, err := open(g)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	party, err := self(st, s)
	if err != nil {
		return err
	}
	if console.Now() >= s.Expires {
		return console.Expired(s)
	}
	if cmd.ID == "" {
		if cmd.ID, err = ask(c, s, party); err != nil {
			return err
		}
	}
	if len(cmd.ID) < 8 || !strings.HasPrefix(s.ID.String(), strings.ToLower(cmd.ID)) {
		return console.WithCode(console.Refused, fmt.Errorf("not approved: %q is not at least the first eight characters of the id of study %s", cmd.ID, s.Name))
	}
	if err := st.PutDecision(s.ID, store.Approve, console.Now()); err != nil {
		return fmt.Errorf("approving: %w", err)
	}
	return c.Print(console.AddedStudy{Study: s.ID.String(), Name: s.Name}, func(w io.Writer) {
		fmt.Fprintf(w, "approved: %s (%s)\n", s.Name, s.ID.Short())
		c.Say("Next: party run %s (or a running party serve takes it up).", s.ID.Short())
	})
}

// ask shows what would leave and asks for the id.
func ask(c *console.Console, s *study.Study, party int) (string, error) {
	if !c.Interactive() {
		return "", console.WithCode(console.Refused, errors.New("not approved: there is no terminal to ask at; answer with --id and the first eight characters of the study's id"))
	}
	fmt.Fprint(c.Err, s.Explain(party))
	fmt.Fprintf(c.Err, "\nThe study's id is %s.\nTo approve, type its first eight characters: ", s.ID)
	line, err := bufio.NewReader(c.In).ReadString('\n')
	if err != nil && line == "" {
		return "", console.WithCode(console.Refused, errors.New("not approved: no answer"))
	}
	return strings.TrimSpace(line), nil
}

type studyDecline struct {
	Study string `arg:"" help:"The beginning of the study's id."`
}

// Run records that the study will not be served.
func (cmd studyDecline) Run(c *console.Console, g *console.Globals) error {
	return record(c, g, cmd.Study, store.Decline, "declined")
}

type withdrawCommand struct {
	Study string `arg:"" help:"The beginning of the study's id."`
}

// Run records the withdrawal; it reaches the board when the study is next served.
func (cmd withdrawCommand) Run(c *console.Console, g *console.Globals) error {
	return record(c, g, cmd.Study, store.Withdraw, "withdrawn; party run tells the others")
}

func record(c *console.Console, g *console.Globals, prefix string, d store.Decision, said string) error {
	st, err := open(g)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, prefix)
	if err != nil {
		return err
	}
	if err := st.PutDecision(s.ID, d, console.Now()); err != nil {
		return fmt.Errorf("recording the decision: %w", err)
	}
	return c.Print(console.AddedStudy{Study: s.ID.String(), Name: s.Name}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s (%s)\n", said, s.Name, s.ID.Short())
	})
}
