package papers

import (
	"context"
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/dp/sources"
	"github.com/cosketch/cosketch/kernel/projection"
)

// kenthapadiTradeoff is figure 1. The values are those of the exact trade-off, which the
// figure shows (and theorem 1 does not); the paper prints a curve without numbers, and one
// of them in the text.
func kenthapadiTradeoff(context.Context, Options) (Table, error) {
	t := Table{
		Question: "Which δ does Gaussian noise of σ on a change of one give, at each ε?",
		Setting:  "The exact trade-off; sensitivity 1.",
		Columns:  []string{"σ", "ε", "expected δ", "our δ"},
		Notes:    []string{"\"(1, 0.1) → σ ≈ 1.0\" in the text: the least σ for them is 1.086, where theorem 1, corrected, asks for 2.284."},
	}
	for _, line := range []struct{ sigma, epsilon, delta float64 }{
		{0.5, 0.5, .59919}, {1, 0.5, .23842}, {1.5, 0.5, .10874}, {2, 0.5, .05244},
		{0.5, 1, .50986}, {1, 1, .12694}, {1.5, 1, .03095}, {2, 1, .00683},
		{0.5, 2, .33190}, {1, 2, .02092}, {1.5, 2, .00066}, {2, 2, 1e-5},
	} {
		delta := gaussianDelta(line.sigma, line.epsilon)
		t.Lines = append(t.Lines, Line{
			Cells:   []string{fmt.Sprint(line.sigma), fmt.Sprint(line.epsilon), fmt.Sprintf("%.5f", line.delta), fmt.Sprintf("%.5f", delta)},
			Holds:   math.Abs(delta-line.delta) < 6e-6,
			Because: "both agree to five digits",
		})
	}
	mu, err := dp.MuOf(dp.Budget{Epsilon: 1, Delta: 0.1})
	if err != nil {
		return Table{}, err
	}
	least := 1 / float64(mu)
	t.Lines = append(t.Lines, Line{
		Cells: []string{fmt.Sprintf("%.4f", least), "1", "0.10000", fmt.Sprintf("%.5f", gaussianDelta(least, 1))},
		Holds: math.Abs(least-1.0859) < 5e-4, Because: "the least σ for (1, 0.1) is 1.0859",
	})
	return t, nil
}

// gaussianDelta is δ(ε) of the Gaussian mechanism with sensitivity 1 (Balle and Wang 2018).
func gaussianDelta(sigma, epsilon float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return phi(1/(2*sigma)-epsilon*sigma) - math.Exp(epsilon)*phi(-1/(2*sigma)-epsilon*sigma)
}

// kenthapadiVariance is theorem 2, and what becomes of it with other projections.
func kenthapadiVariance(ctx context.Context, o Options) (Table, error) {
	t := Table{
		Question: "Is the recovered squared distance right on average, and how far does it spread?",
		Setting:  fmt.Sprintf("Two records that differ by one in r² of 512 values; normal noise on both sketches; %d draws of R and noise a line, in this process.", o.Repeats),
		Columns:  []string{"projection", "r²", "σ", "k", "theorem 2", "with this projection", "our mean", "our variance"},
		Notes:    []string{"Theorem 2 is for normal entries. Matrices whose rows all have length one spread less: 2(r⁴ − Σz⁴)/k for its first term, and for hadamard less still."},
	}
	const d = 512
	for _, family := range []projection.Spec{{Family: projection.Gaussian}, {Family: projection.Rademacher}, {Family: projection.Sparse, S: 1}, {Family: projection.Hadamard}} {
		for _, line := range []struct {
			r2    int
			sigma float64
			k     int
		}{{50, 1, 25}, {50, 2, 25}, {100, 2, 64}} {
			spec := family
			spec.K = line.k
			width := d
			if spec.Family != projection.Hadamard {
				width = line.r2 // rows of columns that do not differ count for nothing
			}
			errs, err := each(ctx, o, o.Repeats, func(i int) (float64, error) {
				f, err := fixed(spec, width, "kenthapadi-2", i)
				if err != nil {
					return 0, err
				}
				z := make([]int64, width)
				for j := range line.r2 {
					z[j] = int64(2*(j%2) - 1)
				}
				u, r := project(f, z), source("kenthapadi-2", i)
				var sum float64
				for _, v := range u {
					v += line.sigma * (r.NormFloat64() - r.NormFloat64())
					sum += v * v
				}
				return sum - 2*float64(line.k)*line.sigma*line.sigma, nil
			})
			if err != nil {
				return Table{}, err
			}
			noise := sources.Noise{Mechanism: dp.Gaussian, Scale: line.sigma}
			printed := sources.DistanceVariance(line.k, float64(line.r2), noise)
			law := spec.Variance(d)
			own := printed - 2*float64(line.r2*line.r2)/float64(line.k) + law.Distance(float64(line.r2), float64(line.r2))
			m, v := mean(errs), variance(errs)
			// The fourth moment of such sums is near that of a normal variable; six deviations
			// of their sample variance allow for more.
			t.Lines = append(t.Lines, Line{
				Cells:   []string{spec.String(), fmt.Sprint(line.r2), fmt.Sprint(line.sigma), fmt.Sprint(line.k), fmt.Sprintf("%.1f", printed), fmt.Sprintf("%.1f", own), fmt.Sprintf("%.2f", m), fmt.Sprintf("%.1f", v)},
				Holds:   math.Abs(m-float64(line.r2)) < 5*standardError(errs) && math.Abs(v/own-1) < 6*math.Sqrt(2.5/float64(len(errs))),
				Because: "the mean is within five standard errors, the variance within its sampling error",
			})
		}
	}
	return t, nil
}

