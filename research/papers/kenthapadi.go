package papers

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/sources"
)

// kenthapadiTradeoff computes figure 1. The values follow the exact trade-off, as the figure does
// and theorem 1 does not. The paper prints a curve without numbers, and one number in the text.
func kenthapadiTradeoff(ctx context.Context, o Options) (Table, error) {
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
	t.charts = append(t.charts, tradeoffChart())
	return t, noiseOfNodes(ctx, o, &t)
}

// tradeoffChart draws the feasible (ε, δ) for each σ.
func tradeoffChart() figure.Chart {
	out := newChart("kenthapadi-1", "Least δ at each ε, for noise of σ on a change of one", "ε", "δ")
	for _, sigma := range []float64{0.5, 1, 1.5, 2} {
		line := block.Curve{Name: fmt.Sprintf("σ = %g", sigma), Look: block.Smooth}
		for i := range 61 {
			epsilon := float64(i) / 20
			line.Points = append(line.Points, block.Point{X: epsilon, Y: gaussianDelta(sigma, epsilon)})
		}
		out.Curves = append(out.Curves, line)
	}
	return out
}

// noiseOfNodes releases zeros, so that releases are pure noise.
func noiseOfNodes(ctx context.Context, o Options, t *Table) error {
	const records, values, epsilon, delta = 300, 20, 1, 0.01 // the largest δ of a study
	names, rows := numbered(values), make([][]float64, records)
	for i := range rows {
		rows[i] = make([]float64, values)
	}
	drawn, err := o.play(ctx, Study{
		Name: "kenthapadi-noise", Partition: study.Horizontal, Columns: columns(names, "kind: binary"),
		Sketches: []string{"side: records, family: identity"}, Privacy: fmt.Sprintf("unit: attribute, mechanism: gaussian, epsilon: %d, delta: %g", epsilon, delta),
		Analyses: []string{"kind: group-distance"}, Data: dealt(names, rows),
	}, func(out Outcome) ([]Drawn, error) {
		var square float64
		for _, r := range out.Releases {
			square += math.Pow(mat.Norm(entries(r, 0), 2), 2)
		}
		return []Drawn{{What: "σ of the noise in the releases", Value: math.Sqrt(square / records / values)}}, nil
	})
	if err != nil || drawn == nil {
		return err
	}
	mu, err := dp.MuOf(dp.Budget{Epsilon: epsilon, Delta: delta})
	if err != nil {
		return err
	}
	sigma := 1 / float64(mu)
	t.compare(fmt.Sprintf("Three parties that hold %d records of %d zeros, records side, family identity, mechanism gaussian, ε = 1, δ = 0.01: the release is noise alone. Theorem 1, corrected, asks for σ = %.3f. The mean is the exact trade-off's.", records, values, math.Sqrt(2*(math.Log(1/(2*delta))+epsilon))/epsilon),
		drawn, reference{mean: sigma, deviation: sigma / math.Sqrt(2*records*values)})
	return nil
}

// gaussianDelta is δ(ε) of the Gaussian mechanism with sensitivity 1 (Balle and Wang 2018).
func gaussianDelta(sigma, epsilon float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return phi(1/(2*sigma)-epsilon*sigma) - math.Exp(epsilon)*phi(-1/(2*sigma)-epsilon*sigma)
}

// kenthapadiVariance computes theorem 2, and the variance with other projections.
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
			r2     int
			sigma  float64
			k      int
			stated float64 // by theorem 2
			hard   bool    // slow
		}{{50, 1, 25, 800, false}, {50, 2, 25, 5000, false}, {100, 2, 64, 11704.5, false}, {400, 3, 128, 114244, true}} {
			spec := family
			spec.K = line.k
			draws := o.Repeats
			if line.hard {
				draws = max(2, draws/4)
			}
			width := d
			if spec.Family != projection.Hadamard {
				width = line.r2 // columns that do not differ have no effect
			}
			errs, err := each(ctx, o, draws, func(i int) (float64, error) {
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
			// The fourth moment of such sums is near that of a normal variable. Six standard
			// deviations of the sample variance leave room for the difference.
			t.Lines = append(t.Lines, Line{
				Cells: []string{spec.String(), fmt.Sprint(line.r2), fmt.Sprint(line.sigma), fmt.Sprint(line.k), fmt.Sprintf("%.1f", printed), fmt.Sprintf("%.1f", own), fmt.Sprintf("%.2f", m), fmt.Sprintf("%.1f", v)},
				Holds: math.Abs(m-float64(line.r2)) < 5*standardError(errs) && math.Abs(v/own-1) < 6*math.Sqrt(2.5/float64(len(errs))) &&
					math.Abs(printed/line.stated-1) < 5e-4,
				Because: "theorem 2 gives the stated variance to three digits, the mean is within five standard errors, the variance within six of its own",
			})
		}
	}
	t.Beyond = distanceBeyond(1024, 100, 1e-6, 1, 4, 8)
	p := pairwise{name: "kenthapadi-pairs", rows: bits(source("kenthapadi-pairs", -1), pairedRecords, 128), spec: projection.Spec{Family: projection.Hadamard, K: 64}, sigma: 1, delta: 1e-6}
	return t, p.add(ctx, o, &t, "Three parties with 33 records of 128 bits each, mostly zeros or mostly ones, records side, family hadamard, k = 64, mechanism gaussian with the ε that means σ = 1 at δ = 10⁻⁶: families whose rows differ in length take no noise in a study.")
}

