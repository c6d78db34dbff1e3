package estimate

import (
	"errors"
	"fmt"
	"math"
)

// Ranked are the numbers of records below the bin edges of one numeric column, with their noise.
// They come from a tree of tables, or from one table.
type Ranked struct {
	below     []float64 // records below each edge, nondecreasing
	raw       []float64 // the same, unbiased, before pooling
	variances []float64 // of raw, without the part from the total's error
	part      []float64 // weight of the total's error in raw
	total     Noisy
	noise     CountNoise
	halves    []float64 // of a tree: by level, the variance of half the difference of two halves; nil for one table
}

// NewTree makes counts of 2, 4, … 2^depth bins consistent. The estimate of a bin combines its own
// count, those of its halves, and its parent's minus its sibling's (Hay, Rastogi, Miklau and Suciu
// 2010). Total is the number of records that have a value: public, or with its own noise if absent
// values were counted.
func NewTree(levels [][]float64, noise CountNoise, total Noisy) (*Ranked, error) {
	depth := len(levels)
	if err := noise.check(); err != nil {
		return nil, err
	}
	if depth < 1 || !(total.Variance >= 0) {
		return nil, fmt.Errorf("a tree of counts with %d levels and a total of variance %g: want at least 1 level and a variance of at least 0", depth, total.Variance)
	}
	for l, counts := range levels {
		if len(counts) != 2<<l {
			return nil, fmt.Errorf("level %d of the tree has %d counts, want %d", l+1, len(counts), 2<<l)
		}
	}
	// Up: combine own counts with those of the halves.
	variance, own := noise.Variance, make([]float64, depth) // of a bin by level
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
	r := &Ranked{noise: noise, total: Noisy{Value: weighed(total.Value, total.Variance, z[0][0]+z[0][1], 2*own[0]), Variance: weighedVariance(total.Variance, 2*own[0])}}
	for _, v := range own {
		r.halves = append(r.halves, v/2)
	}
	// Down: halves add up to the whole. Differences of two halves are independent of all others.
	whole := []float64{r.total.Value}
	for l := range z {
		next := make([]float64, 0, 2*len(whole))
		for i, n := range whole {
			d := float64((z[l][2*i] - z[l][2*i+1]) / 2)
			n = float64(n / 2)
			next = append(next, n+d, n-d)
		}
		whole = next
	}
	r.add(whole)
	for i := range r.below {
		part, v := r.prefix(i)
		r.part, r.variances = append(r.part, part), append(r.variances, v)
	}
	return r, nil
}

// NewBins returns the numbers for the bins of one table. If absent is true, the last cell is the
// number of records without a value. The total number of records is public.
func NewBins(cells []float64, absent bool, noise CountNoise, records float64) (*Ranked, error) {
	c, err := NewCounted(cells, len(cells), 1, noise, records, 0)
	if err != nil {
		return nil, err
	}
	bins := len(cells)
	if absent {
		bins--
	}
	if bins < 1 {
		return nil, errors.New("a table without bins")
	}
	r := &Ranked{noise: noise, total: Noisy{Value: records}}
	if absent {
		r.total = Noisy{Value: records - c.cells[bins], Variance: c.of(1)}
	}
	r.add(c.cells[:bins])
	for i := range r.below {
		part := float64(i) / float64(bins)
		r.part, r.variances = append(r.part, part), append(r.variances, float64(noise.Variance*float64(i))*(1-part))
	}
	return r, nil
}

// add sets the numbers below edges from the records of the bins.
func (r *Ranked) add(bins []float64) {
	sum := 0.0
	r.raw = append(r.raw, 0)
	for _, n := range bins {
		sum += n
		r.raw = append(r.raw, sum)
	}
	r.raw[len(bins)] = r.total.Value
	r.below = append([]float64(nil), r.raw...)
	increase(r.below)
}

// weighed is the mean of two numbers weighted by inverse variances.
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

