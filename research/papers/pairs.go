package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/networks"
)

// pairwise is a study of few binary records. For each pair, the party that holds both learns their
// squared distance; from these follows the L2 error of DPPro's equation 12.
type pairwise struct {
	name string
	rows [][]int64 // zeros and ones; pairedRecords of them
	spec projection.Spec
	// Either sigma or randomised.
	sigma      float64    // σ of Gaussian noise on a coordinate
	delta      dp.Delta   // δ at which the study's ε means sigma
	randomised dp.Epsilon // ε of randomised response
}

// pairedRecords is one more than the largest number of neighbours in a study.
const pairedRecords = 99

// study returns a study that asks for all neighbours of every record.
func (p pairwise) study() Study {
	names, rows := numbered(len(p.rows[0])), make([][]float64, len(p.rows))
	for i, row := range p.rows {
		for _, v := range row {
			rows[i] = append(rows[i], float64(v))
		}
	}
	privacy := fmt.Sprintf("unit: attribute, mechanism: randomised-response, epsilon: %s", networks.Decimal(float64(p.randomised)))
	if p.randomised == 0 {
		privacy = fmt.Sprintf("unit: attribute, mechanism: gaussian, epsilon: %s, delta: %s",
			networks.Decimal(float64(dp.EpsilonOf(dp.Mu(1/p.sigma), p.delta))), networks.Decimal(float64(p.delta)))
	}
	sketch := "side: records, family: " + string(p.spec.Family)
	if p.spec.Family != projection.Identity {
		sketch += fmt.Sprintf(", k: %d", p.spec.K)
	}
	return Study{
		Name: p.name, Partition: study.Horizontal, Columns: columns(names, "kind: binary"), Sketches: []string{sketch},
		Privacy: privacy, Analyses: []string{fmt.Sprintf("kind: neighbors, neighbors: %d", len(rows)-1)}, Data: dealt(names, rows),
	}
}

// apart returns the number of values in which two records differ.
func (p pairwise) apart(i, j int) (n float64) {
	for c, v := range p.rows[i] {
		n += math.Abs(float64(v - p.rows[j][c]))
	}
	return n
}

// read computes the error from the parties' tables of their own records.
func (p pairwise) read(out Outcome) ([]Drawn, error) {
	for _, a := range out.Result.Analyses {
		if a.Undefined != "" {
			return nil, fmt.Errorf("the distances are not told: %s", a.Undefined)
		}
	}
	var errors, truths float64
	pairs := 0
	for _, own := range out.Own {
		held := map[string]bool{}
		for _, record := range own {
			held[record[idColumn]] = true
		}
		for _, record := range own {
			for n := 1; n < len(p.rows); n++ {
				other := record[fmt.Sprintf("neighbor_%d", n)]
				if !held[other] {
					continue // another party's record, named by a handle
				}
				i, _ := strconv.Atoi(record[idColumn])
				j, _ := strconv.Atoi(other)
				got, err := strconv.ParseFloat(record[fmt.Sprintf("distance_%d", n)], 64)
				if err != nil {
					return nil, err
				}
				if i < j {
					truth := p.apart(i, j)
					errors, truths, pairs = errors+(got-truth)*(got-truth), truths+truth*truth, pairs+1
				}
			}
		}
	}
	third := len(p.rows) / parties
	if want := parties * third * (third - 1) / 2; pairs != want {
		return nil, fmt.Errorf("%d pairs are told, want %d", pairs, want)
	}
	return []Drawn{{What: fmt.Sprintf("L2 error over %d pairs", pairs), Value: errors / truths}}, nil
}

// here draws the same error in this process.
func (p pairwise) here(ctx context.Context, o Options, draws int) ([]float64, error) {
	return each(ctx, o, draws, func(i int) (float64, error) {
		r, d := source(p.name, i), len(p.rows[0])
		flat := make([]int64, 0, len(p.rows)*d)
		for _, row := range p.rows {
			flat = append(flat, row...)
		}
		offset, factor := 2*float64(p.spec.K)*p.sigma*p.sigma, 1.0
		if p.randomised > 0 {
			flip := 1 / (1 + math.Exp(float64(p.randomised)))
			for n := range flat {
				if r.Float64() < flip {
					flat[n] = 1 - flat[n]
				}
			}
			offset, factor = 2*float64(d)*flip*(1-flip), 1/(1-2*flip)/(1-2*flip)
		}
		f, err := fixed(p.spec, d, p.name, i)
		if err != nil {
			return 0, err
		}
		y, k := project(f, flat), p.spec.K
		for n := range y {
			y[n] += p.sigma * r.NormFloat64()
		}
		var errors, truths float64
		third := len(p.rows) / parties
		for a := range p.rows {
			for b := a + 1; b < (a/third+1)*third; b++ {
				truth := p.apart(a, b)
				off := (apart(y[a*k:(a+1)*k], y[b*k:(b+1)*k])-offset)*factor - truth
				errors, truths = errors+off*off, truths+truth*truth
			}
		}
		return errors / truths, nil
	})
}

// theory returns the error by formula.
func (p pairwise) theory() float64 {
	law := forecast.Law{Projection: p.spec, Features: len(p.rows[0]), Noise: estimate.Noise{Variance: p.sigma * p.sigma}}
	if p.randomised > 0 {
		flip := 1 / (1 + math.Exp(float64(p.randomised)))
		q := flip*flip + (1-flip)*(1-flip)
		return p.over(func(float64) float64 { return float64(len(p.rows[0])) * q * (1 - q) / math.Pow(1-2*flip, 4) })
	}
	return p.over(func(r2 float64) float64 { return law.Distance(forecast.Difference{Squared: r2, Fourth: r2}) })
}

// over divides the sum of variances over the pairs by the sum of squares of squared distances.
func (p pairwise) over(variance func(r2 float64) float64) float64 {
	var errors, truths float64
	third := len(p.rows) / parties
	for a := range p.rows {
		for b := a + 1; b < (a/third+1)*third; b++ {
			truth := p.apart(a, b)
			errors, truths = errors+variance(truth), truths+truth*truth
		}
	}
	return errors / truths
}

// add plays the study, or takes its recorded result, and compares it with draws in this process.
// Without nodes or a record it does nothing.
func (p pairwise) add(ctx context.Context, o Options, t *Table, setting string) error {
	drawn, err := o.play(ctx, p.study(), p.read)
	if err != nil || drawn == nil {
		return err
	}
	const draws = 60
	values, err := p.here(ctx, o, draws)
	if err != nil {
		return err
	}
	t.compare(setting+fmt.Sprintf(" Theory says %.3g.", p.theory()), drawn, spread(values))
	return nil
}

// bits draws records that alternate between zeros and ones, with one bit in twenty flipped. A study
// returns distances where they differ by more than their errors.
func bits(r *rand.Rand, n, d int) [][]int64 {
	out := make([][]int64, n)
	for i := range out {
		out[i] = make([]int64, d)
		for j := range d {
			out[i][j] = int64(i % 2)
			if r.IntN(20) == 0 {
				out[i][j] = 1 - out[i][j]
			}
		}
	}
	return out
}
