package dp

import "math/big"

// discreteGaussian is the distribution on the integers with P(j) ∝ exp(-j²/(2·variance)).
type discreteGaussian struct {
	variance uint64 // from 1 to maxVariance
}

// cells returns the sampler. Its cells are as wide as makes the standard deviation at most 64 of
// them, and reach up to 4 standard deviations.
func (d discreteGaussian) cells() *cells {
	width := uint(0)
	for d.variance > 64*64<<(2*width) {
		width++
	}
	count := uint128{lo: 16 * d.variance >> (2 * width)}.root() + 1
	reach := count << width
	// exp(-h²x) for x = 4^width/(2·variance), from each one to the next by exp(-(2h+1)x).
	step := expFixed(new(big.Int).Lsh(big.NewInt(1), 2*width), new(big.Int).SetUint64(2*d.variance))
	twice := timesFixed(step, step)
	w := new(big.Int).Lsh(big.NewInt(1), fixedBits)
	var weights []*big.Int
	for range count {
		weights = append(weights, w)
		w, step = timesFixed(w, step), timesFixed(step, twice)
	}
	law := gaussianLaw{variance: d.variance, proposal: geometric{numerator: d.variance/reach + 1}}
	return newCells(append(weights, law.proposal.tailWeight(w, width)), width, law)
}

// gaussianLaw draws the tail from reach A on by geometric proposals of scale t ≥ v/A:
// exp(-(A+g)²/2v) is exp(-A²/2v)·exp(-g/t) times exp(-(g²+2gA)/2v + g/t) ≤ 1.
type gaussianLaw struct {
	variance uint64
	proposal geometric
}

func (l gaussianLaw) ratio(least, step uint64) (num, den uint128) {
	return multiply(step, 2*least+step), uint128{lo: 2 * l.variance} // both are below 2^57
}

// tail leaves out values more than 4096·t beyond the reach, which keeps its products within 128
// bits: t < 2^26, A < 2^31 and 2v·t < 2^83, so that their sum is below 2^103.
func (l gaussianLaw) tail(g *Generator, reach uint64) (uint64, bool) {
	beyond, t := l.proposal.draw(g), l.proposal.numerator
	if beyond >= 4096*t {
		return 0, false
	}
	gap := reach*t - l.variance // (t − v/A)·A; at most A
	num := multiply(beyond*t, beyond).plus(multiply(beyond, 2*gap))
	return beyond, g.expMinus(num, multiply(2*l.variance, t))
}

// tailWeight returns the weight of a tail drawn by geometric proposals, in units of a cell's:
// least, the probability at its beginning, times Σ exp(-j/t) over 2^width.
func (d geometric) tailWeight(least *big.Int, width uint) *big.Int {
	one := new(big.Int).Lsh(big.NewInt(1), fixedBits)
	ratio := expFixed(new(big.Int).Lsh(big.NewInt(1), d.shift), new(big.Int).SetUint64(d.numerator))
	w := new(big.Int).Lsh(least, fixedBits-width)
	return w.Quo(w, one.Sub(one, ratio))
}
