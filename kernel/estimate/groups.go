package estimate

import (
	"fmt"
	"math"
)

// Group summarises a group of sketched records: enough for the mean squared distances within it and
// to other groups. Time and memory do not grow with the number of pairs. [Records.NewGroup] makes
// it.
type Group struct {
	records Records
	size    int
	sum     []float64 // of the sketches
	squares float64   // sum of their squared norms

	// Second moments of the first sample records, for the error of the projection: k × k, the upper
	// triangle; nil if k is above largestScatter.
	sample    int
	sampleSum []float64
	scatter   []float64
}

// Limits on the cost of second moments: 512² numbers of memory and 5·10⁸ products a group.
const (
	largestScatter = 512
	largestSample  = 4096
)

// NewGroup returns an empty group of records sketched as r describes.
func (r Records) NewGroup() (*Group, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	g := &Group{records: r, sum: make([]float64, r.K)}
	if r.K <= largestScatter && !r.Identity {
		g.sampleSum, g.scatter = make([]float64, r.K), make([]float64, r.K*r.K)
	}
	return g, nil
}

// Add adds one sketched record. If a group has more than 4,096 records, the first 4,096 determine
// the width of intervals, so their order should be random.
func (g *Group) Add(record []float64) error {
	if err := g.records.check(record); err != nil {
		return err
	}
	g.size++
	g.squares += dot(record, record)
	for i, v := range record {
		g.sum[i] += v
	}
	if g.scatter == nil || g.sample == largestSample {
		return nil
	}
	g.sample++
	for i, v := range record {
		g.sampleSum[i] += v
		to := g.scatter[i*g.records.K : (i+1)*g.records.K]
		for j := i; j < len(record); j++ {
			to[j] += float64(v * record[j])
		}
	}
	return nil
}

// mean is the mean sketch. spread is the mean squared distance from it, noise included.
func (g *Group) mean() []float64 { return scaledVector(g.sum, 1/float64(g.size)) }

func (g *Group) spread() float64 {
	m := g.mean()
	return math.Max(0, g.squares/float64(g.size)-dot(m, m))
}

func scaledVector(x []float64, t float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(t * v)
	}
	return out
}

// covariance is the upper triangle of the covariance of the sample's sketches, minus the noise, or
// nil.
func (g *Group) covariance() []float64 {
	if g.scatter == nil {
		return nil
	}
	n, k := float64(g.sample), g.records.K
	noise := float64(g.records.Noise.Variance * (1 - 1/n))
	out := scaledVector(g.scatter, 1/n)
	for i, a := range g.sampleSum {
		for j := i; j < k; j++ {
			out[i*k+j] -= float64(a / n * (g.sampleSum[j] / n))
		}
		out[i*k+i] -= noise
	}
	return out
}

// WithinDistance estimates the mean of |x − y|² over all pairs of different records of a group:
// 2n/(n−1) times the mean squared distance from the mean, minus the noise 2kv.
func (g *Group) WithinDistance(level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	if g.size < 2 {
		return undefined(fmt.Sprintf("a mean over pairs needs at least 2 records, not %d", g.size))
	}
	n, k, noise := float64(g.size), float64(g.records.K), g.records.Noise
	v := noise.Variance
	factor := 2 * n / (n - 1)
	m := meanDistance{raw: float64(factor * g.spread()), bias: 2 * float64(k*v), records: g.records}
	if c := g.covariance(); c != nil {
		m.square = sumOfSquares(scaledVector(c, factor), g.records.K)
	}
	// Errors of the noise: 4/(n−1) Σ x̃η and 2/(n−1) Σ|η − mean|².
	m.noise = float64(8*float64(v*m.net()))/(n-1) + float64(k*(8*float64(v*v)/(n-1)+4*noise.FourthCumulant/n))
	m.noise *= g.records.within()
	return m.estimate(level)
}

