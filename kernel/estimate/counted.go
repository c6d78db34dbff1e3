package estimate

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// CountNoise is the noise on released numbers of records: independent, with one distribution for
// all cells.
type CountNoise struct {
	Variance float64
	Laplace  int // number of parties whose integer Laplace noise is summed; 0: normal noise
}

func (n CountNoise) check() error {
	if !(n.Variance >= 0) || math.IsInf(n.Variance, 0) || n.Laplace < 0 {
		return fmt.Errorf("noise of counts: variance %g must be finite and at least 0, and %d parties at least 0", n.Variance, n.Laplace)
	}
	return nil
}

// Reach is the half-width of an interval, in standard deviations of the noise. A sum of Laplace
// noise has heavier tails than a normal of the same variance. Sums over more cells have lighter
// tails, but use the same value. Integer noise needs half a record more.
func (n CountNoise) Reach(l Level) float64 {
	z := l.z()
	if n.Laplace == 0 || n.Variance == 0 {
		return z
	}
	return math.Max(z, laplaceQuantile(n.Laplace, l.tail())) + 0.5/math.Sqrt(n.Variance)
}

// mostLaplace bounds the number of parties in laplaceQuantile: sums of more Laplace noise use its
// quantile.
const mostLaplace = 256

// laplaceQuantile is the value that the sum of n independent Laplace variables, in its standard
// deviations, exceeds with probability tail, at most ½. The sum is a difference G − H of gamma
// variables. G exceeds t + H if a Poisson process has fewer than n events in that time; the number
// of these events during H is negative binomial.
func laplaceQuantile(n int, tail float64) float64 {
	n = min(n, mostLaplace)
	below := make([]float64, n) // probability of at most i events in H
	p, sum := math.Exp2(-float64(n)), 0.0
	for i := range below {
		sum += p
		below[i] = sum
		p *= float64(n+i) / float64(2*(i+1))
	}
	exceeds := func(t float64) (out float64) {
		p := math.Exp(-t)
		for i := range below {
			out += float64(p * below[n-1-i])
			p *= t / float64(i+1)
		}
		return out
	}
	low, high := 0.0, 1.0
	for exceeds(high) > tail {
		low, high = high, 2*high
	}
	for range 60 {
		if middle := (low + high) / 2; exceeds(middle) > tail {
			low = middle
		} else {
			high = middle
		}
	}
	return stable((low + high) / 2 / math.Sqrt(float64(2*n)))
}

// Counted are the numbers of records in the cells of a table, with noise on each. The total number
// of records is public, which removes some of the noise: what the cells lack of it is spread evenly
// over them. It is not safe for concurrent use.
type Counted struct {
	rows, cols int
	cells      []float64  // row-major, adding up to records
	noise      CountNoise // on a cell, as it was released
	records    float64
	level      Level // of its intervals
	reach      float64
	all        Sample
	ofRows     []margin
	ofCols     []margin
}

// margin is the records of a row or a column.
type margin struct {
	records float64
	cells   int
	sample  *Sample // nil until first used
}

// NewCounted returns the table of noisy counts, row-major, with intervals of the given level. A
// table of a single column of the data has one column.
func NewCounted(cells []float64, rows, cols int, noise CountNoise, records float64, level Level) (*Counted, error) {
	if rows < 1 || cols < 1 || len(cells) != rows*cols {
		return nil, fmt.Errorf("a table of %d × %d cells, but %d counts", rows, cols, len(cells))
	}
	if err := noise.check(); err != nil {
		return nil, err
	}
	if why := level.refuse(); why != "" {
		return nil, errors.New(why)
	}
	if !(records > 0) || math.IsInf(records, 0) {
		return nil, fmt.Errorf("a table of counts of %g records: want a finite number above 0", records)
	}
	lack := records
	for _, n := range cells {
		lack -= n
	}
	out := &Counted{rows: rows, cols: cols, noise: noise, records: records, level: level, reach: noise.Reach(level), all: NewSample(records, level)}
	for _, n := range cells {
		out.cells = append(out.cells, n+lack/float64(len(cells)))
	}
	out.ofRows, out.ofCols = make([]margin, rows), make([]margin, cols)
	for i, n := range out.cells {
		out.ofRows[i/cols].records += n
		out.ofCols[i%cols].records += n
	}
	for i := range out.ofRows {
		out.ofRows[i].cells = cols
	}
	for j := range out.ofCols {
		out.ofCols[j].cells = rows
	}
	return out, nil
}

