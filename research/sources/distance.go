package sources

// DistanceVariance is the variance of the squared distance estimated from two sketches of k
// dimensions whose difference has squared norm r2, each with this noise, for a projection with N(0,
// 1/k) entries: 2·r2²/k + 8·v·r2 + 8k·v² + 2k·κ₄. This is theorem 2 of Kenthapadi for Gaussian
// noise; claim 7 of Dhaliwal prints another cross term and subtracts the variance of a constant.
func DistanceVariance(k int, r2 float64, n Noise) float64 {
	d, v := float64(k), n.Variance()
	return 2*r2*r2/d + 8*v*r2 + 8*d*v*v + 2*d*n.FourthCumulant()
}
