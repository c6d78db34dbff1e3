package papers

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/research/sources"
)

// Beyond compares a source's mechanism with this project's best one at the same ε, with a trusted
// curator, and with a lower bound for two parties.
type Beyond struct {
	Statistic string       `json:"statistic"`
	Lines     []BeyondLine `json:"lines"`
	Notes     []string     `json:"notes"`
}

// BeyondLine is the comparison at one privacy level. Missing values are empty cells.
type BeyondLine struct {
	Privacy string `json:"privacy"`
	Source  string `json:"source"`  // the source's mechanism
	Ours    string `json:"ours"`    // the best method of the menu
	Method  string `json:"method"`  // name of that method
	Curator string `json:"curator"` // the Gaussian mechanism on the true statistic
	Bound   string `json:"bound"`   // lower bound for two parties
}

// limitNote explains the bound.
const limitNote = "Two parties without a curator: McGregor et al. 2010 show that under ε of each other's view the product of two vectors of n bits, and so their distance, cannot be had with an error below the order of √n/(e^ε·log n) on random bits. Their theorem leaves its constant open; 1 and the logarithm to base 2 are taken here, so that this column is an order of magnitude. Records that are nearer to each other than random ones, as r² much below n/2, may be told apart better."

// curatorNote explains the curator.
const curatorNote = "A curator who holds all data and is trusted adds noise once, to the number that is asked for: the Gaussian mechanism, by the exact trade-off."

// limit returns the order of magnitude that limitNote explains.
func limit(n int, epsilon dp.Epsilon) float64 {
	return math.Sqrt(float64(n)) / math.Exp(float64(epsilon)) / math.Log2(float64(n))
}

// distanceBeyond compares methods for the squared distance of two records of d bits that differ in
// r2.
func distanceBeyond(d int, r2 float64, delta dp.Delta, levels ...dp.Epsilon) *Beyond {
	out := &Beyond{
		Statistic: fmt.Sprintf("Standard deviation of a squared distance of %.3g between two records of %d bits, one bit protected at δ = %g; every mechanism at its best k.", r2, d, float64(delta)),
		Notes:     []string{"Source: lemma 2 of Kenthapadi et al., which holds whatever R comes out.", curatorNote, limitNote},
	}
	for _, epsilon := range levels {
		mu, err := dp.MuOf(dp.Budget{Epsilon: epsilon, Delta: delta})
		if err != nil {
			continue // unreachable: levels are fixed by the tables
		}
		theirs := leastDeviation(d, func(k int) float64 {
			n, _, err := sources.KenthapadiLemma2(sources.Setting{Budget: dp.Budget{Epsilon: epsilon, Delta: delta}, Columns: d, K: k})
			if err != nil {
				return math.Inf(1)
			}
			return sources.DistanceVariance(k, r2, n)
		})
		method, ours := bestDistance(d, r2, delta, epsilon)
		out.Lines = append(out.Lines, BeyondLine{
			Privacy: fmt.Sprintf("ε = %g", float64(epsilon)), Source: figures(theirs), Ours: figures(ours), Method: method,
			Curator: figures(1 / float64(mu)), Bound: figures(limit(d, epsilon)),
		})
	}
	return out
}

// leastDeviation returns the smallest standard deviation over k up to most.
func leastDeviation(most int, variance func(k int) float64) float64 {
	best := math.Inf(1)
	for k := 1; k <= most; k++ {
		best = min(best, variance(k))
	}
	return math.Sqrt(best)
}

