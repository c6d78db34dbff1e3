package estimate

import "math"

// NoiseRidge is a ridge that keeps a regression on p columns defined if each of their correlations
// has noise of standard error s: s(2√p + 4). A symmetric matrix of such noise has a norm near 2s√p.
// Its least eigenvalue has a standard error below 1.4 s, so about 3 of these remain even if the
// columns are collinear. It does not depend on the data.
func NoiseRidge(s float64, p int) float64 {
	return s * (2*math.Sqrt(float64(p)) + 4)
}

// CorrelationNoise is roughly the standard error of a correlation near 0: noise is the variance on
// sums of products over records, and variances are those expected of the columns. It is √noise/N
// times the mean of 1/v, in place of 1/√(v_i v_j) of each pair.
func CorrelationNoise(noise, records float64, variances []float64) float64 {
	var sum float64
	for _, v := range variances {
		sum += 1 / v
	}
	return math.Sqrt(noise) / records * (sum / float64(len(variances)))
}
