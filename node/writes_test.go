//go:build unix

package node_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wait"
)

// table describes one study in which every durable write of one node fails.
type table struct {
	terms
	data func(int) string
	node string
	only string // ordinary runs fail only writes of these names: the first table covers the others

	silent protocol.Kind                             // party c falls silent with this message, so that the others need a second attempt
	play   func(table, *testing.T, *writes) []string // default: table.run
}

// tables are, for a party: one that releases at once; one whose sketch waits for its steward, who
// changes it by commands; one with noise in the values; one that takes a first look; one that
// agrees twice; one that welcomes a late party; the late party; and one without a network. For the
// aggregator: one attempt, two attempts, with a late party, and without a network.
func tables() map[string]table {
	asked := smallSketch
	asked.release = "ask"
	late := smallSketch
	late.late = now() + 3*3600
	return map[string]table{
		"party":               {terms: clustered, data: points, node: "a"},
		"party that asks":     {terms: asked, data: uniform(50), node: "a", only: "Held"},
		"randomised response": {terms: bits, data: coins(60), node: "a", only: "Debit SaveRelease"},
		"first look":          {terms: ownSketch, data: uniform(50), node: "a", only: "Debit PutLook SaveRelease DestroyLook"},
		"steward":             {terms: asked, data: uniform(50), node: "a", only: "PutDecision", play: table.stewarded},
		"second attempt":      {terms: smallSketch, data: uniform(50), node: "a", only: "DestroySecret", silent: protocol.KindShare},
		"newcomer":            {terms: late, data: uniform(50), node: "c", only: "PutSecret", play: table.joined},
		"welcomer":            {terms: late, data: uniform(50), node: "a", only: "PutSigned", play: table.joined},
		"by hand":             {terms: clustered, data: points, node: "a", only: "SaveRelease PutResult", play: table.carried},
		"aggregator":          {terms: clustered, data: points, node: "agg"},
		"aggregator, again":   {terms: smallSketch, data: uniform(50), node: "agg", only: "AppendBoard", silent: protocol.KindShare},
		"aggregator, late":    {terms: late, data: uniform(50), node: "agg", only: "PutResult", play: table.joined},
		"masked":              {terms: masked, data: alike(50), node: "a", only: "SaveRelease"},
		"masked, again":       {terms: masked, data: alike(50), node: "a", only: "DropRelease Debit PutSigned", silent: protocol.KindRelease},
		"aggregator, masked":  {terms: masked, data: alike(50), node: "agg", only: "PutChunk", silent: protocol.KindRelease},
		"two rounds":          {terms: twice, data: plane(200), node: "a", only: "Debit PutFirst SaveRelease PutSigned"},
		"aggregator, twice":   {terms: twice, data: plane(200), node: "agg", only: "AppendBoard"},
		"aggregator by hand":  {terms: clustered, data: points, node: "agg", only: "PutChunk", play: table.carried},
	}
}

// alike is data of one column, x, at every party.
func alike(records int) func(int) string {
	return func(party int) string {
		return strings.Replace(uniform(records)(party), fmt.Sprintf("id,%c", "xyz"[party]), "id,x", 1)
	}
}

// masked is a study of a masked sum that may lose a party.
var masked = terms{
	partition: "horizontal",
	columns:   "[{name: x, kind: numeric, bounds: [0, 1]}]",
	sketches:  "[{side: moments, clip: 1}]",
	privacy:   "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}",
	analyses:  "[{kind: mean}]",
	caps:      "{record: {epsilon: 2, delta: 1e-6}}",
	sum:       "sum: masked\ncolluding: 1\n",
}

// twice is a study of two rounds.
var twice = terms{
	partition: "horizontal",
	columns:   "[{name: x, kind: numeric, bounds: [0, 1]}, {name: y, kind: numeric, bounds: [0, 1]}]",
	sketches:  "[{side: moments, clip: whole, share: 3}, {side: codes, share: 7}]",
	privacy:   "{unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-6}",
	analyses:  "[{kind: k-means, clusters: 2}]",
	caps:      "{record: {epsilon: 8, delta: 1e-6}}",
	sum:       "rounds: 2\n",
}

