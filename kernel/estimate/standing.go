package estimate

import "math"

// Standing is how far a divisor is above zero, in standard errors.
type Standing struct {
	Value     float64
	Threshold float64 // it must exceed this to be a divisor (StandsOut), in the same units
	Count     bool    // it is a number of records; else a variance
}

// Lost is the probability that the divisor comes out below its threshold, so that the quotient is
// undefined, if noise is multiplied by the given factor.
func (s Standing) Lost(noise float64) float64 {
	return math.Exp(logUpper(s.Value/noise - s.Threshold))
}

func (d divisor) standing(count bool) Standing {
	se := d.at(d.value)
	if !(se > 0) {
		return Standing{Value: math.Inf(1), Count: count}
	}
	return Standing{d.value / se, d.threshold() / se, count}
}

// Standings are the standings of all divisors of two variables' correlation by E2, if the Gram is
// [Expected].
func (g *Gram) Standings(x, y Variable) []Standing {
	out := g.Shared(x.Ones, y.Ones)
	for _, v := range []Variable{x, y} {
		if x.Own != nil && y.Own != nil {
			out = append(out, v.Own.standing())
			continue
		}
		one := v.one()
		rest := v.value().minus(g.product(v.value(), one)/g.own(v.Ones).divisor, one)
		out = append(out, g.norm(rest).standing(false))
	}
	return out
}

// StandingsE1 are the standings of the divisors of the correlation by E1.
func (g *Gram) StandingsE1(x, y Variable) []Standing {
	out := g.Shared(x.Ones, y.Ones)
	n := g.overlapping(x.Ones, y.Ones).value
	for _, v := range [][2]Variable{{x, y}, {y, x}} {
		mean := g.product(v[0].value(), v[1].one()) / n
		variance := g.product(v[0].square(), v[1].one())/n - float64(mean*mean)
		out = append(out, g.spread(v[0], v[1], mean, variance, n).standing(false))
	}
	return out
}

// Shared is the standing of the number of records that two parties share. For a single party it is
// nil, as its number is public.
func (g *Gram) Shared(a, b Ones) []Standing {
	if a.Column == b.Column {
		return nil
	}
	return []Standing{g.overlapping(a, b).standing(true)}
}

// Standing is the standing of the variance of column i.
func (m *Summed) Standing(i int) Standing { return m.divisor(i).standing(false) }
