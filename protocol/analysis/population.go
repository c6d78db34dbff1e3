package analysis

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// A second interval, for people like these, is given to numbers that estimate something of the
// population from which the records were drawn: means, sums, covariances, correlations,
// coefficients and shares.

// values describes the distribution of a column's values. The mean, share, is in original units;
// variance is in encoded ones.
func values(c study.Column, share, variance, unit float64) estimate.Values {
	if c.Kind != study.Numeric {
		return estimate.Binary(share, 1/unit)
	}
	return estimate.Numeric(variance, estimate.Kurtosis{Value: c.Kurtosis})
}

// draw computes the second intervals of numbers of an analysis's features, in encoded units.
type draw struct {
	values  []estimate.Values   // of each feature
	located []estimate.Variable // of columns: the position of each feature
	samples [][]estimate.Sample // by two groups: the records that both hold
	group   []int               // of each feature
	counts  []float64           // of moments that count absent values: records that have each feature, out of records
	records float64
	level   estimate.Level
}

func (d draw) between(i, j int) estimate.Sample {
	if d.counts != nil { // as if values were absent independently
		return estimate.NewSample(d.counts[i]*d.counts[j]/d.records, d.level)
	}
	return d.samples[d.group[i]][d.group[j]]
}

// mean adds it to the mean of feature i over the records that its group shares with another.
func (d draw) mean(e estimate.Estimate, i, group int) estimate.Estimate {
	if d.counts != nil {
		return estimate.NewSample(d.counts[i], d.level).Mean(e, d.values[i])
	}
	return d.samples[d.group[i]][group].Mean(e, d.values[i])
}

// sum adds it to the sum of feature i. An encoded unit is unit of the sum's units.
func (d draw) sum(e estimate.Estimate, i, group int, unit float64) estimate.Estimate {
	return d.samples[d.group[i]][group].Sum(e, d.values[i].Times(unit))
}

// covariance adds it to the covariance of two features, or to the variance of one.
func (d draw) covariance(e estimate.Estimate, i, j int) estimate.Estimate {
	if i == j {
		return d.between(i, i).Variance(e, d.values[i])
	}
	return d.between(i, j).Covariance(e, d.values[i], d.values[j])
}

// correlation adds it to the correlation of two features over the same records.
func (d draw) correlation(e estimate.Estimate, i, j int) estimate.Estimate {
	return d.between(i, j).Correlation(e, d.values[i], d.values[j])
}

// correlationE2 adds it to a correlation by estimator E2.
func (d draw) correlationE2(e estimate.Estimate, i, j int) estimate.Estimate {
	return d.between(i, j).CorrelationE2(e, d.located[i], d.located[j], d.values[i], d.values[j])
}

// draw returns the draw of all records of the sum.
func (m *moments) draw() draw { return m.drawAs(m.estimates) }

// drawAs is draw, with the spread of values taken from another sketch of the same columns.
func (m *moments) drawAs(spread *estimate.Summed) draw {
	out := draw{samples: [][]estimate.Sample{{estimate.NewSample(m.estimates.Records(), m.level)}}, group: make([]int, len(m.plan.Features))}
	if m.plan.Moments.Layout.Attributes > 0 {
		out.counts, out.records, out.level = m.estimates.Counts(), m.estimates.Records(), m.level
	}
	covariances := spread.Covariances()
	for i := range m.plan.Features {
		c := m.column(i)
		share := float64(m.estimates.Means()[i]*m.unit(i)) + m.origin(i)
		var variance float64
		if covariances != nil {
			variance = covariances.At(i, i)
		} else {
			variance = declaredSpread(c) * declaredSpread(c)
		}
		of := values(c, share, variance, m.unit(i))
		if k, ok := spread.Kurtosis(i); ok && c.Kind == study.Numeric {
			of = estimate.Numeric(variance, k)
		}
		out.values = append(out.values, of)
	}
	return out
}

// declaredSpread is the spread assumed for a numeric column, in encoded units, if only sums are
// known: what the study declares, or a quarter of the range.
func declaredSpread(c study.Column) float64 {
	if _, _, ok := c.Scale.CentreSpread(); ok {
		return 1. / 3
	}
	return 0.25
}

