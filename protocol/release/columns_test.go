package release_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// TestColumnsSumClippedVectors compares a columns-side sketch with its definition: every record's
// derived vector is written out, clipped, and added separately.
func TestColumnsSumClippedVectors(t *testing.T) {
	clipped, kept := int64(0), int64(0)
	eachPlan(t, func(t *testing.T, p release.Plan, _ dp.Unit) {
		if p.Sketch().Side != sketch.Columns || !p.Flips.Zero() {
			return
		}
		d := randomData(rand.New(rand.NewPCG(5, 14)), p, 41)
		want, over := written(t, p, d)
		b, err := p.NewBuilder(releasetest.Seed(1), 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(d.ids, d.values); err != nil {
			t.Fatal(err)
		}
		if got := b.Exact(); !slices.Equal(got.Sketch.Data, want) || got.Clipped != over {
			t.Errorf("%d records clipped, want %d; the same sums: %v", got.Clipped, over, slices.Equal(got.Sketch.Data, want))
		}
		clipped, kept = clipped+over, kept+int64(len(d.ids))-over
	})
	if clipped < 100 || kept < 100 {
		t.Errorf("%d records were clipped and %d were not: too few to tell", clipped, kept)
	}
}

// written sums derived vectors record by record, and counts those that were clipped.
func written(t *testing.T, p release.Plan, d data) (sums []int64, clipped int64) {
	key, err := releasetest.Seed(1).Derive(seed.RecordRows)
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := projection.New(p.Spec(), stream.New(key))
	if err != nil {
		t.Fatal(err)
	}
	sums = make([]int64, p.Spec().K*len(p.Features))
	for i, id := range d.ids {
		row := slices.Clone(d.values[i*p.Values:][:p.Values])
		for j, f := range p.Features[:p.Values] {
			c := p.Study.Columns[f.Column]
			if _, _, bounds := c.Scale.Bounds(); bounds && f.Kind == study.Value && p.Sketch().Helpers.Ones > 0 {
				row[j] -= p.Study.Bits.One() / 2 // the centre, which the column of ones restores
			}
		}
		for _, f := range p.Features[p.Values:] {
			if f.Kind == study.Ones {
				row = append(row, int64(p.OnesWeight()*float64(p.Study.Bits.One())))
			} else {
				row = append(row, fixedpoint.Square(row[len(row)-p.Values], p.Study.Bits))
			}
		}
		own := row
		if p.Sketch().Helpers.Ones > 0 { // the ones, which are never clipped
			own = row[:len(row)-1]
		}
		if p.Clip > 0 && dp.ClipL2(own, p.Cut()) {
			clipped++
		}
		label := stream.VerticalRecordLabel(id)
		if p.Study.Partition == study.Horizontal {
			label = stream.AppendHorizontalRecordLabel(nil, p.Study.Parties[p.Party].ID, id)
		}
		matrix.AddOuter(sums, label, row)
	}
	if p.CutWeight() > 0 {
		sums = append(sums, make([]int64, len(p.Features))...)
		sums[p.Spec().K*len(p.Features)] = clipped * p.CutWeight()
	}
	return sums, clipped
}

// TestLongestRecordIsNotCut: a clip beyond every record is reduced to the length of the longest
// one, which it does not cut. Noise is calibrated to that length.
func TestLongestRecordIsNotCut(t *testing.T) {
	columns := []string{releasetest.Bounded, releasetest.Binary, releasetest.Rare, releasetest.Categorical}
	for _, test := range []struct{ helpers, clip string }{{"{ones: 0.3}", "1000"}, {"{ones: 0}", "40"}, {"{ones: 0.7, squares: true}", "3"}} {
		for bits := 2; bits <= 14; bits++ {
			p := releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{
				Partition: study.Vertical, Columns: columns, Bits: bits, Privacy: "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}",
				Sketches: []string{"{side: columns, family: rademacher, k: 1, helpers: " + test.helpers + ", clip: " + test.clip + "}"},
			}), 0)
			one := p.Study.Bits.One()
			longest := 0.0
			for _, bound := range []int64{0, one} {
				for _, bit := range []int64{0, one} {
					for _, scarce := range []int64{0, one} {
						values := []int64{bound, bit, scarce, 0, one, 0}
						b, err := p.NewBuilder(releasetest.Seed(1), 1)
						if err != nil {
							t.Fatal(err)
						}
						if err := b.Add([][]byte{[]byte("x")}, values); err != nil {
							t.Fatal(err)
						}
						e := b.Exact()
						if e.Clipped != 0 {
							t.Errorf("%s, %d bits: %v is cut at %d", test.helpers, bits, values, p.Clip)
						}
						_, l2 := norms(e.Sketch, zero(e.Sketch))
						longest = max(longest, math.Sqrt(float64(l2)))
					}
				}
			}
			if longest > float64(p.Clip) || longest < float64(p.Clip)-2 {
				t.Errorf("%s, %d bits: the longest record is %.1f long, the clip %d", test.helpers, bits, longest, p.Clip)
			}
		}
	}
}
