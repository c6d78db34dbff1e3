package estimate

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/full"
)

// party is a simulated organisation of a vertical study: two value columns over the records that it
// holds, with helper columns.
type party struct {
	held   []bool
	values [][]float64 // per value column, per record; 0 where not held
}

const onesWeight, squaresWeight = 0.3, 0.5

// columns returns the party's stored columns: ones, then each value, then squares.
func (p party) columns(squares bool) [][]float64 {
	ones := make([]float64, len(p.held))
	for i, held := range p.held {
		if held {
			ones[i] = onesWeight
		}
	}
	out := append([][]float64{ones}, p.values...)
	if squares {
		for _, column := range p.values {
			squared := make([]float64, len(column))
			for i, v := range column {
				squared[i] = squaresWeight * v * v
			}
			out = append(out, squared)
		}
	}
	return out
}

func (p party) records() (n int) {
	for _, held := range p.held {
		if held {
			n++
		}
	}
	return n
}

// truth is the correlation over the records that both hold, and the number of these.
func truth(a, b party, i, j int) (rho float64, shared int) {
	var n, sx, sy, sxx, syy, sxy float64
	for r := range a.held {
		if a.held[r] && b.held[r] {
			x, y := a.values[i][r], b.values[j][r]
			n, sx, sy, sxx, syy, sxy = n+1, sx+x, sy+y, sxx+x*x, syy+y*y, sxy+x*y
		}
	}
	return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy)), int(n)
}

// population draws three parties' data: six columns with a common factor, some of
// them skewed and heavy-tailed, each party lacking a random part of the records.
func population(rng *rand.Rand, records int, missing float64, heavy bool) []party {
	loadings := []float64{0.9, 0.5, 0.8, -0.6, 0.95, 0.2}
	parties := make([]party, 3)
	for p := range parties {
		parties[p].held = make([]bool, records)
		parties[p].values = [][]float64{make([]float64, records), make([]float64, records)}
	}
	for r := range records {
		factor := rng.NormFloat64()
		for p := range parties {
			parties[p].held[r] = rng.Float64() >= missing
			for j := range 2 {
				loading := loadings[2*p+j]
				x := loading*factor + math.Sqrt(1-loading*loading)*rng.NormFloat64()
				if heavy && j == 0 {
					x = (math.Exp(0.7*x) - 1) / 0.9 // log-normal: kurtosis about 9
				}
				if parties[p].held[r] {
					parties[p].values[j][r] = clamp((x-0.2)/3, -1, 1) // the centre is a little off
				}
			}
		}
	}
	return parties
}

// dataSet is a population, with what does not change between trials.
type dataSet struct {
	parties  []party
	root     [][]float64                        // of the products of all columns, see rootOf
	together func() (*mat.Dense, *mat.SymDense) // the records that all hold, and their covariance
	pairs    func() map[[4]int]pairTruth        // by party and column, party and column
}

func newDataSet(rng *rand.Rand, records int, missing float64, parties int) *dataSet {
	out := &dataSet{parties: population(rng, records, missing, false)[:parties]}
	out.root = rootOf(stack(out.parties, false))
	out.together = sync.OnceValues(func() (*mat.Dense, *mat.SymDense) {
		data := together(out.parties)
		return data, covarianceOf(data)
	})
	out.pairs = sync.OnceValue(out.everyPair)
	return out
}

// dataSetFor returns the population of a trial. A small one is new for each trial. Large ones are
// few, and trials take them in turn: intervals for given records are about projections and noise.
func dataSetFor(rng *rand.Rand, records int, missing float64, parties int, seed uint64) *dataSet {
	if records < 5000 {
		return newDataSet(rng, records, missing, parties)
	}
	key := dataSetKey{records, missing, parties, seed % 24}
	made, _ := dataSets.LoadOrStore(key, sync.OnceValue(func() *dataSet {
		return newDataSet(rand.New(rand.NewPCG(key.number, 76)), records, missing, parties)
	}))
	return made.(func() *dataSet)()
}

var dataSets sync.Map // dataSetKey to func() *dataSet

