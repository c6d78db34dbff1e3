package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

type inviteCommand struct {
	Introductions []string       `arg:"" optional:"" help:"Introductions that came as files, as party join or party data columns writes them."`
	Answers       string         `env:"-" placeholder:"FILE" help:"Answer from a file instead of asking."`
	Wait          *time.Duration `env:"-" placeholder:"DURATION" help:"How long to wait, for the introductions and then for the result, such as 90s; 0 gives up at once. Default: until they are there."`
	listening
}

// Help describes the steps.
func (inviteCommand) Help() string {
	return "Makes the node if there is none, invites the parties by addresses of their own, shows the parties' introductions, which you accept by name, and drafts the study from them. It asks for its name, what is asked, what the columns hold, the purpose, the dates and how strong the promise is, shows the forecast and the size, hosts the study, and prints the one address to hand on, with the words to compare. Then it serves until you stop it, unless aggregator serve runs already, and prints the result.\n\nEvery step says the plain command that does the same. What was answered is kept at once, beside the configuration file: after Ctrl-C the same command goes on where it was.\n\nFor --answers, a file names each question (address, whom, accept, name, partition, ask, columns, purpose, dates, privacy, host) with the line, or the list of lines, that a person would type. The word proposed takes what is proposed:\n\n  cosketch: answers/1\n  address: /dns4/agg.example.org/tcp/7424\n  whom: north south\n  accept: north south\n  name: registry\n  partition: proposed\n  ask: mean correlation\n  columns: --centre height=170 --spread height=12\n  purpose: Heights of two regions\n  dates: proposed\n  privacy: strong\n  host: registry\n\nExample: aggregator invite north-introduction.yaml south-introduction.yaml"
}

// Validate refuses an invalid --wait.
func (cmd inviteCommand) Validate() error {
	if cmd.Wait != nil && *cmd.Wait < 0 {
		return fmt.Errorf("--wait: %v is not a time to wait", *cmd.Wait)
	}
	return nil
}

// inviteRun is one run of invite.
type inviteRun struct {
	inviteCommand

	c      *console.Console
	g      *console.Globals
	st     *store.Store
	id     protocol.PeerID // of this node
	ask    *joining.Kept
	draft  studyDraft   // the study, as the command that drafts it
	served <-chan error // receives the error with which serving ended; nil: another process serves
}

