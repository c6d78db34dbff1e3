package estimate

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Counted are numbers of records by the cells of a table, with independent noise of one variance. How many records
// there are in all is public, which takes some of the noise off: each cell is given the same part of what the cells
// lack of them.
type Counted struct {
	rows, cols int
	cells      []float64 // row-major, adding up to records
	variance   float64   // of the noise on a cell, as it was released
	records    float64
}

// NewCounted returns the table of noisy counts, row-major; a table of one column of the data has one row.
func NewCounted(cells []float64, rows, cols int, variance, records float64) (Counted, error) {
	if rows < 1 || cols < 1 || len(cells) != rows*cols {
		return Counted{}, errors.New("a table of counts with cells for another shape")
	}
	if !(variance >= 0) || !(records > 0) || math.IsInf(variance, 0) || math.IsInf(records, 0) {
		return Counted{}, errors.New("a table of counts without records, or with noise of no variance")
	}
	lack := records
	for _, n := range cells {
		lack -= n
	}
	out := Counted{rows: rows, cols: cols, variance: variance, records: records}
	for _, n := range cells {
		out.cells = append(out.cells, n+lack/float64(len(cells)))
	}
	return out, nil
}

// Cell estimates how many records a cell has.
func (c Counted) Cell(row, col int, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	n, variance := c.cells[row*c.cols+col], c.of(1)
	half := float64(level.z() * math.Sqrt(variance))
	return finish(n, n-half, n+half, 0, c.records).deviating(variance)
}

// of is the variance of the sum of so many cells.
func (c Counted) of(cells int) float64 {
	n := float64(cells)
	return float64(c.variance*n) * (1 - n/float64(len(c.cells)))
}

// OfRow estimates which part of the records of a row a cell has, by Fieller's inversion.
func (c Counted) OfRow(row, col int, level Level) Estimate {
	var all float64
	for j := range c.cols {
		all += c.cells[row*c.cols+j]
	}
	return c.share(row, col, all, c.cols, level)
}

// OfColumn estimates which part of the records of a column a cell has.
func (c Counted) OfColumn(row, col int, level Level) Estimate {
	var all float64
	for i := range c.rows {
		all += c.cells[i*c.cols+col]
	}
	return c.share(row, col, all, c.rows, level)
}

// share is that of a cell in a sum over so many cells, itself among them.
func (c Counted) share(row, col int, all float64, cells int, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	n, va := c.cells[row*c.cols+col], c.of(cells)
	if z2 := float64(level.z() * level.z()); !(all > 0) || float64(all*all) <= float64(z2*va) {
		return undefined("these records do not stand out of the noise")
	}
	cov := c.variance * (1 - float64(cells)/float64(len(c.cells)))
	return fieller{ratio: n / all, nn: c.of(1) / all / all, nm: cov / all / all, mm: va / all / all}.estimate(level, 0, 1)
}

// V estimates Cramér's V of rows and columns, between 0 and 1: how far they are from independent. Noise adds to the statistic
// X = Σ (n − e)²/e of the noisy margins' products e about τ·χ² with the degrees of freedom of the table and the
// true statistic over τ for noncentrality, τ being Σ v(1 − r_i)(1 − c_j)/e_ij over these degrees. The interval
// inverts that, and reaches to 0 where nothing stands out.
func (c Counted) V(level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	if c.rows < 2 || c.cols < 2 {
		return undefined("a table of one column of the data has nothing to be independent of")
	}
	rows, cols := make([]float64, c.rows), make([]float64, c.cols)
	for i := range rows {
		for j := range cols {
			rows[i] += c.cells[i*c.cols+j] / c.records
			cols[j] += c.cells[i*c.cols+j] / c.records
		}
	}
	for _, margin := range []struct {
		shares []float64
		cells  int
	}{{rows, c.cols}, {cols, c.rows}} {
		for _, share := range margin.shares {
			if share <= StandsOut*math.Sqrt(c.of(margin.cells))/c.records {
				return undefined("a row or a column does not stand out of the noise")
			}
		}
	}
	var x, tau float64
	for i, r := range rows {
		for j, s := range cols {
			e := float64(float64(r*s) * c.records)
			d := c.cells[i*c.cols+j] - e
			x += float64(d*d) / e
			tau += float64(c.variance*(1-r)) * (1 - s) / e
		}
	}
	freedom := float64((c.rows - 1) * (c.cols - 1))
	most := c.records * float64(min(c.rows, c.cols)-1)
	of := func(statistic float64) float64 { return math.Sqrt(math.Max(0, statistic) / most) }
	if tau /= freedom; tau == 0 {
		return finish(of(x), of(x), of(x), 0, 1)
	}
	tail := level.tail()
	low, high := noncentrality(x/tau, freedom, 1-tail), noncentrality(x/tau, freedom, tail)
	return finish(of(x-float64(tau*freedom)), of(low*tau), of(high*tau), 0, 1)
}

// manyNoncentral is from when on a noncentral χ² is taken for a normal one: probabilities are then off by less than .01.
const manyNoncentral = 500

// noncentrality is that at which χ² with so much freedom is at most x with probability p; 0 where it is less likely
// even without.
func noncentrality(x, freedom, p float64) float64 {
	if noncentralChiSquared(x, freedom, 0) <= p {
		return 0
	}
	low, high := 0.0, math.Max(x, 1)
	for noncentralChiSquared(x, freedom, high) > p {
		high *= 2
	}
	for range 48 {
		if middle := (low + high) / 2; noncentralChiSquared(x, freedom, middle) > p {
			low = middle
		} else {
			high = middle
		}
	}
	return stable((low + high) / 2)
}

// noncentralChiSquared is the probability of at most x: a mixture of χ² by how many pairs of degrees a Poisson number
// adds.
func noncentralChiSquared(x, freedom, noncentral float64) float64 {
	if x <= 0 {
		return 0
	}
	if noncentral == 0 {
		return mathext.GammaIncReg(freedom/2, x/2)
	}
	if noncentral > manyNoncentral {
		return distuv.UnitNormal.CDF((x - freedom - noncentral) / math.Sqrt(2*(freedom+2*noncentral)))
	}
	// From many pairs to few, as P(a, y) = P(a+1, y) + y^a·e^−y/Γ(a+1).
	mean, y := noncentral/2, x/2
	reach := 7*math.Sqrt(mean) + 12
	j := math.Ceil(mean + reach)
	below, sum := mathext.GammaIncReg(freedom/2+j, y), 0.0
	for ; j >= math.Max(0, mean-reach); j-- {
		pairs, _ := math.Lgamma(j + 1)
		sum += float64(math.Exp(float64(j*math.Log(mean))-mean-pairs) * below)
		a := freedom/2 + j - 1
		next, _ := math.Lgamma(a + 1)
		below += math.Exp(float64(a*math.Log(y)) - y - next)
	}
	return sum
}