type dataSetKey struct {
	records int
	missing float64
	parties int
	number  uint64
}

// tally counts how often intervals cover, and sums the errors of estimates.
type tally struct {
	n, covered, undefined int
	sum, squared          float64
	width                 float64

	seeds                 []float64 // coverage within each seed
	before, coveredBefore int
}

func (c *tally) add(e Estimate, want float64) {
	c.n++
	if !e.Defined() {
		c.undefined++
		return
	}
	if e.Low <= want && want <= e.High {
		c.covered++
	}
	c.sum += e.Interval.Estimate
	d := e.Interval.Estimate - want
	c.squared += d * d
	c.width += e.High - e.Low
}

func (c *tally) coverage() float64 { return float64(c.covered) / float64(c.n) }
func (c *tally) rmse() float64     { return math.Sqrt(c.squared / float64(c.n-c.undefined)) }

// seed ends one seed's draws. Coverage is clustered by seed: all pairs of a seed share R.
func (c *tally) seed() {
	c.seeds = append(c.seeds, float64(c.covered-c.coveredBefore)/float64(c.n-c.before))
	c.before, c.coveredBefore = c.n, c.covered
}

// standardError is that of the coverage, from its variation between seeds. It is at least that of
// independent intervals, as a few seeds may all cover.
func (c *tally) standardError() float64 {
	return math.Max(stat.StdDev(c.seeds, nil)/math.Sqrt(float64(len(c.seeds))), math.Sqrt(.05*.95/float64(c.n)))
}

// check fails if the coverage is outside two limits, by more than three standard errors.
func (c *tally) check(t *testing.T, what string, least, most float64) {
	t.Helper()
	se := c.standardError()
	t.Logf("%s: coverage %.3f ± %.3f, RMSE %.4f, mean width %.3f, undefined %d of %d",
		what, c.coverage(), se, c.rmse(), c.width/float64(c.n), c.undefined, c.n)
	if got := c.coverage(); got < least-3*se || got > most+3*se || se > 0.04 {
		t.Errorf("%s: coverage %.3f ± %.3f is outside %.2f to %.2f", what, got, se, least, most)
	}
}

// rademacher projects columns with a fresh k × m matrix of signs, scaled 1/√k.
func rademacher(rng *rand.Rand, k int, columns [][]float64) [][]float64 {
	out := make([][]float64, len(columns))
	for j := range out {
		out[j] = make([]float64, k)
	}
	scale := 1 / math.Sqrt(float64(k))
	bits := make([]uint64, (k+63)/64)
	for r := range columns[0] {
		for i := range bits {
			bits[i] = rng.Uint64()
		}
		for j, column := range columns {
			x, sums := math.Float64bits(scale*column[r]), out[j]
			for i := range sums {
				sums[i] += math.Float64frombits(x ^ bits[i/64]>>(i%64)<<63)
			}
		}
	}
	return out
}

// countSketch projects columns with one ±1 per record.
func countSketch(rng *rand.Rand, k int, columns [][]float64) [][]float64 {
	out := make([][]float64, len(columns))
	for j := range out {
		out[j] = make([]float64, k)
	}
	for r := range columns[0] {
		i, sign := rng.IntN(k), float64(1-2*rng.IntN(2))
		for j, column := range columns {
			out[j][i] += sign * column[r]
		}
	}
	return out
}

// gaussianSketch draws the k rows of a sketch from N(0, gram/k). This is the limit of a sketch with
// many records per coordinate.
func gaussianSketch(rng *rand.Rand, k int, columns [][]float64) [][]float64 {
	return sketchOf(rng, k, rootOf(columns))
}

// rootOf is the lower Cholesky factor of the products of columns.
func rootOf(columns [][]float64) [][]float64 {
	n := len(columns)
	root := make([][]float64, n)
	for i := range n {
		root[i] = make([]float64, n)
		for j := range i + 1 {
			sum := dot(columns[i], columns[j])
			for l := range j {
				sum -= root[i][l] * root[j][l]
			}
			switch {
			case i == j && sum > 1e-12*dot(columns[i], columns[i]): // else it is linearly dependent on earlier ones
				root[i][i] = math.Sqrt(sum)
			case i != j && root[j][j] > 0:
				root[i][j] = sum / root[j][j]
			}
		}
	}
	return root
}

