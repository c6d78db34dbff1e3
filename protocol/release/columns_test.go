package release_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// TestColumnsSumClippedVectors compares a columns-side sketch with its definition: every
// record's derived vector is written out, clipped, and added by itself.
func TestColumnsSumClippedVectors(t *testing.T) {
	clipped, kept := int64(0), int64(0)
	eachPlan(t, func(t *testing.T, p release.Plan, _ dp.Unit) {
		if p.Sketch().Side != sketch.Columns || !p.Flips.Zero() {
			return
		}
		d := randomData(rand.New(rand.NewPCG(5, 14)), p, 41)
		want, over := written(t, p, d)
		b, err := p.NewBuilder(rootSeed(1), 2)
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
	key, err := rootSeed(1).Derive(seed.RecordRows)
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
		for _, f := range p.Features[p.Values:] {
			if f.Kind == study.Ones {
				row = append(row, int64(p.OnesWeight()*float64(p.Study.Bits.One())))
			} else {
				row = append(row, fixedpoint.Square(row[len(row)-p.Values], p.Study.Bits))
			}
		}
		if p.Clip > 0 && dp.ClipL2(row, p.Clip) {
			clipped++
		}
		label := stream.VerticalRecordLabel(id)
		if p.Study.Partition == study.Horizontal {
			label = stream.AppendHorizontalRecordLabel(nil, p.Study.Parties[p.Party].ID, id)
		}
		matrix.AddOuter(sums, label, row)
	}
	return sums, clipped
}
