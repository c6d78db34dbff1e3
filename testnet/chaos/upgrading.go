package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/testnet/network"
)

const (
	mostTries      = 5                // attempts to stop a study in its state
	actDeadline    = 30 * time.Second // to reach the state
	finishDeadline = 30 * time.Second // from the state to the result; an undisturbed study takes about 4 s
	mostRounds     = 8                // rounds of bundles; a study needs five
)

// upgrader runs the studies. It is not safe for concurrent use.
type upgrader struct {
	UpgradeOptions
	played int
	spent  []spent // ledgers by party of the undisturbed study; nil before it
	out    []Upgraded
}

// taken calls try if the state is selected.
func (u *upgrader) taken(ctx context.Context, s state, w way) error {
	if u.Take != nil && !u.Take(s.name) {
		return nil
	}
	return u.try(ctx, s, w)
}

// try runs a study through a state and records the outcome.
func (u *upgrader) try(ctx context.Context, s state, w way) (err error) {
	out := Upgraded{State: s.name, Begun: w.begin.name, Finished: w.finish.name, Outcome: Broken}
	for there := false; !there && err == nil; {
		if out.Tries++; out.Tries > mostTries {
			err = fmt.Errorf("no study was stopped there; the last one: %s", out.At)
			break
		}
		there, err = u.once(ctx, s, w, &out)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch {
	case err == nil:
		out.Outcome = Whole
	case w.mayRefuse && refusal(err):
		out.Outcome = Refused
	}
	if err != nil {
		out.Why = err.Error()
	}
	u.out = append(u.out, out)
	_, err = fmt.Fprintf(u.Log, "%s: begun by %s, finished by %s: %s, %.1f s\n", out.State, out.Begun, out.Finished, out.Outcome, out.Seconds)
	return err
}

// refusal reports whether a program exited by itself with an exit code that explains why.
func refusal(err error) bool {
	var ended *exec.ExitError
	return errors.As(err, &ended) && slices.Contains([]fail.Exit{fail.Failed, fail.Connection, fail.Usage, fail.Refused, fail.Disagreement}, fail.Exit(ended.ExitCode()))
}

// once runs one study, and reports whether it was stopped in its state.
func (u *upgrader) once(ctx context.Context, s state, w way, out *Upgraded) (there bool, err error) {
	u.played++
	p, err := newPlay(ctx, filepath.Join(u.Dir, fmt.Sprintf("play-%d", u.played)), s, w)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.begin(ctx); err != nil {
		return false, fmt.Errorf("bringing the study there: %w", err)
	}
	if out.At, there, err = p.where(ctx); err != nil || !there {
		return there, err
	}
	began := time.Now()
	err = p.end(ctx)
	out.Seconds = time.Since(began).Seconds()
	if err != nil {
		return there, err
	}
	if u.spent == nil {
		if u.spent, err = p.ledgers(ctx); err != nil {
			return there, err
		}
	}
	return there, p.look(ctx, u.spent)
}

// play is one study, with nodes of its own.
type play struct {
	*site
	state
	way
	home  string
	relay *network.Relay
	id    string
}

// newPlay creates the nodes, with the programs that begin the study.
func newPlay(ctx context.Context, home string, s state, w way) (p *play, err error) {
	scene, err := laboratories(1 << 18)
	if err != nil {
		return nil, err
	}
	p = &play{state: s, way: w, home: home}
	if p.site, p.relay, err = relayed(ctx, w.begin.parties, home, scene); err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	p.Terms.Ask = s.ask
	n, err := p.staff(ctx, w.begin)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.use(n)
	return p, nil
}

func (p *play) close() error { return errors.Join(p.relay.Close(), os.RemoveAll(p.home)) }

// begin brings the study to its state. No process runs afterwards.
func (p *play) begin(ctx context.Context) (err error) {
	if p.id, err = p.propose(ctx); err != nil {
		return err
	}
	for _, a := range p.acts {
		if err := p.act(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// ear waits for a text in the output of a process.
type ear struct {
	text  string // empty: it waits for nothing
	said  []byte
	heard chan struct{}
}

func listen(text string) *ear { return &ear{text: text, heard: make(chan struct{})} }

// Write receives the output. It is not safe for concurrent use.
func (e *ear) Write(data []byte) (int, error) {
	if e.text == "" {
		return len(data), nil
	}
	e.said = append(e.said, data...)
	if bytes.Contains(e.said, []byte(e.text)) {
		close(e.heard)
		e.text, e.said = "", nil
	}
	e.said = e.said[bytes.LastIndexByte(e.said, '\n')+1:] // the text is within one line
	return len(data), nil
}

// verbose makes a process log every message.
var verbose = []string{"--log-level", "debug"}

// serve starts the aggregator and waits until it listens.
func (p *play) serve(ctx context.Context, e *ear) (*network.Started, error) {
	return p.Aggregator.Serve(ctx, p.port, e, slices.Clone(verbose)...)
}

// act plays one act, and kills the processes that it started.
func (p *play) act(ctx context.Context, a act) (err error) {
	ctx, cancel := context.WithTimeout(ctx, actDeadline)
	defer cancel()
	hears := listen(a.hears)
	serving, err := p.serve(ctx, hears)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.Kill()) }()
	sent := p.relay.Up()
	var running sync.WaitGroup
	failures := make([]error, len(a.parties))
	for i, n := range a.parties {
		running.Go(func() {
			e := listen(a.says)
			party, err := p.Parties[n].StartLogged(e, nil, append(slices.Clone(verbose), "serve")...)
			if err == nil {
				err = errors.Join(p.await(ctx, party, a, sent, e.heard, hears.heard), party.Kill())
			}
			failures[i] = err
		})
	}
	running.Wait()
	if err := errors.Join(failures...); err != nil || a.until == "" {
		return err
	}
	return p.awaitHost(ctx, a.until)
}

// await waits until a party must be killed.
func (p *play) await(ctx context.Context, party *network.Started, a act, sent int64, said, heard <-chan struct{}) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-said:
			return nil
		case <-heard:
			return nil
		case <-tick.C:
			if a.sent > 0 && p.relay.Up() >= sent+a.sent {
				return nil
			}
		case <-party.Ended():
			return errors.Join(party.Err(), errors.New("a party ended by itself"))
		case <-ctx.Done():
			return fmt.Errorf("hangs: %w\n  %s", ctx.Err(), party.Says())
		}
	}
}

