package attack

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Recovery says how near guesses come to the truth, beside guessing each column's mean.
type Recovery struct {
	RSquared []float64 // of each column: the part of its variance that was recovered; below 0 where guessing the mean is better
	Error    float64   // squared norm of all errors over that of the truth
	Exact    float64   // share of the records of which every value is right, within Close
	Values   float64   // share of the values that are right
	Baseline float64   // of Values, by guessing each column's most common value
}

// Close is how near a guess counts as right, in the units of the values.
type Close float64

// Compare sets guesses beside the truth, both m × d.
func Compare(truth, guess *mat.Dense, within Close) (Recovery, error) {
	m, d := truth.Dims()
	if rows, cols := guess.Dims(); rows != m || cols != d {
		return Recovery{}, fmt.Errorf("comparing guesses: they are %d × %d, the truth is %d × %d", rows, cols, m, d)
	}
	var out Recovery
	exact := make([]bool, m)
	for i := range exact {
		exact[i] = true
	}
	var errors, norms float64
	var right, common int
	for j := range d {
		column := mat.Col(nil, j, truth)
		mean, left, varies := average(column), 0.0, 0.0
		for i, x := range column {
			off := guess.At(i, j) - x
			left += off * off
			varies += (x - mean) * (x - mean)
			norms += x * x
			if math.Abs(off) <= float64(within) {
				right++
			} else {
				exact[i] = false
			}
		}
		errors += left
		common += mostCommon(column, within)
		switch {
		case varies > 0:
			out.RSquared = append(out.RSquared, 1-left/varies)
		default:
			out.RSquared = append(out.RSquared, 0)
		}
	}
	if norms > 0 {
		out.Error = errors / norms
	}
	for _, all := range exact {
		if all {
			out.Exact += 1 / float64(m)
		}
	}
	out.Values, out.Baseline = float64(right)/float64(m*d), float64(common)/float64(m*d)
	return out, nil
}

func average(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return mean
}

// mostCommon counts the values that one guess gets right at most.
func mostCommon(column []float64, within Close) int {
	sorted := slices.Sorted(slices.Values(column))
	most, from := 0, 0
	for to, v := range sorted {
		for v-sorted[from] > 2*float64(within) {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}
