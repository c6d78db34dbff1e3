//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// Of the large study: the first party has wide columns, so that its sketch is large, and
// the others one each. Entries have width bytes, by noise of the least ε there is.
const (
	wide         = 12
	entryWidth   = 5
	bytesPerRow  = (wide + 1) * entryWidth // of the first party, with the column of ones
	largestK     = 1 << 24
	largeEpsilon = 1e-4
)

// large is a study in which the first party's sketch has at least so many bytes.
func large(size int64) (scenario.Scenario, error) {
	k := (size + bytesPerRow - 1) / bytesPerRow
	if k > largestK {
		return scenario.Scenario{}, fmt.Errorf("%d bytes: at most %d", size, int64(largestK*bytesPerRow))
	}
	s := scenario.Scenario{
		Name: "large", Partition: study.Vertical, Side: sketch.Columns, Ones: 1,
		Projection: projection.Spec{Family: projection.Sparse, K: int(k), S: 1},
		Unit:       dp.Attribute, Mechanism: dp.Laplace, Epsilon: largeEpsilon,
		Analyses: []study.Analysis{{Kind: study.Correlation, Options: study.CorrelationOptions{Estimator: study.E2}}},
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for p := range s.Tables {
		columns := 1
		if p == 0 {
			columns = wide
		}
		for c := range columns {
			name := fmt.Sprintf("c%d_%d", p, c)
			s.Columns = append(s.Columns, scenario.Column{Name: name, Owner: p, Range: scenario.Range{Hi: 1}, Source: "drawn"})
			s.Tables[p].Columns = append(s.Tables[p].Columns, name)
		}
		for i := range 100 {
			row := make([]float64, columns)
			for c := range row {
				row[c] = rng.Float64()
			}
			s.Tables[p].IDs, s.Tables[p].Values = append(s.Tables[p].IDs, strconv.Itoa(i)), append(s.Tables[p].Values, row)
		}
	}
	return s, nil
}

// A sketch of COSKETCH_UPLOAD bytes, such as 1073741824, arrives whole over a connection
// that is cut ten times, with at most a chunk re-sent each time, and neither side needs
// memory for it: the party is killed when its release is stored, so that what it holds
// afterwards is of the upload, and the aggregator when all but the end has arrived.
func TestLargeUpload(t *testing.T) {
	size, err := strconv.ParseInt(os.Getenv("COSKETCH_UPLOAD"), 10, 64)
	if err != nil {
		t.Skip("COSKETCH_UPLOAD says no number of bytes")
	}
	scene, err := large(size)
	must(t, err)
	const cuts, patience = 10, 20 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := t.TempDir()
	must(t, network.Build(ctx, dir))
	port, err := network.FreePort()
	must(t, err)
	between, err := network.NewRelay(ctx, net.JoinHostPort("127.0.0.1", itoa(port)))
	must(t, err)
	defer between.Close()
	s, err := newSite(ctx, dir, dir, between.Port(), port, scene)
	must(t, err)
	s.lifetime = 2 * patience
	id, err := s.propose(ctx, 0)
	must(t, err)
	start := func(n *network.Node, args ...string) *network.Started {
		p, err := n.Start(args...)
		must(t, err)
		t.Cleanup(func() { p.Kill() })
		return p
	}
	until := func(done func() bool) {
		t.Helper()
		for tick := time.NewTicker(time.Millisecond); !done(); {
			select {
			case <-ctx.Done():
				t.Fatal("hangs")
			case <-tick.C:
			}
		}
	}
	began := time.Now()
	aggregator := start(s.aggregator, s.serveArgs()...)
	run := []string{"run", id, "--wait", patience.String()}
	small := []*network.Started{start(s.parties[1], run...), start(s.parties[2], run...)}
	party := start(s.parties[0], run...)

	// The others' sketches are small and there before the large one is made.
	row := int64(scene.Projection.K) * entryWidth
	others, whole := 2*2*row, (wide+1)*row
	header := filepath.Join(s.parties[0].StateDir(), "releases", id, "header")
	until(func() bool {
		_, err := os.Stat(header)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil && between.Up() > others
	})
	must(t, party.Kill())
	making, made := party.PeakMemory(), time.Since(began)
	before := between.Up()
	party = start(s.parties[0], run...)

	rng, began := rand.New(rand.NewPCG(1, 1)), time.Now()
	for cut := range int64(cuts) {
		until(func() bool { return between.Up() > before+whole*(cut+1)/(cuts+2) })
		between.Cut()
		mended := make(chan struct{})
		time.AfterFunc(time.Duration(rng.IntN(50))*time.Millisecond, func() { between.Mend(); close(mended) })
		<-mended
	}
	until(func() bool { return between.Up() > before+whole*(cuts+1)/(cuts+2) })
	must(t, aggregator.Kill())
	taking := aggregator.PeakMemory()
	aggregator = start(s.aggregator, s.serveArgs()...)
	progress := filepath.Join(s.aggregator.StateDir(), "uploads", id, s.parties[0].ID, "sketch-0", strconv.FormatInt((whole-1)/protocol.ChunkSize, 10))
	until(func() bool { _, err := os.Stat(progress); return err == nil })
	uploading, up := time.Since(began), between.Up()-before
	for _, p := range append(small, party) {
		select {
		case <-p.Ended():
			must(t, p.Err())
		case <-ctx.Done():
			t.Fatalf("hangs: %s", p.Says())
		}
	}
	sending := party.PeakMemory()
	must(t, aggregator.Kill())
	must(t, s.check(ctx, id))

	// Each cut may cost the chunk that was under way, and so may the aggregator's end.
	// TLS and yamux add less than a part in 256.
	lost := up - whole - whole/256
	t.Logf("%d bytes up for a sketch of %d in %.1f s, after %.1f s of making it: at most %d re-sent a cut",
		up, whole, uploading.Seconds(), made.Seconds(), max(0, up-whole)/(cuts+1))
	t.Logf("peak memory: party %d MiB making, %d MiB sending; aggregator %d MiB taking in, %d MiB with the analyses",
		making>>20, sending>>20, taking>>20, aggregator.PeakMemory()>>20)
	if whole < size || lost > (cuts+1)*protocol.ChunkSize+1<<20 {
		t.Errorf("%d bytes went up for a sketch of %d, cut %d times", up, whole, cuts)
	}
	const least = 192 << 20 // of a process that holds some chunks, whatever the sketch's size
	if sending > least || taking > least {
		t.Errorf("memory grows with the sketch: party %d, aggregator %d bytes", sending, taking)
	}
}