// kenthapadiRivals compares with noise on the distances (algorithms 3 and 4) and with
// randomised response (5 and 6).
func kenthapadiRivals(context.Context, Options) (Table, error) {
	const delta, k = 1e-6, 128
	t := Table{
		Question: "At which distances does projecting beat adding noise to all distances, and randomised response?",
		Setting:  "Formulas: variances of one squared distance at the same (ε, δ), δ = 10⁻⁶, k = 128; noise by the exact trade-off for all.",
		Columns:  []string{"ε", "d", "people", "better than noise on distances up to r² =", "better than randomised response up to r² =", "section 4.3.3: √(dk)/ε²"},
		Notes:    []string{"Noise on distances must cover that one value changes all but one of a person's distances.", "Section 4.3.3 puts the second crossing at the order of √(dk)/ε²; where projecting with theorem 2's noise never wins, it says none."},
	}
	for _, line := range []struct {
		epsilon   float64
		d, people int
	}{{0.5, 1 << 20, 100_000}, {1, 1 << 20, 100_000}, {1, 1 << 24, 1_000_000}} {
		mu, err := dp.MuOf(dp.Budget{Epsilon: dp.Epsilon(line.epsilon), Delta: delta})
		if err != nil {
			return Table{}, err
		}
		sigma := 1 / float64(mu)
		ours := func(r2 float64) float64 {
			return sources.DistanceVariance(k, r2, sources.Noise{Mechanism: dp.Gaussian, Scale: sigma})
		}
		distances := sigma * sigma * float64(line.people-1)
		p := 1 / (1 + math.Exp(line.epsilon))
		q := p*p + (1-p)*(1-p)
		response := float64(line.d) * q * (1 - q) / math.Pow(1-2*p, 4)
		first, second := crossing(ours, distances), crossing(ours, response)
		scale := math.Sqrt(float64(line.d)*k) / line.epsilon / line.epsilon
		t.Lines = append(t.Lines, Line{
			Cells:   []string{fmt.Sprint(line.epsilon), fmt.Sprint(line.d), fmt.Sprint(line.people), upTo(first), upTo(second), fmt.Sprintf("%.0f", scale)},
			Holds:   second > scale/10 && second < scale*10,
			Because: "the crossing with randomised response is of the order that section 4.3.3 gives",
		})
	}
	return t, nil
}

func upTo(r2 float64) string {
	if r2 == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f", r2)
}

// crossing is the greatest r² at which a growing variance is below a constant, 0 for none.
func crossing(variance func(r2 float64) float64, constant float64) float64 {
	if variance(0) >= constant {
		return 0
	}
	lo, hi := 0.0, 1.0
	for variance(hi) < constant {
		lo, hi = hi, 2*hi
	}
	for range 100 {
		if middle := (lo + hi) / 2; variance(middle) < constant {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}
