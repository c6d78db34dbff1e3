package estimate

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/parallel"
)

// Component is a principal component of Moments.
type Component struct {
	Value    float64    // the eigenvalue as it comes out, which noise may make negative
	Interval Estimate   // of it; undefined where it does not stand apart from its neighbours
	Share    Estimate   // of the sum of all: how much of the variance it explains
	Vector   []float64  // unit, the entry that is largest in absolute value positive
	Loadings []Estimate // intervals of its entries, of the components for which they were asked
}

// ComponentsOptions say what Components looks for.
type ComponentsOptions struct {
	Loadings int // of how many components, from the first, the loadings get intervals
	Level    Level
	Done     func(done, total int) // told of progress, from one goroutine at a time; nil for nobody
}

// Components are the principal components, from that with the greatest eigenvalue: all
// of them.
//
// With gradient v_i v_iᵀ an eigenvalue errs by the general rule, like a squared norm
// along v_i, and its interval is the score interval of one. Sampling also spreads
// eigenvalues: each is pushed by Σ_j E(v_iᵀ dM v_j)²/(λ_i − λ_j) (Lawley 1956, without
// noise), which is taken off its interval but not off the value, so that values are
// those of the matrix. An entry of v_i errs by Σ_j v_j (v_jᵀ dM v_i)/(λ_i − λ_j), and
// shrinks by half of what the vector turns, which its interval allows for.
//
// All this takes an eigenvalue that stands apart: where the distance to a neighbour is
// within its error neither is known to belong to its vector, and intervals say so.
func (m *Moments) Components(ctx context.Context, o ComponentsOptions) ([]Component, error) {
	if why := o.Level.refuse(); why != "" {
		return nil, fmt.Errorf("finding principal components: %s", why)
	}
	e, err := decompose.Symmetric(ctx, m.matrix)
	if err != nil {
		return nil, fmt.Errorf("finding principal components: %w", err)
	}
	n := len(e.Values)
	c := &components{m: m, Eigen: e, level: o.Level, raw: m.rawMatrix()}
	c.spread = m.law.spread(m, e.Vectors)
	out := make([]Component, n)
	loadings := min(o.Loadings, n)
	tell := counted(n+loadings, o.Done)
	c.trace, c.sum = m.trace()
	const stretch = 16 // components whose slopes serve two of them
	parallel.For((n+stretch-1)/stretch, func(s int) {
		c.stretch(ctx, out, s*stretch, min((s+1)*stretch, n), tell)
	})
	for i := range loadings {
		if out[i].Loadings, err = c.loadings(ctx, i, out[i].Interval.Undefined); err != nil {
			return nil, err
		}
		tell()
	}
	return out, ctx.Err()
}

// components is one call of Components.
type components struct {
	m *Moments
	decompose.Eigen
	level  Level
	raw    *mat.Dense  // M with the noise left in
	spread [][]float64 // of each two vectors: the variance of v_iᵀ dM v_j
	sum    float64     // of the eigenvalues
	trace  slope       // its slope
}

// trace is the slope of the sum of eigenvalues, and that.
func (m *Moments) trace() (s slope, sum float64) {
	for i := range m.vars {
		sum += m.matrix.At(i, i)
	}
	if m.standardised {
		return slope{}, sum // it is n
	}
	share := make([]float64, len(m.vars))
	for i := range share {
		share[i] = m.matrix.At(i, i)
	}
	return slope{}.plusVariances(m, share), sum
}

// spread is the variance of uᵀ dM v for each two of the vectors, without the errors of
// the columns of ones and of standard deviations, which turn no vector by much.
func (projected) spread(m *Moments, vectors [][]float64) [][]float64 {
	h, n := m.rawMatrix(), len(vectors)
	rotated := make([][]float64, n)
	parallel.For(n, func(i int) { rotated[i] = product(h, vectors[i]) })
	out := make([][]float64, n)
	k := float64(m.gram.k)
	parallel.For(n, func(i int) {
		own := inner2(vectors[i], rotated[i])
		out[i] = make([]float64, n)
		for j := range n {
			x := inner2(vectors[i], rotated[j])
			out[i][j] = (float64(own*inner2(vectors[j], rotated[j])) + float64(x*x)) / k
		}
	})
	return out
}

