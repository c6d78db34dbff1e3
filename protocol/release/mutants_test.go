package release_test

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Mutants that a canary does not detect, because it judges one release. Each check here passes the
// correct mechanism and fails the mutant. The others are in TestAuditFailsMutants, and a release
// that is drawn again at a retry is in package node.

// noises returns the noise of one release of each of two parties with the same seed and plan, drawn
// from the given sources.
func noises(t *testing.T, root seed.Seed, a, b io.Reader) (x, y []int64) {
	t.Helper()
	p := releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{
		Partition: study.Vertical, Columns: []string{releasetest.Bounded}, Privacy: releasetest.Laplace,
		Sketches: []string{"{side: columns, family: sparse, k: 512, helpers: {ones: 0}}"},
	}), 0)
	zeros := make([]int64, 512)
	x, y = slices.Clone(zeros), slices.Clone(zeros)
	for _, one := range []struct {
		noise  []int64
		source io.Reader
	}{{x, a}, {y, b}} {
		builder, err := p.NewBuilder(root, 1)
		if err != nil {
			t.Fatal(err)
		}
		out, err := builder.Finish(one.source)
		if err != nil {
			t.Fatal(err)
		}
		copy(one.noise, out.Sketch.Data)
		if err := p.Noise.Add(one.noise, one.source); err != nil {
			t.Fatal(err)
		}
	}
	return x, y
}

// related reports whether the noise of two parties is correlated: the correlation exceeds six
// standard errors (1/√512), which independent noise does with probability below 1e-8.
func related(x, y []int64) bool {
	var xy, xx, yy float64
	for i := range x {
		xy += float64(x[i]) * float64(y[i])
		xx += float64(x[i]) * float64(x[i])
		yy += float64(y[i]) * float64(y[i])
	}
	return math.Abs(xy/math.Sqrt(xx*yy)) > 6/math.Sqrt(float64(len(x)))
}

func TestNoiseFromTheSharedSeedIsCaught(t *testing.T) {
	root := releasetest.Seed(4)
	if related(noises(t, root, releasetest.Entropy(1), releasetest.Entropy(2))) {
		t.Error("two parties' noise is related")
	}
	derived := func() io.Reader {
		key, err := root.Derive(seed.RecordRows) // any label will do: the other party derives the same key
		if err != nil {
			t.Fatal(err)
		}
		return rand.NewChaCha8(key)
	}
	if !related(noises(t, root, derived(), derived())) {
		t.Error("noise from the shared seed passes")
	}
}

// bias returns by how many standard errors the mean squared norm of a column, over releases with
// independent noise, differs from the truth if the noise is assumed to be as given.
func bias(t *testing.T, p release.Plan, d data, unit float64, noise func(feature int) estimate.Noise) float64 {
	t.Helper()
	const releases = 300
	var truth, sum, squares float64
	one := float64(p.Study.Bits.One())
	for i := range len(d.ids) {
		x := float64(d.values[i*p.Values]) / one
		truth += x * x
	}
	for key := range releases {
		// Each release has its own R, so the error of R averages out too.
		b, err := p.NewBuilder(releasetest.Seed(key), 1)
		if err != nil {
			t.Fatal(err)
		}
		source := releasetest.Entropy(1000 + key)
		if err := b.Randomise(source); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(d.ids, d.values); err != nil {
			t.Fatal(err)
		}
		out, err := b.Finish(source)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Noise.Add(out.Sketch.Data, source); err != nil {
			t.Fatal(err)
		}
		column := make([]int64, out.Sketch.Rows)
		for i := range column {
			column[i] = out.Sketch.Row(i)[0]
		}
		g, err := estimate.FromIntegers(t.Context(), estimate.Integers{K: len(column), N: 1, Data: column, Unit: unit}, []estimate.Noise{noise(0)})
		if err != nil {
			t.Fatal(err)
		}
		got := g.SquaredNorm(estimate.Column(0), 0).Interval.Estimate
		sum += got
		squares += got * got
	}
	mean := sum / releases
	return (mean - truth) / math.Sqrt((squares/releases-mean*mean)/releases)
}

// Limit: six standard errors. A right estimate fails with probability below 1e-8.
func TestMissingDebiasIsCaught(t *testing.T) {
	const limit = 6
	for _, c := range []struct{ name, privacy, column string }{
		{"laplace", releasetest.Laplace, releasetest.Bounded},
		{"gaussian", "{unit: attribute, mechanism: gaussian, epsilon: 1, delta: 1e-6}", releasetest.Bounded},
		{"randomised response", "{unit: attribute, mechanism: randomised-response, epsilon: 1}", releasetest.Binary},
	} {
		p := releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{
			Partition: study.Horizontal, Columns: []string{c.column}, Privacy: c.privacy, Missing: "refuse", Bits: 10,
			Sketches: []string{"{side: columns, family: sparse, k: 64, helpers: {ones: 0}}"},
		}), 0)
		d := randomRecords(rand.New(rand.NewPCG(6, 6)), p, 200)
		right := func(feature int) estimate.Noise { return p.NoiseOf(feature, 1, 200) }
		if z := bias(t, p, d, p.Unit(), right); math.Abs(z) > limit {
			t.Errorf("%s: %.1f standard errors off", c.name, z)
		}
		if z := bias(t, p, d, p.Unit(), func(int) estimate.Noise { return estimate.Noise{} }); math.Abs(z) <= limit {
			t.Errorf("%s: noise left on the diagonal is %.1f standard errors off, and passes", c.name, z)
		}
		if p.Flips.Zero() {
			continue
		}
		raw := p.Spec().Scale() / float64(p.Study.Bits.One())
		if z := bias(t, p, d, raw, right); math.Abs(z) <= limit {
			t.Errorf("%s: bits that are not divided by 1-2p are %.1f standard errors off, and pass", c.name, z)
		}
	}
}
