package estimate

// Sum estimates the sum of a column over the records that both its party and another one hold: its
// product with the other party's column of ones. With its own column of ones, it is over all of its
// records. X is the column in any units, and the sum is in these.
func (g *Gram) Sum(x Combination, over Ones, level Level) Estimate {
	if why := over.refuse(); why != "" {
		return undefined(why)
	}
	return g.InnerProduct(x, over.column(), level)
}

// Mean estimates the mean of a variable over the records that Sum is over: the sum over their
// number, with Fieller's interval. Values must have been sketched between −1 and 1. Nothing is
// assumed about which records these are. Clipping shrinks sum and number alike. Over the party's
// own records the public number is used: see own.
func (g *Gram) Mean(x Variable, over Ones, level Level) Estimate {
	for _, why := range []string{level.refuse(), x.refuse(false), over.refuse()} {
		if why != "" {
			return undefined(why)
		}
	}
	one := over.column()
	if x.Own != nil && x.Ones.Column == over.Column {
		return x.Own.mean(level)
	}
	if x.Ones.Column == over.Column && over.known() > 0 {
		own := g.own(over)
		if !own.stands {
			return undefined(noOnes)
		}
		return ratio{
			n: g.product(x.value(), one), m: own.divisor,
			numerator: form{{1, x.value(), one}}, denominator: form{{1 - own.loose, one, one}},
		}.estimate(g, level, -1, 1)
	}
	n := g.overlapping(x.Ones, over)
	switch {
	case n.stands():
	case x.Ones.Column == over.Column:
		return undefined(noOnes)
	default:
		return undefined(noOverlap)
	}
	return ratio{
		n: g.product(x.value(), one), m: n.value,
		numerator: form{{1, x.value(), one}}, denominator: form{{1, x.one(), one}},
		divisors: []divisor{n, n},
	}.estimate(g, level, -1, 1)
}
