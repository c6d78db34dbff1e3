package estimate

// errorModel describes the errors of Moments: of the products of a Gram by the general rule, of sums over
// records by their noise. All other code is common to both.
type errorModel interface {
	// covariance is that of two numbers computed from m, by their slopes.
	covariance(m *Moments, s, r gradient) float64
	// vector is a, over the centred variables and the columns of ones, with the products that
	// covariance needs.
	vector(m *Moments, a []float64) vector
	// width is the length of a vector's second part.
	width(m *Moments) int
	// spread is the variance of uᵀ dM v for each pair of some vectors.
	spread(m *Moments, vectors [][]float64) [][]float64
	// meanSquare is roughly the mean square of variable i around its zero, in its own units.
	meanSquare(m *Moments, i int) float64
	// freedom is the number of coordinates of the sketch; infinite without a projection.
	freedom(m *Moments) float64
	// exact reports whether there is no noise and all parties hold the same records.
	exact(m *Moments) bool
}

// sketchErrors is the law of a Gram.
type sketchErrors struct{}

func (sketchErrors) vector(m *Moments, a []float64) vector {
	return vector{a, product(m.raw, a), product(m.bare, a)}
}

func (sketchErrors) meanSquare(m *Moments, i int) float64 {
	v, p := m.vars[i].Value, m.party[i]
	return m.gram.raw.At(v, v) / m.shared[p][p]
}

func (sketchErrors) freedom(m *Moments) float64 { return float64(m.gram.k) }

func (sketchErrors) exact(m *Moments) bool {
	for _, column := range m.columns() {
		if m.gram.noise[column].Variance > 0 {
			return false
		}
	}
	return m.sets.same
}

func (sketchErrors) width(m *Moments) int { return len(m.vars) + len(m.ones) }
