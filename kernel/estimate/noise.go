package estimate

// Plus is the noise of the sum of two sketches with independent noise. Variances, cumulants and the
// numbers of noised values add up.
func (n Noise) Plus(m Noise) Noise {
	return Noise{Variance: n.Variance + m.Variance, FourthCumulant: n.FourthCumulant + m.FourthCumulant, Sources: n.Sources + m.Sources}
}

// Times is a noise on a number of a record's coordinates; see Beside.
type Times struct {
	Coordinates int
	Noise       Noise
}

// Beside is the noise on a coordinate of a record of k coordinates with different noises, or none,
// on parts of them. It is for the identity, whose coordinates are values. Its variance is the mean
// over the coordinates, so the bias subtracted from squared lengths and distances is exact. The
// fourth cumulant includes a term for the differences of the variances. With it, the variance of a
// squared distance of two such records, 8Σv² + 2Σκ beside the terms of the distance, is exact too;
// that of a squared length is too large. In the terms of the distance, 8Σ v_i z_i², the noise
// counts as if spread evenly.
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
