package analysis_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// drained accepts tables and stores nothing.
type drained struct{ io.Writer }

func (d drained) NewPart() (analysis.NewPart, error) { return drained{io.Discard}, nil }
func (drained) Commit(protocol.Digest) error         { return nil }
func (drained) Discard()                             {}

// counting is storage beside the memory. Since it is really on the heap, it keeps what it gives to
// the end and counts it, so that peak can subtract it.
type counting struct {
	mu    sync.Mutex
	given int64    // guarded by mu
	all   [][]byte // guarded by mu
}

func (c *counting) Bytes(n int) ([]byte, error) {
	c.mu.Lock()
	c.given += int64(n) // before allocating, so that peak never counts it
	c.mu.Unlock()
	out := make([]byte, n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, out)
	return out, nil
}

func (c *counting) Part() room.Part { return c }
func (*counting) Close() error      { return nil }

func (c *counting) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.given
}

// peak returns the largest heap use while do runs, without what beside holds.
func peak(beside *counting, do func()) (most int64) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	held := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) - beside.now() // in this order, as beside counts before it allocates
	}
	runtime.GC()
	before, stop, done := held(), make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, held()-before)
			select {
			case <-stop:
				done <- most
				return
			case <-tick.C:
			}
		}
	}()
	do()
	close(stop)
	return <-done
}

// anyRelease returns a party's release whose entries are drawn anew whenever they are read.
func anyRelease(t *testing.T, s *study.Study, party int, records int64) analysis.Contribution {
	t.Helper()
	c := analysis.Contribution{Party: party, Records: records}
	var plans []release.Plan
	for i := range s.Sketches {
		plan, err := release.For(s, party, i)
		if err != nil {
			t.Fatal(err)
		}
		rows, cols := plan.Shape(records)
		plans = append(plans, plan)
		c.Sketches = append(c.Sketches, sketch.Sketch{Side: s.Sketches[i].Side, Rows: int(rows), Cols: int(cols)})
		c.Labels, c.Rows = append(c.Labels, nil), append(c.Rows, release.Rows{})
	}
	c.Scan = func(i int, take func([]int64)) error {
		rng, size, head := rand.New(rand.NewPCG(uint64(party), uint64(i))), c.Sketches[i].Rows*c.Sketches[i].Cols, 0
		if plans[i].Moments != nil {
			head = size - plans[i].Moments.Layout.Entries()
		}
		block := make([]int64, 0, 1<<12)
		for at := range size {
			v := rng.Int64N(1 << 12)
			if at < head { // a clip, or the shift of an entry
				v = 1
			}
			if block = append(block, v); len(block) == cap(block) || at == size-1 {
				take(block)
				block = block[:0]
			}
		}
		return nil
	}
	return c
}

// TestMemoryIsAsReckoned: analyses hold less memory than forecast, for many columns and for many
// parties.
func TestMemoryIsAsReckoned(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	columns, parties := full.Or(500, 2000), full.Or(8, 16)
	var north strings.Builder
	for i := range columns - 2 {
		fmt.Fprintf(&north, "  - {name: c%d, kind: numeric, bounds: [0, 1], owner: north}\n", i)
	}
	wide := func(k int, analyses string) string {
		return strings.Replace(terms(north.String(), analyses), "k: 64", fmt.Sprint("k: ", k), 1)
	}
	summed := func(more, analyses string) string {
		return "partition: horizontal\nrecords: {id: [patient]}\ncolumns:\n" + strings.ReplaceAll(north.String(), ", owner: north", "") +
			"sketches:\n  - {side: moments" + more + "}\nprivacy: {unit: record, mechanism: gaussian, epsilon: 16, delta: 1e-6}\nanalyses: [" + analyses + "]\n"
	}
	for name, c := range map[string]struct {
		terms string
		many  bool // of parties
	}{
		"correlations of columns": {wide(16384, "{kind: correlation}"), false},
		"sums of columns":         {wide(16384, "{kind: sums}"), false},
		"regression of columns":   {wide(16384, "{kind: regression, target: last}"), false},
		"correlations of moments": {summed("", "{kind: correlation}"), true},
		"regression of moments":   {summed("", "{kind: regression, target: c0}"), true},
		"moments of own centres":  {summed(", clip: own, standardise: own", "{kind: covariance}"), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, c.terms)
			if c.many {
				s = manyOf(s, parties)
			}
			o := analysis.Options{Study: s, Attempt: 1, Keep: drained{}, Workers: 2}
			for party := range s.Parties {
				o.Contributions = append(o.Contributions, anyRelease(t, s, party, 1000))
			}
			for _, memory := range []int64{0, 1 << 20} { // all in memory, and as little memory as possible
				beside := &counting{}
				o.Memory, o.Scratch = 1<<40, beside
				needs, err := analysis.Quotas{Memory: o.Memory}.Needs(s, 0, 1000)
				if memory > 0 {
					if needs, err = (analysis.Quotas{Memory: memory}).Needs(s, 0, 1000); err == nil {
						o.Memory = needs
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				var undefined string
				most := peak(beside, func() {
					result, _, err := analysis.Run(t.Context(), o)
					if err != nil {
						t.Error(err)
						return
					}
					undefined = result.Analyses[0].Undefined
				})
				t.Logf("%d bytes held, %d reckoned; %s", most, needs, undefined)
				const least = 24 << 20 // left by tests and garbage collection
				if strings.Contains(undefined, "memory") || most > needs+least {
					t.Errorf("%d bytes are held, and %d were reckoned: %s", most, needs, undefined)
				}
			}
		})
	}
}

// manyOf returns the study with so many parties.
func manyOf(s *study.Study, n int) *study.Study {
	out := *s
	out.Parties = nil
	for i := range n {
		p := s.Parties[i%len(s.Parties)]
		p.Name = fmt.Sprint("p", i)
		out.Parties = append(out.Parties, p)
	}
	return &out
}