// plane is data of two columns, in two places.
func plane(records int) func(int) string {
	return func(party int) string {
		var b strings.Builder
		b.WriteString("id,x,y\n")
		for i := range records {
			at := float64(i%2)/2 + float64(i%10)/40
			fmt.Fprintf(&b, "p%d-%d,%g,%g\n", party, i, at, at)
		}
		return b.String()
	}
}

// inOrdinaryRun selects the writes that fail in the ordinary run: each at its first occurrence, and
// every write of drawn secrets.
func (tab table) inOrdinaryRun(w nth) bool {
	return (w.n == 1 || w.what() == "PutSecret") && (tab.only == "" || slices.Contains(strings.Fields(tab.only), w.what()))
}

// what is the kind of write, as "PutSigned" in "PutSigned release".
func (w nth) what() string {
	what, _, _ := strings.Cut(strings.Replace(w.name, ".", " ", 1), " ")
	return what
}

// ways are the ways in which a write fails. In an ordinary run these are both if budget and noise
// depend on the write, or else one of them, in turn.
func (w nth) ways(turn int) []outcome {
	both := []outcome{notPersisted, unacknowledged}
	if full.Asked() || slices.Contains([]string{"Debit", "SaveRelease", "SaveQuery", "DropRelease"}, w.what()) {
		return both
	}
	return both[turn%2:][:1]
}

// Every durable write of a party and of the aggregator fails: once without effect, and once after
// taking effect, without the node knowing. Whoever takes the study up again, only from what is
// stored, brings it to the same end: one result that everybody has, one debit, one release that
// never changes, and no secrets.
//
// With COSKETCH_FULL=1 every single write fails in both ways, or else in those of ways.
func TestEveryWriteFails(t *testing.T) {
	for name, tab := range tables() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted := &writes{}
			if tab.play == nil {
				tab.play = func(tab table, t *testing.T, w *writes) []string { return tab.run(t, w, nil) }
			}
			if faults := tab.play(tab, t, counted); len(faults) > 0 {
				t.Fatalf("without any failure: %q", faults)
			}
			for turn, write := range counted.seen {
				if !full.Asked() && !tab.inOrdinaryRun(write) {
					continue
				}
				for _, how := range write.ways(turn) {
					t.Run(fmt.Sprintf("%s %s", write, how), func(t *testing.T) {
						t.Parallel()
						w := &writes{fail: write, how: how}
						for _, fault := range tab.play(tab, t, w) {
							t.Error(fault)
						}
						switch {
						case w.hasFailed():
							t.Logf("%-28s %-28s the study ended as it should", write, how)
						case write.n == 1:
							t.Error("the write was never done")
						default: // timing decides how often a status or a stretch of the board is stored
							t.Logf("%-28s %-28s was not done this time", write, how)
						}
					})
				}
			}
		})
	}
}

// run runs a study with the failure in w, and between after the failure. It returns what is wrong
// at the end.
func (tab table) run(t *testing.T, w *writes, between func(*bench)) []string {
	t.Helper()
	b := newBench(t, tab.terms, tab.data)
	b.writes = map[string]*writes{tab.node: w}
	stop := b.serve()
	defer stop()
	ctx, cancel := context.WithCancel(b.context())
	defer cancel()
	members := b.parties
	if tab.silent != "" {
		members = b.parties[:2]
		gone := b.fallSilent(ctx, "c", tab.silent)
		defer func() {
			cancel() // it may never have reached that message
			<-gone
		}()
	}
	ended := make(chan error, len(members))
	for _, name := range members[1:] {
		go func() { ended <- b.run(ctx, name, nil) }()
	}
	before, err := b.takenUp(ctx, tab, w, between)
	if err != nil {
		cancel() // the others would wait for it
	}
	for range members[1:] {
		err = cmp.Or(err, <-ended)
	}
	if err != nil {
		return []string{err.Error()}
	}
	stop()
	if tab.node == "agg" && w.hasFailed() && !bytes.Contains(b.logs.Bytes(), []byte(errDisk.Error())) {
		return []string{"the aggregator's log does not say that it failed"}
	}
	return append(b.faults(before), b.leftovers(members)...)
}

