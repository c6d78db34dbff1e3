package figure

import (
	"math"
	"testing"
)

// Numbers of any size have an axis, since results come from other nodes.
func TestAxisOfAnything(t *testing.T) {
	const tiny, huge = math.SmallestNonzeroFloat64, math.MaxFloat64
	for _, numbers := range [][]float64{nil, {0}, {0, tiny}, {-tiny, tiny}, {1, math.Nextafter(1, 2)}, {-huge, huge}, {huge / 2, huge}, {-huge}, {0, math.Inf(1)}, {math.NaN(), 3}} {
		a := NewAxis(0, 100, numbers...)
		if !(a.Low < a.High) || !(a.Step > 0) || math.IsInf(a.High-a.Low, 0) {
			t.Errorf("%g: an axis from %g to %g in steps of %g", numbers, a.Low, a.High, a.Step)
		}
		if n := len(a.Ticks()); n < 2 || n > 20 {
			t.Errorf("%g: %d ticks", numbers, n)
		}
		for _, x := range numbers {
			if at := a.At(x); !math.IsNaN(x) && !(at >= 0 && at <= 100) {
				t.Errorf("%g: %g is at %g", numbers, x, at)
			}
		}
	}
}
