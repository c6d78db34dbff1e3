package dp

import "math/big"

// sampler returns the sampler. It uses cells as wide as makes the scale at most 64 of them, up to 6
// scales. If the scale is below 1 nearly all values are 0, and it uses rejection alone.
func (d discreteLaplace) sampler() sampler {
	if d.numerator < 1<<d.shift {
		return d
	}
	return d.cells()
}

func (d discreteLaplace) cells() *cells {
	width := uint(0)
	for d.numerator > 64<<(d.shift+width) {
		width++
	}
	unit := uint64(1) << (d.shift + width) // the scale is numerator/unit cells
	count := (6*d.numerator + unit - 1) / unit
	step := expFixed(new(big.Int).SetUint64(unit), new(big.Int).SetUint64(d.numerator))
	w := new(big.Int).Lsh(big.NewInt(1), fixedBits)
	var weights []*big.Int
	for range count {
		weights = append(weights, w)
		w = timesFixed(w, step)
	}
	return newCells(append(weights, d.tailWeight(w, width)), width, laplaceLaw(d))
}

// laplaceLaw is memoryless: its tail is geometric again.
type laplaceLaw struct{ geometric }

func (l laplaceLaw) ratio(_, step uint64) (num, den uint128) {
	return uint128{lo: step << l.shift}, uint128{lo: l.numerator}
}

func (l laplaceLaw) tail(g *Generator, _ uint64) (uint64, bool) { return l.draw(g), true }