// takenUp runs party a until it has its result, restarting it after the failure and after the
// steward was asked. It returns the release stored at the failure.
func (b *bench) takenUp(ctx context.Context, tab table, w *writes, between func(*bench)) (before [][]byte, err error) {
	b.t.Helper()
	asked, failed := tab.release != "ask", false
	for {
		ctx, cancel := context.WithCancel(ctx)
		err := b.run(ctx, "a", func(p event.Progress) {
			switch {
			case p.Milestone != event.Waiting:
			case p.Status.WaitFor == wait.Steward:
				cancel()
			case tab.silent == protocol.KindShare && len(p.Status.From) == 1 && p.Status.WaitFor == wait.Shares,
				tab.silent == protocol.KindRelease && p.Status.WaitFor == wait.Result:
				b.skew.Store(5000) // past the end of the first attempt, before the second's
			}
		})
		waits := ctx.Err() != nil
		cancel()
		switch {
		case errors.Is(err, errDisk) && !failed:
			failed, before = true, b.stored()
			if between != nil {
				between(b)
			}
		case err != nil && waits && !asked:
			asked = true
			b.release()
		case err == nil && tab.node == "a" && w.hasFailed() != failed:
			return before, errors.New("party a went on after the failure as if there were none")
		default:
			return before, err
		}
	}
}

// leftovers lists what the study's end should have removed, or made equal at all members.
func (b *bench) leftovers(members []string) (out []string) {
	b.t.Helper()
	var first []byte
	for _, name := range members {
		st := b.open(name)
		r, raw, err := stored.Result(st, b.study.ID)
		check(b.t, err)
		_, labelled := local.OwnLabels(st, b.study)
		entries, err := st.Ledger()
		check(b.t, err)
		check(b.t, st.Close())
		if first == nil {
			first = raw
		}
		if !bytes.Equal(raw, first) || len(r.Parties) != len(members) {
			out = append(out, fmt.Sprintf("party %s holds another result, of %d parties", name, len(r.Parties)))
		}
		if b.study.Sketches[0].Side == sketch.Records && labelled != nil {
			out = append(out, fmt.Sprintf("party %s has no labels: %v", name, labelled))
		}
		if len(entries) != b.debits(r.Attempt) {
			out = append(out, fmt.Sprintf("party %s debited %d times", name, len(entries)))
		}
		for _, dir := range []string{"secrets", "held"} {
			if files, err := os.ReadDir(filepath.Join(b.path(name), dir)); len(files) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
				out = append(out, fmt.Sprintf("party %s keeps %v in %s: %v", name, files, dir, err))
			}
		}
	}
	return out
}

// The table's checks notice a party that draws its noise twice, and one that spends its budget
// twice.
func TestWhatTheTableCatches(t *testing.T) {
	t.Parallel()
	tab := tables()["party"]
	t.Run("a second release", func(t *testing.T) {
		w := &writes{fail: nth{"PutSigned release", 1}, how: notPersisted}
		faults := tab.run(t, w, func(b *bench) {
			check(t, os.RemoveAll(filepath.Join(b.path("a"), "releases", b.study.ID.String())))
		})
		if !slices.Equal(faults, []string{redrawn}) {
			t.Errorf("found %q", faults)
		}
	})
	t.Run("a second debit", func(t *testing.T) {
		w := &writes{fail: nth{"Debit", 1}, how: unacknowledged, forget: true}
		faults := tab.run(t, w, nil)
		if len(faults) != 1 || !strings.Contains(faults[0], "entry 1 of the ledger already did") { // refused by the store
			t.Errorf("found %q", faults)
		}
	})
}