// stretch fills the components of a range.
func (c *components) stretch(ctx context.Context, out []Component, from, to int, tell func()) {
	slopeOf := func(i int) slope {
		if i < 0 || i >= len(c.Values) {
			return slope{}
		}
		return c.m.slope(c.Vectors[i], c.Vectors[i])
	}
	own, next := slopeOf(from-1), slopeOf(from)
	before := c.apart(from-1, from, own, next)
	for i := from; i < to && ctx.Err() == nil; i++ {
		own, next = next, slopeOf(i+1)
		after := c.apart(i, i+1, own, next)
		switch {
		case before == notApart:
			out[i] = c.component(i, own, fmt.Sprintf(before, i))
		case after == notApart:
			out[i] = c.component(i, own, fmt.Sprintf(after, i+2))
		default:
			out[i] = c.component(i, own, "")
		}
		before = after
		tell()
	}
}

// Separated is how many standard errors of their distance two neighbouring eigenvalues
// have to be apart: those that seem to be by less are too often ones that are not, and
// intervals of their loadings cover .91 to .93 instead of .94 to .95. Of those that pass,
// the ones that chance pushed apart are the more; intervals of their eigenvalues cover
// .92 to .95, the less where there is noise or partial overlap.
const Separated = 3

const notApart = "not separated from component %d: the distance of their eigenvalues is within its error"

// apart is notApart where the distance of two neighbours is within its error.
func (c *components) apart(i, j int, x, y slope) string {
	if i < 0 || j >= len(c.Values) {
		return ""
	}
	deviation := math.Sqrt(c.m.variance(x.plus(-1, y)))
	if c.Values[i]-c.Values[j] > float64(Separated*deviation) {
		return ""
	}
	return notApart
}

func (c *components) component(i int, own slope, why string) Component {
	v, value := c.Vectors[i], c.Values[i]
	out := Component{Value: value, Vector: v, Interval: undefined(why), Share: undefined(why)}
	if why != "" {
		return out
	}
	variance, push := c.m.variance(own), 0.0
	if c.m.standardised {
		half := float64(c.level.z() * math.Sqrt(variance))
		out.Interval = finish(value, value-half, value+half, 0, c.sum).deviating(variance)
		out.Share = out.Interval.Times(1 / c.sum)
		return out
	}
	for j, w := range c.Values {
		if j != i {
			push += c.spread[i][j] / (value - w)
		}
	}
	out.Interval = squared{
		estimate: value, push: push, noise: inner2(v, product(c.raw, v)) - value, variance: variance, k: c.m.law.freedom(c.m),
	}.estimateAt(c.level)
	if !(c.sum > 2*math.Sqrt(c.m.variance(c.trace))) {
		out.Share = undefined("the sum of eigenvalues does not stand out of its error")
		return out
	}
	share := value / c.sum
	variance = c.m.variance(own.plus(-share, c.trace)) / c.sum / c.sum
	half, at := float64(c.level.z()*math.Sqrt(variance)), share-push/c.sum
	out.Share = finish(share, at-half, at+half, 0, 1).deviating(variance)
	return out
}

// loadings are the intervals of the entries of vector i.
func (c *components) loadings(ctx context.Context, i int, why string) ([]Estimate, error) {
	n, v := len(c.Values), c.Vectors[i]
	out := make([]Estimate, n)
	var turned, spread float64 // of the vector's square, and the variance of that
	over := make([]float64, n) // 1/(λ_i − λ_j), larger by what the error of that distance adds on average
	for j, w := range c.Values {
		if gap := c.Values[i] - w; j != i && gap != 0 {
			t := c.spread[i][j] / gap / gap
			turned += t
			spread += float64(2 * float64(t*t))
			over[j] = math.Sqrt(1+3*(c.spread[i][i]+c.spread[j][j])/gap/gap) / gap
		}
	}
	parallel.For(n, func(a int) {
		if ctx.Err() != nil {
			return
		}
		if why != "" {
			out[a] = undefined(why)
			return
		}
		u := make([]float64, n)
		for j, w := range c.Vectors {
			t := w[a] * over[j]
			for l, x := range w {
				u[l] += float64(t * x)
			}
		}
		variance := c.m.variance(c.m.slope(u, v)) + float64(float64(float64(v[a]*v[a])*spread)/4)
		half := float64(c.level.z() * math.Sqrt(math.Max(0, variance)))
		at := v[a] + float64(float64(v[a]*turned)/2)
		out[a] = finish(v[a], at-half, at+half, -1, 1).deviating(variance)
	})
	return out, ctx.Err()
}

// counted returns what counts towards a total and tells of it, one goroutine at a time.
func counted(total int, tell func(done, total int)) func() {
	var telling sync.Mutex
	done := 0
	return func() {
		telling.Lock()
		defer telling.Unlock()
		if done++; tell != nil {
			tell(done, total)
		}
	}
}
