package attack

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Recovery says how close guesses are to the truth, compared with guessing each column's mean.
type Recovery struct {
	RSquared []float64 // by column: the part of its variance that was recovered; negative if guessing the mean is better
	Error    float64   // squared norm of all errors relative to that of the truth
	Exact    float64   // share of the records in which every value is right, within Close
	Values   float64   // share of the values that are right
	Baseline float64   // Values, if each column's most common value is guessed
}

// Close is the largest error of a right guess, in the units of the values.
type Close float64

// Compare compares guesses with the truth, both m × d.
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

// mostCommon returns the largest number of values that a single guess gets right.
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