// Cell estimates how many records a cell has, between none and all. If the interval would lie
// outside this range, it is extended one standard error into it, so that it does not look certain.
func (c *Counted) Cell(row, col int) Estimate {
	n, variance := c.cells[row*c.cols+col], c.of(1)
	half := float64(c.reach * math.Sqrt(variance))
	low, high := inwards(n-half, n+half, c.records, math.Sqrt(variance))
	e := newEstimate(clamp(n, 0, c.records), low, high, 0, c.records).withVariance(variance)
	return c.all.Sum(e, Binary(n/c.records, 1))
}

// inwards extends an interval so that its part within [0, most] has at least length least, if there
// is room.
func inwards(low, high, most, least float64) (float64, float64) {
	return math.Min(low, math.Max(0, most-least)), math.Max(high, math.Min(most, least))
}

// of is the variance of the sum of that many cells.
func (c *Counted) of(cells int) float64 {
	n := float64(cells)
	return float64(c.noise.Variance*n) * (1 - n/float64(len(c.cells)))
}

// OfRow estimates a cell's fraction of the records of its row, with Fieller's interval.
func (c *Counted) OfRow(row, col int) Estimate {
	return c.share(c.cells[row*c.cols+col], &c.ofRows[row])
}

// OfColumn estimates a cell's fraction of the records of its column.
func (c *Counted) OfColumn(row, col int) Estimate {
	return c.share(c.cells[row*c.cols+col], &c.ofCols[col])
}

// share is a cell's fraction of a sum of cells that includes it.
func (c *Counted) share(n float64, of *margin) Estimate {
	all, va := of.records, c.of(of.cells)
	if !(all > 0) || float64(all*all) <= float64(float64(c.reach*c.reach)*va) {
		return undefined("the number of these records does not stand out of the noise")
	}
	cov := c.noise.Variance * (1 - float64(of.cells)/float64(len(c.cells)))
	wider := float64(c.reach/c.level.z()) * (c.reach / c.level.z())
	f := fieller{ratio: n / all, nn: float64(wider*c.of(1)) / all / all, nm: float64(wider*cov) / all / all, mm: float64(wider*va) / all / all}
	e := f.estimate(c.level, 0, 1)
	e = e.withVariance(float64(e.StandardError*e.StandardError) / wider)
	e.Low, e.High = inwards(e.Low, e.High, 1, math.Min(e.StandardError, 1))
	if of.sample == nil {
		s := NewSample(all, c.level)
		of.sample = &s
	}
	return of.sample.Mean(e, Binary(n/all, 1))
}

// Association is how far the rows and columns of a table are from independent.
type Association struct {
	V             Estimate // Cramér's, between 0 and 1
	Rows, Columns []int    // those used: the ones that stand out of the noise
}

// Associated estimates Cramér's V of the table's first rows and columns, using those that stand out
// of the noise. The statistic is X = Σ (n − e)²/e with the products e of the noisy margins. X is
// about τ·χ² with the table's degrees of freedom; its noncentrality is the true statistic over τ. τ
// is Σ v(1 − r_i)(1 − c_j)/e_ij over these degrees. The interval inverts this distribution, and
// reaches to 0 if nothing stands out. For the population, drawing the records adds 1 to τ. If rows
// and columns depend so that, to first order, X has a larger variance than the 4τX of this
// distribution, both terms are raised to that variance.
func (c *Counted) Associated(rows, cols int) (out Association) {
	for i := range rows {
		out.Rows = append(out.Rows, i)
	}
	for j := range cols {
		out.Columns = append(out.Columns, j)
	}
	for c.drop(&out) {
	}
	if len(out.Rows) < 2 || len(out.Columns) < 2 {
		out.V = undefined("fewer than two rows or columns stand out of the noise")
		return out
	}
	out.V = c.v(out)
	return out
}

// margins are the numbers of records of the rows and columns of an association, and their total.
func (c *Counted) margins(a Association) (rows, cols []float64, all float64) {
	rows, cols = make([]float64, len(a.Rows)), make([]float64, len(a.Columns))
	for i, row := range a.Rows {
		for j, col := range a.Columns {
			n := c.cells[row*c.cols+col]
			rows[i], cols[j], all = rows[i]+n, cols[j]+n, all+n
		}
	}
	return rows, cols, all
}

// drop removes the row or column that stands out least; false if all stand out.
func (c *Counted) drop(a *Association) bool {
	rows, cols, _ := c.margins(*a)
	least, at, ofRows := float64(StandsOut), -1, false
	for k, of := range [][]float64{rows, cols} {
		sd := math.Sqrt(c.of([]int{len(cols), len(rows)}[k]))
		for i, n := range of {
			if score := n / sd; !(score > least) && (n <= 0 || sd > 0) {
				least, at, ofRows = score, i, k == 0
			}
		}
	}
	switch {
	case at < 0:
		return false
	case ofRows:
		a.Rows = append(a.Rows[:at:at], a.Rows[at+1:]...)
	default:
		a.Columns = append(a.Columns[:at:at], a.Columns[at+1:]...)
	}
	return true
}

