package forecast

import (
	"math"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
)

func alike(n int, c Known) (out []Known) {
	for range n {
		out = append(out, c)
	}
	return out
}

// TestVerticalLayout compares the chosen k with the forecast of pairs for other k, and the clip
// with the length of records.
func TestVerticalLayout(t *testing.T) {
	for _, test := range []struct {
		name    string
		columns []Known
		records float64
		mu      dp.Mu
		clip    float64
		ones    float64
	}{
		{"bits", alike(8, KnownBit()), 34_000, 0.8379, math.Sqrt(2 + 0.75*0.75), 0.75},
		{"few bits", alike(2, KnownBit()), 34_000, 0.8379, math.Sqrt(0.5 + 0.25), 0.5},
		{"bits, little budget", alike(8, KnownBit()), 34_000, 0.2367, math.Sqrt(2 + 0.75*0.75), 0.75},
		{"rare bits", alike(8, KnownRate(0.03)), 34_000, 0.8379, math.Sqrt(1.5625*8*0.03*0.97 + 0.25), 0.5},
		{"numbers", alike(8, KnownSpread()), 34_000, 0.8379, 0, 0.5},
		{"many records", alike(8, KnownSpread()), 5e6, 0.8379, 0, 0},
	} {
		holdings := []PartyColumns{{test.records, test.columns}, {test.records, test.columns}}
		l := VerticalLayout(holdings, test.mu)
		t.Logf("%s: %+v", test.name, l)
		if math.Abs(l.Clip-test.clip) > 0.03 && test.clip > 0 || math.Abs(l.Ones-test.ones) > 0.051 && test.ones > 0 {
			t.Errorf("%s: %+v, want clip %.3f and ones %v", test.name, l, test.clip, test.ones)
		}
		if l.Ones < 0.5 || l.Ones > 1 || !(l.Clip > l.Ones) || l.K < 16 || l.K > 1<<14 {
			t.Errorf("%s: %+v", test.name, l)
		}
		noise := estimate.Noise{Variance: l.Clip * l.Clip / float64(test.mu*test.mu)}
		at := func(k int) float64 {
			m := Member{Column: test.columns[0].Column, Records: test.records, Ones: l.Ones, Keep: Whole(), Noise: noise, OnesNoise: noise}
			e, err := Pair{K: k, X: m, Y: m, Shared: 0.85 * test.records}.CorrelationE2()
			if err != nil || e.Undefined != "" {
				return math.Inf(1)
			}
			return e.StandardError
		}
		own := at(l.K)
		for k := 16; k <= 1<<14; k += k/3 + 1 {
			if e := at(k); e < 0.95*own {
				t.Errorf("%s: k %d errs by %.4f, and %d, which was chosen, by %.4f", test.name, k, e, l.K, own)
			}
		}
	}
}

// The inputs that a draft may have: nothing, one party, columns of hardly any records.
func TestVerticalLayoutOfLittle(t *testing.T) {
	for _, holdings := range [][]PartyColumns{
		nil, {{Records: 10}}, {{Records: 1e4, Columns: alike(3, KnownCategory())}},
		{{Records: 2, Columns: alike(1, KnownBounds())}, {Records: 1e12, Columns: alike(2000, KnownSpread())}},
	} {
		for _, mu := range []dp.Mu{1e-6, 0.2, 40} {
			l := VerticalLayout(holdings, mu)
			if !(l.K >= 16 && l.K <= 1<<14 && l.Ones >= 0.5 && l.Ones <= 1 && l.Clip >= l.Ones && l.Clip < 1000) {
				t.Errorf("%d parties at %g: %+v", len(holdings), float64(mu), l)
			}
		}
	}
}
