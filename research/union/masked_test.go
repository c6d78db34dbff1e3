package union

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// For the same data and guarantee, a masked sum of three parties has intervals √2 times narrower
// than a plain one, with the same coverage.
func TestMaskedCorrelations(t *testing.T) {
	p := Correlated(20_000, 30, rand.New(rand.NewPCG(2, 2)))
	ask := Ask{Sketches: []string{"{side: moments, clip: 2.5}"}, Privacy: Promise(1)}
	plain, err := MeasureCorrelations(context.Background(), p, ask, 1)
	if err != nil {
		t.Fatal(err)
	}
	ask.Masked = true
	masked, err := MeasureCorrelations(context.Background(), p, ask, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("plain  %+v", plain)
	t.Logf("masked %+v", masked)
	if ratio := plain.Half / masked.Half; math.Abs(ratio-math.Sqrt2) > 0.05 {
		t.Errorf("intervals are %.3f times narrower, want √2", ratio)
	}
	if masked.Covered < 0.88 || masked.RMSE > plain.RMSE {
		t.Errorf("plain %+v, masked %+v", plain, masked)
	}
}
