package release_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// manyTables has every kind of table.
const manyTables = "{side: counts, share: 2, tables: [{of: [{column: categorical}]}, {of: [{column: centred, bins: 6}]}, {of: [{column: bounded, edges: [-1, 0.5, 5]}, {column: binary}]}, {of: [{column: bounded}], depth: 3}]}"

func countsStudy(t testing.TB, privacy, missing string) *study.Study {
	t.Helper()
	with := "{side: moments, clip: 0.7}"
	if strings.Contains(privacy, "laplace") {
		with = "{side: columns, family: sparse, k: 64, helpers: {ones: 0}, clip: 0.8}"
	}
	return releasetest.Study(t, releasetest.Terms{
		Partition: study.Horizontal, Columns: []string{releasetest.Categorical, releasetest.Centred, releasetest.Binary, releasetest.Bounded}, Sketches: []string{with, manyTables}, Privacy: privacy, Missing: missing,
	})
}

// countable returns random records that have a value in every column.
func countable(rng *rand.Rand, p release.Plan, m int) data {
	d := randomData(rng, p, m)
	one := p.Study.Bits.One()
	for i := range m {
		row := d.values[i*p.Values:][:p.Values]
		if row[0]+row[1]+row[2] == 0 { // categorical
			row[rng.IntN(3)] = one
		}
		row[4] = rng.Int64N(2) * one // binary
	}
	return d
}

// Counts are those of the values as read, and their bytes are pinned: parties on any machine, and
// with any later version, make the same.
func TestCountsOfAStudy(t *testing.T) {
	digest := sha256.New()
	for _, privacy := range []string{gaussianRecord, "{unit: record, mechanism: laplace, epsilon: 1}"} {
		s := countsStudy(t, privacy, "refuse")
		p := releasetest.Plan(t, s, 1)
		d := countable(rand.New(rand.NewPCG(7, 7)), p, 500)
		got := exact(t, p, releasetest.Seed(1), d)
		if rows, cols := p.Shape(500); rows != 1 || cols != 3+6+8+14 || int64(got.Cols) != cols {
			t.Fatalf("%s, want 1 × %d", got, cols)
		}
		weight, one := s.CountWeight(), float64(s.Bits.One())
		want := make([]int64, got.Cols)
		for i := range 500 {
			row := d.values[i*p.Values:][:p.Values]
			want[slices.Index(row[:3], s.Bits.One())] += weight
			z := float64(row[3]) / one // three spreads on either side
			want[3+min(int((z+1)*3), 5)] += weight
			x := -2 + 8*float64(row[5])/one
			bin := 0
			for _, edge := range []float64{-1, 0.5, 5} {
				if x >= edge {
					bin++
				}
			}
			want[9+2*bin+int(float64(row[4])/one)] += weight
			for depth, first := range []int{17, 19, 23} {
				want[first+min(int((x+2)/8*float64(int(2)<<depth)), int(2)<<depth-1)] += weight
			}
		}
		if !slices.Equal(got.Data, want) {
			t.Errorf("%s: %v, want %v", privacy, got.Data, want)
		}
		b, err := p.NewBuilder(releasetest.Seed(2), 3)
		if err != nil {
			t.Fatal(err)
		}
		fine := slices.Clone(d.values)
		for i := range fine {
			fine[i] <<= s.Fine()
		}
		for from := 0; from < 500; from += 125 {
			if err := b.AddRead(d.ids[from:from+125], fine[from*p.Values:(from+125)*p.Values]); err != nil {
				t.Fatal(err)
			}
		}
		again, err := b.Finish(releasetest.Entropy(1))
		if err != nil || !slices.Equal(again.Sketch.Data, got.Data) || again.Clipped != 0 {
			t.Errorf("%s: read in batches by other workers under another seed: %v, %v", privacy, again.Sketch.Data, err)
		}
		header, noised := sentOf(t, p, got)
		if err := p.Check(header, bytes.NewReader(noised)); err != nil {
			t.Error(err)
		}
		digest.Write(encoded(t, got))
		digest.Write(noised)
	}
	const pinned = "fedce1e678a1db4ffedf5fdb2ec1f95c7de1b2c6ed4d6f03a6ddd5c45457f0b0"
	if got := hex.EncodeToString(digest.Sum(nil)); got != pinned {
		t.Errorf("digest %s, want %s", got, pinned)
	}
}

