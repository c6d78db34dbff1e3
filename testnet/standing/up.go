package standing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/steward"
)

// Options are the options of Up.
type Options struct {
	Dir      Dir               // required
	Template networks.Template // required
	Data     string            // folder of public data sets, for further studies
	Dealt    Dealer            // required: deals the data for a study
	Seed     uint64            // of the split
	Restart  bool              // restart nodes that end by themselves
	Away     time.Duration     // delay before such a restart; default: 3 s, so that people see that the node is down
	Pace     time.Duration     // pause between two steps of stewards
	Study    bool              // propose a study at once
	Talk     io.Writer         // required: log of events, for people
}

// studiesPaid is the number of studies that the budget of every party pays for.
const studiesPaid = 10

// Up keeps a network running until ctx ends. It returns when all nodes have ended.
func Up(ctx context.Context, o Options) (err error) {
	if o.Away == 0 {
		o.Away = comeBack
	}
	if err := o.Dir.make(); err != nil {
		return err
	}
	lock, err := o.Dir.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	before, err := o.Dir.Read()
	switch {
	case errors.Is(err, ErrNone):
		before = About{}
	case err != nil:
		return err
	case before.Network != o.Template.Name:
		return fmt.Errorf("%w: %s holds the network %s; start that one, name another directory with --dir, or clear this one with testnet down --remove", ErrOther, o.Dir, before.Network)
	}
	if err := o.Dir.killLeftovers(o.Template, o.Talk); err != nil {
		return err
	}
	fmt.Fprintln(o.Talk, "building party and aggregator")
	if err := network.Build(ctx, o.Dir.path("bin")); err != nil {
		return interrupted(ctx, err)
	}
	about := About{
		Network: o.Template.Name, Data: o.Data, Seed: o.Seed, PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second),
		Port: before.Port, Restart: o.Restart,
	}
	site, err := o.Dir.open(ctx, about, o.Template)
	if err != nil {
		return interrupted(ctx, err)
	}
	if about.Port, err = port(before.Port, o.Talk); err != nil {
		return err
	}
	site.Address = network.Loopback(about.Port)
	pages, err := network.FreePort()
	if err != nil {
		return err
	}
	about.Pages = fmt.Sprintf("http://127.0.0.1:%d/", pages)
	if before.Network == "" {
		if err := deal(ctx, site, o.Dealt); err != nil {
			return interrupted(ctx, err)
		}
	}
	if err := o.Dir.write(about); err != nil {
		return err
	}
	return o.stand(ctx, about, site)
}

// interrupted returns ctx's error if ctx has ended, otherwise err.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// port returns the port that earlier studies name, if it is free, otherwise a free port.
func port(before int, talk io.Writer) (int, error) {
	if before != 0 && network.Free(before) {
		return before, nil
	}
	found, err := network.FreePort()
	if err == nil && before != 0 {
		fmt.Fprintf(talk, "port %d is in use by another program: the aggregator listens at %d, and unfinished studies, which name the old port, cannot continue\n", before, found)
	}
	return found, err
}

// open opens every node of the directory.
func (d Dir) open(ctx context.Context, about About, t networks.Template) (*steward.Site, error) {
	site := &steward.Site{
		Dir: d.path("studies"), Address: network.Loopback(about.Port), Template: t,
		Terms: steward.Terms{Studies: studiesPaid, Ask: true},
	}
	var err error
	if site.Aggregator, err = network.OpenNode(ctx, d.Program(aggregator), d.nodeDir(aggregator), aggregator); err != nil {
		return nil, err
	}
	for _, name := range t.Parties {
		party, err := network.OpenNode(ctx, d.Program(name), d.nodeDir(name), name)
		if err != nil {
			return nil, err
		}
		site.Parties = append(site.Parties, party)
	}
	return site, nil
}