// kenthapadiRivals compares projection with noise on the distances (algorithms 3 and 4) and with
// randomised response (5 and 6).
func kenthapadiRivals(ctx context.Context, o Options) (Table, error) {
	const delta, k = 1e-6, 128
	t := Table{
		Question: "At which distances does projecting beat adding noise to all distances, and randomised response?",
		Setting:  "Formulas: variances of one squared distance at the same (ε, δ), δ = 10⁻⁶, k = 128; noise by the exact trade-off for all.",
		Columns:  []string{"ε", "d", "people", "better than noise on distances up to r² =", "better than randomised response up to r² =", "section 4.3.3: √(dk)/ε²", "r² = √k errs by, times r²"},
		Notes:    []string{"Below r² = √k both are inaccurate, says the section: the last column is how far the better of the two errs there.", "Noise on distances must cover that one value changes all but one of a person's distances.", "Section 4.3.3 puts the second crossing at the order of √(dk)/ε²; where projecting with theorem 2's noise never wins, it says none."},
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
		response := responseVariance(line.d, line.epsilon)
		first, second := crossing(ours, distances), crossing(ours, response)
		scale := math.Sqrt(float64(line.d)*k) / line.epsilon / line.epsilon
		near := math.Sqrt(min(ours(math.Sqrt(k)), response)) / math.Sqrt(k)
		t.Lines = append(t.Lines, Line{
			Cells:   []string{fmt.Sprint(line.epsilon), fmt.Sprint(line.d), fmt.Sprint(line.people), upTo(first), upTo(second), fmt.Sprintf("%.0f", scale), fmt.Sprintf("%.0f", near)},
			Holds:   second > scale/10 && second < scale*10 && near > 1,
			Because: "the crossing with randomised response is of the order that section 4.3.3 gives, and both err by more than r² at √k",
		})
	}
	t.charts = append(t.charts, rivalsChart(1, 1<<20, 100_000, k, delta))
	p := pairwise{name: "kenthapadi-flipped", rows: bits(source("kenthapadi-flipped", -1), pairedRecords, 128), spec: projection.Spec{Family: projection.Identity, K: 128}, randomised: 2}
	return t, p.add(ctx, o, &t, "Algorithms 5 and 6: three parties with 33 records of 128 bits each, mostly zeros or mostly ones, family identity, mechanism randomised-response, ε = 2. Algorithms 3 and 4 stay in this process: whoever adds noise to all distances holds all data.")
}

// rivalsChart draws the standard deviation of a squared distance by three algorithms.
func rivalsChart(epsilon float64, d, people, k int, delta dp.Delta) figure.Chart {
	out := logarithmic(newChart("kenthapadi-4", fmt.Sprintf("Standard deviation of a squared distance at ε = %g, d = 2²⁰, k = %d", epsilon, k), "squared distance r²", "standard deviation"))
	mu, err := dp.MuOf(dp.Budget{Epsilon: dp.Epsilon(epsilon), Delta: delta})
	if err != nil {
		return out
	}
	sigma := 1 / float64(mu)
	for _, one := range []struct {
		name     string
		variance func(r2 float64) float64
	}{
		{"projecting (1, 2)", func(r2 float64) float64 {
			return sources.DistanceVariance(k, r2, sources.Noise{Mechanism: dp.Gaussian, Scale: sigma})
		}},
		{"noise on distances (3, 4)", func(float64) float64 { return sigma * sigma * float64(people-1) }},
		{"randomised response (5, 6)", func(float64) float64 { return responseVariance(d, epsilon) }},
	} {
		line := block.Curve{Name: one.name, Look: block.Smooth}
		for e := 0.0; e <= 6.01; e += 0.25 {
			line.Points = append(line.Points, block.Point{X: math.Pow(10, e), Y: math.Sqrt(one.variance(math.Pow(10, e)))})
		}
		out.Curves = append(out.Curves, line)
	}
	return out
}

// responseVariance returns the variance of a squared distance of d bits under randomised response.
func responseVariance(d int, epsilon float64) float64 {
	p := 1 / (1 + math.Exp(epsilon))
	q := p*p + (1-p)*(1-p)
	return float64(d) * q * (1 - q) / math.Pow(1-2*p, 4)
}

func upTo(r2 float64) string {
	if r2 == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f", r2)
}

// crossing returns the largest r² at which an increasing variance is below a constant; 0 if there
// is none.
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
