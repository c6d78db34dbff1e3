//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
)

// The large study: the first party has many columns, so that its sketch is large, the others one
// each. Noise of the smallest possible ε makes entries entryWidth bytes wide.
const (
	wide         = 12
	entryWidth   = 5
	bytesPerRow  = (wide + 1) * entryWidth // of the first party, with the column of ones
	largestK     = 1 << 24
	largeEpsilon = 1e-4
)

// large returns a study in which the first party's sketch has at least size bytes, with its
// dimension k and its data.
func large(size int64) (t networks.Template, k int64, pooled corpus.Table, err error) {
	k = (size + bytesPerRow - 1) / bytesPerRow
	if k > largestK {
		return t, 0, pooled, fmt.Errorf("%d bytes: at most %d", size, int64(largestK*bytesPerRow))
	}
	var columns strings.Builder
	pooled.Names = []string{"patient"}
	for p, owner := range []string{"north", "south", "west"} {
		count := 1
		if p == 0 {
			count = wide
		}
		for c := range count {
			name := fmt.Sprintf("c%d_%d", p, c)
			fmt.Fprintf(&columns, "  - {name: %s, kind: numeric, bounds: [0, 1], source: drawn, owner: %s}\n", name, owner)
			pooled.Names = append(pooled.Names, name)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 100 {
		row := []string{strconv.Itoa(i)}
		for range pooled.Names[1:] {
			row = append(row, strconv.FormatFloat(rng.Float64(), 'g', -1, 64))
		}
		pooled.Rows = append(pooled.Rows, row)
	}
	t, err = networks.Parse("large", fmt.Sprintf(largeStudy, &columns, k, largeEpsilon))
	return t, k, pooled, err
}

const largeStudy = `title: A sketch that takes long to upload
data: drawn
split: {hold: 1}
---
cosketch: study/2
name: large
nonce: "NONCE"
aggregator: {id: AGGREGATOR_ID, hpke: AGGREGATOR_HPKE, addrs: [AGGREGATOR_ADDRESS]}
parties:
  - {name: north, id: NORTH_ID}
  - {name: south, id: SOUTH_ID}
  - {name: west, id: WEST_ID}
partition: vertical
quorum: 3
expires: EXPIRES
deadline: DEADLINE
records: {id: [patient], missing: refuse}
columns:
%ssketches:
  - {side: columns, family: sparse, k: %d, s: 1, helpers: {ones: 1}}
privacy: {unit: attribute, mechanism: laplace, epsilon: %g}
analyses:
  - {kind: correlation, estimator: E2}
`

// A sketch of COSKETCH_UPLOAD bytes, such as 1073741824, arrives completely over a connection that
// is cut ten times, with at most a chunk re-sent each time. Neither side's memory grows with it.
// The party is killed when its release is stored, so that its memory afterwards is that of the
// upload. The aggregator is killed when all but the end has arrived.
func TestLargeUpload(t *testing.T) {
	size, err := strconv.ParseInt(os.Getenv("COSKETCH_UPLOAD"), 10, 64)
	if err != nil {
		t.Skip("COSKETCH_UPLOAD says no number of bytes")
	}
	template, k, pooled, err := large(size)
	must(t, err)
	const cuts, patience = 10, 20 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := programsIn(t)
	s, between, err := relayed(ctx, dir, dir, template)
	must(t, err)
	defer between.Close()
	s.pooled = pooled
	s.lifetime = 2 * patience
	id, err := s.propose(ctx)
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
	aggregator := start(s.Aggregator, "serve", "--listen", network.Loopback(s.port))
	run := []string{"run", id, "--wait", patience.String()}
	small := []*network.Started{start(s.Parties[1], run...), start(s.Parties[2], run...)}
	party := start(s.Parties[0], run...)

	// The others' sketches are small and arrive before the large one is complete.
	row := k * entryWidth
	others, whole := 2*2*row, (wide+1)*row
	header := filepath.Join(s.Parties[0].StateDir(), "releases", id, "header")
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
	party = start(s.Parties[0], run...)

	rng, began := rand.New(rand.NewPCG(1, 1)), time.Now()
	for cut := range int64(cuts) {
		until(func() bool { return between.Up() > before+whole*(cut+1)/(cuts+2) })
		between.Cut()
		mended := make(chan struct{})
		time.AfterFunc(time.Duration(rng.IntN(50))*time.Millisecond, func() { between.Restore(); close(mended) })
		<-mended
	}
	until(func() bool { return between.Up() > before+whole*(cuts+1)/(cuts+2) })
	must(t, aggregator.Kill())
	taking := aggregator.PeakMemory()
	aggregator = start(s.Aggregator, "serve", "--listen", network.Loopback(s.port))
	progress := filepath.Join(s.Aggregator.StateDir(), "uploads", id, s.Parties[0].ID, "sketch-0", strconv.FormatInt((whole-1)/protocol.ChunkSize, 10))
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

	// Each cut may cost the chunk in transfer, and so may killing the aggregator. TLS and yamux add
	// less than 1/256.
	lost := up - whole - whole/256
	t.Logf("%d bytes up for a sketch of %d in %.1f s, after %.1f s of making it: at most %d re-sent a cut",
		up, whole, uploading.Seconds(), made.Seconds(), max(0, up-whole)/(cuts+1))
	t.Logf("peak memory: party %d MiB making, %d MiB sending; aggregator %d MiB taking in, %d MiB with the analyses",
		making>>20, sending>>20, taking>>20, aggregator.PeakMemory()>>20)
	if whole < size || lost > (cuts+1)*protocol.ChunkSize+1<<20 {
		t.Errorf("%d bytes went up for a sketch of %d, cut %d times", up, whole, cuts)
	}
	const least = 192 << 20 // for a process that holds some chunks, whatever the size of the sketch
	if sending > least || taking > least {
		t.Errorf("memory grows with the sketch: party %d, aggregator %d bytes", sending, taking)
	}
}