// BetweenDistance estimates the mean of |x − y|² over all pairs of a record of g and one of h. Both
// must be sketched alike.
func (g *Group) BetweenDistance(h *Group, level Level) Estimate {
	if why := g.refuse(h, level); why != "" {
		return undefined(why)
	}
	n, l, k, noise := float64(g.size), float64(h.size), float64(g.records.K), g.records.Noise
	v, shift := noise.Variance, difference(g.mean(), h.mean())
	m := meanDistance{raw: g.spread() + h.spread() + dot(shift, shift), bias: 2 * float64(k*v), records: g.records}
	if c, d := g.covariance(), h.covariance(); c != nil && d != nil {
		common := float64(v * (1/n + 1/l))
		for i, a := range shift {
			for j := i; j < len(shift); j++ {
				c[i*len(shift)+j] += d[i*len(shift)+j] + float64(a*shift[j])
			}
			c[i*len(shift)+i] -= common
		}
		m.square = sumOfSquares(c, g.records.K)
	}
	// Mean squared distances of the records of one group from the mean of the other.
	apart := dot(shift, shift) - float64(float64(k*v)*(1/n+1/l))
	fromG := math.Max(0, g.spread()-float64(float64(k*v)*(1-1/n))+apart)
	fromH := math.Max(0, h.spread()-float64(float64(k*v)*(1-1/l))+apart)
	linear := float64(4 * float64(v*(fromG/n+fromH/l)))
	own := float64(float64(k*(2*float64(v*v)+noise.FourthCumulant)) * (1/n + 1/l))
	m.noise = linear + own + float64(4*float64(float64(k*v)*v))/n/l
	m.noise *= g.records.within()
	return m.estimate(level)
}

// MeanShift estimates the squared distance between the mean records of two groups that were
// sketched alike. It is the squared distance of [Records] with the noise of two means.
func (g *Group) MeanShift(h *Group, level Level) Estimate {
	if why := g.refuse(h, level); why != "" {
		return undefined(why)
	}
	shift, noise := difference(g.mean(), h.mean()), Noise{Sources: g.records.Noise.Sources}
	for _, size := range []float64{float64(g.size), float64(h.size)} {
		noise.Variance += g.records.Noise.Variance / size
		noise.FourthCumulant += g.records.Noise.FourthCumulant / size / size / size
	}
	return quadratic{raw: dot(shift, shift), k: g.records.K, noise: noise, projection: !g.records.Identity}.estimate(level)
}

func (g *Group) refuse(h *Group, level Level) string {
	switch {
	case level.refuse() != "":
		return level.refuse()
	case g.size == 0 || h.size == 0:
		return "a group has no records"
	case g.records != h.records:
		return "the groups were sketched differently"
	}
	return ""
}

func difference(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v - y[i]
	}
	return out
}

// sumOfSquares is |M|² of a symmetric k × k matrix given by its upper triangle.
func sumOfSquares(m []float64, k int) float64 {
	var sum float64
	for i := range k {
		sum += float64(m[i*k+i] * m[i*k+i])
		for j := i + 1; j < k; j++ {
			sum += float64(2 * float64(m[i*k+j]*m[i*k+j]))
		}
	}
	return sum
}

// meanDistance is a mean of squared distances of sketched records.
//
// All pairs share R. With M the mean of (x−y)(x−y)ᵀ, the mean of |(x−y)R|² is tr(RᵀMR). Its
// variance by [Gram]'s general rule is 2 tr(M²)/k. A single distance has 2 (tr M)²/k; the ratio is
// the number of directions of the differences. The square of the k × k matrix RᵀMR is tr(M²) + (tr
// M)²/k on average and replaces tr(M²), so the interval is a little too wide.
type meanDistance struct {
	raw, bias float64 // noise included; its part of noise
	square    float64 // tr((RᵀMR)²); 0 where it was not computed
	noise     float64 // variance due to the noise
	records   Records
}

func (m meanDistance) net() float64 { return math.Max(0, m.raw-m.bias) }

// estimate treats raw as a multiple of χ² with its mean and variance. For a single distance that is
// C1.
func (m meanDistance) estimate(level Level) Estimate {
	variance, single := m.noise, float64(m.net()*m.net())
	if k := float64(m.records.K); !m.records.Identity {
		square := single
		if m.square > 0 {
			square = math.Min(math.Max(m.square, single/k), single)
		}
		variance += float64(2 * square / k)
	}
	t := m.raw - m.bias
	const normal = 1e5 // degrees of freedom above which χ² is practically normal
	freedom := math.Max(1, 2*float64(m.raw*m.raw)/variance)
	if !(freedom < normal) {
		half := float64(level.z() * math.Sqrt(variance))
		return newEstimate(t, t-half, t+half, 0, math.Inf(1)).withVariance(variance)
	}
	least, most := level.chiSquared(freedom)
	return newEstimate(t, float64(m.raw*(freedom/most))-m.bias, float64(m.raw*(freedom/least))-m.bias, 0, math.Inf(1)).withVariance(variance)
}