// prefix is for the number of records below an edge of a tree. Part is the weight of the total's
// error in it, variance that of its other error.
func (r *Ranked) prefix(edge int) (part, variance float64) {
	depth := len(r.halves)
	if edge == 1<<depth {
		return 1, 0
	}
	for l := depth - 1; l >= 0; l-- { // from the bin that begins at the edge up
		d := r.halves[l]
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

// increase makes numbers nondecreasing, by pooling adjacent violators.
func increase(x []float64) {
	type pool struct {
		mean float64
		n    int
	}
	var pools []pool
	for _, v := range x[1 : len(x)-1] { // the ends are known best and stay
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

// Total estimates how many records have a value.
func (r *Ranked) Total(level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	half := float64(r.noise.Reach(level) * math.Sqrt(r.total.Variance))
	return newEstimate(math.Max(0, r.total.Value), r.total.Value-half, r.total.Value+half, 0, math.Inf(1)).withVariance(r.total.Variance)
}

// stands returns the reason if the number of records that have a value does not stand out of the
// noise, else "".
func (r *Ranked) stands() string {
	if r.total.Value <= float64(StandsOut*math.Sqrt(r.total.Variance)) || r.total.Value <= 0 {
		return "the records that have a value do not stand out of the noise"
	}
	return ""
}

// RankVariance is the variance of the number of records below an edge minus a fraction q of all
// that have a value.
func (r *Ranked) RankVariance(edge int, q float64) float64 {
	of := r.part[edge] - q // the wanted rank varies with the total, too
	return r.variances[edge] + float64(float64(of*of)*r.total.Variance)
}

func (r *Ranked) Bins() int { return len(r.below) - 1 }

// Ends is a range of bins: From is included, To is not.
type Ends struct{ From, To int }

// within is the range of bins that may contain quantile q, for errors up to reach standard errors.
// Drawn is the variance from drawing the records, 0 for noise only.
func (r *Ranked) within(q, reach, drawn float64) (out Ends) {
	want := float64(q * r.total.Value)
	half := func(i int) float64 { return float64(reach * math.Sqrt(r.RankVariance(i, q)+drawn)) }
	out.From = -1
	for i := range r.Bins() {
		if r.below[i]-half(i) <= want && want <= r.below[i+1]+half(i+1) {
			if out.To = i + 1; out.From < 0 {
				out.From = i
			}
		}
	}
	return out
}

// at is quantile q, if records are evenly spread within bins.
func (r *Ranked) at(q float64, edges []float64) float64 {
	want, at := float64(q*r.total.Value), 0
	for i := range r.Bins() {
		if r.below[i] <= want {
			at = i
		}
	}
	share := 0.5
	if n := r.below[at+1] - r.below[at]; n > 0 {
		share = clamp((want-r.below[at])/n, 0, 1)
	}
	return edges[at] + float64(share*(edges[at+1]-edges[at]))
}

// Quantile estimates quantile q: the value below which a fraction q of the records is. Edges are
// those of the bins, including both ends. The interval is the union of all bins, in, that may
// contain it, so it covers the grid and the noise. For the population, drawing the records adds
// q(1−q) times their number to the variance of a rank. The standard error is that of a normal error
// with an interval of the same width.
func (r *Ranked) Quantile(q float64, edges []float64, level Level) (e Estimate, in Ends) {
	if why := level.refuse(); why != "" {
		return undefined(why), in
	}
	if len(edges) != r.Bins()+1 || !(q > 0 && q < 1) {
		return undefined(fmt.Sprintf("%d edges for %d bins, or a fraction %g that is not between 0 and 1", len(edges), r.Bins(), q)), in
	}
	if why := r.stands(); why != "" {
		return undefined(why), in
	}
	if in = r.within(q, r.noise.Reach(level), 0); in == (Ends{0, r.Bins()}) && r.noise.Variance > 0 {
		return undefined("with this noise the quantile may be in any bin"), in
	}
	value := r.at(q, edges)
	e = newEstimate(value, math.Min(edges[in.From], value), math.Max(edges[in.To], value), edges[0], edges[len(edges)-1])
	deviation := (e.High - e.Low) / (2 * level.z())
	e = e.withVariance(float64(deviation * deviation))
	drawn := r.within(q, r.noise.Reach(level), float64(float64(q*(1-q))*r.total.Value))
	return e.withPopulation(Span{math.Min(e.Low, edges[drawn.From]), math.Max(e.High, edges[drawn.To]), true}), in
}

// Between estimates how many records are in a range of bins.
func (r *Ranked) Between(bins Ends, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	n, variance := r.raw[bins.To]-r.raw[bins.From], r.between(bins)
	half := float64(r.noise.Reach(level) * math.Sqrt(variance))
	most := math.Max(0, r.total.Value) + float64(r.noise.Reach(level)*math.Sqrt(r.total.Variance))
	low, high := inwards(n-half, n+half, most, math.Sqrt(variance))
	e := newEstimate(clamp(n, 0, most), low, high, 0, most).withVariance(variance)
	return NewSample(r.total.Value, level).Sum(e, Binary(n/r.total.Value, 1))
}

// between is the variance of the number of records in a range of bins.
func (r *Ranked) between(bins Ends) (variance float64) {
	if r.halves == nil {
		// As for cells that, with one more for absent values, add up to a public number.
		part := float64(bins.To-bins.From) / float64(r.Bins())
		return float64(float64(r.noise.Variance*float64(bins.To-bins.From))*(1-part)) + float64(float64(part*part)*r.total.Variance)
	}
	parts := make([]float64, r.Bins())
	for i := bins.From; i < bins.To; i++ {
		parts[i] = 1
	}
	for l := len(r.halves) - 1; l >= 0; l-- {
		for i := range len(parts) / 2 {
			d := parts[2*i] - parts[2*i+1]
			variance += float64(float64(d*d) * r.halves[l])
			parts[i] = (parts[2*i] + parts[2*i+1]) / 2
		}
		parts = parts[:len(parts)/2]
	}
	return variance + float64(float64(parts[0]*parts[0])*r.total.Variance)
}

// MostBars is the greatest number of bars of a histogram.
const MostBars = mostBars + 2

// Limits of a histogram: the number of bars between the outliers, and the mean number of records of
// a bar in standard errors.
const (
	mostBars = 30
	clearBar = 4
	farOut   = 0.005 // of the records are in the bar at each end
)

// Histogram returns adjacent bars, each a range of bins. They are as narrow as the noise allows,
// and of equal numbers of bins, except the first and the last, which hold the outliers. It is nil
// if the records that have a value do not stand out of the noise.
func (r *Ranked) Histogram() (out []Ends) {
	if r.stands() != "" {
		return nil
	}
	first, last := 0, r.Bins()
	for i := range r.Bins() {
		if r.below[i+1] <= float64(farOut*r.total.Value) {
			first = i + 1
		}
		if j := r.Bins() - 1 - i; r.below[j] >= float64((1-farOut)*r.total.Value) {
			last = j
		}
	}
	width, from, to := 1, first, max(last, first+1)
	for ; width < r.Bins(); width *= 2 {
		from, to = first/width*width, min((max(last, first+1)+width-1)/width*width, r.Bins())
		bars := float64((to - from + width - 1) / width)
		if bars <= mostBars && (bars == 1 || r.total.Value/bars >= float64(clearBar*math.Sqrt(r.between(Ends{from, min(from+width, r.Bins())})))) {
			break
		}
	}
	if width >= r.Bins() {
		return []Ends{{0, r.Bins()}}
	}
	if from > 0 {
		out = append(out, Ends{0, from})
	}
	for ; from < to; from += width {
		out = append(out, Ends{from, min(from+width, to)})
	}
	if to < r.Bins() {
		out = append(out, Ends{to, r.Bins()})
	}
	return out
}
