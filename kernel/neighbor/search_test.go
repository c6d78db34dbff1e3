package neighbor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/distance"
)

// points draws m × d points of one kind; most kinds are hard for float32 or full of ties.
func points(rng *rand.Rand, kind string, m, d int) *mat.Dense {
	out := mat.NewDense(m, d, nil)
	for i := range m {
		for j := range d {
			v := rng.NormFloat64()
			switch kind {
			case "far off":
				v += 1e7
			case "binary":
				v = float64(rng.IntN(2))
			case "alike":
				v = 0.1
			case "clumps":
				v = 1e4*float64(i%3) + 1e-3*v
			case "line":
				v = float64(i)
			case "norms":
				v *= math.Exp(4 * rng.NormFloat64())
			}
			out.Set(i, j, v)
		}
	}
	return out
}

var kinds = []string{"normal", "far off", "binary", "alike", "clumps", "line", "norms"}

// dumb sorts all points by distance and index.
func dumb(points, queries *mat.Dense, k int, join bool) Graph {
	m, _ := queries.Dims()
	n, _ := points.Dims()
	g := Graph{Neighbors: k}
	for q := range m {
		var order []int32
		squared := make([]float64, n)
		for i := range n {
			squared[i] = distance.Squared(queries.RawRowView(q), points.RawRowView(i))
			if !join || i != q {
				order = append(order, int32(i))
			}
		}
		slices.SortStableFunc(order, func(a, b int32) int {
			switch {
			case squared[a] < squared[b]:
				return -1
			case squared[a] > squared[b]:
				return 1
			}
			return 0
		})
		for _, i := range order[:k] {
			g.Index = append(g.Index, i)
			g.Squared = append(g.Squared, squared[i])
		}
	}
	return g
}

func equal(a, b Graph) bool {
	return a.Neighbors == b.Neighbors && slices.Equal(a.Index, b.Index) && slices.Equal(a.Squared, b.Squared)
}

// The neighbours equal those from sorting all points, to the bit, ties included, for any memory and
// number of workers.
func TestNeighborsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, kind := range kinds {
		for _, shape := range []struct{ n, m, d, k int }{{1, 1, 1, 1}, {33, 5, 1, 33}, {700, 130, 3, 10}, {1300, 71, 20, 7}, {900, 9, 130, 64}} {
			t.Run(fmt.Sprintf("%s/%d", kind, shape.n), func(t *testing.T) {
				p, q := points(rng, kind, shape.n, shape.d), points(rng, kind, shape.m, shape.d)
				want := dumb(p, q, shape.k, false)
				for _, o := range []Options{{}, {Workers: 3}, {Workers: 2, Memory: 1}} {
					o.Neighbors = shape.k
					if got, err := Search(t.Context(), p, q, o); err != nil || !equal(got, want) {
						t.Fatalf("%+v: %v, or other neighbours than by sorting", o, err)
					}
				}
				if shape.n == 1 {
					return
				}
				k := min(shape.k, shape.n-1)
				want = dumb(p, p, k, true)
				for _, o := range []Options{{Neighbors: k}, {Neighbors: k, Workers: 4, Memory: 1}} {
					if got, err := Join(t.Context(), p, o); err != nil || !equal(got, want) {
						t.Fatalf("join %+v: %v, or other neighbours than by sorting", o, err)
					}
				}
			})
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add(uint64(1), uint16(90), uint8(3), uint8(4), uint8(2), true)
	f.Add(uint64(2), uint16(700), uint8(40), uint8(30), uint8(0), false)
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, d, k, kind uint8, join bool) {
		rng := rand.New(rand.NewPCG(seed, 3))
		p := points(rng, kinds[int(kind)%len(kinds)], int(n)%800+2, int(d)%50+1)
		rows, _ := p.Dims()
		o := Options{Neighbors: int(k)%(rows-1) + 1, Workers: int(seed%3) + 1, Memory: int64(seed % 2)}
		got, err := Search(t.Context(), p, p, o)
		if join {
			got, err = Join(t.Context(), p, o)
		}
		if err != nil || !equal(got, dumb(p, p, o.Neighbors, join)) {
			t.Fatalf("%v, or other neighbours than by sorting", err)
		}
	})
}

func TestSearchRefuses(t *testing.T) {
	p := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	for want, do := range map[string]func() (Graph, error){
		"0 for each": func() (Graph, error) { return Search(t.Context(), p, p, Options{}) },
		"only 3":     func() (Graph, error) { return Search(t.Context(), p, p, Options{Neighbors: 4}) },
		"only 2":     func() (Graph, error) { return Join(t.Context(), p, Options{Neighbors: 3}) },
		"not finite": func() (Graph, error) {
			return Search(t.Context(), p, mat.NewDense(1, 2, []float64{0, math.NaN()}), Options{Neighbors: 1})
		},
		"2 coordinates in one set and 1": func() (Graph, error) { return Search(t.Context(), p, mat.NewDense(1, 1, nil), Options{Neighbors: 1}) },
	} {
		if _, err := do(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// A search stops if its context is cancelled, and counts every pair once.
func TestSearchEndsAndCounts(t *testing.T) {
	p := points(rand.New(rand.NewPCG(1, 1)), "normal", 3000, 4)
	ctx, cancel := context.WithCancel(t.Context())
	var most atomic.Int64
	_, err := Join(ctx, p, Options{Neighbors: 3, Workers: 2, Memory: 1, Progress: func(done, total int64) {
		most.Store(max(done, most.Load()))
		if done > total/4 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a search that was cancelled", err)
	}
	if seen := most.Load(); seen < 9e6/4 || seen > 9e6/2 {
		t.Errorf("went on until %d of 9000000 pairs", seen)
	}
	var last atomic.Int64
	if _, err := Join(t.Context(), p, Options{Neighbors: 3, Workers: 2, Progress: func(done, total int64) {
		if done == total {
			last.Add(1)
		}
	}}); err != nil || last.Load() != 1 {
		t.Errorf("%v, and the end was reported %d times", err, last.Load())
	}
}

// The search of a study of 200,000 records with k = 64, for 2,000 of them.
func BenchmarkSearch(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	p, q := points(rng, "normal", 200_000, 64), points(rng, "normal", 2_000, 64)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				if _, err := Search(context.Background(), p, q, Options{Neighbors: 10, Workers: workers}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