// Run makes one step after the other. Each finds out from the node's state and earlier answers
// whether it is done.
func (cmd inviteCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	v := &inviteRun{inviteCommand: cmd, c: c, g: g}
	asker, err := console.NewAsker(c, joining.Invite, cmd.Answers)
	if err != nil {
		return err
	}
	kept, err := config.KeptAnswers(v.keptPath(), joining.Invite)
	if err != nil {
		return fail.Usage.Of(err)
	}
	v.ask = &joining.Kept{Asker: asker, Lines: kept, Tell: v.repeat, Save: func(lines map[joining.ID][]string) error {
		return config.KeepAnswers(v.keptPath(), joining.Invite, lines)
	}}
	if err := v.node(); err != nil {
		return err
	}
	if v.st, err = g.Open(store.Aggregator); err != nil {
		return err
	}
	defer v.st.Close()
	if v.id, err = v.st.ID(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := v.serve(ctx)
	defer func() { stop(); <-ended }()
	s, err := v.hosted()
	if err == nil && s == nil {
		s, err = v.make(ctx)
	}
	if err != nil {
		return err
	}
	v.printNext(s)
	return v.follow(ctx, s)
}

// step announces the next step, and the command that does the same.
func (v *inviteRun) step(title, command string) { v.c.Step(title, command) }

// put asks a question.
func (v *inviteRun) put(ctx context.Context, q joining.Question, take func(line string) error) error {
	return console.AskedError(v.ask.Ask(ctx, q, take))
}

// repeat reports a replayed answer of an earlier run.
func (v *inviteRun) repeat(q joining.Question, line string, over error) {
	switch {
	case over != nil:
		v.c.Say("The answer %q does not fit any more: %v", line, over)
	case line == "":
		v.c.Say("%s As proposed (answered before).", q.Asks)
	default:
		v.c.Say("%s %s (answered before)", q.Asks, line)
	}
}

// beside is a path beside the configuration file.
func (v *inviteRun) beside(name string) string { return filepath.Join(filepath.Dir(v.g.Config), name) }

// keptPath is the path of the stored answers, beside the configuration file and named after it.
func (v *inviteRun) keptPath() string {
	name := filepath.Base(v.g.Config)
	return v.beside(name[:len(name)-len(filepath.Ext(name))] + "-invite.yaml")
}

// studyPath is the path of a study file, by the study's name.
func (v *inviteRun) studyPath(name string) string {
	return v.beside("study-" + strings.ReplaceAll(name, " ", "-") + ".yaml")
}

// node makes the node if there is none.
func (v *inviteRun) node() error {
	st, err := v.g.OpenReadOnly(store.Aggregator)
	if errors.Is(err, fail.NoState) {
		v.step("This node", "aggregator init")
		if err := (initCommand{}).make(v.g); err != nil {
			return err
		}
		v.c.Say("A new node was made. Its key is in %s, and nobody else may have it; its configuration is %s.", v.g.State, v.g.Config)
		return nil
	}
	if err != nil {
		return err
	}
	return st.Close()
}

// serve hosts all studies while questions are asked, unless another process does.
func (v *inviteRun) serve(ctx context.Context) (ended <-chan struct{}) {
	done, served := make(chan struct{}), make(chan error, 1)
	if v.st.Served() {
		v.c.Say("aggregator serve runs: it hosts what is made here.")
		close(done)
		return done
	}
	v.served = served
	quiet := func(conf config.Log) *slog.Logger {
		if v.g.LogLevel != nil {
			return v.c.Logger(conf)
		}
		return slog.New(slog.DiscardHandler) // this command reports events itself
	}
	go func() {
		defer close(done)
		served <- serveCommand{v.listening}.host(ctx, v.c, v.g, v.st, quiet)
	}()
	return done
}

// hosted returns the study that an earlier run hosted, or nil.
func (v *inviteRun) hosted() (*study.Study, error) {
	lines := v.ask.Lines[joining.Name]
	if len(lines) == 0 || len(v.ask.Lines[joining.Host]) == 0 {
		return nil, nil
	}
	s, err := console.ReadStudy(v.studyPath(lines[len(lines)-1]))
	if err != nil {
		return nil, nil // not written yet
	}
	if _, err := v.st.Study(s.ID); errors.Is(err, store.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// printNext prints what parties need.
func (v *inviteRun) printNext(s *study.Study) {
	v.step("Hand this on", "aggregator study explain "+s.ID.Short())
	v.c.Say("The study %s is hosted (%s). Parties can approve %s.", s.Name, s.ID.Short(), node.Until(s.Expires, console.Now()))
	v.c.Say("Every party runs this, and needs nothing else:")
	for _, addr := range s.Aggregator.Addrs {
		v.c.Say("  party join %s/p2p/%s", addr, v.id)
	}
	v.c.Say("Compare over a telephone. The study in words: %s", s.ID.Words())
	v.c.Say("This node in words: %s", v.id.Words())
}

// pollEvery is the polling interval.
const pollEvery = time.Second

// wait polls until there returns true, serving ends, or --wait is over, which returns without's
// error.
func (v *inviteRun) wait(ctx context.Context, without func() error, there func() (bool, error)) error {
	var over <-chan time.Time
	if v.Wait != nil {
		over = time.After(*v.Wait)
	}
	for {
		if ok, err := there(); ok || err != nil {
			return err
		}
		if v.Wait != nil && *v.Wait == 0 {
			return without()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-v.served:
			return errors.Join(err, ctx.Err())
		case <-over:
			return without()
		case <-time.After(pollEvery):
		}
	}
}

// follow waits for the result and prints it, then serves on for parties that have not fetched it
// yet.
func (v *inviteRun) follow(ctx context.Context, s *study.Study) error {
	short := s.ID.Short()
	v.step("The study runs", "aggregator status --watch")
	said := ""
	err := v.wait(ctx, func() error { return fail.NoResult.New(s.Name, short) }, func() (bool, error) {
		now, err := console.StudySnapshot(v.st, s.ID)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil // it is being taken up
		}
		if err != nil {
			return false, err
		}
		if text := now.WaitText(); text != said && now.Active() {
			said = text
			v.c.Say("%s: %s", now.State, text)
		}
		if now.State == string(session.Answered) || now.State == string(session.Closed) {
			return true, nil
		}
		if !now.Active() {
			return false, fail.Failed.Of(fmt.Errorf("study %s (%s) has ended without a result: %s", s.Name, short, now.Failure))
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	v.step("The result", "aggregator result "+short)
	d, err := console.FindDocument(v.st, store.Aggregator, s.ID.String(), "")
	if err != nil {
		return err
	}
	if err := d.Show(v.c, ""); err != nil {
		return err
	}
	if err := os.Remove(v.keptPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what was answered: %w", err)
	}
	if v.served == nil || v.Wait != nil && *v.Wait == 0 {
		return nil
	}
	v.c.Say("Parties fetch the result from this node: it serves until you stop it with Ctrl-C, as aggregator serve does. aggregator invite then makes another study.")
	return <-v.served
}