// sketchOf is gaussianSketch of the columns with the given root.
func sketchOf(rng *rand.Rand, k int, root [][]float64) [][]float64 {
	n := len(root)
	out := make([][]float64, n)
	for j := range out {
		out[j] = make([]float64, k)
	}
	scale := 1 / math.Sqrt(float64(k))
	z := make([]float64, n)
	for r := range k {
		for i := range z {
			z[i] = rng.NormFloat64() * scale
			for l := range i + 1 {
				out[i][r] += root[i][l] * z[l]
			}
		}
	}
	return out
}

func addGaussian(rng *rand.Rand, sketch [][]float64, noise Noise) []Noise {
	noises := make([]Noise, len(sketch))
	for j := range sketch {
		noises[j] = noise
		for i := range sketch[j] {
			sketch[j][i] += math.Sqrt(noise.Variance) * rng.NormFloat64()
		}
	}
	return noises
}

// variables returns the positions of every party's columns in the stacked sketch.
func variables(parties []party, squares bool) [][]Variable {
	var out [][]Variable
	start := 0
	for _, p := range parties {
		vs := make([]Variable, len(p.values))
		for j := range vs {
			vs[j] = Variable{
				Value:         start + 1 + j,
				Ones:          Ones{Column: start, Weight: onesWeight, Records: p.records()},
				Squares:       start + 1 + len(vs) + j,
				SquaresWeight: squaresWeight,
			}
		}
		out = append(out, vs)
		start += 1 + len(vs)
		if squares {
			start += len(vs)
		}
	}
	return out
}

func stack(parties []party, squares bool) (columns [][]float64) {
	for _, p := range parties {
		columns = append(columns, p.columns(squares)...)
	}
	return columns
}

// crossPairs calls f for every pair of value columns of two parties.
func crossPairs(parties []party, vs [][]Variable, f func(x, y Variable, a, b party, i, j int)) {
	eachCross(parties, func(p, q, i, j int) { f(vs[p][i], vs[q][j], parties[p], parties[q], i, j) })
}

// eachCross calls f with columns i of party p and j of party q.
func eachCross(parties []party, f func(p, q, i, j int)) {
	for p := range parties {
		for q := range p {
			for i := range parties[p].values {
				for j := range parties[q].values {
					f(p, q, i, j)
				}
			}
		}
	}
}

// E1, E2 and the size of the intersection without noise, for data that are partly heavy-tailed. The
// cosine of columns over their own records is the power check.
func TestCorrelationCoverageWithoutNoise(t *testing.T) {
	const records, k = 569, 256
	var e1, e2, naive, shared tally
	for seed := range uint64(full.Or(90, 2400)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		parties := population(rng, records, 0.05, true)
		vs := variables(parties, true)
		sketch := rademacher(rng, k, stack(parties, true))
		g := mustGram(t, sketch, make([]Noise, len(sketch)))
		crossPairs(parties, vs, func(x, y Variable, a, b party, i, j int) {
			x.Kurtosis, y.Kurtosis = 3, 3
			if i == 0 {
				x.Kurtosis = 9
			}
			if j == 0 {
				y.Kurtosis = 9
			}
			rho, n := truth(a, b, i, j)
			e1.add(g.CorrelationE1(x, y, 0), rho)
			e2.add(g.CorrelationE2(x, y, 0), rho)
			naive.add(g.Cosine(Column(x.Value), Column(y.Value), 0), rho)
			shared.add(g.Intersection(x.Ones, y.Ones, 0), float64(n))
		})
		e1.seed()
		e2.seed()
		shared.seed()
	}
	e1.check(t, "E1", 0.93, 0.97)
	e2.check(t, "E2", 0.93, 0.97)
	shared.check(t, "intersection", 0.93, 0.97)
	if got := naive.coverage(); got > 0.9 {
		t.Errorf("the cosine over own records covers the correlation in %.3f: the test could not tell", got)
	}
}

