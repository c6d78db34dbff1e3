package audit

import (
	"math"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// The best k: r²/(2σ²) for Gaussian noise, r²/(√28 b²) for Laplace noise.
func TestBestK(t *testing.T) {
	gaussian := Design{Distance: 100, Variance: 4.2 * 4.2}
	laplace := Design{Distance: 100, Variance: 2 * 0.3 * 0.3, FourthCumulant: 12 * math.Pow(0.3, 4)}
	for _, c := range []struct {
		d    Design
		want float64
	}{{gaussian, 100 / (2 * 4.2 * 4.2)}, {laplace, 100 / (math.Sqrt(28) * 0.3 * 0.3)}} {
		if got := c.d.bestK(); math.Abs(got/c.want-1) > 1e-12 {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
	if !math.IsInf(Design{Distance: 1}.bestK(), 1) {
		t.Error("without noise there is a best k")
	}
}

func TestRemarks(t *testing.T) {
	loud, quiet := 100.0, 1e-3
	for _, c := range []struct {
		d    Design
		want []string
	}{
		{Design{Unit: dp.Record, Side: sketch.Columns, Projection: sparse(64, 1), Columns: 3, Variance: loud}, nil},
		{Design{Unit: dp.Attribute, Side: sketch.Columns, Projection: sparse(64, 1), Columns: 3, Variance: loud}, []string{"attribute-level only"}},
		{Design{Unit: dp.Record, Side: sketch.Records, Projection: signs(32), Columns: 32, Variance: loud}, []string{"k = 32 is at least the number of values of a record, 32"}},
		{Design{Unit: dp.Record, Side: sketch.Records, Projection: signs(8), Columns: 32, Distance: 8, Variance: loud}, nil},
		{Design{Unit: dp.Attribute, Side: sketch.Records, Projection: signs(8), Columns: 32, Distance: 8, Variance: quiet}, []string{"attribute-level only", "the best k is about 4000"}},
		{Design{Unit: dp.Record, Side: sketch.Records, Projection: projection.Spec{Family: projection.Identity, K: 32}, Columns: 32, Distance: 8, Variance: quiet}, nil},
	} {
		got := c.d.Remarks()
		if len(got) != len(c.want) {
			t.Errorf("%+v: %q", c.d, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%+v: %q, want one with %q", c.d, got[i], c.want[i])
			}
		}
	}
}
