package estimate

import (
	"errors"
	"math"
)

// Tree are noisy numbers of records in 2, 4, … 2^depth bins of one number, one count a bin and independent noise of
// one variance, made consistent: what is known of a bin is its own count, those of its halves, and what the
// rest of its double leaves (Hay, Rastogi, Miklau and Suciu 2010).
type Tree struct {
	below     []float64 // records below each edge of the finest bins, made to increase
	variances []float64 // of below, before that, and their part that comes of the total's
	part      []float64 // how much of the total's error is in below
	total     Noisy
}

// NewTree takes counts by level, and the number of records that have a value: public, or with noise where absent
// values were counted.
func NewTree(levels [][]float64, variance float64, total Noisy) (*Tree, error) {
	depth := len(levels)
	if depth < 1 || !(variance >= 0) || !(total.Variance >= 0) {
		return nil, errors.New("a tree of counts without levels, or with noise of no variance")
	}
	for l, counts := range levels {
		if len(counts) != 2<<l {
			return nil, errors.New("a tree of counts of which a level has another number of bins than twice as many as the one above")
		}
	}
	// Up: own counts with those of their halves.
	own := make([]float64, depth) // variance of a bin by level
	z := make([][]float64, depth)
	for l := depth - 1; l >= 0; l-- {
		z[l] = append([]float64(nil), levels[l]...)
		if own[l] = variance; l == depth-1 {
			continue
		}
		halves := 2 * own[l+1]
		for i := range z[l] {
			z[l][i] = weighed(z[l][i], variance, z[l+1][2*i]+z[l+1][2*i+1], halves)
		}
		own[l] = weighedVariance(variance, halves)
	}
	t := &Tree{total: Noisy{Value: weighed(total.Value, total.Variance, z[0][0]+z[0][1], 2*own[0]), Variance: weighedVariance(total.Variance, 2*own[0])}}
	// Down: halves add up to the whole. Differences of two halves are independent of all others.
	whole := []float64{t.total.Value}
	for l := range z {
		next := make([]float64, 0, 2*len(whole))
		for i, n := range whole {
			d := (z[l][2*i] - z[l][2*i+1]) / 2
			next = append(next, n/2+d, n/2-d)
		}
		whole = next
	}
	sum := 0.0
	t.below = append(t.below, 0)
	for _, n := range whole {
		sum += n
		t.below = append(t.below, sum)
	}
	t.below[len(whole)] = t.total.Value
	for i := range t.below {
		part, v := below(i, depth, own)
		t.part, t.variances = append(t.part, part), append(t.variances, v)
	}
	increase(t.below)
	return t, nil
}

// weighed is the best of two numbers with noise of these variances.
func weighed(x, vx, y, vy float64) float64 {
	if vx == 0 {
		return x
	}
	return (float64(x*vy) + float64(y*vx)) / (vx + vy)
}

func weighedVariance(x, y float64) float64 {
	if x == 0 || y == 0 {
		return 0
	}
	return float64(x*y) / (x + y)
}

// below is how much of the total's error is in the number of records below an edge, and the variance of the rest.
func below(edge, depth int, own []float64) (part, variance float64) {
	if edge == 1<<depth {
		return 1, 0
	}
	for l := depth - 1; l >= 0; l-- { // from the bin that begins at the edge up
		d := own[l] / 2 // of half the difference of two halves
		if edge>>(depth-1-l)&1 == 0 {
			variance += float64(float64(part*part) * d)
			part /= 2
			continue
		}
		variance += float64(float64((1-part)*(1-part)) * d)
		part = (1 + part) / 2
	}
	return part, variance
}

// increase makes numbers increase, by pooling those beside each other that do not.
func increase(x []float64) {
	type pool struct {
		mean float64
		n    int
	}
	var pools []pool
	for _, v := range x[1 : len(x)-1] { // the ends are known best
		pools = append(pools, pool{clamp(v, x[0], x[len(x)-1]), 1})
		for n := len(pools); n > 1 && pools[n-2].mean > pools[n-1].mean; n = len(pools) {
			a, b := pools[n-2], pools[n-1]
			all := float64(a.n + b.n)
			pools = append(pools[:n-2], pool{(float64(a.mean*float64(a.n)) + float64(b.mean*float64(b.n))) / all, a.n + b.n})
		}
	}
	at := 1
	for _, p := range pools {
		for range p.n {
			x[at] = p.mean
			at++
		}
	}
}

// Quantile estimates the value below which a part q of the records is, given the edges of the finest bins, the ends
// among them. The interval is of all bins in which it may be: it covers the grid and the noise.
func (t *Tree) Quantile(q float64, edges []float64, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	switch last := len(t.below) - 1; {
	case len(edges) != last+1 || !(q > 0 && q < 1):
		return undefined("edges of other bins, or a part that is not between 0 and 1")
	case t.total.Value <= float64(StandsOut*math.Sqrt(t.total.Variance)) || t.total.Value <= 0:
		return undefined("the records that have a value do not stand out of the noise")
	}
	z, want := level.z(), float64(q*t.total.Value)
	half := func(i int) float64 {
		of := t.part[i] - q // what is asked for moves with the total, too
		return float64(z * math.Sqrt(t.variances[i]+float64(float64(of*of)*t.total.Variance)))
	}
	first, last, at := -1, 0, 0
	for i := range len(edges) - 1 {
		if t.below[i]-half(i) <= want && want <= t.below[i+1]+half(i+1) {
			if last = i + 1; first < 0 {
				first = i
			}
		}
		if t.below[i] <= want {
			at = i
		}
	}
	if first < 0 {
		first, last = at, at+1
	}
	share := 0.5
	if n := t.below[at+1] - t.below[at]; n > 0 {
		share = clamp((want-t.below[at])/n, 0, 1)
	}
	value := edges[at] + float64(share*(edges[at+1]-edges[at]))
	return finish(value, math.Min(edges[first], value), math.Max(edges[last], value), edges[0], edges[len(edges)-1])
}
