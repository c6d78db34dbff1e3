package forecast

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBlindClip compares the lengths with the best ones, found by search, for means of records that
// are cut: the bias and a noise that grows with the length.
func TestBlindClip(t *testing.T) {
	const d, n = 10, 8000
	normal := func(z float64) float64 { return z }
	skewed := func(z float64) float64 { return (math.Exp(z) - math.Exp(.5)) / math.Sqrt((math.E-1)*math.E) }
	r := rand.New(rand.NewPCG(7, 1))
	for _, c := range []struct {
		name string
		of   func(z float64) float64
		nu   float64
		most float64 // relative to the best
		gain float64 // least ratio of the error with [ClipRule] to this one
	}{
		{"normal, little noise", normal, 1e-3, 2.5, 0},
		{"normal, more noise", normal, 1e-2, 2.5, 0},
		{"normal, much noise", normal, 1e-1, 2, 0},
		{"lognormal, little noise", skewed, 5e-4, 1.3, 1.8},
		{"lognormal, more noise", skewed, 1e-2, 1.3, .85},
	} {
		records := make([][d]float64, n)
		for i := range records {
			for j := range d {
				records[i][j] = c.of(r.NormFloat64())
			}
		}
		errs := func(m float64) float64 { // in spreads, one of which is a third
			var bias [d]float64
			for _, x := range records {
				var square float64
				for _, v := range x {
					square += v * v
				}
				if length := math.Sqrt(square / d); length > m {
					for j, v := range x {
						bias[j] += v * (1 - m/length) / n
					}
				}
			}
			var sum float64
			for _, b := range bias {
				sum += b*b/d + c.nu*c.nu*m*m/d
			}
			return math.Sqrt(sum)
		}
		best := math.Inf(1)
		for m := 1.; m < 12; m *= 1.08 {
			best = math.Min(best, errs(m))
		}
		blind, rule := BlindClip(d, d, 0, c.nu)*3/math.Sqrt(d), ClipRule(d, c.nu)
		t.Logf("%s: %.2f typical lengths, errs by %.2f times the best; %.2f by the rule, %.2f times", c.name, blind, errs(blind)/best, rule, errs(rule)/best)
		if errs(blind) > c.most*best || errs(rule) < c.gain*errs(blind) {
			t.Errorf("%s: a clip of %.2f typical lengths errs by %.2f times the best, the rule's of %.2f by %.2f times", c.name, blind, errs(blind)/best, rule, errs(rule)/best)
		}
	}
	// Bounded values are no longer than this, so they need no longer clip.
	if got := BlindClip(10, 0, 2.5, 1e-3); got > 3*math.Sqrt(2.5)+1e-12 {
		t.Errorf("ten binary columns are cut at %v", got)
	}
	if one, none := BlindClip(10, 1, 2.25, 1e-3), ClipRule(10, 1e-3)*math.Sqrt(2.25+1./9); one < none {
		t.Errorf("one column without bounds among ten: %v, below the rule's %v", one, none)
	}
}