// awaitHost waits until the study is in a state at the aggregator.
func (p *play) awaitHost(ctx context.Context, state session.State) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := p.snapshot(ctx, p.Aggregator)
		if err != nil || session.State(s.State) == state {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the aggregator is %s and never %s: %w", s.State, state, ctx.Err())
		}
	}
}

// snapshot returns the state of the study at a node.
func (p *play) snapshot(ctx context.Context, n *network.Node) (stored.Snapshot, error) {
	var all []stored.Snapshot
	if err := n.RunJSON(ctx, &all, "status"); err != nil {
		return stored.Snapshot{}, err
	}
	for _, s := range all {
		if s.Study == p.id {
			return s, nil
		}
	}
	return stored.Snapshot{}, fmt.Errorf("%s does not know study %s", n.Name, p.id[:8])
}

// where returns the state of each node, and reports whether the study is where it should be
// stopped.
func (p *play) where(ctx context.Context) (text string, there bool, err error) {
	var at []string
	for _, n := range append(slices.Clone(p.Parties), p.Aggregator) {
		s, err := p.snapshot(ctx, n)
		if err != nil {
			return "", false, err
		}
		at = append(at, s.State)
	}
	text = strings.Join(at, ", ")
	is := func(is string, states []session.State) bool {
		return states == nil || slices.Contains(states, session.State(is))
	}
	if !is(at[0], p.party) || !is(at[len(at)-1], p.host) {
		return text, false, nil
	}
	ledgers, err := p.ledgers(ctx)
	if err != nil {
		return text, false, err
	}
	kept, err := network.Held(p.Aggregator.StateDir())
	return text, err == nil && len(ledgers[0].Entries) == p.entries && kept >= p.kept, err
}

