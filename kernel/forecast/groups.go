package forecast

import (
	"math"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// Groups are two groups of sketched records with values of the same distribution; they share R.
type Groups struct {
	Law     Law
	Columns []Column   // required: the values of a record
	Kept    float64    // required: E f² of clipping
	Sizes   [2]float64 // required: records of the first group and of the second, at least 2
	Level   estimate.Level
}

// sums returns Σs² and Σs⁴ of the spreads s, including noise in the values themselves.
func (g Groups) sums(noise float64) (squares, fourths float64) {
	for _, c := range g.Columns {
		v := g.Kept*c.Spread*c.Spread + noise
		squares, fourths = squares+v, fourths+v*v
	}
	return squares, fourths
}

// Within forecasts the mean of |x − y|² over all pairs of the first group, in units of itself.
func (g Groups) Within() (Error, error) {
	n, law := g.Sizes[0], g.Law
	k, v, kappa := float64(law.Projection.K), law.Noise.Variance, law.Noise.FourthCumulant
	squares, _ := g.sums(0)
	// Errors of the noise: 4/(n−1) Σ x̃η and 2/(n−1) Σ|η − mean|².
	added := 16*v*squares/(n-1) + k*(8*v*v/(n-1)+4*kappa/n)
	inner := 0.0
	if law.Bits {
		bit, factor := law.bit().Variance, 2*n/(n-1)
		for _, c := range g.Columns { // of 2n/(n−1) m(1−m), m being the mean of a column of bits
			inner += factor * factor * (bit*meanSlopeSquared(c, n)/n + 2*bit*bit/n/n)
		}
	}
	return g.mean(added, inner, 4/(n-1))
}

// Between forecasts the mean of |x − y|² over all pairs of a record of the first group and one of
// the second, in units of itself.
func (g Groups) Between() (Error, error) {
	n, m, law := g.Sizes[0], g.Sizes[1], g.Law
	k, v, kappa := float64(law.Projection.K), law.Noise.Variance, law.Noise.FourthCumulant
	squares, _ := g.sums(0)
	linear := 4 * v * squares * ((1+1/m)/n + (1+1/n)/m)
	added := linear + k*(2*v*v+kappa)*(1/n+1/m) + 4*k*v*v/n/m
	inner := 0.0
	if law.Bits {
		bit := law.bit().Variance
		for _, c := range g.Columns { // of a + b − 2ab, a and b being the means of two columns of bits
			inner += bit*meanSlopeSquared(c, m)/n + bit*meanSlopeSquared(c, n)/m + 4*bit*bit/n/m
		}
	}
	together := 1/n + 1/m
	return g.mean(added, inner, (n-1)/n/n+(m-1)/m/m+together*together)
}

// meanSlopeSquared returns E(1 − 2a)² for the mean a of n bits.
func meanSlopeSquared(c Column, n float64) float64 {
	return (1-2*c.Mean)*(1-2*c.Mean) + 4*c.Spread*c.Spread/n
}

// mean returns the error of a mean of squared distances. The projection's error is that of tr(RᵀMR)
// for the mean M of all (x−y)(x−y)ᵀ, whose diagonal is 2s². As columns are uncorrelated, its other
// entries come from the random choice of the records, and their squares are apart·s²s′² on average.
// added is the variance of the noise that the interval assumes. inner is the variance of the noise
// of bits, which the projection does not increase more than it does for values.
func (g Groups) mean(added, inner, apart float64) (Error, error) {
	law, noise := g.Law, 0.0
	if law.Bits {
		noise = law.bit().Variance
	}
	norm := func(noise float64) (square, diagonal float64) {
		squares, fourths := g.sums(noise)
		return 4*fourths + apart*(squares*squares-fourths), 4 * fourths
	}
	identity := law.Projection.OrthogonalRows(law.Features)
	variance := added
	if law.Bits {
		variance = inner
	}
	if !identity {
		square, diagonal := norm(noise)
		variance += law.Projection.Variance(law.Features).Distance(math.Sqrt(square), diagonal)
	}
	squares, _ := g.sums(0)
	claimed := estimate.MeanDistance{Mean: 2 * squares, Noise: added}
	claimed.Square, _ = norm(0)
	if law.Noise.Sources > 0 {
		claimed.Noise *= 1 + float64(law.Projection.K)/law.Noise.Sources
	}
	records := estimate.Records{K: law.Projection.K, Noise: law.Noise, Identity: identity}
	e, err := records.ExpectedDistance(claimed, g.Level)
	if err != nil {
		return Error{}, err
	}
	out := in(claimed.Mean, e, g.Level)
	out.StandardError = math.Sqrt(variance) / claimed.Mean
	return out, nil
}
