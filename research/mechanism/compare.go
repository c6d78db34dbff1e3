package mechanism

import (
	"context"
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/research/sources"
	"github.com/cosketch/cosketch/seed/stream"
)

// Comparison compares all mechanisms in one setting.
type Comparison struct {
	K         int       `json:"k"`
	D         int       `json:"d"`
	R2        int       `json:"r2"`
	Delta     float64   `json:"delta"`
	Trials    int       `json:"trials"`
	Levels    []Level   `json:"levels"`
	BestK     []Optimum `json:"best_k"`
	Statement string    `json:"statement"`
}

// Level is the comparison at one ε and the setting's k.
type Level struct {
	Epsilon float64 `json:"epsilon"`
	Lines   []Line  `json:"mechanisms"`
}

// Line is one mechanism at one ε.
type Line struct {
	Name      string  `json:"name"`
	Source    string  `json:"source,omitempty"`
	Pure      bool    `json:"pure"`
	Record    bool    `json:"record,omitempty"` // protects a whole record, not one value
	Variance  float64 `json:"variance"`         // of the squared distance, by formula
	Times     float64 `json:"times"`            // ratio to that of sparse s=1 + laplace
	Simulated float64 `json:"simulated,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"` // simulated variance over the formula's
	Error     float64 `json:"ratio_standard_error,omitempty"`
	Doubt     string  `json:"doubt,omitempty"` // caveat about the guarantee
}

// Optimum is one mechanism at one ε and one distance, at its own best k.
type Optimum struct {
	Name         string  `json:"name"`
	Source       string  `json:"source,omitempty"`
	R2           int     `json:"r2"`
	Epsilon      float64 `json:"epsilon"`
	K            int     `json:"k"`
	RelativeRMSE float64 `json:"relative_rmse"`
}

// matrices is how many dense matrices are drawn, for their longest rows, if nothing is simulated.
const matrices = 20

// Compare evaluates the formulas and, if s.Trials is positive, simulates.
func Compare(ctx context.Context, s Setting) (Comparison, error) {
	if err := s.Check(); err != nil {
		return Comparison{}, fmt.Errorf("comparing mechanisms: %w", err)
	}
	out := Comparison{K: s.K, D: s.D, R2: s.R2, Delta: float64(s.Delta), Trials: s.Trials}
	all := rivals()
	sums, rows, err := simulate(ctx, s, all)
	if err != nil {
		return Comparison{}, fmt.Errorf("comparing mechanisms: %w", err)
	}
	for i, epsilon := range s.Levels {
		level := Level{Epsilon: float64(epsilon)}
		for j, r := range all {
			v, err := r.variance(s, s.K, epsilon, rows)
			if err != nil {
				return Comparison{}, fmt.Errorf("comparing mechanisms: %s: %w", r.name, err)
			}
			line := Line{Name: r.name, Source: r.source, Pure: r.pure, Record: r.record, Variance: v}
			if r.doubt != nil {
				line.Doubt = r.doubt(s, epsilon)
			}
			if s.Trials > 0 {
				line.Simulated, line.Ratio, line.Error = sums[i][j].against(v)
			}
			level.Lines = append(level.Lines, line)
		}
		ours := level.Lines[best(all)].Variance
		for j := range level.Lines {
			level.Lines[j].Times = level.Lines[j].Variance / ours
		}
		out.Levels = append(out.Levels, level)
	}
	if out.BestK, err = optima(s, all); err != nil {
		return Comparison{}, fmt.Errorf("comparing mechanisms: %w", err)
	}
	out.Statement = statement(out.Levels[0])
	return out, nil
}

// best returns the index of the project's choice for records of many values, sparse s=1 with
// Laplace.
func best(all []rival) int {
	want := own(forecast.Method{Mechanism: dp.Laplace, Family: projection.Sparse, S: 1}, "").name
	for i, r := range all {
		if r.name == want {
			return i
		}
	}
	return 0
}

// statement says how much larger the variances of the sources are at one ε.
func statement(l Level) string {
	text := fmt.Sprintf("At ε = %g the variance of sparse s=1 + laplace is", l.Epsilon)
	for _, line := range l.Lines {
		if line.Source != "" && line.Times > 1 && !line.Record {
			text += fmt.Sprintf(" %s times below %s (%s),", twoDigits(line.Times), line.Name, line.Source)
		}
	}
	return text[:len(text)-1] + "."
}

// twoDigits formats a number of at least 1 with two significant digits.
func twoDigits(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	unit := math.Pow10(int(math.Log10(x)) - 1)
	return fmt.Sprintf("%.0f", math.Round(x/unit)*unit)
}

// sums are raw moments of simulated errors.
type sums struct{ n, one, two, four float64 }

func (m *sums) add(e float64) {
	m.n++
	m.one += e
	m.two += e * e
	m.four += e * e * e * e
}

// against returns the mean squared error, its ratio to a variance, and the standard error of that
// ratio.
func (m sums) against(variance float64) (mean, ratio, se float64) {
	mean = m.two / m.n
	spread := math.Sqrt(math.Max(0, m.four/m.n-mean*mean) / m.n)
	return mean, mean / variance, spread / variance
}

// simulate runs the trials. It returns the moments by ε and mechanism, and the norm of the longest
// row of each dense matrix.
func simulate(ctx context.Context, s Setting, all []rival) ([][]sums, []float64, error) {
	labels := make([][]byte, s.D)
	for j := range labels {
		labels[j] = stream.ColumnLabel(fmt.Sprint(j))
	}
	out := make([][]sums, len(s.Levels))
	for i := range out {
		out[i] = make([]sums, len(all))
	}
	var rows []float64
	for n := range max(s.Trials, matrices) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		t := newTrial(s, labels, n)
		if err := t.draw(); err != nil {
			return nil, nil, err
		}
		rows = append(rows, t.longest)
		if s.Trials == 0 {
			continue
		}
		for i, epsilon := range s.Levels {
			for j, r := range all {
				e, err := r.once(t, epsilon)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %w", r.name, err)
				}
				out[i][j].add(e)
			}
		}
	}
	return out, rows, nil
}

// optima returns the error of each mechanism at its best k, for the setting's distance and for one
// sixteen times as large (D is raised if needed). For dense projections it assumes a longest row
// that at least half of all draws do not exceed.
func optima(s Setting, all []rival) ([]Optimum, error) {
	var out []Optimum
	for _, r2 := range []int{s.R2, 16 * s.R2} {
		wide := s
		wide.R2 = r2
		wide.D = max(s.D, r2)
		for _, r := range all {
			for _, epsilon := range s.Levels {
				k, v, err := forecast.Search(max(r.step, 1), projection.HadamardSize(wide.D), func(k int) (float64, error) {
					return r.variance(wide, k, epsilon, []float64{sources.LongestRow(wide.D, k, 0.5)})
				})
				if err != nil {
					return nil, fmt.Errorf("%s: %w", r.name, err)
				}
				if r.whole {
					k = wide.D
				}
				out = append(out, Optimum{Name: r.name, Source: r.source, R2: r2, Epsilon: float64(epsilon), K: k, RelativeRMSE: math.Sqrt(v) / float64(r2)})
			}
		}
	}
	return out, nil
}
