package estimate

import (
	"fmt"
	"math"
)

// Variable locates a value column and the helper columns of its party in a Gram.
type Variable struct {
	Value         int               // index of the value column x
	Ones          Ones              // the party's column of ones
	Squares       int               // E1 only: index of the column of x²
	SquaresWeight float64           // E1 only, required there: what x² was multiplied by, x in the units of the value column; above 0
	Own           *PublishedMoments // E2 only: moments that the party published beside its sketch; nil if it did not
	Kurtosis      float64           // E2 only: E(x−μ)⁴/σ⁴ assumed for the sampling term; default 3, that of a normal distribution
}

// value, one and square are the columns in units where a record's helper entries are 1 and x².
func (v Variable) value() Combination  { return Column(v.Value) }
func (v Variable) one() Combination    { return v.Ones.column() }
func (v Variable) square() Combination { return Combination{{v.Squares, 1 / v.SquaresWeight}} }

func (v Variable) kurtosis() float64 {
	if v.Kurtosis == 0 {
		return 3
	}
	return v.Kurtosis
}

// refuse gives the reason why the variable cannot be used, or "".
func (v Variable) refuse(squares bool) string {
	switch {
	case v.Ones.refuse() != "":
		return v.Ones.refuse()
	case squares && !(v.SquaresWeight > 0):
		return fmt.Sprintf("a column of squares has weight %g", v.SquaresWeight)
	case !(v.kurtosis() >= 1):
		return fmt.Sprintf("kurtosis %g is below 1", v.Kurtosis)
	}
	return ""
}

const (
	noOverlap  = "no shared records stand out of the error"
	noOnes     = "a party's column of ones does not stand out of the error"
	noVariance = "the variance of a column does not stand out of the error"
)

// CorrelationE1 estimates Pearson's correlation of x and y over the records that both parties hold,
// whichever these are:
//
//	ρ = (N Sxy − Sx Sy) / √((N Sxx − Sx²)(N Syy − Sy²))
//
// All six sums are products of a column of one party with a column of the other, so they are over
// the intersection. Error of the numerator and of the denominator: Err(x̃,ỹ) and ½(Err(x̃²,1) +
// Err(1,ỹ²)) with x̃ = (x − mean)/sd.
func (g *Gram) CorrelationE1(x, y Variable, level Level) Estimate {
	for _, why := range []string{level.refuse(), x.refuse(true), y.refuse(true)} {
		if why != "" {
			return undefined(why)
		}
	}
	shared := g.overlapping(x.Ones, y.Ones)
	if !shared.stands() {
		return undefined(noOverlap)
	}
	n := shared.value
	meanX := g.product(x.value(), y.one()) / n
	meanY := g.product(x.one(), y.value()) / n
	varX := g.product(x.square(), y.one())/n - float64(meanX*meanX)
	varY := g.product(x.one(), y.square())/n - float64(meanY*meanY)
	if !(varX > float64(negligible*float64(meanX*meanX))) || !(varY > float64(negligible*float64(meanY*meanY))) {
		return undefined(noVariance)
	}
	divisors := []divisor{g.spread(x, y, meanX, varX, n), g.spread(y, x, meanY, varY, n), shared, shared}
	if !divisors[0].stands() || !divisors[1].stands() {
		return undefined(noVariance)
	}
	sdX, sdY := math.Sqrt(varX), math.Sqrt(varY)
	zx := x.value().minus(meanX, x.one()).scaled(1 / sdX)
	zy := y.value().minus(meanY, y.one()).scaled(1 / sdY)
	return ratio{
		n:         g.product(zx, zy),
		m:         n,
		numerator: form{{1, zx, zy}},
		denominator: form{
			{0.5, x.standardSquare(meanX, varX), y.one()},
			{0.5, x.one(), y.standardSquare(meanY, varY)},
		},
		divisors: divisors,
	}.estimate(g, level, -1, 1)
}

// standardSquare is the column of ((x − mean)/sd)².
func (v Variable) standardSquare(mean, variance float64) Combination {
	centred := v.square().minus(2*mean, v.value()).minus(-mean*mean, v.one())
	return centred.scaled(1 / variance)
}

// spread is the variance of x over the n records that it shares with y, as a divisor. The variance
// of its error from the projection alone grows with its square.
func (g *Gram) spread(x, y Variable, mean, variance, n float64) divisor {
	err := form{{variance / n, x.standardSquare(mean, variance).minus(1, x.one()), y.one()}}
	d := plainDivisor(variance, g.variance(err))
	if bare := g.projected(err); bare > 0 {
		d.k = 2 * float64(variance*variance) / bare
	}
	return d
}

// CorrelationE2 estimates Pearson's correlation of x and y over the records that both parties hold,
// if those are a random part of each party's records:
//
//	ρ = cos(x − μ1_A, y − ν1_B) / cos(1_A, 1_B)
//
// with μ and ν the means over each party's own records. It needs no squares and has far smaller
// errors than E1. Its interval also allows for sampling error, by which variances over own records
// differ from those over the intersection: ρ²/4 times the sum over both parties of (kurtosis −
// 1)(1/N − 1/n_party).
func (g *Gram) CorrelationE2(x, y Variable, level Level) Estimate {
	for _, why := range []string{level.refuse(), x.refuse(false), y.refuse(false)} {
		if why != "" {
			return undefined(why)
		}
	}
	if x.Own != nil && y.Own != nil {
		return g.correlationOfOwn(x, y, level)
	}
	oneX, oneY := x.one(), y.one()
	overlap, why := g.cosine(oneX, oneY)
	shared := g.quotient(overlap)
	if why != "" || !shared.stands() {
		return undefined(noOverlap)
	}
	ownX, ownY := g.own(x.Ones).divisor, g.own(y.Ones).divisor
	restX := x.value().minus(g.product(x.value(), oneX)/ownX, oneX)
	restY := y.value().minus(g.product(y.value(), oneY)/ownY, oneY)
	residual, why := g.cosine(restX, restY)
	if why != "" || g.flat(x, restX) || g.flat(y, restY) {
		return undefined(noVariance)
	}
	divisors := []divisor{g.norm(restX), g.norm(restY), shared, shared}
	if !divisors[0].stands() || !divisors[1].stands() {
		return undefined(noVariance)
	}
	// d log m = d log|x̃||ỹ| + d log⟨1_A,1_B⟩ − d log|1_A||1_B|
	m := residual.m * overlap.n / overlap.m
	denominator := append(residual.denominator.times(m/residual.m), overlap.numerator.times(m/overlap.n)...)
	denominator = append(denominator, overlap.denominator.times(-m/overlap.m)...)
	return ratio{
		n:           residual.n,
		m:           m,
		numerator:   residual.numerator,
		denominator: denominator,
		extra:       sampling(x, ownX, overlap.n) + sampling(y, ownY, overlap.n),
		divisors:    divisors,
	}.estimate(g, level, -1, 1)
}

// flat reports whether a variable without its mean is only rounding error.
func (g *Gram) flat(v Variable, rest Combination) bool {
	return !(g.product(rest, rest) > float64(negligible*g.raw.At(v.Value, v.Value)))
}

// sampling is a party's share of the sampling variance of ρ̂/ρ: the variance of
// the log of the standard deviation over n records drawn from its own.
func sampling(v Variable, own, shared float64) float64 {
	if v.Ones.Records > 0 {
		own = float64(v.Ones.Records)
	}
	shared = clamp(shared, 1, own)
	return (v.kurtosis() - 1) / 4 * (1/shared - 1/own)
}
