package dp

import "math/bits"

// ckGaussian is the discrete Gaussian of Canonne, Kamath and Steinke 2020, algorithm 3: the
// reference for the tables, by rejection alone.
type ckGaussian struct {
	variance uint64
	proposal discreteLaplace
	twice    uint128 // 2·variance·t², t the proposal's scale
}

func newCKGaussian(variance uint64) ckGaussian {
	t := uint128{lo: variance}.root() + 1
	den := multiply(2*variance, t)
	hi, lo := bits.Mul64(den.lo, t)
	return ckGaussian{variance, discreteLaplace{geometric{numerator: t}}, uint128{hi + den.hi*t, lo}}
}

// draw accepts a proposal y with probability exp(-(|y|-v/t)²/(2v)).
func (d ckGaussian) draw(g *Generator) int64 {
	t := d.proposal.numerator
	for {
		y := d.proposal.draw(g)
		size := magnitude(y)
		if size >= 120*t {
			continue
		}
		a := magnitude(int64(size*t) - int64(d.variance)) // 120·t² < 2^63
		if g.expMinus(multiply(a, a), d.twice) {
			return y
		}
	}
}

func (d ckGaussian) add(g *Generator, dst []int64) {
	for i := range dst {
		dst[i] += d.draw(g)
	}
}
