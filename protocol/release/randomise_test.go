package release_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

const second = "{name: second, kind: binary}"

// randomised plans sketches of two bits under randomised response.
func randomised(t testing.TB, sketches ...string) *study.Study {
	t.Helper()
	return releasetest.Study(t, releasetest.Terms{
		Partition: study.Horizontal, Columns: []string{releasetest.Binary, second}, Missing: "refuse", Bits: 12,
		Privacy: "{unit: attribute, mechanism: randomised-response, epsilon: 1}", Sketches: sketches,
	})
}

// randomRecords returns random records of bits.
func randomRecords(rng *rand.Rand, p release.Plan, m int) data {
	d := randomData(rng, p, m)
	for i := range d.values {
		d.values[i] = p.Study.Bits.One() * rng.Int64N(2)
	}
	return d
}

// shipped builds, encodes and decodes a release under randomised response.
func shipped(t testing.TB, p release.Plan, d data, key int) release.Exact {
	t.Helper()
	b, err := p.NewBuilder(releasetest.Seed(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	source := releasetest.Entropy(key)
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
	header, raw, err := release.Encode(out.Sketch)
	if err != nil {
		t.Fatal(err)
	}
	if out.Sketch, err = release.Decode(header, bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return out
}

// Nothing is sketched before there is entropy for the flips, and a refused batch leaves no trace.
func TestBuilderInsistsOnRandomising(t *testing.T) {
	p := releasetest.Plan(t, randomised(t, "{side: records, family: identity}"), 0)
	b, err := p.NewBuilder(releasetest.Seed(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	values := []int64{p.Study.Bits.One(), 0}
	if err := b.Add([][]byte{[]byte("x")}, values); err == nil || !strings.Contains(err.Error(), "needs entropy") {
		t.Errorf("without entropy: %v", err)
	}
	if err := b.Randomise(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("31 bytes of entropy were enough")
	}
	if err := b.Randomise(bytes.NewReader(make([]byte, 32))); err != nil {
		t.Fatal(err)
	}
	if err := b.Add([][]byte{[]byte("x")}, []int64{p.Study.Bits.One(), 7}); err == nil || strings.Contains(err.Error(), "7") {
		t.Errorf("a value that is no bit: %v", err)
	}
	if err := b.Add([][]byte{[]byte("x")}, values); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(values, []int64{p.Study.Bits.One(), 0}) {
		t.Error("the caller's values were changed")
	}
	out, err := b.Finish(releasetest.Entropy(1))
	if err != nil || out.Sketch.Rows != 1 {
		t.Errorf("%d rows of one record (%v)", out.Sketch.Rows, err)
	}
}

// Two sketches of one study, and two releases, have independent flips. The same key gives the same
// flips.
func TestFlipsAreDrawnForEachRelease(t *testing.T) {
	s := randomised(t, "{side: records, family: identity}", "{side: records, family: identity, share: 3}")
	first, other := releasetest.Plan(t, s, 0), releasetest.Plan(t, s, 1)
	if first.Flips.Probability() <= other.Flips.Probability() {
		t.Errorf("with a quarter of the budget bits are flipped with probability %v, with three quarters %v", first.Flips.Probability(), other.Flips.Probability())
	}
	whole := first.Noise.Guarantee().Loss().Plus(other.Noise.Guarantee().Loss())
	if whole.Pure > 1+1e-12 || whole.Pure < 1-1e-12 || first.Flips.Epsilon()+other.Flips.Epsilon() > 1 {
		t.Errorf("the sketches add up to %+v, flips to %v", whole, first.Flips.Epsilon()+other.Flips.Epsilon())
	}
	d := randomRecords(rand.New(rand.NewPCG(1, 9)), first, 500)
	a, b, c := shipped(t, first, d, 1), shipped(t, first, d, 2), shipped(t, first, d, 1)
	if slices.Equal(inOrder(a).Data, inOrder(b).Data) || !slices.Equal(a.Sketch.Data, c.Sketch.Data) {
		t.Error("flips do not follow the key")
	}
}

// What the aggregator decodes is unbiased and has the variance of NoiseOf: bits on the records
// side, their products on the columns side. Over 400 releases each; the limit is six standard
// errors.
func TestRandomisedReleaseIsUnbiased(t *testing.T) {
	const records, releases = 200, 400
	s := randomised(t, "{side: records, family: identity}", "{side: columns, family: sparse, k: 512, helpers: {ones: 0.7}}")
	p, q := releasetest.Plan(t, s, 0), releasetest.Plan(t, s, 1)
	d := randomRecords(rand.New(rand.NewPCG(1, 10)), p, records)
	one, unit := float64(p.Study.Bits.One()), p.Unit()
	v := p.NoiseOf(0, 1, records)
	var sum, squares float64
	for key := range releases {
		for i, y := range inOrder(shipped(t, p, d, key)).Data {
			miss := float64(y)*unit - float64(d.values[i])/one
			sum += miss
			squares += miss * miss
		}
	}
	n := float64(releases * len(d.values))
	if z := sum / math.Sqrt(n*v.Variance); math.Abs(z) > 6 {
		t.Errorf("bits are %.1f standard errors off", z)
	}
	if ratio := squares / n / v.Variance; math.Abs(ratio-1) > 6*math.Sqrt((v.FourthCumulant/(v.Variance*v.Variance)+2)/n) {
		t.Errorf("the variance of a bit is %.4f times what is stated", ratio)
	}
	if ones := q.NoiseOf(2, 1, records); ones != (estimate.Noise{}) || math.Abs(q.OnesWeight()-0.7) > 1e-3 {
		t.Errorf("ones of weight %v with noise %+v", q.OnesWeight(), ones)
	}
	var truth, seen, norm, debiased, ones float64
	for i := range records {
		truth += float64(d.values[2*i]*d.values[2*i+1]) / one / one
		norm += float64(d.values[2*i]) / one
	}
	unit, noise := q.Unit(), q.NoiseOf(0, 1, records).Variance
	for key := range releases {
		x := shipped(t, q, d, key).Sketch
		for row := range x.Rows {
			a, b, w := float64(x.Row(row)[0])*unit, float64(x.Row(row)[1])*unit, float64(x.Row(row)[2])*unit
			seen += a * b / releases
			debiased += (a*a - noise) / releases
			ones += w * w / releases
		}
	}
	// There is only one R, so its error stays: that of the exact sketch, below 6·√(2n²/k).
	limit := 6*records*math.Sqrt(2./512) + 6*records*v.Variance*math.Sqrt(2./releases)
	if math.Abs(seen-truth) > limit || math.Abs(debiased-norm) > limit || math.Abs(ones-records*0.49) > limit {
		t.Errorf("product %.1f of %.1f, norm %.1f of %.1f, ones %.1f of %.1f", seen, truth, debiased, norm, ones, records*0.49)
	}
}

// Unit record with neighbours: replaced has twice the sensitivity. Everything else follows from it:
// the noise, the statement, and the same ε in the ledger.
func TestReplacedNeighboursDoubleTheSensitivity(t *testing.T) {
	for _, side := range []string{"{side: columns, family: sparse, k: 8, helpers: {ones: 0.3}, clip: 0.8}", "{side: records, family: rademacher, k: 8, clip: 0.8}"} {
		for _, mechanism := range []string{"laplace, epsilon: 1", "gaussian, epsilon: 1, delta: 1e-6"} {
			of := func(neighbours string) release.Plan {
				return releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{
					Partition: study.Horizontal, Columns: []string{releasetest.Centred, releasetest.Bounded}, Sketches: []string{side},
					Privacy: "{unit: record, neighbours: " + neighbours + ", mechanism: " + mechanism + "}",
				}), 0)
			}
			zeroed, replaced := of("zeroed"), of("replaced")
			if want, err := zeroed.Sensitivity.Replacing(); err != nil || replaced.Sensitivity != want || want.L1 != 2*zeroed.Sensitivity.L1 {
				t.Errorf("%s %s: %v, want %v", side, mechanism, replaced.Sensitivity, want)
			}
			if ratio := (replaced.Noise.Variance() - 9) / (zeroed.Noise.Variance() - 9); ratio < 3.99 || ratio > 4.01 {
				t.Errorf("%s %s: %.3f times the variance", side, mechanism, ratio)
			}
			if replaced.Noise.Guarantee().Loss() != zeroed.Noise.Guarantee().Loss() || replaced.Clip != zeroed.Clip {
				t.Errorf("%s %s: another loss or clip", side, mechanism)
			}
			if said := replaced.Noise.Guarantee().Statement(dp.Record); !strings.Contains(said, "by another's") {
				t.Error(said)
			}
		}
	}
}