func (c *Counted) v(a Association) Estimate {
	rows, cols, all := c.margins(a)
	if !(all > 0) {
		return undefined("the number of these records does not stand out of the noise")
	}
	var x, tau float64
	for i, row := range a.Rows {
		for j, col := range a.Columns {
			r, s := rows[i]/all, cols[j]/all
			e := float64(float64(r*s) * all)
			d := c.cells[row*c.cols+col] - e
			x += float64(d*d) / e
			tau += float64(c.noise.Variance*(1-r)) * (1 - s) / e
		}
	}
	freedom := float64((len(rows) - 1) * (len(cols) - 1))
	most := all * float64(min(len(rows), len(cols))-1)
	of := func(statistic float64) float64 { return math.Sqrt(math.Max(0, statistic) / most) }
	tau /= freedom
	wider := c.reach / c.level.z()
	estimated := of(x - float64(tau*freedom))
	noise, people := c.varies(a, rows, cols, all)
	if x > 0 && tau > 0 {
		tau *= math.Max(1, noise/float64(4*x*tau))
	}
	drawn := 1.0
	if x > 0 {
		drawn = math.Max(1, people/(4*x))
	}
	low, high := inverted(x, float64(float64(tau*wider)*wider), freedom, c.level)
	out := newEstimate(clamp(estimated, 0, 1), of(low), of(high), 0, 1)
	out = out.withVariance(float64((out.High-out.Low)/(2*c.level.z())) * ((out.High - out.Low) / (2 * c.level.z())))
	low, high = inverted(x, float64(float64(tau*wider)*wider)+drawn, freedom, c.level)
	return out.withPopulation(Span{math.Min(out.Low, of(low)), math.Max(out.High, math.Min(1, of(high))), true})
}

// varies is the variance of X from the noise, and from drawing the records, to first order: by its
// derivatives by the cells.
func (c *Counted) varies(a Association, rows, cols []float64, all float64) (noise, drawn float64) {
	ofRow, ofCol := make([]float64, len(rows)), make([]float64, len(cols))
	ratio := func(i, j int) float64 { // a cell's share over the product of its margins' shares
		return float64(math.Max(0, c.cells[a.Rows[i]*c.cols+a.Columns[j]]) / rows[i] * (all / cols[j]))
	}
	for i := range rows {
		for j := range cols {
			q := ratio(i, j)
			ofRow[i] += float64(float64(q*q) * (cols[j] / all))
			ofCol[j] += float64(float64(q*q) * (rows[i] / all))
		}
	}
	var sum, squares, weight, mean, square float64
	for i, row := range a.Rows {
		for j, col := range a.Columns {
			n := math.Max(0, c.cells[row*c.cols+col])
			h := 2*ratio(i, j) - ofRow[i] - ofCol[j]
			sum, squares = sum+h, squares+float64(h*h)
			weight, mean, square = weight+n, mean+float64(n*h), square+float64(float64(n*h)*h)
		}
	}
	noise = float64(c.noise.Variance * math.Max(0, squares-float64(sum*sum)/float64(len(c.cells))))
	return noise, math.Max(0, square-float64(mean*mean)/weight)
}

// inverted is the interval of a statistic that is observed as x, distributed as τ times noncentral
// χ².
func inverted(x, tau, freedom float64, level Level) (low, high float64) {
	if tau == 0 {
		return x, x
	}
	tail := level.tail()
	return float64(tau * noncentrality(x/tau, freedom, 1-tail)), float64(tau * noncentrality(x/tau, freedom, tail))
}

// manyNoncentral is the noncentrality above which noncentral χ² is approximated by a normal:
// probabilities are then off by less than .01.
const manyNoncentral = 500

// noncentrality is the noncentrality at which χ² with these degrees of freedom is at most x with
// probability p. It is 0 if the probability is at most p even for central χ².
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

// noncentralChiSquared is the probability of at most x: a mixture of central χ², with a Poisson
// number of additional pairs of degrees of freedom.
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
	mean, y := float64(noncentral/2), float64(x/2)
	logMean, logY := math.Log(mean), math.Log(y)
	reach := float64(7*math.Sqrt(mean)) + 12
	j := math.Ceil(mean + reach)
	below, sum := mathext.GammaIncReg(float64(freedom/2)+j, y), 0.0
	for ; j >= math.Max(0, mean-reach); j-- {
		pairs, _ := math.Lgamma(j + 1)
		sum += float64(math.Exp(float64(j*logMean)-mean-pairs) * below)
		a := float64(freedom/2) + j - 1
		next, _ := math.Lgamma(a + 1)
		below += math.Exp(float64(a*logY) - y - next)
	}
	return sum
}
