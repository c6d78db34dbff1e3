package estimate

// Sum estimates the sum of a column over the records that its party and another one both
// hold, as the product with the other's column of ones; with its own, over all of its
// records. X is the column in any units, and the sum is in them.
func (g *Gram) Sum(x Combination, over Ones, level Level) Estimate {
	if why := over.refuse(); why != "" {
		return undefined(why)
	}
	return g.InnerProduct(x, over.column(), level)
}

// Mean estimates the mean of a variable, whose values are between −1 and 1 as it was
// sketched, over the same records: the sum over their number, with Fieller's bounds. It
// needs no assumption on which records those are. Clipping shrinks both alike.
func (g *Gram) Mean(x Variable, over Ones, level Level) Estimate {
	for _, why := range []string{level.refuse(), x.refuse(false), over.refuse()} {
		if why != "" {
			return undefined(why)
		}
	}
	one := over.column()
	n := g.product(x.one(), one)
	switch {
	case n > 0:
	case x.Ones.Column == over.Column:
		return undefined(noOnes)
	default:
		return undefined(noOverlap)
	}
	return ratio{
		n: g.product(x.value(), one), m: n,
		numerator: form{{1, x.value(), one}}, denominator: form{{1, x.one(), one}},
	}.estimate(g, level, -1, 1)
}
