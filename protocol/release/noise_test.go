package release_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// deviates returns by how many standard errors the mean square of noise differs from a variance.
// fourth is the noise's fourth cumulant.
func deviates(noise []int64, variance, fourth float64) float64 {
	var sum float64
	for _, v := range noise {
		sum += float64(v) * float64(v)
	}
	n := float64(len(noise))
	return math.Abs(sum/n-variance) / math.Sqrt((fourth+2*variance*variance)/n)
}

// noisedAndShipped returns an exact sketch, and the one that the aggregator decodes.
func noisedAndShipped(t *testing.T, p release.Plan, d data) (before, after sketch.Sketch) {
	t.Helper()
	before = exact(t, p, releasetest.Seed(1), d)
	after = before
	after.Data = append([]int64(nil), before.Data...)
	if err := p.Noise.Add(after.Data, releasetest.Entropy(7)); err != nil {
		t.Fatal(err)
	}
	header, bytes, err := release.Encode(after)
	if err != nil {
		t.Fatal(err)
	}
	if after, err = release.Decode(header, strings.NewReader(string(bytes))); err != nil {
		t.Fatal(err)
	}
	return before, after
}

// TestNoiseHasThePlannedVariance subtracts the exact sketch from what the aggregator decodes and
// compares the mean square of the rest with the plan. The limit is six standard errors, so over the
// choice of the key a right variance is rejected with probability below 1e-8 (normal approximation;
// the keys are fixed, so the test is deterministic). Power: with 64,000 entries the same limit
// rejects a variance that is 10 % off on either side.
func TestNoiseHasThePlannedVariance(t *testing.T) {
	const limit = 6
	for _, side := range []string{"columns", "records"} {
		for _, promise := range promises {
			t.Run(side+"/"+promise.name, func(t *testing.T) {
				sketch, records := "{side: columns, family: sparse, k: 8000, helpers: {ones: 0.3, squares: true}", 100
				if side == "records" {
					sketch, records = "{side: records, family: rademacher, k: 32", 2000
				}
				if promise.unit == dp.Record {
					sketch += ", clip: 0.8"
				}
				s := releasetest.Study(t, releasetest.Terms{
					Partition: study.Horizontal, Columns: []string{releasetest.Bounded, releasetest.Centred, releasetest.Categorical}, Privacy: promise.privacy,
					Sketches: []string{sketch + "}"},
				})
				p := releasetest.Plan(t, s, 0)
				before, after := noisedAndShipped(t, p, randomData(rand.New(rand.NewPCG(1, 3)), p, records))
				noise := make([]int64, len(after.Data))
				for i := range noise {
					noise[i] = after.Data[i] - before.Data[i]
				}
				if len(noise) < 64_000 {
					t.Fatalf("%d entries are too few", len(noise))
				}
				v, fourth := p.Noise.Variance(), p.Noise.FourthCumulant()
				if z := deviates(noise, v, fourth); z > limit {
					t.Errorf("%v: the variance is %.1f standard errors off", p.Noise, z)
				}
				for _, wrong := range []float64{0.9, 1.1} {
					if z := deviates(noise, wrong*v, wrong*wrong*fourth); z <= limit {
						t.Errorf("%v: a variance of %.1f times is only %.1f standard errors off", p.Noise, wrong, z)
					}
				}
			})
		}
	}
}

// TestWithoutMechanismNothingIsAdded: mechanism none is Liu's original method.
func TestWithoutMechanismNothingIsAdded(t *testing.T) {
	s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Centred}, Privacy: releasetest.NoPromise, Sketches: []string{"{side: columns, family: sparse, k: 8}"}})
	p := releasetest.Plan(t, s, 0)
	before, after := noisedAndShipped(t, p, randomData(rand.New(rand.NewPCG(1, 4)), p, 50))
	if l1, _ := norms(before, after); l1 != 0 {
		t.Errorf("the release differs from the sketch by l1 %d", l1)
	}
}

// TestSharesComposeToTheStudy computes the actual loss of each sketch from its sensitivity and
// variance alone, and composes these. Together they lose no more than the study promises, and no
// less except for rounding (of shares, of the variance's ceiling and of the 9 beyond it).
func TestSharesComposeToTheStudy(t *testing.T) {
	sketches := []string{
		"{side: columns, family: sparse, k: 64, share: 5, helpers: {ones: 1}%s}",
		"{side: records, family: identity, share: 0.7%s}",
		"{side: records, family: rademacher, k: 16, share: 2%s}",
		"{side: columns, family: rademacher, k: 32%s}",
	}
	for _, promise := range promises {
		t.Run(promise.name, func(t *testing.T) {
			clip := ""
			if promise.unit == dp.Record {
				clip = ", clip: 1.5"
			}
			agreed := releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary}, Privacy: promise.privacy, Bits: 14}
			for _, sk := range sketches {
				agreed.Sketches = append(agreed.Sketches, fmt.Sprintf(sk, clip))
			}
			s := releasetest.Study(t, agreed)
			whole, err := s.Privacy.Guarantee()
			if err != nil {
				t.Fatal(err)
			}
			var pure, square float64
			var stated dp.Loss
			for i := range s.Sketches {
				p := releasetest.Plan(t, s, i)
				stated = stated.Plus(p.Noise.Guarantee().Loss())
				// Laplace of scale b: v = 1/(2 sinh²(1/(2b))) and ε = D1/b.
				pure += float64(p.Sensitivity.L1) * 2 * math.Asinh(math.Sqrt(0.5/p.Noise.Variance()))
				square += float64(p.Sensitivity.L2Squared) / (p.Noise.Variance() - 9)
			}
			const rounding = 1e-5
			if s.Privacy.Mechanism == dp.Laplace {
				checkWhole(t, "ε of the noise", pure, float64(whole.Epsilon()), rounding)
				checkWhole(t, "ε of the guarantees", float64(stated.Pure), float64(whole.Epsilon()), rounding)
			} else {
				checkWhole(t, "μ of the noise", math.Sqrt(square), float64(whole.Mu()), rounding)
				checkWhole(t, "μ of the guarantees", float64(stated.Mu), float64(whole.Mu()), rounding)
				checkWhole(t, "ε of the guarantees", float64(stated.Epsilon(whole.Delta())), float64(whole.Epsilon()), rounding)
			}
		})
	}
}

// checkWhole checks that got is just below whole. Floating point may carry it above by 1e-12.
func checkWhole(t *testing.T, what string, got, whole, rounding float64) {
	t.Helper()
	if got > whole*(1+1e-12) || got < whole*(1-rounding) {
		t.Errorf("%s add up to %v, the study promises %v", what, got, whole)
	}
}
