package codebook

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// keyed is a source of public numbers.
type keyed struct{ key byte }

func (k keyed) Block(label []byte) [64]byte { return sha512.Sum512(append([]byte{k.key}, label...)) }

func (keyed) Expand(block *[64]byte, dst []byte) {
	for at := uint64(0); len(dst) > 0; at++ {
		b := sha512.Sum512(binary.LittleEndian.AppendUint64(block[:], at))
		dst = dst[copy(dst, b[:]):]
	}
}

// options returns options for d columns whose covariance has eigenvalues that fall by a third each.
func options(d, clusters int) Options {
	rng := rand.New(rand.NewPCG(uint64(d), uint64(clusters)))
	var qr mat.QR
	g := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	qr.Factorize(g)
	var q mat.Dense
	qr.QTo(&q)
	o := Options{Covariance: mat.NewSymDense(d, nil), Bits: 10, Records: 20_000, Clusters: clusters, Count: 15, Public: keyed{1}}
	for a := range d {
		o.Mean = append(o.Mean, 100*rng.NormFloat64())
		o.Covariance.(*mat.SymDense).SymRankOne(o.Covariance, 90_000*math.Pow(2./3, float64(a)), q.ColView(a))
	}
	return o
}

func draft(t *testing.T, o Options) *Draft {
	t.Helper()
	d, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCodebooksAreValid(t *testing.T) {
	for _, c := range []struct{ d, clusters, axes, codes int }{{1, 3, 1, 100}, {2, 5, 2, 100}, {6, 3, 2, 100}, {12, 9, 8, 100}, {90, 80, 64, 160}} {
		o := options(c.d, c.clusters)
		own := draft(t, o)
		if err := own.Codebook.Validate(c.d, o.Bits); err != nil {
			t.Error(err)
		}
		q := len(own.Codebook.Axes)
		if q != len(own.Spread) || q > c.axes || q < min(c.axes, 20) || len(own.Codebook.Codes) != c.codes {
			t.Errorf("%+v: %d axes, %d spreads and %d code points", c, q, len(own.Spread), len(own.Codebook.Codes))
		}
		if err := own.Agrees(own.Codebook); err != nil {
			t.Errorf("%+v: it does not agree with itself: %v", c, err)
		}
		o.Workers = 3
		if again := draft(t, o); !same(again.Codebook, own.Codebook) {
			t.Errorf("%+v: another one with three workers", c)
		}
		o.Public = keyed{2} // other public points work as well
		other := draft(t, o)
		if same(other.Codebook, own.Codebook) {
			t.Errorf("%+v: the same one from other public points", c)
		}
	}
}

func same(a, b sketch.Codebook) bool {
	return a.Radius == b.Radius && slices.Equal(a.Centre, b.Centre) && slices.EqualFunc(a.Axes, b.Axes, slices.Equal) && slices.EqualFunc(a.Codes, b.Codes, slices.Equal)
}

// One digest over the integers of a codebook: a party on another machine gets the same.
func TestGolden(t *testing.T) {
	c := draft(t, options(6, 4)).Codebook
	h := sha256.New()
	for _, row := range slices.Concat([][]int64{c.Centre, {c.Radius}}, c.Axes, c.Codes) {
		for _, v := range row {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
		}
	}
	if got, want := hex.EncodeToString(h.Sum(nil)), "a8b36211126bd44ccef6e061b9496ca3e9f84ffa816fafd294457b48ab352513"; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Moments with any noise give a valid codebook.
func TestAnyMomentsWillDo(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"nothing varies":     func(o *Options) { o.Covariance = mat.NewSymDense(5, nil) },
		"less than nothing":  func(o *Options) { o.Covariance.(*mat.SymDense).ScaleSym(-1, o.Covariance) },
		"more than anything": func(o *Options) { o.Covariance.(*mat.SymDense).ScaleSym(1e20, o.Covariance) },
		"all is noise":       func(o *Options) { o.Noise = 1e12 },
		"a far mean":         func(o *Options) { o.Mean[2] = -1e30 },
		"no noise":           func(o *Options) { o.Count = 0 },
		"few records":        func(o *Options) { o.Records = 1 },
		"many clusters":      func(o *Options) { o.Clusters = 1000 },
	} {
		o := options(5, 4)
		spoil(&o)
		d := draft(t, o)
		if err := d.Codebook.Validate(5, o.Bits); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := d.Agrees(d.Codebook); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if o := options(8, 8); len(draft(t, o).Spread) != 7 {
		t.Error("an axis is left out without noise")
	} else if o.Noise = 1e8; len(draft(t, o).Spread) >= 7 {
		t.Error("axes in the noise are taken")
	}
}

func TestOptionsAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"no mean":        func(o *Options) { o.Mean = nil },
		"another mean":   func(o *Options) { o.Mean = o.Mean[1:] },
		"no covariance":  func(o *Options) { o.Covariance = nil },
		"no number":      func(o *Options) { o.Mean[0] = math.NaN() },
		"not finite":     func(o *Options) { o.Covariance.(*mat.SymDense).SetSym(0, 1, math.Inf(1)) },
		"no bits":        func(o *Options) { o.Bits = 0 },
		"no records":     func(o *Options) { o.Records = 0 },
		"one cluster":    func(o *Options) { o.Clusters = 1 },
		"negative noise": func(o *Options) { o.Noise = -1 },
		"no count":       func(o *Options) { o.Count = math.NaN() },
		"no source":      func(o *Options) { o.Public = nil },
	} {
		o := options(5, 4)
		spoil(&o)
		if _, err := New(context.Background(), o); err == nil {
			t.Error(name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(ctx, options(5, 4)); err == nil {
		t.Error("cancelled")
	}
}

// turned returns a codebook with its axes rotated in the plane of two of them, and unchanged codes.
func turned(c sketch.Codebook, a, b int, angle float64) sketch.Codebook {
	out := clone(c)
	sin, cos := math.Sincos(angle)
	for j := range c.Centre {
		u, v := float64(c.Axes[a][j]), float64(c.Axes[b][j])
		out.Axes[a][j], out.Axes[b][j] = int64(math.Round(cos*u-sin*v)), int64(math.Round(sin*u+cos*v))
	}
	return out
}

func clone(c sketch.Codebook) sketch.Codebook {
	out := sketch.Codebook{Centre: slices.Clone(c.Centre), Radius: c.Radius}
	for _, row := range c.Axes {
		out.Axes = append(out.Axes, slices.Clone(row))
	}
	for _, row := range c.Codes {
		out.Codes = append(out.Codes, slices.Clone(row))
	}
	return out
}

// A codebook still agrees if its sums were added in another order, or if it has other eigenvectors
// of the same space.
func TestTheSameAgrees(t *testing.T) {
	own := draft(t, options(7, 4))
	c := clone(own.Codebook)
	for j := range c.Axes[1] {
		c.Axes[1][j] *= -1
	}
	if err := own.Agrees(c); err != nil {
		t.Errorf("an axis of another sign: %v", err)
	}
	c.Centre[0]++
	c.Radius--
	c.Axes[0][3]++
	slices.Reverse(c.Codes)
	c.Codes[0][1]++
	if err := own.Agrees(c); err != nil {
		t.Errorf("rounded otherwise: %v", err)
	}
	o := options(7, 4)
	for i := range 7 { // three equal eigenvalues, whose eigenvectors are arbitrary
		for j := range 7 {
			o.Covariance.(*mat.SymDense).SetSym(i, min(i, j), 0)
		}
		o.Covariance.(*mat.SymDense).SetSym(i, i, []float64{1e4, 9e4, 1e3, 9e4, 5, 9e4, 100}[i])
	}
	own = draft(t, o)
	if err := own.Agrees(turned(own.Codebook, 0, 2, 1)); err != nil {
		t.Errorf("turned among equals: %v", err)
	}
	o = options(7, 4)
	o.Covariance.(*mat.SymDense).SetSym(2, 5, math.Nextafter(o.Covariance.At(2, 5), 1e9))
	if err := draft(t, options(7, 4)).Agrees(draft(t, o).Codebook); err != nil {
		t.Errorf("a last bit: %v", err)
	}
}

// A codebook still agrees if the k-means of its code points converged elsewhere, from other starts.
func TestAnotherEndAgrees(t *testing.T) {
	for _, c := range []struct {
		clusters int
		records  float64
	}{{2, 300}, {3, 1000}, {4, 3000}, {8, 20_000}} {
		o := options(9, c.clusters)
		o.Records = c.records
		own := draft(t, o)
		for seed := range uint64(4) {
			found, err := cluster.KMeans(context.Background(), own.points, cluster.Options{Clusters: len(own.Codebook.Codes), Restarts: starts, MaxIterations: iterations, Rand: rand.New(rand.NewPCG(seed, 9))})
			if err != nil {
				t.Fatal(err)
			}
			other := clone(own.Codebook)
			for i, code := range other.Codes {
				for a := range code {
					code[a] = bounded(found.Centroids.At(i, a), other.Radius)
				}
			}
			if err := own.Agrees(other); err != nil {
				t.Errorf("%d clusters, %d code points: %v", c.clusters, len(other.Codes), err)
			}
		}
	}
}

func TestOthersDeviate(t *testing.T) {
	own := draft(t, options(7, 4))
	for name, c := range map[string]struct {
		part  Part
		spoil func(*sketch.Codebook)
	}{
		"fewer axes":          {PartShape, func(c *sketch.Codebook) { *c = sketch.Codebook{} }},
		"fewer codes":         {PartShape, func(c *sketch.Codebook) { c.Codes = c.Codes[1:] }},
		"out of range":        {PartShape, func(c *sketch.Codebook) { c.Axes[0][0] = math.MaxInt64 }},
		"a ragged one":        {PartShape, func(c *sketch.Codebook) { c.Axes[2] = c.Axes[2][1:] }},
		"another centre":      {PartCentre, func(c *sketch.Codebook) { c.Centre[6] -= 17 }},
		"a smaller radius":    {PartRadius, func(c *sketch.Codebook) { c.Radius -= 2 }},
		"a larger radius":     {PartRadius, func(c *sketch.Codebook) { c.Radius *= 2 }},
		"an axis twice":       {PartAxes, func(c *sketch.Codebook) { c.Axes[1] = c.Axes[0] }},
		"no axis":             {PartAxes, func(c *sketch.Codebook) { clear(c.Axes[2]) }},
		"axes exchanged":      {PartAxes, func(c *sketch.Codebook) { c.Axes[0], c.Axes[1] = c.Axes[1], c.Axes[0] }},
		"axes turned":         {PartAxes, func(c *sketch.Codebook) { *c = turned(*c, 0, 1, .2) }},
		"codes in one place":  {PartCodes, func(c *sketch.Codebook) { c.Codes = slices.Repeat(c.Codes[:1], len(c.Codes)) }},
		"codes of the halves": {PartCodes, func(c *sketch.Codebook) { copy(c.Codes[50:], c.Codes[:50]) }},
	} {
		given := clone(own.Codebook)
		c.spoil(&given)
		var deviation *Mismatch
		if err := own.Agrees(given); !errors.As(err, &deviation) || deviation.Part != c.part {
			t.Errorf("%s: %v, want a deviation of the %s", name, err, c.part)
		}
	}
}

// summed is an exact codes sketch of n records of three clusters, and the codebook of their moments.
func summed(t *testing.T, n int) (c sketch.Codebook, exact sketch.Sketch, w dp.CellWeights, centres [][]float64) {
	t.Helper()
	const d = 6
	rng := rand.New(rand.NewPCG(5, 5))
	centres = [][]float64{{300, 0, 100, 0, 0, -200}, {-300, 200, 0, 0, 100, 0}, {0, -400, 0, 100, 0, 200}}
	x, mean, covariance := make([]int64, n*d), make([]float64, d), mat.NewSymDense(d, nil)
	row := mat.NewVecDense(d, nil)
	for i := range n {
		for j := range d {
			v := math.Round(centres[i%3][j] + 60*rng.NormFloat64())
			x[i*d+j] = int64(v)
			mean[j] += v / float64(n)
			row.SetVec(j, v)
		}
		covariance.SymRankOne(covariance, 1/float64(n), row)
	}
	covariance.SymRankOne(covariance, -1, mat.NewVecDense(d, mean))
	c = draft(t, Options{Mean: mean, Covariance: covariance, Bits: 10, Records: float64(n), Clusters: 3, Count: 12, Public: keyed{7}}).Codebook
	w = dp.NewCellWeights(c.Radius, false)
	b, err := sketch.NewCodes(sketch.CodesOptions{SumsOptions: sketch.SumsOptions{Centre: make([]int64, d), Largest: 1024}, Codebook: c, Weights: w})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add(x); err != nil {
		t.Fatal(err)
	}
	return c, b.Sketch(), w, centres
}

// k-means in two rounds finds clusters, and the intervals of their sizes and means cover the values
// of the cells without noise.
func TestClustersOfCells(t *testing.T) {
	const n, draws = 9000, 400
	c, exact, w, centres := summed(t, n)
	rng := rand.New(rand.NewPCG(6, 6))
	const sd = 12
	var held, all, meansHeld, means float64
	for range draws {
		noisy := exact
		noisy.Data = slices.Clone(exact.Data)
		for i := range noisy.Data {
			noisy.Data[i] += int64(math.Round(sd * float64(w.Count) * rng.NormFloat64()))
		}
		cells, err := Cells(c, noisy, w, sd*sd*float64(w.Count*w.Count), n)
		if err != nil {
			t.Fatal(err)
		}
		found, err := cells.Group(context.Background(), nil, cluster.Options{Clusters: 3, Restarts: 3, Rand: rng})
		if err != nil {
			t.Fatal(err)
		}
		truth, sums := make([]float64, 3), mat.NewDense(3, len(c.Axes), nil)
		for i := range cells.Counts {
			k := cluster.Nearest(found.Model, cells.Places.RawRowView(i))
			truth[k] += float64(exact.Row(i)[0]) / float64(w.Count)
			for a, v := range exact.Row(i)[1:] {
				sums.Set(k, a, sums.At(k, a)+float64(v))
			}
		}
		for k, one := range found.Clusters {
			all++
			if math.Abs(one.Records-truth[k]) <= 1.96*math.Sqrt(cells.Covariance(one.Cells, one.Cells, true)) {
				held++
			}
			for j := range c.Centre {
				value, times := Sum(c, one.Sums, j)
				want, _ := Sum(c, sums.RawRowView(k), j)
				count := estimate.Noisy{Value: one.Records, Variance: cells.Covariance(one.Cells, one.Cells, true)}
				e := estimate.Quotient(estimate.Noisy{Value: value, Variance: times * float64(one.Cells) * cells.Noise.Sum}, count, 0)
				if means++; e.Low <= want/truth[k] && want/truth[k] <= e.High {
					meansHeld++
				}
			}
			at := Back(c, found.Model.RawRowView(k))
			nearest := math.Inf(1)
			for _, centre := range centres {
				var far float64
				for j, v := range centre {
					far += (at[j] - v) * (at[j] - v)
				}
				nearest = min(nearest, math.Sqrt(far))
			}
			if nearest > 80 {
				t.Errorf("a centroid is %.0f from every cluster's centre", nearest)
			}
		}
	}
	if t.Logf("sizes are held in %.3f, means in %.3f", held/all, meansHeld/means); held/all < 0.93 || meansHeld/means < 0.93 {
		t.Errorf("sizes are held in %.3f of %.0f, means in %.3f", held/all, all, meansHeld/means)
	}
}

func TestCellsAreRead(t *testing.T) {
	c := sketch.Codebook{Centre: []int64{160, 0}, Axes: [][]int64{{0, sketch.AxisOne}}, Codes: [][]int64{{40}, {-40}}, Radius: 250}
	w := dp.CellWeights{Count: 50, Cut: 10}
	s := sketch.Sketch{Side: sketch.Codes, Rows: 3, Cols: 2, Data: []int64{150, 120, 100, -90, 20, 0}}
	got, err := Cells(c, s, w, 2500, 6)
	if err != nil {
		t.Fatal(err)
	}
	want := cluster.Cells{
		Counts: []float64{3, 2}, Sums: mat.NewDense(2, 1, []float64{120, -90}), Places: mat.NewDense(2, 1, []float64{40, -40}), Records: 6,
		Noise: cluster.CellNoise{Count: 1, Sum: 2500}, CentroidVariance: 1000,
	}
	if !slices.Equal(got.Counts, want.Counts) || !mat.Equal(got.Sums, want.Sums) || !mat.Equal(got.Places, want.Places) || got.Records != 6 || got.Noise != want.Noise || math.Abs(got.CentroidVariance-want.CentroidVariance) > 1e-9 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if at := Back(c, []float64{7}); !slices.Equal(at, []float64{10, 7}) {
		t.Errorf("back at %v", at)
	}
	if sum, times := Sum(c, []float64{7}, 1); sum != 7 || times != 1 {
		t.Errorf("a sum of %v with noise of %v", sum, times)
	}
	s.Rows = 2
	if _, err := Cells(c, s, w, 1, 6); err == nil {
		t.Error("a sketch of another shape")
	}
}
