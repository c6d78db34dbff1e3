package release_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// sumSketches has sides moments and cells.
var sumSketches = []string{"{side: moments, clip: 0.7}", "{side: cells, L: 2, clip: 0.7}"}

func sumsPlan(t testing.TB, sketch, neighbours string) release.Plan {
	t.Helper()
	return releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{
		Partition: study.Horizontal, Columns: []string{releasetest.Categorical, releasetest.Centred, releasetest.Binary, releasetest.Bounded}, Sketches: []string{sketch},
		Privacy: "{unit: record, neighbours: " + neighbours + ", mechanism: gaussian, epsilon: 1, delta: 1e-6}",
	}), 0)
}

// Batches, their order, workers and ids do not change a sum. Its bytes are pinned: parties on any
// machine, and with any later version, make the same.
func TestSumsAreAFunctionOfTheData(t *testing.T) {
	digest := sha256.New()
	for _, s := range sumSketches {
		p := sumsPlan(t, s, "zeroed")
		rng := rand.New(rand.NewPCG(5, 5))
		d := randomData(rng, p, 300)
		want := encoded(t, exact(t, p, releasetest.Seed(1), d))
		for i := range d.ids {
			d.ids[i] = []byte{byte(i), byte(i >> 8)}
		}
		for workers := range 4 {
			b, err := p.NewBuilder(releasetest.Seed(1), workers)
			if err != nil {
				t.Fatal(err)
			}
			for from := 0; from < 300; {
				to := min(from+rng.IntN(100), 300)
				if err := b.Add(d.ids[from:to], d.values[from*p.Values:to*p.Values]); err != nil {
					t.Fatal(err)
				}
				from = to
			}
			got, err := b.Finish(releasetest.Entropy(1))
			if err != nil {
				t.Fatal(err)
			}
			if got.Order != nil || got.Clipped == 0 || got.Clipped != b.Clipped() {
				t.Errorf("%s: order %v, %d clipped", s, got.Order, got.Clipped)
			}
			if !bytes.Equal(encoded(t, got.Sketch), want) {
				t.Errorf("%s: %d workers make other bytes", s, workers)
			}
		}
		digest.Write(want)
		other := encoded(t, exact(t, p, releasetest.Seed(2), d))
		if seeded := p.Sketch().Side == sketch.Cells; bytes.Equal(other, want) == seeded {
			t.Errorf("%s: depends on the seed: %t", s, !seeded)
		}
	}
	const pinned = "fd8dd7a7527898b7bae23f1513dfccc1bee50bdccdd5066cebf75e1d7ef4b371"
	if got := hex.EncodeToString(digest.Sum(nil)); got != pinned {
		t.Errorf("digest %s, want %s", got, pinned)
	}
}

// The plan's shape is the builder's, and its header is accepted. What an honest party may send with
// the largest number of records is in range, as is the sum over all parties.
func TestSumsShapeAndRange(t *testing.T) {
	for _, s := range sumSketches {
		p := sumsPlan(t, s, "replaced")
		got := exact(t, p, releasetest.Seed(1), randomData(rand.New(rand.NewPCG(1, 12)), p, 11))
		if rows, cols := p.Shape(11); int64(got.Rows) != rows || int64(got.Cols) != cols || p.Study.Merge(0) != study.Add {
			t.Errorf("%s: %s, the plan says %d × %d", s, got, rows, cols)
		}
		var most int64
		for _, v := range got.Data {
			most = max(most, v, -v)
		}
		if per := most/11 + 1; p.Limit < 1<<30 || p.Limit > (1<<61/study.MostWhole)/(per/4+1) {
			t.Errorf("%s: a limit of %d records, of which one moves an entry by about %d", s, p.Limit, per)
		}
	}
}

// Random neighbours never move a sum by more than the plan says.
func TestSumsSensitivityBoundsNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, s := range sumSketches {
		for _, neighbours := range []string{"zeroed", "replaced"} {
			p := sumsPlan(t, s, neighbours)
			for range 300 {
				d := randomData(rng, p, 2)
				first := data{d.ids[:1], d.values[:p.Values]}
				second := data{d.ids[1:], d.values[p.Values:]}
				a, b := exact(t, p, releasetest.Seed(1), first), zero(exact(t, p, releasetest.Seed(1), first))
				if neighbours == "replaced" {
					b = exact(t, p, releasetest.Seed(1), second)
				}
				l1, l2 := norms(a, b)
				if l1 > p.Sensitivity.L1 || l2 > p.Sensitivity.L2Squared {
					t.Fatalf("%s, %s: moved by %d and √%d, declared %v", s, neighbours, l1, l2, p.Sensitivity)
				}
			}
		}
	}
}

// Moments and cells together meet the study's guarantee: their μ² add up to its own.
func TestSumsShareThePromise(t *testing.T) {
	s := releasetest.Study(t, releasetest.Terms{
		Partition: study.Horizontal, Columns: []string{releasetest.Centred, releasetest.Bounded},
		Sketches: []string{"{side: moments, clip: 0.7, share: 7}", "{side: cells, L: 2, clip: 0.7, share: 3}"},
		Privacy:  "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}",
	})
	var loss dp.Loss
	for i := range s.Sketches {
		loss = loss.Plus(releasetest.Plan(t, s, i).Noise.Guarantee().Loss())
	}
	if e := loss.Epsilon(1e-6); e > 1 || e < 1-1e-6 {
		t.Errorf("together ε = %v", e)
	}
}
