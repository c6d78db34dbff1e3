package release_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// A party can choose its own clip even if there are fewer sums than clips.
func TestOwnClipOfFewSums(t *testing.T) {
	for _, columns := range [][]string{{releasetest.Centred}, {releasetest.Centred, releasetest.Beside}, {releasetest.Categorical, releasetest.Centred, releasetest.Binary, releasetest.Bounded}} {
		p := releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: columns, Sketches: []string{"{side: moments, clip: own}"},
			Privacy: "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}"}), 0)
		if n := p.Moments.Layout.Entries(); n >= len(p.Moments.Clips) {
			t.Fatalf("%d sums of %d clips", n, len(p.Moments.Clips))
		}
		d := randomData(rand.New(rand.NewPCG(3, 3)), p, 2000)
		b, err := p.NewBuilder(releasetest.Seed(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(d.ids, d.values); err != nil {
			t.Fatal(err)
		}
		e := b.Exact()
		if rows, cols := p.ExactShape(2000); rows != int64(e.Sketch.Rows) || cols != int64(e.Sketch.Cols) {
			t.Errorf("%s, said to be %d × %d", e.Sketch, rows, cols)
		}
		if err := e.Draw(p, releasetest.Entropy(1), 1); err != nil {
			t.Fatal(err)
		}
		if s, err := p.Summed(e.Sketch); err != nil || s.Clip < p.Moments.Clips[0] {
			t.Errorf("clip %d, %v", s.Clip, err)
		}
	}
}
