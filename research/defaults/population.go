package defaults

import (
	"math"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// population measures studies whose people are drawn anew each time, and compares the answers with
// the truth about the population.
func population(n int, epsilon, sigma float64) measured {
	const rho = 0.5
	g := normal(n, rho)
	if sigma > 0 {
		g = skewed(n, sigma, rho)
	}
	people := &data{name: g.name + ", people drawn anew", columns: g.columns, known: exactly(len(g.columns), sigma, rho)}
	for i, c := range g.columns {
		f := feature{column: i}
		people.known.features = append(people.known.features, f)
		people.known.at[[2]string{c.name, ""}] = i
	}
	s := setting{data: people, fresh: &g, partition: study.Horizontal, epsilon: epsilon, by: bySpread, ask: []string{"mean", "covariance", "correlation", "{kind: regression, target: x0}"}}
	l, ofVariances := limits{low: 0.93}, limits{low: 0.93}
	if sigma >= 1 {
		ofVariances.low = 0.91 // fourth moments depend on a few records
	}
	return measured{s, []asked{
		{what: "means of people", measure: "spreads", limits: l, numbers: means(false)},
		{what: "variances of people", measure: "squared spreads", limits: ofVariances, numbers: pairs(study.Covariance, same)},
		{what: "covariances of people", measure: "products of spreads", limits: ofVariances, numbers: pairs(study.Covariance, different)},
		{what: "correlations of people", measure: "correlation", limits: l, numbers: pairs(study.Correlation, different)},
		{what: "coefficients of people", measure: "spreads a spread", limits: l, numbers: coefficients},
	}, seedsFor(len(g.columns))}
}

// exactly returns the moments of a population of equicorrelated normal columns, or of lognormal
// ones with mean 1.
func exactly(d int, sigma, rho float64) summary {
	s := summary{at: map[[2]string]int{}, means: make([]float64, d), sds: make([]float64, d)}
	variance, covariance, mean := 1., rho, 0.
	if sigma > 0 {
		variance, covariance, mean = math.Expm1(sigma*sigma), math.Expm1(rho*sigma*sigma), 1
	}
	for i := range d {
		s.means[i], s.sds[i] = mean, math.Sqrt(variance)
		s.covariances, s.sds2 = append(s.covariances, make([]float64, d)), append(s.sds2, make([]float64, d))
		for j := range d {
			s.covariances[i][j], s.sds2[i][j] = covariance, s.sds[i]
		}
		s.covariances[i][i] = variance
	}
	return s
}

// interval returns the number with the interval to compare: that for the population if records are
// drawn anew, else that for these records.
func (s setting) interval(n analysis.Number) analysis.Number {
	if s.fresh != nil && n.PopulationLow != nil && n.PopulationHigh != nil {
		n.Low, n.High = n.PopulationLow, n.PopulationHigh
	}
	return n
}