// stand runs all nodes, and a study if requested, until ctx ends.
func (o Options) stand(ctx context.Context, about About, site *steward.Site) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	v := &voice{w: o.Talk}
	w := &watch{site: site, say: v.say}
	failures := make(chan error, 1+len(site.Parties))
	var keepers sync.WaitGroup
	begin := func(n *network.Node, doing func(context.Context, string) string, serve ...string) {
		started := make(chan struct{})
		k := &keeper{dir: o.Dir, node: n, serve: serve, restart: o.Restart, away: o.Away, say: v.say, doing: doing}
		keepers.Go(func() {
			if err := k.keep(running, started); err != nil {
				failures <- err
				stop()
			}
		})
		select {
		case <-started:
		case <-running.Done():
		}
	}
	begin(site.Aggregator, nil, aggregatorServes(about)...)
	err := network.Await(running, about.Port)
	if err == nil {
		for _, party := range site.Parties {
			begin(party, w.doing, "serve")
		}
		o.explain(about, site)
		keepers.Go(func() { w.run(running) })
		keepers.Go(func() {
			stewards := Pacer{Dir: o.Dir, Site: site, Dealt: o.Dealt, Pace: o.Pace, say: v.say, Talk: o.Talk}
			resumed, err := stewards.Resume(running)
			if err == nil && !resumed && o.Study {
				err = stewards.Play(running)
			}
			if err != nil && running.Err() == nil {
				v.say("study", err.Error())
			}
		})
		<-running.Done()
	}
	stop()
	keepers.Wait()
	close(failures)
	for failure := range failures {
		err = errors.Join(err, failure)
	}
	if ctx.Err() != nil {
		err = nil
	}
	if err == nil {
		fmt.Fprintf(o.Talk, "stopped: every node has ended. What they hold is kept in %s for the next testnet up; testnet down --remove clears it.\n", o.Dir)
	}
	return err
}

// aggregatorServes returns the aggregator's command.
func aggregatorServes(about About) []string {
	pages := strings.TrimSuffix(strings.TrimPrefix(about.Pages, "http://"), "/")
	return []string{"serve", "--listen", network.Loopback(about.Port), "--http", pages}
}

// explain prints where everything is and how to look at it.
func (o Options) explain(about About, site *steward.Site) {
	one := site.Parties[0].Name
	w := o.Talk
	fmt.Fprintf(w, "\n%s: %s. %d parties and an aggregator run, process %d keeps them.\n", o.Template.Name, o.Template.Title, len(site.Parties), about.PID)
	if about.Pages != "" {
		fmt.Fprintf(w, "Pages: %s\n", about.Pages)
	}
	fmt.Fprintf(w, "Everything is in %s: bin, nodes/NAME (state, site.yaml, node.log, data), studies.\n", o.Dir)
	flag := ""
	if standard, err := DefaultDir(); err != nil || standard != o.Dir {
		flag = " --dir " + string(o.Dir)
	}
	fmt.Fprintf(w, "\nFrom another terminal, what stewards and the operator type, each for a node of theirs:\n")
	for _, asked := range []string{one + " study explain STUDY", one + " status --watch", one + " budget", one + " result STUDY", aggregator + " status"} {
		fmt.Fprintf(w, "  go run ./testnet ask%s %s\n", flag, asked)
	}
	fmt.Fprintf(w, "And:\n  go run ./testnet kill%s %s      (or another of %s)\n  go run ./testnet study%s          one more study\n  go run ./testnet status%s\nStop with Ctrl-C, or go run ./testnet down%s.\n\n",
		flag, one, names(site), flag, flag, flag)
}

func names(site *steward.Site) string {
	out := site.Aggregator.Name
	for _, p := range site.Parties {
		out += ", " + p.Name
	}
	return out
}

// deal writes the parties' data and site files. They are those of a draft study, which it then
// discards.
func deal(ctx context.Context, site *steward.Site, dealt Dealer) error {
	draft, err := site.Draft(dates(len(site.Parties), time.Minute))
	if err != nil {
		return err
	}
	defer os.Remove(draft.Path)
	data, err := dealt(draft.Study)
	if err != nil {
		return err
	}
	_, err = site.Deal(draft, data)
	return errors.Join(err, ctx.Err())
}

// voice writes lines about events, one at a time. It is safe for concurrent use.
type voice struct {
	mu sync.Mutex
	w  io.Writer
}

func (v *voice) say(name, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintf(v.w, "%s  %-11s %s\n", time.Now().Format("15:04:05"), name, text)
}

// killLeftovers ends nodes that a killed testnet left running.
func (d Dir) killLeftovers(t networks.Template, talk io.Writer) error {
	for _, name := range append([]string{aggregator}, t.Parties...) {
		pid, err := d.running(name)
		if err != nil || pid == 0 {
			os.Remove(d.pidFile(name))
			continue
		}
		fmt.Fprintf(talk, "%s was left running by a testnet that is gone (process %d): ending it\n", name, pid)
		if err := kill(pid); err != nil {
			return fmt.Errorf("ending %s: %w", name, err)
		}
		if err := d.awaitEnd(name, pid); err != nil {
			return err
		}
		os.Remove(filepath.Join(d.nodeDir(name), "pid"))
	}
	return nil
}
