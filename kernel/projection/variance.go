package projection

// Variance computes the variances of products and squared distances of projected vectors, over the
// choice of R and before noise.
type Variance struct {
	k      float64
	factor float64 // of every variance; below 1 if R is drawn without replacement
	excess float64 // of the fourth-moment terms: 2 for signs, 0 for Gaussian entries
}

// atypical is a family whose variances differ from those of independent signs.
type atypical interface {
	variance(s Spec, d int) Variance
}

// Variance returns the error variances for vectors of length d: the number of columns on the
// records side, of records on the columns side. Only Hadamard's depends on d. The spec must be
// valid.
func (s Spec) Variance(d int) Variance {
	if f, err := s.family(); err == nil {
		if a, ok := f.(atypical); ok {
			return a.variance(s, d)
		}
	}
	return Variance{k: float64(s.K), factor: 1, excess: 2}
}

// Product returns the variance of the scaled product ⟨xR, yR⟩, given |x|², |y|², ⟨x, y⟩ and Σx²y².
// For signs it is (|x|²|y|² + ⟨x,y⟩² − 2Σx²y²)/k.
func (v Variance) Product(xx, yy, xy, x2y2 float64) float64 {
	return v.factor * (xx*yy + xy*xy - v.excess*x2y2) / v.k
}

// Distance returns the variance of the scaled squared norm |zR|², given |z|² and Σz⁴. For signs it
// is 2(|z|⁴ − Σz⁴)/k. With z = x − y it is the variance of a squared distance.
func (v Variance) Distance(zz, z4 float64) float64 {
	return v.Product(zz, zz, zz, z4)
}
