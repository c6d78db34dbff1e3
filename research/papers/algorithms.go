package papers

import (
	"context"
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/research/sources"
)

// kenthapadiAlgorithms simulates algorithms 1 to 6 on pairs of binary records: projection, noise on
// distances and randomised response, each with its estimator of the squared distance.
func kenthapadiAlgorithms(ctx context.Context, o Options) (Table, error) {
	const d, k, people, epsilon, delta = 256, 32, 1000, 2, 1e-6
	mu, err := dp.MuOf(dp.Budget{Epsilon: epsilon, Delta: delta})
	if err != nil {
		return Table{}, err
	}
	sigma := 1 / float64(mu)
	flip := 1 / (1 + math.Exp(epsilon))
	t := Table{
		Question: "Do the six algorithms recover squared distances, with the variances that the paper gives?",
		Setting:  fmt.Sprintf("Two records of %d bits that differ in r² of them, ε = %d, δ = 10⁻⁶ where there is one, noise by the exact trade-off; %d people for noise on distances; k = %d; %d draws a line, in this process.", d, epsilon, people, k, o.Repeats),
		Columns:  []string{"algorithms", "r²", "variance by theory", "our mean", "our variance", "beyond theorem 3's bound"},
		Notes: []string{"Theorem 3's bound for randomised response is exceeded with probability δ_RR = .05 at most; it is wide.",
			"No study of its own: those of theorem 2 and section 4 show algorithms 1, 2, 5 and 6 on running nodes, and 3 and 4 need one holder of all data."},
	}
	bound := math.Sqrt(d*math.Log(2/0.05)) / math.Sqrt2 / (1 - 2*flip) / (1 - 2*flip)
	for _, r2 := range []int{10, 50, 200} {
		for _, a := range []struct {
			name     string
			variance float64
			draw     func(i int) (float64, error)
		}{
			{"1, 2: projecting", sources.DistanceVariance(k, float64(r2), sources.Noise{Mechanism: dp.Gaussian, Scale: sigma}), func(i int) (float64, error) {
				f, err := fixed(projection.Spec{Family: projection.Gaussian, K: k}, r2, "kenthapadi-5", i)
				if err != nil {
					return 0, err
				}
				r, z := source("kenthapadi-5", i), make([]int64, r2)
				for j := range z {
					z[j] = 2*r.Int64N(2) - 1
				}
				got := -2 * k * sigma * sigma
				for _, v := range project(f, z) {
					v += sigma * (r.NormFloat64() - r.NormFloat64())
					got += v * v
				}
				return got, nil
			}},
			{"3, 4: noise on distances", sigma * sigma * (people - 1), func(i int) (float64, error) {
				return float64(r2) + sigma*math.Sqrt(people-1)*source("kenthapadi-5-distances", i).NormFloat64(), nil
			}},
			{"5, 6: randomised response", responseVariance(d, epsilon), func(i int) (float64, error) {
				r, differ := source("kenthapadi-5-flips", i), 0.0
				for j := range d {
					if (j < r2) != (r.Float64() < flip) != (r.Float64() < flip) {
						differ++
					}
				}
				return (differ - 2*d*flip*(1-flip)) / (1 - 2*flip) / (1 - 2*flip), nil
			}},
		} {
			got, err := each(ctx, o, o.Repeats, a.draw)
			if err != nil {
				return Table{}, err
			}
			beyond, share := "", 0.0
			if a.name[0] == '5' {
				for _, v := range got {
					if math.Abs(v-float64(r2)) > bound {
						share += 1 / float64(len(got))
					}
				}
				beyond = fmt.Sprintf("%.4f", share)
			}
			m, v := mean(got), variance(got)
			t.Lines = append(t.Lines, Line{
				Cells:   []string{a.name, fmt.Sprint(r2), fmt.Sprintf("%.1f", a.variance), fmt.Sprintf("%.2f", m), fmt.Sprintf("%.1f", v), beyond},
				Holds:   math.Abs(m-float64(r2)) < 5*standardError(got) && math.Abs(v/a.variance-1) < 6*math.Sqrt(2.5/float64(len(got))) && share <= 0.05,
				Because: "mean and variance are within five and six of their standard errors; theorem 3's bound holds",
			})
		}
	}
	return t, nil
}

// kenthapadiBest computes the best k by claim 2 of theorem 2: r²/(2σ²), with variance 16σ²r².
func kenthapadiBest(ctx context.Context, o Options) (Table, error) {
	t := Table{
		Question: "Is the variance of a recovered squared distance least at k = r²/(2σ²), and 16σ²r² there?",
		Setting:  fmt.Sprintf("Two records that differ by one in r² values; R with normal entries; %d draws a line, in this process.", o.Repeats),
		Columns:  []string{"r²", "σ", "k", "theory", "our variance", "over that at the best k"},
		Notes: []string{"The curve is flat: twice or half the best k costs an eighth.",
			"No study of its own: theorem 2's shows the formula on running nodes."},
	}
	drawing := logarithmic(newChart("kenthapadi-3", "Variance of a recovered squared distance, by k", "k", "variance"))
	for n, line := range []struct {
		r2    int
		sigma float64
	}{{64, 1}, {200, 2}} {
		curves := [2]block.Curve{{Name: fmt.Sprintf("theory, r² = %d, σ = %g", line.r2, line.sigma), Look: block.Smooth}, {Name: "ours", Look: block.Marks, Of: 2*n + 1}}
		best := int(math.Round(float64(line.r2) / (2 * line.sigma * line.sigma)))
		least := 16 * line.sigma * line.sigma * float64(line.r2)
		for _, k := range []int{best / 4, best / 2, best, 2 * best, 4 * best} {
			theory := sources.DistanceVariance(k, float64(line.r2), sources.Noise{Mechanism: dp.Gaussian, Scale: line.sigma})
			got, err := each(ctx, o, o.Repeats, func(i int) (float64, error) {
				f, err := fixed(projection.Spec{Family: projection.Gaussian, K: k}, line.r2, "kenthapadi-3", i)
				if err != nil {
					return 0, err
				}
				z, r := make([]int64, line.r2), source("kenthapadi-3", i)
				for j := range z {
					z[j] = 1
				}
				sum := -2 * float64(k) * line.sigma * line.sigma
				for _, v := range project(f, z) {
					v += line.sigma * (r.NormFloat64() - r.NormFloat64())
					sum += v * v
				}
				return sum, nil
			})
			if err != nil {
				return Table{}, err
			}
			v := variance(got)
			curves[0].Points = append(curves[0].Points, block.Point{X: float64(k), Y: theory})
			curves[1].Points = append(curves[1].Points, block.Point{X: float64(k), Y: v})
			t.Lines = append(t.Lines, Line{
				Cells:   []string{fmt.Sprint(line.r2), fmt.Sprint(line.sigma), fmt.Sprint(k), fmt.Sprintf("%.0f", theory), fmt.Sprintf("%.0f", v), fmt.Sprintf("%.3f", theory/least)},
				Holds:   math.Abs(v/theory-1) < 6*math.Sqrt(2.5/float64(len(got))) && (k != best || math.Abs(theory/least-1) < 1e-3) && theory > least*0.999,
				Because: "the variance is that of theory within six of its standard errors, 16σ²r² at r²/(2σ²), and more elsewhere",
			})
		}
		drawing.Curves = append(drawing.Curves, curves[:]...)
	}
	t.charts = append(t.charts, drawing)
	return t, nil
}