// registry simulates vertical studies at record level: rows clipped to 0.8 in l2 except their ones
// before projection, then Gaussian noise of standard deviation 0.8·sigma, sigma being that for
// sensitivity 1. The truth is that of the data before clipping. The intersection is tallied
// relative to its size, with and without counts.
func registry(t *testing.T, records, k, seeds int, sigma float64,
	project func(*rand.Rand, int, [][]float64) [][]float64) (e2, shared, plain tally) {
	t.Helper()
	const clip, missing = 0.8, 0.05
	noise := Noise{Variance: math.Pow(sigma*clip, 2)}
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 2))
		parties := population(rng, records, missing, false)
		columns := stack(parties, false)
		for p := range parties {
			clipRows(columns[3*p+1:3*p+3], math.Sqrt(clip*clip-onesWeight*onesWeight)) // ones come first, and are not clipped
		}
		sketch := project(rng, k, columns)
		g := mustGram(t, sketch, addGaussian(rng, sketch, noise))
		crossPairs(parties, variables(parties, false), func(x, y Variable, a, b party, i, j int) {
			rho, n := truth(a, b, i, j)
			e2.add(g.CorrelationE2(x, y, 0), rho)
			if i+j > 0 {
				return
			}
			shared.add(g.Intersection(x.Ones, y.Ones, 0).over(n), 1)
			x.Ones.Records, y.Ones.Records = 0, 0
			plain.add(g.Intersection(x.Ones, y.Ones, 0).over(n), 1)
		})
		e2.seed()
		shared.seed()
		plain.seed()
	}
	return e2, shared, plain
}

func (e Estimate) over(n int) Estimate {
	e.Interval.Estimate /= float64(n)
	e.Low /= float64(n)
	e.High /= float64(n)
	return e
}

// clipRows scales each record's entries down to an l2 norm of at most b.
func clipRows(columns [][]float64, b float64) {
	for r := range columns[0] {
		var norm float64
		for _, c := range columns {
			norm += c[r] * c[r]
		}
		if norm = math.Sqrt(norm); norm > b {
			for _, c := range columns {
				c[r] *= b / norm
			}
		}
	}
}

// A registry: two columns per party, values (x − centre)/(3 spread), ones with weight 0.3, rows
// clipped to 0.8, ε = 1, δ = 1e-6, k = 1000.
func TestCorrelationCoverageWithNoise(t *testing.T) {
	full.Statistical(t)
	const sigma = 4.2246788893 // ε = 1, δ = 1e-6
	for _, test := range []struct {
		name        string
		records     int
		project     func(*rand.Rand, int, [][]float64) [][]float64
		seeds       int
		e2, n, free float64 // upper limits of the RMSE of ρ, and of the relative RMSE of N with and without counts
	}{
		{"200,000 records", 200_000, gaussianSketch, full.Or(12, 100), 0.060, 0.045, 0.075},
		{"60,000 records", 60_000, countSketch, full.Or(16, 400), 0.2, 0.15, 0.2},
	} {
		e2, shared, plain := registry(t, test.records, 1000, test.seeds, sigma, test.project)
		e2.check(t, test.name+": E2", 0.93, 0.97)
		shared.check(t, test.name+": intersection", 0.93, 0.97)
		plain.check(t, test.name+": intersection without counts", 0.90, 0.97) // clipping makes it too small
		if e2.rmse() > test.e2 || shared.rmse() > test.n || plain.rmse() > test.free {
			t.Errorf("%s: an RMSE is above %v", test.name, []float64{test.e2, test.n, test.free})
		}
	}
}

