package forecast

import (
	"math"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// Counts describes numbers of records by the cells of a table, or of the tables of a tree.
type Counts struct {
	Records float64             // required: of all parties
	Noise   estimate.CountNoise // on a cell
	Level   estimate.Level      // of an interval; 0: the default one
}

// error returns the error of this variance, in units of so many records.
func (c Counts) error(variance, of float64) Error {
	d := math.Sqrt(math.Max(0, variance)) / of
	return Error{StandardError: d, HalfWidth: c.Noise.Reach(c.Level) * d, z: c.Noise.Reach(c.Level)}
}

// Cell forecasts the number of records of one of so many cells, in units of itself, if all have
// equally many.
func (c Counts) Cell(cells int) Error {
	n := float64(cells)
	return c.error(c.Noise.Variance*(1-1/n), c.Records/n)
}

// Rank forecasts the rank of a quantile, as a share of the records, in the bins of a tree, or of
// one table if depth is 0. The standard error is that of the noise alone at an edge of the bins,
// averaged over the edges. The interval is half a bin longer on either side, for records that are
// spread evenly over the bins. absent says that absent values are counted.
func (c Counts) Rank(q float64, depth, bins int, absent bool) Error {
	ranked, err := c.ranked(depth, bins, absent)
	if err != nil {
		return Error{Undefined: err.Error()}
	}
	var variance float64
	for i := range bins + 1 {
		variance += ranked.RankVariance(i, q) / float64(bins+1)
	}
	e := c.error(variance, c.Records)
	e.HalfWidth += 0.5 / float64(bins)
	return e
}

// ranked returns a tree or table with the noise of such ranks, without records.
func (c Counts) ranked(depth, bins int, absent bool) (*estimate.Ranked, error) {
	if depth == 0 {
		cells := bins
		if absent {
			cells++
		}
		return estimate.NewBins(make([]float64, cells), absent, c.Noise, c.Records)
	}
	levels := make([][]float64, depth)
	for l := range levels {
		levels[l] = make([]float64, 2<<l)
	}
	total := estimate.Noisy{Value: c.Records}
	if absent {
		total.Variance = c.Noise.Variance / float64(depth)
	}
	return estimate.NewTree(levels, c.Noise, total)
}
