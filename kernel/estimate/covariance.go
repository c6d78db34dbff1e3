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
// party; without them it is the product of the columns of ones. Where it is read off a sketch it
// has to stand out of its error.
//
// Sx and Sy err together, by R and, for a variance, by their common noise, which
// makes SxSy/N too large by Cov(Sx, Sy)/N: about cov/k, and with noise more. The
// general rule gives it, and what an erring N adds, and both are taken off. Means within a
// party whose N is known are those of own, so that the column of ones may be lost in noise:
// it is the covariance of what the two means err by then, times N.
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
	lost := noOverlap
	if x.Ones.Column == y.Ones.Column {
		lost = noOnes
	}
	n, count := g.overlap(x.Ones, y.Ones)
	var shared own
	if x.Ones.Column == y.Ones.Column {
		shared = g.own(x.Ones)
	} else {
		shared = own{divisor: g.product(oneX, oneY), stands: g.overlapping(x.Ones, y.Ones).stands()}
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

// own is the column of ones of a party as what its means are taken with.
type own struct {
	records float64 // how many it holds
	divisor float64 // of a sum, for the mean
	loose   float64 // part of the sketch's number that is noise, whose error the divisor lacks
	off     float64 // how far the sketch's number is from the public one
	stands  bool    // means may be taken
}

// own takes means over a party's own records. Where their number N is public the sum Sx is
// divided by N·h/(N + kv), with h the raw square of the column of ones, of which kv is the
// noise: that takes off Sx what of its error the known error of h explains (a control
// variate). Without noise it is Sx over the sketch's own number, which errs as Sx does, so that
// constants have no variance; lost in noise it is Sx/N. The same takes off a product of two
// centred columns what they have of the noise on the column of ones: see taken.
func (g *Gram) own(o Ones) own {
	if n := o.known(); n > 0 {
		raw, noise := g.ones(o)
		return own{records: n, divisor: n * raw / (n + noise), loose: noise / (n + noise), off: raw - noise - n, stands: raw > 0}
	}
	d := g.norm(o.column())
	return own{records: d.value, divisor: d.value, stands: d.stands()}
}

// taken is how much of the sketch's error in the number of records is in the product of two
// columns that were centred by their means, and known.
func (o own) taken(meanX, meanY float64) float64 {
	return float64(meanX*o.loose) * float64(meanY*o.loose)
}

// ones is the raw square of a column of ones, and what noise adds to it.
func (g *Gram) ones(o Ones) (raw, noise float64) {
	one := o.column()
	raw = bilinear(g.raw, one, one)
	return raw, float64(g.k) * g.noiseOf(one).Variance
}
