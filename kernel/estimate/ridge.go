package estimate

import "math"

// NoiseRidge is the ridge with which a regression on p columns is defined where noise of
// standard error s is on each of their correlations: s(2√p + 4). A symmetric matrix of such
// noise has a norm near 2s√p, and its least eigenvalue a standard error below 1.4 s, so that
// about 3 of those are left even where the columns are collinear. It takes nothing of the
// data.
func NoiseRidge(s float64, p int) float64 {
	return s * (2*math.Sqrt(float64(p)) + 4)
}

// CorrelationNoise is about the standard error of a correlation near 0, where noise of a
// variance is on sums of products over so many records, between columns of these expected
// variances: √noise/N over the mean pair's √(v_i v_j).
func CorrelationNoise(noise, records float64, variances []float64) float64 {
	var sum float64
	for _, v := range variances {
		sum += 1 / v
	}
	return math.Sqrt(noise) / records * (sum / float64(len(variances)))
}
