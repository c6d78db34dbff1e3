package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/projection"
)

// within returns the mean of |x − y|² over all pairs of vectors; between returns it over pairs of
// one of each.
func within(xs [][]float64) float64 {
	mean, n := meanOf(xs), float64(len(xs))
	var sum float64
	for _, x := range xs {
		sum += squared(x, mean)
	}
	return 2 * sum / (n - 1)
}

func between(xs, ys [][]float64) float64 {
	n, m := float64(len(xs)), float64(len(ys))
	return squared(meanOf(xs), meanOf(ys)) + within(xs)*(n-1)/2/n + within(ys)*(m-1)/2/m
}

func meanOf(xs [][]float64) []float64 {
	mean := make([]float64, len(xs[0]))
	for _, x := range xs {
		for i, v := range x {
			mean[i] += v / float64(len(xs))
		}
	}
	return mean
}

func squared(x, y []float64) (sum float64) {
	for i := range x {
		sum += (x[i] - y[i]) * (x[i] - y[i])
	}
	return sum
}

// The errors of mean distances within and between groups match those of groups that are drawn,
// projected and noised repeatedly.
func TestGroupsErrAsDrawsDo(t *testing.T) {
	const d, draws = 8, 4000
	response := attribute(t, Method{dp.RandomisedResponse, projection.Identity, 0}, d, d, 2)
	flip := 1 / (1 + math.Exp(2.))
	for _, c := range []struct {
		name string
		law  Law
	}{
		{"signs", Law{Projection: projection.Spec{Family: projection.Rademacher, K: 4}, Features: d, Noise: estimate.Noise{Variance: 0.5}}},
		{"signs, little noise", Law{Projection: projection.Spec{Family: projection.Rademacher, K: 6}, Features: d, Noise: estimate.Noise{Variance: 0.05}}},
		{"no projection", Law{Projection: projection.Spec{Family: projection.Identity, K: d}, Features: d, Noise: estimate.Noise{Variance: 1}}},
		{"bits", response},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(8, 1))
			groups := Groups{Law: c.law, Kept: 1, Sizes: [2]float64{20, 12}}
			column := Normal(0.5, 1)
			if c.law.Bits {
				column = Binary(0.3)
			}
			for range d {
				groups.Columns = append(groups.Columns, column)
			}
			k, signs := c.law.Projection.K, c.law.Projection.Family == projection.Rademacher
			var inside, across float64 // squared errors of both
			for range draws {
				matrix := make([][]float64, d)
				for i := range matrix {
					matrix[i] = make([]float64, k)
					for j := range matrix[i] {
						switch {
						case signs:
							matrix[i][j] = float64(2*r.IntN(2)-1) / math.Sqrt(float64(k))
						case i == j:
							matrix[i][j] = 1
						}
					}
				}
				group := func(n float64) (values, sketched [][]float64) {
					for range int(n) {
						x, y := make([]float64, d), make([]float64, k)
						for i := range x {
							seen := 0.
							switch {
							case !c.law.Bits:
								x[i] = 0.5 + r.NormFloat64()
								seen = x[i]
							default:
								if r.Float64() < 0.3 {
									x[i] = 1
								}
								seen = x[i]
								if r.Float64() < flip {
									seen = 1 - seen
								}
								seen = (seen - flip) / (1 - 2*flip)
							}
							for j := range y {
								y[j] += matrix[i][j] * seen
							}
						}
						for j := range y {
							if !c.law.Bits {
								y[j] += math.Sqrt(c.law.Noise.Variance) * r.NormFloat64()
							}
						}
						values, sketched = append(values, x), append(sketched, y)
					}
					return values, sketched
				}
				xs, a := group(20)
				ys, b := group(12)
				noise := 2 * float64(k) * c.law.Noise.Variance
				off := within(a) - noise - within(xs)
				inside += off * off / draws
				off = between(a, b) - noise - between(xs, ys)
				across += off * off / draws
			}
			mean := 2 * d * column.Spread * column.Spread
			for _, one := range []struct {
				name string
				of   func() (Error, error)
				want float64
			}{{"within", groups.Within, math.Sqrt(inside) / mean}, {"between", groups.Between, math.Sqrt(across) / mean}} {
				e, err := one.of()
				if err != nil || !near(e.StandardError, one.want, 0.1) {
					t.Errorf("%s errs by %.4f, want %.4f (%v)", one.name, e.StandardError, one.want, err)
				}
				if e.HalfWidth < 1.5*one.want {
					t.Errorf("%s: ±%v is too narrow for an error of %v", one.name, e.HalfWidth, one.want)
				}
			}
		})
	}
}

// A zero distance has no relative error, and the distance of two independent records follows from
// both spreads.
func TestDistancesOfRecords(t *testing.T) {
	if e := Relative(1, 0); e.Undefined == "" || e.StandardError != 0 {
		t.Errorf("records that are alike: %+v", e)
	}
	if e := Relative(-1e-20, 4); e.StandardError != 0 || e.Undefined != "" {
		t.Errorf("no variance: %+v", e)
	}
	if e := Relative(4, 8); e.StandardError != 0.25 || math.Abs(e.Detects()-0.49) > 1e-3 {
		t.Errorf("a deviation of 2 beside 8: %+v", e)
	}
	r, n := rand.New(rand.NewPCG(1, 2)), 200_000.
	var want Difference
	for range int(n) {
		z := r.NormFloat64() - r.NormFloat64()
		want.Squared, want.Fourth = want.Squared+z*z/n, want.Fourth+z*z*z*z/n
	}
	if got := Typical([]Column{Normal(3, 1)}); !near(got.Squared, want.Squared, 0.02) || !near(got.Fourth, want.Fourth, 0.04) {
		t.Errorf("typical difference %+v, draws have %+v", got, want)
	}
}
