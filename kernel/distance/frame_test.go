package distance

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/cosketch/cosketch/kernel/cpu"
)

func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// settings are points that are hard for float32: far away, of very different norms, near each
// other, huge, tiny, identical.
func settings(rng *rand.Rand, rows, d int) map[string]blas64.General {
	out := map[string]blas64.General{}
	for name, draw := range map[string]func(i int) float64{
		"normal":     func(int) float64 { return rng.NormFloat64() },
		"far off":    func(int) float64 { return 1e6 + rng.NormFloat64() },
		"norms":      func(int) float64 { return rng.NormFloat64() * math.Exp(8*rng.NormFloat64()) },
		"two clumps": func(i int) float64 { return 1e3*float64(i%2) + 1e-3*rng.NormFloat64() },
		"huge":       func(int) float64 { return 1e149 * rng.NormFloat64() },
		"tiny":       func(int) float64 { return 1e-160 * rng.NormFloat64() },
		"integers":   func(int) float64 { return float64(rng.IntN(2)) },
		"alike":      func(int) float64 { return 0.1 },
	} {
		p := general(rows, d)
		for i := range p.Data {
			p.Data[i] = draw(i / d)
		}
		out[name] = p
	}
	return out
}

// The bound of the package comment holds for every pair, in both roles. It is not excessive: real
// errors come within a factor of 1,000 of it.
func TestScoresKeepTheBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var closest float64
	for _, d := range []int{1, 2, 7, 64, 300} {
		for name, points := range settings(rng, Lanes, d) {
			t.Run(fmt.Sprintf("%s/%d", name, d), func(t *testing.T) {
				f, err := NewFrame(1, points)
				if err != nil {
					t.Fatal(err)
				}
				panel, rows := make([]float32, f.PanelSize()), make([]float32, f.GroupSize())
				for _, role := range []Role{Plain, Normed} {
					laneNorms := f.Panel(panel, points, 0, 1-role)
					rowNorms := f.Group(rows, points, 8, role)
					var scores tile
					Scores(cpu.Best(), scores[:], rows, panel)
					for r := range Rows {
						for i := range Lanes {
							q, p := rowNorms[r], laneNorms[i]
							score := float64(scores[r*Lanes+i])
							exact := scaledDistance(f, Row(points, 8+r), Row(points, i))
							if role == Plain {
								squared := Squared(Row(points, 8+r), Row(points, i))
								if limit := f.Limit(squared, q); float32(score) > limit {
									t.Fatalf("pair %d, %d: score %g of squared distance %g is above its limit %g", r, i, score, squared, limit)
								}
								continue
							}
							bound := f.bound*(q+p) + f.least
							off := math.Abs(score + p - exact)
							if off > bound {
								t.Fatalf("pair %d, %d: off by %g, more than %g", r, i, off, bound)
							}
							if bound > 1e-30 {
								closest = max(closest, off/bound)
							}
						}
					}
				}
			})
		}
	}
	if closest < 1e-3 {
		t.Errorf("errors are at most %g of the bound: does the test compare anything?", closest)
	}
	t.Logf("largest error: %.3g of the bound", closest)
}

// scaledDistance is the squared distance in the frame's units, without rounding error.
func scaledDistance(f Frame, x, y []float64) float64 {
	sum := new(big.Float).SetPrec(400)
	for j := range x {
		d := new(big.Float).SetPrec(400).SetFloat64(x[j])
		d.Sub(d, new(big.Float).SetFloat64(y[j]))
		d.Mul(d, new(big.Float).SetFloat64(f.scale))
		sum.Add(sum, d.Mul(d, d))
	}
	out, _ := sum.Float64()
	return out
}

// A limit that is lower by more than twice the bound misses points.
func TestLimitIsNotIdle(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	points := settings(rng, Lanes, 64)["normal"]
	f, err := NewFrame(1, points)
	if err != nil {
		t.Fatal(err)
	}
	panel, rows := make([]float32, f.PanelSize()), make([]float32, f.GroupSize())
	f.Panel(panel, points, 0, Normed)
	norms := f.Group(rows, points, 0, Plain)
	var limits Limits
	for r := range limits {
		limits[r] = f.Limit(Squared(Row(points, r), Row(points, 20)), norms[r]) - float32(5*f.bound*norms[r])
	}
	var masks Masks
	Below(cpu.Best(), &masks, rows, panel, &limits)
	for _, mask := range masks {
		if mask>>20&1 == 0 {
			return
		}
	}
	t.Error("limits are so high that lower ones find the same")
}

func TestFrameRefuses(t *testing.T) {
	bad := func(v float64) blas64.General {
		p := general(5000, 2)
		p.Data[9001] = v
		return p
	}
	for name, sets := range map[string][]blas64.General{
		"NaN":        {bad(math.NaN())},
		"infinite":   {bad(math.Inf(-1))},
		"too large":  {bad(1e160)},
		"in second":  {general(2, 2), bad(math.NaN())},
		"dimensions": {general(2, 2), general(2, 3)},
		"none":       {general(2, 0)},
	} {
		if _, err := NewFrame(2, sets...); err == nil {
			t.Errorf("%s: passed", name)
		}
	}
}
