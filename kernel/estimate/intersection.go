package estimate

import (
	"fmt"
	"math"
)

// Ones locates a party's column of ones.
type Ones struct {
	Column  int     // its index in the Gram
	Weight  float64 // required: the entry of a record that the party holds, in the sketch's units; above 0
	Records int     // the party's public record count; 0 when unknown
}

// refuse gives the reason for which the column cannot be used, or "".
func (o Ones) refuse() string {
	if !(o.Weight > 0) {
		return fmt.Sprintf("a column of ones has weight %g", o.Weight)
	}
	return ""
}

// column is the column in units in which an entry is 1.
func (o Ones) column() Combination { return Combination{{o.Column, 1 / o.Weight}} }

// Intersection estimates how many records two parties share. With both record
// counts it is √(n_A n_B)·cos(1_A, 1_B) within [0, min(n_A, n_B)]: errors that the
// two norms share with the product cancel, and so does the shrinking by clipping
// as far as it strikes shared and other records alike. Without the counts, or
// where a norm is lost in noise, it is the product ⟨1_A, 1_B⟩/(w_A w_B).
func (g *Gram) Intersection(a, b Ones, level Level) Estimate {
	for _, why := range []string{level.refuse(), a.refuse(), b.refuse()} {
		if why != "" {
			return undefined(why)
		}
	}
	most := math.Inf(1)
	if a.Records > 0 && b.Records > 0 {
		most = float64(min(a.Records, b.Records))
		if c, why := g.cosine(a.column(), b.column()); why == "" {
			counts := math.Sqrt(float64(a.Records)) * math.Sqrt(float64(b.Records))
			c.n *= counts
			c.numerator = c.numerator.times(counts)
			return c.estimate(g, level, 0, most)
		}
	}
	e := g.InnerProduct(a.column(), b.column(), level)
	if !e.Defined() {
		return e
	}
	return finish(e.Interval.Estimate, e.Low, e.High, 0, most).deviating(e.Deviation * e.Deviation)
}