// sampled adds the second intervals to the shares of classes and their means. A class has its share
// of n records. A column within it has the variance pooled over classes, or, if it has two values,
// the variance of its share.
func (l *LDA) sampled(d *estimate.Discriminant, o estimate.DiscriminantOptions, n float64, two func(variable int) bool) {
	all := estimate.NewSample(n, o.Level)
	for c, share := range d.Shares {
		d.Shares[c] = all.Mean(share, estimate.Binary(share.Interval.Estimate, 1))
		s := estimate.NewSample(n*math.Max(0, share.Interval.Estimate), o.Level)
		for a, i := range o.On {
			of := estimate.Numeric(d.Within.At(a, a)*o.Units[i]*o.Units[i], estimate.Kurtosis{})
			if two(i) {
				of = estimate.Binary(d.Means[c][a].Interval.Estimate, 1)
			}
			d.Means[c][a] = s.Mean(d.Means[c][a], of)
		}
	}
}

// draw returns the draw of the records that any two groups share, as far as the sketch tells.
func (c *columns) draw(ctx context.Context, vars []variable, located []estimate.Variable) (draw, error) {
	out, of := draw{located: located}, *c
	if err := of.reach(ctx, nil); err != nil {
		return out, err
	}
	for i, g := range c.groups {
		out.samples = append(out.samples, make([]estimate.Sample, len(c.groups)))
		for j, h := range c.groups {
			out.samples[i][j] = estimate.NewSample(of.shared(g, h), c.level)
		}
	}
	for at, v := range vars {
		for i, g := range c.groups {
			if g.first == v.group.first {
				out.group = append(out.group, i)
			}
		}
		if c.gram == nil && at%atOnce == 0 {
			of.gram = nil
			if err := of.reach(ctx, vars[at:min(at+atOnce, len(vars))]); err != nil {
				return out, err
			}
		}
		out.values = append(out.values, c.values(of.gram, v, located[at]))
	}
	return out, nil
}

// shared returns how many records two groups share; 0 if that is unknown.
func (c *columns) shared(g, h group) float64 {
	if g.first == h.first {
		return float64(g.records)
	}
	a, known := c.ones(g)
	b, too := c.ones(h)
	if !known || !too {
		return 0
	}
	return c.gram.Intersection(a, b, c.level).Interval.Estimate
}

// values describes the distribution of a variable, in encoded units, over all records of its group.
// Shared records are fewer, and their variance would have a larger error. An unknown variance is
// taken as the largest that the mean allows.
func (c *columns) values(g *estimate.Gram, v variable, located estimate.Variable) estimate.Values {
	mean := g.Mean(located, located.Ones, c.level).Interval.Estimate
	variance := 1 - float64(mean*mean)
	if e := g.Covariance(located, located, c.level); e.Defined() {
		variance = math.Min(e.Interval.Estimate, variance)
	}
	if o := located.Own; o != nil && o.Variance > 0 {
		variance = math.Min(o.Variance, variance)
	}
	column, unit := c.column(v), c.unit(v)
	return values(column, float64(mean*unit)+c.origin(v), variance, unit)
}

// Shown returns the number as it is displayed.
func (n Number) Shown() block.Number {
	if !n.whole() {
		return block.Number{Undefined: cmp.Or(n.Undefined, "there is no number")}
	}
	out := block.Number{Value: *n.Estimate, Low: *n.Low, High: *n.High}
	if n.PopulationLow != nil && n.PopulationHigh != nil {
		out.People, out.PeopleLow, out.PeopleHigh = true, *n.PopulationLow, *n.PopulationHigh
	}
	out.Date = n.Dates != nil
	return out
}

// People reports whether numbers of the analysis have the second interval, for people like these.
func (a Analysis) People() bool {
	has := func(n Number) bool { return n.PopulationLow != nil && n.PopulationHigh != nil }
	if a.Dense != nil && len(a.Dense.Fields) > required {
		return true
	}
	for _, s := range a.sections() {
		if of, ok := s.(interface{ people() []Number }); ok && slices.ContainsFunc(of.people(), has) {
			return true
		}
	}
	return slices.ContainsFunc(a.Pairs, func(p Pair) bool { return has(p.Number) })
}

// Covered says in a sentence what the intervals of the analysis cover.
func (a Analysis) Covered() string {
	covered := "noise and projection"
	for _, s := range a.sections() {
		if of, ok := s.(interface{ covers() string }); ok {
			covered = of.covers()
		}
	}
	switch {
	case a.Level == 0:
		return ""
	case a.Classifier != nil:
		return "Intervals of an accuracy are for people like these: the model is taken as it is, and the records as a random sample of people."
	case a.People():
		return "Intervals for these records cover " + covered + ". Those for people like these also cover sampling error: they take the records as a random sample of people."
	}
	return "Intervals are for these records: they cover " + covered + "."
}
