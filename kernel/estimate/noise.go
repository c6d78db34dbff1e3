package estimate

// Plus is the noise of the sum of two sketches whose noises are independent: variances and
// cumulants add up, and so do the values that were noised before a projection.
func (n Noise) Plus(m Noise) Noise {
	return Noise{Variance: n.Variance + m.Variance, FourthCumulant: n.FourthCumulant + m.FourthCumulant, Sources: n.Sources + m.Sources}
}

// Times is n's noise on so many coordinates of a record; see Beside.
type Times struct {
	Coordinates int
	Noise       Noise
}

// Beside is the noise on a coordinate of a record of k coordinates of which some have one
// noise and others another, or none: its variance is the mean over the coordinates, so
// that what it takes off squared lengths and distances is exact. The fourth cumulant
// holds besides what their variances differ: with it, the variance of a squared distance
// of two such records, 8Σv² + 2Σκ beside the terms of the distance, is exact too, and of a
// squared length it is too large. In the terms of the distance, 8Σ v_i z_i², it is as if
// that were spread evenly. For the identity, whose coordinates are values.
func Beside(k int, parts []Times) Noise {
	var out Noise
	var squares float64
	for _, p := range parts {
		share := float64(p.Coordinates) / float64(k)
		out.Variance += float64(share * p.Noise.Variance)
		out.FourthCumulant += float64(share * p.Noise.FourthCumulant)
		squares += float64(share * float64(p.Noise.Variance*p.Noise.Variance))
	}
	out.FourthCumulant += float64(4 * max(0, squares-float64(out.Variance*out.Variance)))
	return out
}
