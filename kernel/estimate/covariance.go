package estimate

import "math"

// Covariance estimates the covariance of x and y over the records that both
// parties hold, divided by their number, with no assumption on which those are:
//
//	cov = (Sxy − Sx Sy/N)/N
//
// in which Sxy, Sx, Sy and N are products of a column of one party with a column
// of the other, so run over the intersection. Columns of one party, and of the
// union, multiply over all of its records; x and y may be the same column, which
// gives its variance.
//
// With both record counts N is that of [Gram.Intersection], and exact within a
// party. Leave the counts out where records were clipped: N is then the product of
// the columns of ones, which shrinks as Sxy does.
//
// Sx and Sy err together, by R and, for a variance, by their common noise, which
// makes SxSy/N too large by Cov(Sx, Sy)/N: about cov/k, and with noise more. The
// general rule gives it, and what an erring N adds, and both are taken off.
//
// The interval is a score interval as that of [Gram.InnerProduct], with k − 1 for k
// as the means are fitted, and the errors of N as Fieller has them.
func (g *Gram) Covariance(x, y Variable, level Level) Estimate {
	for _, why := range []string{level.refuse(), x.refuse(false), y.refuse(false)} {
		if why != "" {
			return undefined(why)
		}
	}
	oneX, oneY := x.one(), y.one()
	shared := g.product(oneX, oneY)
	n, count := g.overlap(x.Ones, y.Ones)
	lost := noOverlap
	if x.Ones.Column == y.Ones.Column {
		lost = noOnes
	}
	if !(shared > 0) || !(n > 0) {
		return undefined(lost)
	}
	restX := x.value().minus(g.product(x.value(), oneY)/shared, oneX)
	restY := y.value().minus(g.product(oneX, y.value())/shared, oneY)
	means := g.covariance(form{{1, restX, oneY}}, form{{1, oneX, restY}}) / shared
	c := centred{inner: g.inner(restX, restY), n: n}
	_, c.together, c.count = g.errors(form{{1, restX, restY}}, count)
	c.raw += means
	e := c.estimate(level, lost)
	if e.Defined() && x.Value == y.Value { // a variance
		return finish(e.Interval.Estimate, e.Low, e.High, 0, math.Inf(1)).deviating(e.Deviation * e.Deviation)
	}
	return e
}

// centred is the product of two centred columns over the number of their records.
type centred struct {
	inner
	n               float64
	together, count float64 // covariance of n with the product, and variance of n
}

// estimate bounds the covariance γ: all those for which |⟨x̃, ỹ⟩ − γ n| is within z
// deviations of zero. Where n itself is, there is no bound, and lost says why.
func (c centred) estimate(level Level, lost string) Estimate {
	k, z2, n2 := float64(c.k-1), float64(level.z()*level.z()), float64(c.n*c.n)
	if !(k > z2) {
		return tooSmall(c.k, z2+1, level)
	}
	together, count := c.together/n2, c.count/n2
	a := 1 - float64(z2*(1/k+count))
	if !(a > 0) {
		return undefined(lost)
	}
	product, bias := (c.raw-c.bias)/c.n, c.bias/c.n
	b := product + float64(z2*(bias/k-together))
	fitted := float64(c.k) / k // norms lack what went into the means
	variance := (float64(c.norms/n2*float64(fitted*fitted))+float64(bias*bias))/k + c.cumulants/n2
	low, high := between(a, b, float64(product*product)-float64(z2*variance))
	at := (product + together) / (1 + count)
	deviation := variance + float64(2*at*(bias/k-together)) + float64(at*at*(1/k+count))
	return finish(at, low, high, math.Inf(-1), math.Inf(1)).deviating(deviation)
}

// overlap is how many records two parties share and the form of that number's
// error, which is empty where it is known.
func (g *Gram) overlap(a, b Ones) (n float64, err form) {
	x, y := a.column(), b.column()
	if a.Records > 0 && b.Records > 0 {
		if a.Column == b.Column {
			return float64(a.Records), nil
		}
		if c, why := g.cosine(x, y); why == "" {
			counts := math.Sqrt(float64(a.Records)) * math.Sqrt(float64(b.Records))
			return counts * c.n / c.m, append(c.numerator.times(counts/c.m), c.denominator.times(-counts*c.n/c.m/c.m)...)
		}
	}
	return g.product(x, y), form{{1, x, y}}
}