// bestDistance returns the most accurate method of the menu, with its k, and its standard
// deviation.
func bestDistance(d int, r2 float64, delta dp.Delta, epsilon dp.Epsilon) (method string, deviation float64) {
	deviation = math.Inf(1)
	difference := forecast.Difference{Squared: r2, Fourth: r2}
	for _, m := range forecast.Menu(sketch.Records, dp.Attribute, true) {
		budget := dp.Budget{Epsilon: epsilon}
		if m.Mechanism == dp.Gaussian {
			budget.Delta = delta
		}
		g, err := dp.Promise(m.Mechanism, budget)
		if err != nil {
			continue
		}
		step, most := m.Range(d, 1<<14)
		k, v, err := forecast.Search(step, most, func(k int) (float64, error) {
			law, err := m.Attribute(k, d, g)
			if err != nil {
				return 0, err
			}
			return law.Distance(difference), nil
		})
		if err == nil && math.Sqrt(v) < deviation {
			deviation, method = math.Sqrt(v), m.String()
			if m.Family != projection.Identity {
				method += fmt.Sprintf(", k = %d", k)
			}
		}
	}
	return method, deviation
}

// columnsBeyond compares methods for the product or distance of two columns of many records with
// public bounds 0 and the largest value.
func columnsBeyond(table liuTable, x, y []float64) *Beyond {
	const delta = 1e-6
	n := len(x)
	xx, yy, xy := dot(x, x), dot(y, y), dot(x, y)
	truth := table.truth(xx, yy, xy)
	var both float64 // Σx²y²
	hx, hy := 0.0, 0.0
	for i, v := range x {
		both += v * v * y[i] * y[i]
		hx, hy = max(hx, v), max(hy, y[i])
	}
	out := &Beyond{
		Statistic: fmt.Sprintf("Relative standard error of the %s over %d records, in %%, one value of one record protected at δ = 10⁻⁶; at the best k.", table.what, n),
		Notes:     []string{"The source adds no noise, and promises nothing at any ε.", curatorNote, limitNote},
	}
	for _, epsilon := range []dp.Epsilon{1, 4, 8} {
		mu, err := dp.MuOf(dp.Budget{Epsilon: epsilon, Delta: delta})
		if err != nil {
			continue // unreachable
		}
		line := BeyondLine{Privacy: fmt.Sprintf("ε = %g", float64(epsilon)), Source: "no ε"}
		best := math.Inf(1)
		for _, m := range []struct {
			name  string
			v, k4 float64 // of the noise on a coordinate, for values up to 1
		}{{"sparse s=1, laplace", 2 / float64(epsilon*epsilon), 12 / math.Pow(float64(epsilon), 4)}, {"rademacher, gaussian", 1 / float64(mu*mu), 0}} {
			for k := 16; k <= 1<<20; k *= 2 {
				if v := table.noised(xx, yy, xy, both, k, noised{m.v * hx * hx, m.v * hy * hy, m.k4 * (math.Pow(hx, 4) + math.Pow(hy, 4))}); v < best {
					best, line.Method = v, fmt.Sprintf("%s, k = %d", m.name, k)
				}
			}
		}
		share := func(deviation float64) string { return figures(100*deviation/truth) + " %" }
		line.Ours, line.Curator = share(math.Sqrt(best)), share(table.sensitivity(hx, hy)/float64(mu))
		line.Bound = share(table.crossed * hx * hy * limit(n, epsilon))
		out.Lines = append(out.Lines, line)
	}
	return out
}

// noised describes the noise on the coordinates of two columns: both variances, and the sum of
// their fourth cumulants.
type noised struct{ x, y, fourth float64 }

// productVariance returns the variance of the product of two sketched columns, for matrices with
// rows of length one.
func productVariance(xx, yy, xy, both float64, k int, v noised) float64 {
	return (xx*yy+xy*xy-2*both)/float64(k) + v.y*xx + v.x*yy + float64(k)*v.x*v.y
}

// distanceVariance returns the variance of the squared distance of two sketched columns.
func distanceVariance(xx, yy, xy, _ float64, k int, v noised) float64 {
	r2, sum := xx+yy-2*xy, v.x+v.y
	return 2*r2*r2/float64(k) + 4*sum*r2 + 2*float64(k)*sum*sum + float64(k)*v.fourth
}

// figures formats three significant digits.
func figures(x float64) string {
	switch size := math.Abs(x); {
	case size >= 1e5 || size < 1e-3 && size > 0:
		return fmt.Sprintf("%.1e", x)
	case size >= 100:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
