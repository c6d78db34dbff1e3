package scale

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/steward"
)

// Apart is a study with so many records that the aggregator gathers them on disk.
type Apart struct {
	Records int    // of all parties together; with Join: of each
	K       int    // coordinates per record
	Memory  int    // memory limit of the aggregator's analyses, in MiB
	Party   int    // GOMEMLIMIT of a party, in MiB; it holds all of its own records
	Join    bool   // two parties with the same people, instead of three with disjoint records
	Python  string // Python with scikit-learn and faiss, for comparison; empty: no comparison
	Killed  bool   // kill the aggregator while it computes, and restart it
	Held    bool   // compute again with all records in memory, and compare
	Within  int    // memory limit of the aggregator's processes in MiB, including page cache; 0: none

	within *confined
}

// Step is the cost of one process for one task.
type Step struct {
	What    string  `json:"what"`
	Seconds float64 `json:"seconds"`
	Own     int64   `json:"bytes"`          // peak memory without pages of files
	Peak    int64   `json:"resident_bytes"` // peak resident memory, with mapped file pages
}

// columnsApart is the number of columns of the parties, clustersApart the number of clusters to
// find.
const (
	columnsApart  = 16
	clustersApart = 8
	vectorsApart  = 1000
)

// Play plays the study under dir, where network.Build has put the programs.
func (a Apart) Play(ctx context.Context, dir string, log io.Writer) (out []Step, err error) {
	home := filepath.Join(dir, fmt.Sprintf("apart-%t", a.Join))
	template, err := a.network()
	if err != nil {
		return nil, err
	}
	port, err := network.FreePort()
	if err != nil {
		return nil, err
	}
	site := &steward.Site{Dir: home, Address: network.Loopback(port), Template: template}
	if site.Aggregator, site.Parties, err = network.Identities(ctx, dir, home, template.Parties...); err != nil {
		return nil, err
	}
	if err := a.allow(site.Aggregator, a.Memory); err != nil {
		return nil, err
	}
	if a.Within > 0 {
		if a.within, err = confine(int64(a.Within) << 20); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, a.unharmed(), a.within.end()) }()
	}
	serving, err := a.serve(ctx, site.Aggregator, port)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, serving.Kill()) }() // the current value of serving, which a restart replaces
	draft, err := site.Draft(steward.Dates{Expires: 12 * time.Hour, Deadline: 24 * time.Hour})
	if err != nil {
		return nil, err
	}
	for i, party := range site.Parties {
		if err := a.write(filepath.Join(party.Dir(), steward.DataFile), i); err != nil {
			return nil, fmt.Errorf("writing the data of %s: %w", party.Name, err)
		}
		if err := network.WriteSiteFile(party, steward.SiteFile(template, draft.Study, steward.Terms{})); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(log, "data are written")
	if err := site.Agree(ctx, draft); err != nil {
		return nil, err
	}
	id := draft.Study.ID.String()
	all := watch(serving)
	var running []*network.Started
	for _, party := range site.Parties {
		one, err := party.StartLogged(nil, []string{fmt.Sprintf("GOMEMLIMIT=%d", a.Party<<20)}, "run", id)
		if err != nil {
			return nil, err
		}
		running = append(running, one)
	}
	if a.Killed {
		if err := a.midst(ctx, site.Aggregator); err != nil {
			return nil, err
		}
		if err := serving.Kill(); err != nil {
			return nil, err
		}
		out = append(out, all.done("until it is killed"))
		fmt.Fprintln(log, "the aggregator is killed, and started again")
		if serving, err = a.serve(ctx, site.Aggregator, port); err != nil {
			return nil, err
		}
		all = watch(serving)
	}
	for _, one := range running {
		select {
		case <-one.Ended():
			err = errors.Join(err, one.Err())
		case <-serving.Ended():
			err = errors.Join(err, fmt.Errorf("the aggregator stopped: %w", serving.Err()), one.Kill())
		case <-ctx.Done():
			err = errors.Join(err, ctx.Err(), one.Kill())
		}
	}
	out = append(out, all.done("the study, all of it"))
	if err = errors.Join(err, serving.Kill()); err != nil {
		return out, err
	}
	for i, one := range running {
		out = append(out, Step{What: "party " + site.Parties[i].Name, Peak: one.PeakMemory()})
	}
	apart, step, err := a.ask(ctx, site.Aggregator, id, "k-means again", "analyze", id, "k-means", fmt.Sprintf("clusters=%d", clustersApart))
	if err != nil {
		return out, err
	}
	out = append(out, step)
	if own, err := a.result(site.Aggregator, id); err != nil || !reflect.DeepEqual(own.Analyses[0].KMeans, apart.Analyses[0].KMeans) {
		return out, fmt.Errorf("the study's result and a repeated analysis have different clusters (%v)", err)
	}
	if !a.Join {
		vectors := filepath.Join(home, "vectors.csv")
		if err := a.vectors(vectors); err != nil {
			return out, err
		}
		if _, step, err = a.ask(ctx, site.Aggregator, id, fmt.Sprintf("10 nearest of %d", vectorsApart), "query", id, vectors, "--neighbors", "10"); err != nil {
			return out, err
		}
		out = append(out, step)
	}
	if a.Python != "" {
		steps, err := a.beside(ctx, home)
		if err != nil {
			return out, err
		}
		out = append(out, steps...)
	}
	if a.Held {
		if err := a.allow(site.Aggregator, 1<<20); err != nil {
			return out, err
		}
		free := a
		free.within = nil
		held, step, err := free.ask(ctx, site.Aggregator, id, "k-means in memory", "analyze", id, "k-means", fmt.Sprintf("clusters=%d", clustersApart))
		if err != nil {
			return out, err
		}
		if out = append(out, step); !reflect.DeepEqual(apart.Analyses, held.Analyses) {
			return out, errors.New("records on disk and records in memory give different answers")
		}
	}
	return out, os.RemoveAll(home)
}

