package dp

import (
	"encoding/binary"
	"math/big"
)

// table draws one of a few outcomes by its cumulative probabilities in 2^-128. A draw begins with
// 25 random bits and reads the other 103 only if those do not decide.
type table struct {
	upper  []uint128 // of each outcome but the last, which takes the rest; a uniform 128-bit number falls to the first outcome whose bound exceeds it
	prefix []uint32  // the first 25 bits of upper; 2^25 for the last outcome
	guide  [1 << guideBits]uint16
}

const (
	prefixBits = 25
	guideBits  = 12
)

// fixedBits is the number of fractional bits of the fixed-point numbers from which tables are made.
const fixedBits = 256

// newTable makes the table of outcomes with the given weights, positive fixed-point numbers. With
// exact weights each bound is at most 2^-128 below its true value, so each outcome's probability is
// within 2^-128 of the true one. Truncation of the weights (see expFixed and the callers) adds less
// than 2^-190 relative.
func newTable(weights []*big.Int) *table {
	total := new(big.Int)
	for _, w := range weights {
		total.Add(total, w)
	}
	t := &table{}
	sum, bound := new(big.Int), new(big.Int)
	var bytes [16]byte
	for _, w := range weights[:len(weights)-1] {
		sum.Add(sum, w)
		bound.Quo(bound.Lsh(sum, 128), total)
		bound.FillBytes(bytes[:])
		u := uint128{binary.BigEndian.Uint64(bytes[:]), binary.BigEndian.Uint64(bytes[8:])}
		t.upper = append(t.upper, u)
		t.prefix = append(t.prefix, uint32(u.hi>>(64-prefixBits)))
	}
	t.prefix = append(t.prefix, 1<<prefixBits)
	outcome := uint16(0)
	for i := range t.guide {
		for t.prefix[outcome] < uint32(i)<<(prefixBits-guideBits) {
			outcome++
		}
		t.guide[i] = outcome
	}
	return t
}

// find returns the outcome of a uniform 128-bit number whose first 25 bits are given. It draws the
// other bits only if they matter.
func (t *table) find(g *Generator, prefix uint32) int {
	i := int(t.guide[prefix>>(prefixBits-guideBits)])
	for prefix > t.prefix[i] {
		i++
	}
	if prefix == t.prefix[i] {
		return t.settle(g, i, prefix)
	}
	return i
}

// settle returns the outcome of a number whose first 25 bits are those of a bound.
func (t *table) settle(g *Generator, i int, prefix uint32) int {
	u := uint128{hi: uint64(prefix)<<(64-prefixBits) | g.Uint64()>>prefixBits, lo: g.Uint64()}
	for i < len(t.upper) && !u.less(t.upper[i]) {
		i++
	}
	return i
}

// expFixed returns exp(-num/den) for 0 ≤ num ≤ den as a fixed-point number, by Taylor's series:
// fewer than 64 terms, each truncated, so the error is below 2^-250.
func expFixed(num, den *big.Int) *big.Int {
	term := new(big.Int).Lsh(big.NewInt(1), fixedBits)
	sum := new(big.Int).Set(term)
	divisor := new(big.Int)
	for k := int64(1); term.Sign() != 0; k++ {
		term.Mul(term, num)
		term.Quo(term, divisor.Mul(den, divisor.SetInt64(-k)))
		sum.Add(sum, term)
	}
	return sum
}

// timesFixed returns the product of two fixed-point numbers, truncated.
func timesFixed(a, b *big.Int) *big.Int {
	p := new(big.Int).Mul(a, b)
	return p.Rsh(p, fixedBits)
}
