package release_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
)

// familyPlan plans the first party's part in a horizontal study of one sketch. It has a number and
// one of three categories, so four features.
func familyPlan(t *testing.T, entry, privacy string) release.Plan {
	t.Helper()
	example, err := os.ReadFile("../study/testdata/hospitals.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "columns:\n")
	analysis := "k-means, clusters: 2"
	if strings.Contains(entry, "columns") {
		analysis = "inner-product"
	}
	s, err := file.Parse(fmt.Appendf(nil, `%scolumns:
  - {name: age, kind: numeric, bounds: [0, 100]}
  - {name: ward, kind: categorical, values: [a, b, c]}
bits: 8
sketches: [%s]
privacy: %s
analyses: [{kind: %s}]
`, head, entry, privacy, analysis))
	if err != nil {
		t.Fatal(err)
	}
	p, err := release.For(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// familySeed returns the n-th fixed seed.
func familySeed(n int) seed.Seed {
	return seed.FromBytes([seed.Size]byte{byte(n), byte(n >> 8), 7})
}

// one sketches one record.
func one(t *testing.T, p release.Plan, root seed.Seed, values []int64) []int64 {
	t.Helper()
	b, err := p.NewBuilder(root, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add([][]byte{[]byte("x")}, values); err != nil {
		t.Fatal(err)
	}
	exact, err := b.Finish(bytes.NewReader(make([]byte, 64)))
	if err != nil {
		t.Fatal(err)
	}
	return exact.Sketch.Data
}

// TestFamiliesMoveAsPlanned tries all changes between extreme values of either column under many
// seeds. None moves a sketch further than the plan says. If the plan claims to be tight, some move
// it as far. The bounds are not tight for laplace noise on an orthogonal hadamard, and for rows
// drawn from few columns of a Hadamard matrix, because they consider only single rows.
func TestFamiliesMoveAsPlanned(t *testing.T) {
	for _, c := range []struct {
		sketch       string
		sensitivity  dp.Sensitivity
		l1, l2Square bool // attained
	}{
		{"{side: columns, family: achlioptas, k: 2, helpers: {ones: 0}}", dp.Sensitivity{L1: 2 * 2 * 256, L2Squared: 2 * 2 * 256 * 256}, true, true},
		{"{side: records, family: achlioptas, k: 2}", dp.Sensitivity{L1: 2 * 2 * 256, L2Squared: 2 * 4 * 256 * 256}, true, true},
		{"{side: records, family: hadamard, k: 2}", dp.Sensitivity{L1: 2 * 2 * 256, L2Squared: 2 * 4 * 256 * 256}, true, true},
		{"{side: records, family: hadamard, k: 3}", dp.Sensitivity{L1: 3 * 2 * 256, L2Squared: 3 * 4 * 256 * 256}, false, false},
		{"{side: records, family: hadamard, k: 4}", dp.Sensitivity{L1: 4 * 2 * 256, L2Squared: 4 * 2 * 256 * 256}, false, true},
	} {
		p := familyPlan(t, c.sketch, "{unit: attribute, mechanism: gaussian, epsilon: 1, delta: 1e-6}")
		if p.Sensitivity != c.sensitivity {
			t.Errorf("%s: planned for %v, want %v", c.sketch, p.Sensitivity, c.sensitivity)
		}
		changes := [][2][]int64{{{0, 256, 0, 0}, {256, 256, 0, 0}}}
		for a := range 3 {
			for b := range a {
				from, to := make([]int64, 4), make([]int64, 4)
				from[1+a], to[1+b] = 256, 256
				changes = append(changes, [2][]int64{from, to})
			}
		}
		var most dp.Sensitivity
		for n := range 2000 {
			for _, change := range changes {
				var moved dp.Sensitivity
				after := one(t, p, familySeed(n), change[1])
				for i, v := range one(t, p, familySeed(n), change[0]) {
					d := v - after[i]
					moved.L1 += max(d, -d)
					moved.L2Squared += d * d
				}
				most = dp.Max(most, moved)
			}
		}
		if most.L1 > p.Sensitivity.L1 || most.L2Squared > p.Sensitivity.L2Squared {
			t.Errorf("%s: a change moved the sketch by %v, planned for %v", c.sketch, most, p.Sensitivity)
		}
		if (most.L1 == p.Sensitivity.L1) != c.l1 || (most.L2Squared == p.Sensitivity.L2Squared) != c.l2Square {
			t.Errorf("%s: the worst change moved the sketch by %v of %v", c.sketch, most, p.Sensitivity)
		}
	}
}

// TestHadamardRotates: a hadamard that keeps all of its columns preserves lengths exactly, and the
// seed decides which columns come first.
func TestHadamardRotates(t *testing.T) {
	p := familyPlan(t, "{side: records, family: hadamard, k: 4}", "{mechanism: none}")
	if !p.Spec().OrthogonalRows(len(p.Features)) {
		t.Error("k = d' is no rotation")
	}
	rng, orders := rand.New(rand.NewPCG(1, 2)), map[bool]bool{}
	for n := range 50 {
		var norm, projected int64
		x := []int64{rng.Int64N(257), 256, 0, 0}
		y := one(t, p, familySeed(n), x)
		for i := range x {
			norm += x[i] * x[i]
			projected += y[i] * y[i]
		}
		if projected != 4*norm {
			t.Fatalf("seed %d: squared norm %d of %d", n, projected, 4*norm)
		}
		// The magnitudes of a record with two entries show which columns they met.
		large := max(y[0], -y[0]) > max(y[1], -y[1])
		orders[large] = true
	}
	if len(orders) != 2 {
		t.Error("every seed keeps the columns in one order")
	}
}

// TestLimitsOfFamilies: gaussian entries leave room for fewer records.
func TestLimitsOfFamilies(t *testing.T) {
	limit := func(family string) int64 {
		return familyPlan(t, "{side: columns, family: "+family+", k: 8}", "{mechanism: none}").Limit
	}
	if signs, zeros := limit("rademacher"), limit("achlioptas"); signs != zeros {
		t.Errorf("%d and %d records", signs, zeros)
	}
	if ratio := float64(limit("rademacher")) / float64(limit("gaussian")); ratio < 32766.9 || ratio > 32767.1 {
		t.Errorf("%v times as many records of signs as of gaussian entries, want 32767", ratio)
	}
}
