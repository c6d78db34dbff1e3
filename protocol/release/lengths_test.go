package release_test

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// Lengths counts the same clipped records before projection as the builder does when it clips them.
// A party's own clip is the one that a release with little noise chooses.
func TestLengthsCountWhatIsCut(t *testing.T) {
	const record = "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}"
	for name, w := range map[string]releasetest.Terms{
		"columns":           {Sketches: []string{"{side: columns, family: sparse, k: 8, s: 1, helpers: {ones: 0.4}, clip: 0.9}"}},
		"columns squared":   {Sketches: []string{"{side: columns, family: sparse, k: 8, s: 1, helpers: {ones: 0.4, squares: true}, clip: 1.2}"}},
		"columns uncentred": {Sketches: []string{"{side: columns, family: sparse, k: 8, s: 1, clip: 1.1}"}},
		"moments":           {Sketches: []string{"{side: moments, clip: 0.9}"}},
		"moments, absent":   {Sketches: []string{"{side: moments, clip: 0.9}"}, Missing: "count"},
		"own clip":          {Sketches: []string{"{side: moments, clip: own}"}},
		"own columns":       {Sketches: []string{"{side: columns, family: sparse, k: 8, s: 1, helpers: {ones: 0.4}, clip: 0.7, standardise: own}"}},
		"cells":             {Sketches: []string{"{side: cells, L: 2, clip: 0.9}"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.Partition, w.Columns, w.Privacy = study.Horizontal, []string{releasetest.Categorical, releasetest.Centred, releasetest.Binary, releasetest.Bounded}, record
			if name == "own columns" {
				w.Partition, w.Columns = study.Vertical, []string{releasetest.Categorical, releasetest.Binary, releasetest.Bounded}
			}
			p := releasetest.Plan(t, releasetest.Study(t, w), 0)
			rng := rand.New(rand.NewPCG(7, 7))
			d := randomData(rng, p, 3000)
			for i := range d.values {
				if w.Missing == "count" && i%6 == 4 && rng.IntN(5) == 0 {
					d.values[i] = sketch.Absent // column binary
				}
			}
			if p.Looks() {
				if _, err := p.NewLengths(1); err == nil {
					t.Error("lengths before the look")
				}
				look := p.NewLook()
				if err := look.Add(d.values); err != nil {
					t.Fatal(err)
				}
				var err error
				if p, err = p.After(look.Exact()); err != nil {
					t.Fatal(err)
				}
			}
			b, err := p.NewBuilder(releasetest.Seed(1), 2)
			if err != nil {
				t.Fatal(err)
			}
			l, err := p.NewLengths(2)
			if err != nil {
				t.Fatal(err)
			}
			for from := 0; from < 3000; from += 1000 {
				read := slices.Clone(d.values[from*p.Values : (from+1000)*p.Values])
				for i, v := range read {
					if v != sketch.Absent {
						read[i] = v<<p.Study.Fine() + rng.Int64N(1<<p.Study.Fine())
					}
				}
				if err := b.AddRead(d.ids[from:from+1000], read); err != nil {
					t.Fatal(err)
				}
				if err := l.Add(1000, read); err != nil {
					t.Fatal(err)
				}
			}
			e := b.Exact()
			if err := e.Draw(p, releasetest.Entropy(3), 1); err != nil {
				t.Fatal(err)
			}
			want := p.Clip
			if p.Moments != nil {
				summed, err := p.Summed(e.Sketch)
				if err != nil {
					t.Fatal(err)
				}
				want = summed.Clip
			}
			clip, longer := l.Cut()
			if clip != want || longer != e.Clipped {
				t.Errorf("%d records longer than %d, the release cut %d to %d", longer, clip, e.Clipped, want)
			}
			if name != "own clip" && (longer < 100 || longer > 2900) {
				t.Errorf("%d of 3000 records are cut: the test says little", longer)
			}
		})
	}
}

// NewLengths returns nil if records are not clipped, or only after projection.
func TestLengthsWhereNothingIsCutFirst(t *testing.T) {
	for _, w := range []releasetest.Terms{
		{Sketches: []string{"{side: moments}"}, Privacy: releasetest.NoPromise},
		{Sketches: []string{"{side: records, family: sparse, k: 4, s: 1, clip: 1}"}, Privacy: "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"},
	} {
		w.Partition, w.Columns = study.Horizontal, []string{releasetest.Centred, releasetest.Bounded}
		if l, err := releasetest.Plan(t, releasetest.Study(t, w), 0).NewLengths(1); l != nil || err != nil {
			t.Errorf("%v: a counter, %v", w.Sketches, err)
		}
	}
}

// Without noise a look gives the mean and the standard deviation of the data.
func TestExactLook(t *testing.T) {
	s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Sketches: []string{"{side: moments, standardise: own}"},
		Privacy: "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"})
	look := releasetest.Plan(t, s, 0).NewLook()
	for range 5000 { // mean 100, standard deviation 20
		if err := look.Add([]int64{80 << s.Fine(), 120 << s.Fine()}); err != nil {
			t.Fatal(err)
		}
	}
	if moves := look.Exact(); moves[0].Centre != 16*100 || moves[0].Spread != 16*60 {
		t.Errorf("%+v", moves)
	}
	if _, err := look.Draw(io.LimitReader(releasetest.Entropy(1), 0)); err == nil {
		t.Error("a look was drawn without entropy")
	}
}
