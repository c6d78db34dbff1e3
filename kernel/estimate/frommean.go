package estimate

import "fmt"

// Mean is the mean of Size records that were sketched alike.
type Mean struct {
	Sketch []float64 // k coordinates
	Size   int
}

// DistanceFromMean estimates |x − mean|², the distance of a record from the mean of records that
// were sketched alike. If own is true the record is one of them: its noise is then in the mean,
// too, and the difference has the noise variance v(1 − 1/n) a coordinate instead of v(1 + 1/n).
func (r Records) DistanceFromMean(x []float64, of Mean, own bool, level Level) (Estimate, error) {
	if err := r.check(x, of.Sketch); err != nil {
		return Estimate{}, err
	}
	if of.Size < 1 {
		return Estimate{}, fmt.Errorf("estimating from records: a mean over %d records: at least 1 is needed", of.Size)
	}
	if own && of.Size == 1 {
		return undefined("the record is the only one of its party"), nil
	}
	// x − mean = (1 − 1/n)x − Σ/n over the others, or x − Σ/n over all.
	n := float64(of.Size)
	first, others := 1.0, n
	if own {
		first, others = 1-1/n, n-1
	}
	square := float64(first * first)
	noise := Noise{
		Variance:       float64(r.Noise.Variance * (square + others/n/n)),
		FourthCumulant: float64(r.Noise.FourthCumulant * (float64(square*square) + others/n/n/n/n)),
		Sources:        r.Noise.Sources,
	}
	shift := difference(x, of.Sketch)
	return quadratic{raw: dot(shift, shift), k: r.K, noise: noise, projection: !r.Identity, rounding: float64(r.Rounding * (square + others/n/n))}.estimate(level), nil
}