// sentOf draws the noise of a plan and returns what is released.
func sentOf(t testing.TB, p release.Plan, exact sketch.Sketch) (header protocol.ReleasedSketch, data []byte) {
	t.Helper()
	e := release.Exact{Sketch: exact}
	e.Sketch.Data = slices.Clone(exact.Data)
	if err := e.Draw(p, releasetest.Entropy(4), 1); err != nil {
		t.Fatal(err)
	}
	header, data, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return header, data
}

// No record moves counts by more than the planned sensitivity, and some reach it. It is that of
// twice as many cells if a record may be replaced. Absent values are one more cell of an axis.
func TestCountsSensitivityIsAttained(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for _, neighbours := range []string{"zeroed", "replaced"} {
		s := countsStudy(t, "{unit: record, neighbours: "+neighbours+", mechanism: gaussian, epsilon: 1, delta: 1e-6}", "count")
		p := releasetest.Plan(t, s, 1)
		tables, _ := s.CountSize(1)
		if tables != 6 {
			t.Fatalf("a record is in %d tables", tables)
		}
		cells := int64(6)
		if neighbours == "replaced" {
			cells = 12
		}
		if want := (dp.Sensitivity{L1: 64 * cells, L2Squared: 64 * 64 * cells}); p.Sensitivity != want {
			t.Errorf("%s: %v, want %v", neighbours, p.Sensitivity, want)
		}
		var most int64
		for range 300 {
			d := countable(rng, p, 2)
			for i := range d.values {
				if i%p.Values > 2 && rng.IntN(5) == 0 {
					d.values[i] = sketch.Absent
				}
			}
			a := exact(t, p, releasetest.Seed(1), data{d.ids[:1], d.values[:p.Values]})
			b := zero(a)
			if neighbours == "replaced" {
				b = exact(t, p, releasetest.Seed(1), data{d.ids[1:], d.values[p.Values:]})
			}
			l1, l2 := norms(a, b)
			if l1 > p.Sensitivity.L1 || l2 > p.Sensitivity.L2Squared {
				t.Fatalf("%s: moved by %d and √%d, declared %v", neighbours, l1, l2, p.Sensitivity)
			}
			most = max(most, l2)
		}
		if most != p.Sensitivity.L2Squared {
			t.Errorf("%s: moved by √%d at most, declared %v", neighbours, most, p.Sensitivity)
		}
	}
}

// Masks cancel exactly in the sum over all parties.
func TestCountsMasked(t *testing.T) {
	s := countsStudy(t, gaussianRecord+"\nquorum: 2\nsum: masked\ncolluding: 1", "refuse")
	rng := rand.New(rand.NewPCG(1, 4))
	var parts []sketch.Sketch
	var want []int64
	pairs := pairsOf(t, 3, 1)
	for party := range s.Parties {
		p, err := release.For(s, party, 1)
		if err != nil {
			t.Fatal(err)
		}
		plain := exact(t, p, releasetest.Seed(1), countable(rng, p, 50))
		if want == nil {
			want = make([]int64, len(plain.Data))
		}
		for i, v := range plain.Data {
			want[i] += v
		}
		parts = append(parts, shippedMasked(t, p, plain, pairs[party]))
	}
	sum, err := releasetest.Plan(t, s, 1).Unmask(parts)
	if err != nil || !slices.Equal(sum.Data, want) {
		t.Errorf("unmasked %v, want %v: %v", sum.Data, want, err)
	}
	for _, part := range parts {
		if slices.Equal(part.Data, want) {
			t.Error("a part is the sum")
		}
	}
}
