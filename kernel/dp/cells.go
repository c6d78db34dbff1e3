package dp

import "math/big"

// cells draws from a symmetric distribution on the integers whose probability falls with the
// magnitude. Magnitudes are cut into cells of 2^width, [h·2^width, (h+1)·2^width) for h below
// count, and a tail from reach = count·2^width on. A draw takes a cell by the probability of its
// least magnitude and then a uniform magnitude in the cell. It accepts that with the ratio exp(-γ)
// of its probability to that of the least one. The tail is drawn from a geometric proposal. The
// package comment bounds the error.
type cells struct {
	table *table
	width uint
	count int
	reach uint64
	sure  []uint32 // per cell: an upper bound on 2^16·γ over all its magnitudes
	law   law
}

// law describes the shape of a distribution.
type law interface {
	// ratio returns γ ≤ 1, as num/den, of the magnitude least+step, least being the smallest one of
	// its cell.
	ratio(least, step uint64) (num, den uint128)

	// tail draws the distance from reach of a magnitude of the tail. It returns false if the draw
	// of a cell must be repeated.
	tail(g *Generator, reach uint64) (beyond uint64, ok bool)
}

// One random word makes a draw: the table's prefix, 16 bits to accept by, a sign, and the magnitude
// within its cell if that has at most stepBits.
const (
	stepBits   = 22
	signBit    = stepBits
	acceptBits = 16
)

// newCells makes the sampler from the weights of the cells' least magnitudes and of the tail, in
// units of a cell's: positive fixed-point numbers.
func newCells(weights []*big.Int, width uint, l law) *cells {
	c := &cells{table: newTable(weights), width: width, count: len(weights) - 1, law: l}
	c.reach = uint64(c.count) << width
	c.sure = make([]uint32, c.count)
	last := uint64(1)<<width - 1
	for h := range c.sure {
		if num, den := l.ratio(uint64(h)<<width, last); num != (uint128{}) {
			c.sure[h] = uint32(num.shifted(acceptBits).over(den)) + 1
		}
	}
	return c
}

// add adds an independent value to every entry.
func (c *cells) add(g *Generator, dst []int64) {
	for i := range dst {
		dst[i] += c.draw(g)
	}
}

// draw returns a value modulo 2^64.
func (c *cells) draw(g *Generator) int64 {
	for {
		word := g.Uint64()
		h := c.table.find(g, uint32(word>>(64-prefixBits)))
		var magnitude uint64
		if h < c.count {
			least, step := uint64(h)<<c.width, c.step(g, word)
			if bits := uint32(word>>(signBit+1)) & (1<<acceptBits - 1); bits < c.sure[h] && !c.accept(g, least, step, bits) {
				continue
			}
			magnitude = least | step
		} else {
			beyond, ok := c.law.tail(g, c.reach)
			if !ok {
				continue
			}
			magnitude = c.reach + beyond
		}
		switch negative := word>>signBit&1 == 1; {
		case !negative:
			return int64(magnitude)
		case magnitude != 0: // else zero, with either sign, would count twice
			return -int64(magnitude)
		}
	}
}

// step returns a uniform offset within a cell.
func (c *cells) step(g *Generator, word uint64) uint64 {
	if c.width > stepBits {
		word = g.Uint64()
	}
	return word & (1<<c.width - 1)
}

// accept is true with probability exp(-γ) for γ = ratio(least, step). Its first trial, of
// probability γ, is that a uniform number is below γ; bits are the first 16 bits of that number.
func (c *cells) accept(g *Generator, least, step uint64, bits uint32) bool {
	num, den := c.law.ratio(least, step)
	scaled, below := num.shifted(acceptBits), multiply(den.lo, uint64(bits)) // ratios fit 64 bits
	if !below.less(scaled) {
		return true
	}
	if rest := scaled.minus(below); rest.less(den) && !g.bernoulli(fractionOf(rest, den)) {
		return true
	}
	return g.expMinusAfter(fractionOf(num, den))
}