// E1 under noise: squares are sketched too, nothing is clipped, ε = 4.
func TestCorrelationE1CoverageWithNoise(t *testing.T) {
	full.Statistical(t)
	const records, k = 60_000, 1000
	const sigma = 1.1935185872
	var e1 tally
	for seed := range full.Or[uint64](16, 40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		parties := population(rng, records, 0.2, false)
		sketch := gaussianSketch(rng, k, stack(parties, true))
		g := mustGram(t, sketch, addGaussian(rng, sketch, Noise{Variance: sigma * sigma}))
		crossPairs(parties, variables(parties, true), func(x, y Variable, a, b party, i, j int) {
			rho, _ := truth(a, b, i, j)
			e1.add(g.CorrelationE1(x, y, 0), rho)
		})
		e1.seed()
	}
	e1.check(t, "E1 with noise", 0.93, 0.97)
}

var usualEnds sync.Map // cache of χ² quantiles at the default level, by the number of rows: they take longer than the sketch

func mustGram(t testing.TB, columns [][]float64, noise []Noise) *Gram {
	t.Helper()
	g, err := fromReals(columns, noise)
	if err != nil {
		t.Fatal(err)
	}
	ends, _ := usualEnds.LoadOrStore(g.k, sync.OnceValue(func() *chiEnds {
		low, high := Level(0).chiSquared(float64(g.k))
		return &chiEnds{0, float64(g.k), low, high}
	}))
	g.ends.last.Store(ends.(func() *chiEnds)())
	return g
}

// TestIntersectionWhereCutsGoTogether: clipping at the two parties is correlated, as one kind of
// record is long at both, and is more often shared. If ones are clipped with the values, they count
// too few records, whatever the norms are. Ones that are not clipped count all.
func TestIntersectionWhereCutsGoTogether(t *testing.T) {
	full.Statistical(t)
	const records, k, clip, sigma = 20_000, 1024, 0.8, 1 / 0.8379 // ε = 4, δ = 1e-6
	noise := Noise{Variance: sigma * sigma * clip * clip}
	var uncut, cut, product, ratio tally
	seeds := full.Or(80, 2000)
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 15))
		n, held := 0, [2]int{}
		whole, short := make([][]float64, 2), make([][]float64, 2)
		for p := range 2 {
			whole[p], short[p] = make([]float64, records), make([]float64, records)
		}
		for r := range records {
			long, both := rng.Float64() < 0.5, 0
			for p := range 2 {
				if !long && rng.Float64() < 0.3 {
					continue
				}
				held[p]++
				both++
				f := 1.0
				if long { // a record of length 2, apart from its ones
					f = clip / math.Sqrt(4+onesWeight*onesWeight)
				}
				whole[p][r], short[p][r] = onesWeight, f*onesWeight
			}
			n += both / 2
		}
		for which, columns := range [][][]float64{whole, short} {
			sketch := countSketch(rng, k, columns)
			g := mustGram(t, sketch, addGaussian(rng, sketch, noise))
			a, b := Ones{0, onesWeight, held[0]}, Ones{1, onesWeight, held[1]}
			if which == 1 {
				cut.add(g.Intersection(a, b, 0).over(n), 1)
				c, why := g.cosine(a.column(), b.column())
				if why != "" {
					t.Fatal(why)
				}
				ratio.add(c.estimate(g, 0, 0, 1).Times(math.Sqrt(float64(held[0])*float64(held[1]))).over(n), 1)
				continue
			}
			uncut.add(g.Intersection(a, b, 0).over(n), 1)
			product.add(g.InnerProduct(a.column(), b.column(), 0).over(n), 1)
		}
		for _, c := range []*tally{&uncut, &cut, &product, &ratio} {
			c.seed()
		}
	}
	uncut.check(t, "ones that are left", 0.93, 0.97)
	for what, c := range map[string]*tally{"ones that are cut": &cut, "the cosine of ones that are cut": &ratio} {
		t.Logf("%s: coverage %.3f, RMSE %.4f", what, c.coverage(), c.rmse())
		if c.coverage() > 0.85 {
			t.Errorf("%s: coverage %.3f: the test could not tell", what, c.coverage())
		}
	}
	if uncut.rmse() > 0.75*product.rmse() {
		t.Errorf("RMSE %.4f, of the bare product %.4f", uncut.rmse(), product.rmse())
	}
}