// end lets the nodes finish the study, with the programs of the finish.
func (p *play) end(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, finishDeadline)
	defer cancel()
	if p.byHand {
		return p.carry(ctx)
	}
	n, err := p.staff(ctx, p.finish)
	if err != nil {
		return err
	}
	p.use(n)
	draft, err := p.Reopen(p.id)
	if err != nil {
		return err
	}
	serving, err := p.serve(ctx, listen(""))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.Kill()) }()
	if p.ask {
		for _, party := range p.Parties {
			if _, err := party.Run(ctx, "advanced", "release", p.id); err != nil {
				return err
			}
		}
	}
	return p.Run(ctx, draft, finishDeadline)
}

// carry finishes the study by exchanging files. Writer and reader of a file have different programs
// and swap them each round, so that every kind of file is read by old and by new programs.
func (p *play) carry(ctx context.Context) error {
	writers, err := p.staff(ctx, p.way.begin)
	if err != nil {
		return err
	}
	readers, err := p.staff(ctx, p.finish)
	if err != nil {
		return err
	}
	for range mostRounds {
		done, err := p.round(ctx, writers, readers)
		if err != nil {
			return err
		}
		writers, readers = readers, writers
		if done {
			last, err := p.staff(ctx, p.finish)
			p.use(last)
			return err
		}
	}
	return fmt.Errorf("there is no result after %d rounds of bundles", mostRounds)
}

// round carries the parties' files to the aggregator, and its answers back. It reports whether
// every party is done.
func (p *play) round(ctx context.Context, writers, readers nodes) (done bool, err error) {
	take := []string{"advanced", "import"}
	for _, party := range writers.parties {
		file := filepath.Join(p.home, party.Name+".bundle")
		if _, err := party.Run(ctx, "advanced", "export", p.id, "--output", file); err != nil {
			return false, err
		}
		take = append(take, file)
	}
	if _, err := readers.aggregator.Run(ctx, take...); err != nil {
		return false, err
	}
	if _, err := writers.aggregator.Run(ctx, "advanced", "export", p.id, "--output", p.home); err != nil {
		return false, err
	}
	done = true
	for _, party := range readers.parties {
		var read struct{ State string }
		if err := party.RunJSON(ctx, &read, "advanced", "import", filepath.Join(p.home, fmt.Sprintf("%s-for-%s.bundle", p.id[:8], party.Name))); err != nil {
			return false, err
		}
		done = done && session.State(read.State) == session.Done
	}
	return done, nil
}

// spent is a party's ledger without what differs between studies.
type spent struct {
	Entries []struct {
		Dataset, Unit, Mechanism string
		Sketch, Query            int
		Epsilon, Delta           float64
	}
	Totals []struct {
		Dataset, Unit string
		Epsilon, Left *float64
		Delta         float64
		Releases      int
	}
}

// ledgers returns the ledgers of all parties.
func (p *play) ledgers(ctx context.Context) ([]spent, error) {
	out := make([]spent, len(p.Parties))
	for i, party := range p.Parties {
		if err := party.RunJSON(ctx, &out[i], "budget"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// look returns an error if the study's end differs from that of an undisturbed study.
func (p *play) look(ctx context.Context, want []spent) error {
	draft, err := p.Reopen(p.id)
	if err != nil {
		return err
	}
	if _, _, err := p.Fetch(ctx, draft); err != nil {
		return err
	}
	if err := p.check(ctx, p.id); err != nil {
		return err
	}
	got, err := p.ledgers(ctx)
	if err != nil {
		return err
	}
	for i, party := range p.Parties {
		if !reflect.DeepEqual(got[i], want[i]) {
			return fmt.Errorf("the ledger of %s says %+v, and without a change of programs %+v", party.Name, got[i], want[i])
		}
	}
	for _, n := range append(slices.Clone(p.Parties), p.Aggregator) {
		if _, err := n.Run(ctx, "advanced", "fsck"); err != nil {
			return err
		}
	}
	return nil
}