//go:embed beside.py
var besideScript string

// beside times other software on as many points.
func (a Apart) beside(ctx context.Context, dir string) ([]Step, error) {
	count := func(n int) string { return strconv.Itoa(n) }
	cmd := exec.CommandContext(ctx, a.Python, "-c", besideScript, count(a.Records), count(a.K), count(clustersApart), count(vectorsApart), dir)
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", a.Python, err)
	}
	var said struct {
		Absent string `json:"absent"`
		Steps  []Step `json:"steps"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return nil, fmt.Errorf("reading what %s printed: %w", a.Python, err)
	}
	if said.Absent != "" {
		return nil, fmt.Errorf("%s: %s", a.Python, said.Absent)
	}
	return said.Steps, nil
}

// result returns the study's result, as the aggregator stores it.
func (a Apart) result(aggregator *network.Node, id string) (out analysis.Result, err error) {
	raw, err := os.ReadFile(filepath.Join(aggregator.StateDir(), "results", id, filename.Result))
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(raw, &out)
}

// serve starts the aggregator.
func (a Apart) serve(ctx context.Context, aggregator *network.Node, port int) (*network.Started, error) {
	serving, err := aggregator.Serve(ctx, port, nil)
	if err != nil {
		return nil, err
	}
	if err := a.enclose(serving); err != nil {
		return nil, errors.Join(err, serving.Kill())
	}
	return serving, nil
}

// enclose puts a process of the aggregator under the memory limit, if there is one.
func (a Apart) enclose(process *network.Started) error {
	if a.within == nil {
		return nil
	}
	return a.within.take(process.PID())
}

// unharmed returns an error if the system killed a process that exceeded the memory limit.
func (a Apart) unharmed() error {
	n, err := a.within.killed()
	if err == nil && n > 0 {
		err = fmt.Errorf("the system killed %d processes of the aggregator, which used more than %d MiB", n, a.Within)
	}
	return err
}

// midst waits until the aggregator has stored a step of its computation.
func (a Apart) midst(ctx context.Context, aggregator *network.Node) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		found, err := filepath.Glob(filepath.Join(aggregator.StateDir(), "results", "*", filename.Step("*")))
		if err != nil || len(found) > 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for a step: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// allow sets the aggregator's memory limit in its configuration.
func (a Apart) allow(aggregator *network.Node, mebibytes int) error {
	return os.WriteFile(aggregator.SiteFile(), fmt.Appendf(nil, "analysis: {memory_mib: %d}\n", mebibytes), 0o600)
}

// ask runs a command of the aggregator and decodes what it prints.
func (a Apart) ask(ctx context.Context, aggregator *network.Node, id, what string, args ...string) (out analysis.Result, s Step, err error) {
	to := filepath.Join(aggregator.Dir(), "answers-"+strconv.FormatInt(time.Now().UnixNano(), 36))
	one, err := aggregator.Start(append(args, "-o", to)...)
	if err != nil {
		return out, s, err
	}
	w := watch(one)
	if err := a.enclose(one); err != nil {
		return out, s, errors.Join(err, one.Kill())
	}
	select {
	case <-one.Ended():
		err = one.Err()
	case <-ctx.Done():
		err = errors.Join(ctx.Err(), one.Kill())
	}
	if s = w.done(what); err != nil || args[0] != "analyze" {
		return out, s, err
	}
	files, err := filepath.Glob(filepath.Join(to, "*.json"))
	if err != nil || len(files) == 0 {
		return out, s, fmt.Errorf("no answer of study %s in %s (%v)", id, to, err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return out, s, err
		}
		if err := json.Unmarshal(raw, &out); err == nil && len(out.Analyses) > 0 {
			return out, s, nil
		}
	}
	return out, s, fmt.Errorf("no result of study %s in %v", id, files)
}

// watched is a process whose memory is sampled.
type watched struct {
	of    *network.Started
	began time.Time
	stop  chan struct{}
	own   chan int64
}

func watch(of *network.Started) watched {
	w := watched{of, time.Now(), make(chan struct{}), make(chan int64, 1)}
	go func() { // done waits for it
		var most int64
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, of.Resident().Own)
			select {
			case <-w.stop:
				w.own <- most
				return
			case <-tick.C:
			}
		}
	}()
	return w
}

// done stops the sampling and returns what the process took so far.
func (w watched) done(what string) Step {
	close(w.stop)
	s := Step{What: what, Seconds: time.Since(w.began).Seconds(), Own: <-w.own}
	select {
	case <-w.of.Ended():
		s.Peak = w.of.PeakMemory()
	default:
		s.Peak = w.of.Resident().Peak
	}
	return s
}

// network returns the template of the study.
func (a Apart) network() (networks.Template, error) {
	parties, partition, terms := []string{"north", "south", "west"}, "horizontal", ""
	if a.Join {
		parties, partition = parties[:2], "vertical"
	}
	var list, columns strings.Builder
	for i, p := range parties {
		fmt.Fprintf(&list, "  - {name: %s, id: %s_ID, records: %d}\n", p, strings.ToUpper(p), a.share(i))
	}
	for c := range columnsApart {
		owner := ""
		if a.Join {
			owner = ", owner: " + parties[c%2]
		}
		fmt.Fprintf(&columns, "  - {name: x%d, kind: numeric, bounds: [0, 100]%s}\n", c, owner)
	}
	if !a.Join {
		terms = ", matrix: public"
	}
	return networks.Parse("apart", fmt.Sprintf(`data: d
---
cosketch: study/2
name: apart
nonce: "NONCE"
aggregator: {id: AGGREGATOR_ID, hpke: AGGREGATOR_HPKE, addrs: [AGGREGATOR_ADDRESS]}
partition: %s
parties:
%squorum: %d
expires: EXPIRES
deadline: DEADLINE
records: {id: [id]}
sketches: [{side: records, family: sparse, k: %d, s: 1%s}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 200}
analyses: [{kind: k-means, clusters: %d}]
later: [k-means, neighbors]
columns:
%s`, partition, &list, len(parties), a.K, terms, clustersApart, &columns))
}

// share returns the number of records of a party.
func (a Apart) share(party int) int {
	if a.Join {
		return a.Records
	}
	return a.Records*(party+1)/3 - a.Records*party/3
}

// write writes a party's data: records of eight groups.
func (a Apart) write(path string, party int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	out.WriteString("id")
	for c := range columnsApart {
		if !a.Join || c%2 == party {
			fmt.Fprintf(out, ",x%d", c)
		}
	}
	random := rand.New(rand.NewPCG(64, uint64(party)))
	var line []byte
	for r := range a.share(party) {
		line = strconv.AppendInt(append(line[:0], "\nr"...), int64(r), 10)
		for c := range columnsApart {
			if !a.Join || c%2 == party {
				line = strconv.AppendInt(append(line, ','), int64(10+80*(r%clustersApart>>(c%3)&1)+random.IntN(11)), 10)
			}
		}
		out.Write(line)
	}
	out.WriteString("\n")
	return errors.Join(out.Flush(), f.Close())
}

// vectors writes the query vectors.
func (a Apart) vectors(path string) error {
	var out strings.Builder
	out.WriteString("query")
	for c := range columnsApart {
		fmt.Fprintf(&out, ",x%d", c)
	}
	random := rand.New(rand.NewPCG(64, 64))
	for r := range vectorsApart {
		fmt.Fprintf(&out, "\nv%d", r)
		for c := range columnsApart {
			fmt.Fprintf(&out, ",%d", 10+80*(r%clustersApart>>(c%3)&1)+random.IntN(11))
		}
	}
	out.WriteString("\n")
	return os.WriteFile(path, []byte(out.String()), 0o600)
}
