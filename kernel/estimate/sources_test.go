package estimate

import "testing"

// Two bits that were flipped before being projected to eight coordinates: on average a coordinate
// has a smaller fourth cumulant than any single distribution of its variance.
func TestNoiseOfFewSources(t *testing.T) {
	bit := Noise{Variance: 0.3, FourthCumulant: -1.9 * 0.09}
	spread := Noise{Variance: bit.Variance / 4, FourthCumulant: bit.FourthCumulant / 4, Sources: 2}
	if err := spread.check(); err != nil {
		t.Error(err)
	}
	bit.FourthCumulant = -2.1 * 0.09
	if err := bit.check(); err == nil {
		t.Error("noise that no distribution has passes")
	}
}
