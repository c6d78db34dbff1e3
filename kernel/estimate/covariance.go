package estimate

import "math"

// Covariance estimates the covariance of x and y over the records that both parties hold, divided
// by their number, whichever records these are:
//
//	cov = (Sxy − Sx Sy/N)/N
//
// Sxy, Sx, Sy and N are products of a column of one party with a column of the other, so they are
// over the intersection. Columns of one party, and of the union, multiply over all of its records.
// x and y may be the same column, which gives its variance.
//
// With both record counts N is that of [Gram.Intersection], and exact within a party. Without them
// it is the product of the columns of ones. If it is read from a sketch it must stand out of its
// error.
//
// The errors of Sx and Sy are correlated, by R and, for a variance, by their common noise. This
// makes SxSy/N too large by Cov(Sx, Sy)/N: about cov/k, and more with noise. The general rule gives
// this bias, and that of an error in N; both are subtracted. Means within a party whose N is known
// are those of own, so the column of ones may be lost in noise. The bias is then the covariance of
// the two means' errors, times N.
//
// The interval is a score interval like that of [Gram.InnerProduct], with k − 1 for k as the means
// are fitted. Errors of N are included by Fieller's method.
func (g *Gram) Covariance(x, y Variable, level Level) Estimate {
	for _, why := range []string{level.refuse(), x.refuse(false), y.refuse(false)} {
		if why != "" {
			return undefined(why)
		}
	}
	oneX, oneY := x.one(), y.one()
	lost := noOverlap
	if x.Ones.Column == y.Ones.Column {
		lost = noOnes
	}
	n, count := g.overlap(x.Ones, y.Ones)
	var shared ownMeans
	if x.Ones.Column == y.Ones.Column {
		shared = g.own(x.Ones)
	} else {
		shared = ownMeans{divisor: g.product(oneX, oneY), stands: g.overlapping(x.Ones, y.Ones).stands()}
	}
	if !shared.stands || !(n > 0) {
		return undefined(lost)
	}
	meanX, meanY := g.product(x.value(), oneY)/shared.divisor, g.product(oneX, y.value())/shared.divisor
	restX, restY := x.value().minus(meanX, oneX), y.value().minus(meanY, oneY)
	// The errors of the means, times N.
	ofX := form{{1, x.value().minus(float64(meanX*(1-shared.loose)), oneX), oneY}}
	ofY := form{{1, oneX, y.value().minus(float64(meanY*(1-shared.loose)), oneY)}}
	first, means, second := g.errors(ofX, ofY)
	c := centred{inner: g.inner(restX, restY), n: n}
	product := form{{1, restX, restY}}
	_, c.together, c.count = g.errors(product, count)
	if shared.loose > 0 {
		taken := shared.taken(meanX, meanY)
		plain := g.variance(product)
		c.raw -= float64(taken * shared.off)
		c.cumulants += g.variance(append(product, part{-taken, oneX, oneY})) - plain
		// To second order the errors f and g of the means, and that of N, add
		// (loose·off·(m_x g + m_y f) − fg)/N.
		own := float64(float64(meanY*meanY)*first) + float64(2*float64(meanX*meanY)*means) + float64(float64(meanX*meanX)*second)
		off := shared.loose * shared.off / n
		c.cumulants += float64(float64(off*off)*own) + (float64(first*second)+float64(means*means))/n/n
	}
	means /= shared.divisor
	c.raw += means
	e := c.estimate(level, lost)
	if e.Defined() && x.Value == y.Value { // a variance
		return newEstimate(e.Interval.Estimate, e.Low, e.High, 0, math.Inf(1)).withVariance(e.StandardError * e.StandardError)
	}
	return e
}

// centred is the product of two centred columns, and the number of their records.
type centred struct {
	inner
	n               float64
	together, count float64 // covariance of n with the product, and variance of n
}

// estimate bounds the covariance γ: all values for which |⟨x̃, ỹ⟩ − γ n| is within z standard
// errors of zero. If n itself is, there is no bound, and lost is the reason.
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
	fitted := float64(c.k) / k // norms lack the fitted means
	variance := (float64(c.norms/n2*float64(fitted*fitted))+float64(bias*bias))/k + c.cumulants/n2
	low, high := between(a, b, float64(product*product)-float64(z2*variance))
	at := (product + together) / (1 + count)
	deviation := variance + float64(2*at*(bias/k-together)) + float64(at*at*(1/k+count))
	return newEstimate(at, low, high, math.Inf(-1), math.Inf(1)).withVariance(deviation)
}

// overlap is the number of records that two parties share, with the form of its error. The form is
// empty if the number is known.
func (g *Gram) overlap(a, b Ones) (n float64, err form) {
	x, y := a.column(), b.column()
	if a.known() > 0 && b.known() > 0 {
		if a.Column == b.Column {
			return float64(a.Records), nil
		}
		s, _ := g.shared(a, b)
		n := s.at()
		c, _ := s.weights(n)
		return n, form{{1, x, y}, {-c[0], x, x}, {-c[1], y, y}}
	}
	return g.product(x, y), form{{1, x, y}}
}

// ownMeans describes how means over a party's own records are computed, from its column of ones.
type ownMeans struct {
	records float64 // how many it holds
	divisor float64 // divides a sum, giving the mean
	loose   float64 // fraction of the sketch's number that is noise, whose error the divisor lacks
	off     float64 // the sketch's number minus the public one
	stands  bool    // means are defined
}

// own computes how means over a party's own records are taken. If their number N is public, the sum
// Sx is divided by N·h/(N + kv), h being the raw squared norm of the column of ones and kv its
// noise. This removes from Sx the part of its error that the known error of h explains (a control
// variate). Without noise it is Sx over the sketch's own number, which has the errors of Sx, so
// constants have no variance. If noise dominates it is Sx/N. The same correction removes from a
// product of two centred columns their part of the noise on the column of ones: see taken.
func (g *Gram) own(o Ones) ownMeans {
	if n := o.known(); n > 0 {
		raw, noise := g.ones(o)
		return ownMeans{records: n, divisor: n * raw / (n + noise), loose: noise / (n + noise), off: raw - noise - n, stands: raw > 0}
	}
	d := g.norm(o.column())
	return ownMeans{records: d.value, divisor: d.value, stands: d.stands()}
}

// taken is the factor with which the sketch's known error in the number of records enters the
// product of two columns centred by these means.
func (o ownMeans) taken(meanX, meanY float64) float64 {
	return float64(meanX*o.loose) * float64(meanY*o.loose)
}

// ones is the raw squared norm of a column of ones, and the noise in it.
func (g *Gram) ones(o Ones) (raw, noise float64) {
	one := o.column()
	raw = bilinear(g.raw, one, one)
	return raw, float64(g.k) * g.noiseOf(one).Variance
}
