package union

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/distance"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/testnet/corpus"
)

// Inertia is how far all records are from the centroids that are nearest to them, as shares
// of what k-means of the pooled records leaves without noise: by trial.
type Inertia struct {
	Cells     []float64 // the model that parties tell their records' clusters by
	Centroids []float64 // the means of the cells of each cluster, as they are published
	Curator   []float64 // DP-Lloyd of a curator who holds all records
	One       float64   // one cluster for everybody
	Undefined int       // trials without an answer
}

// mean is that over trials; NaN of none.
func mean(shares []float64) float64 { return floats.Sum(shares) / float64(len(shares)) }

// MeasureInertia runs a study's k-means so many times, dealing the records out anew, beside
// a curator's under the same promise and clip.
func MeasureInertia(ctx context.Context, p Pooled, clusters int, a Ask, curator Curator, trials int) (out Inertia, err error) {
	a.Analyses = fmt.Sprintf("{kind: k-means, clusters: %d}", clusters)
	records := p.around()
	noiseless, err := cluster.KMeans(ctx, records, cluster.Options{Clusters: clusters, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		return out, err
	}
	one, err := cluster.KMeans(ctx, records, cluster.Options{Clusters: 1, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		return out, err
	}
	least := inertia(records, noiseless.Centroids)
	out.One = inertia(records, one.Centroids) / least
	for trial := range uint64(trials) {
		answer, _, err := p.trial(ctx, a, trial)
		if err != nil {
			return out, err
		}
		out.Curator = append(out.Curator, inertia(records, curator.lloyd(records, clusters, rand.New(source(trial, 3))))/least)
		c := answer.Result.Analyses[0].CellMeans
		if c == nil {
			out.Undefined++
			continue
		}
		d := len(p.Columns)
		model, centroids := mat.NewDense(clusters, d, nil), mat.NewDense(clusters, d, nil)
		for k := range clusters {
			model.SetRow(k, c.Model[k])
			centroids.SetRow(k, p.encoded(c.Centroids[k], c.Model[k]))
		}
		out.Cells, out.Centroids = append(out.Cells, inertia(records, model)/least), append(out.Centroids, inertia(records, centroids)/least)
	}
	return out, nil
}

// around is the records in encoded units around the public centre, as models are.
func (p Pooled) around() *mat.Dense {
	out := p.scaled()
	for j, c := range p.Columns {
		if c.Range.Spread > 0 {
			continue
		}
		for i := range p.Records {
			out.Set(i, j, out.At(i, j)-0.5)
		}
	}
	return out
}

// encoded is a published centroid in the units of a model, or, where it has no number, that
// of the model.
func (p Pooled) encoded(centroid []analysis.Number, model []float64) []float64 {
	out := make([]float64, len(centroid))
	for j, n := range centroid {
		switch at := p.Columns[j].Range; {
		case n.Estimate == nil:
			out[j] = model[j]
		case at.Spread > 0:
			out[j] = (*n.Estimate - at.Centre) / (3 * at.Spread)
		default:
			out[j] = (*n.Estimate-at.Lo)/(at.Hi-at.Lo) - 0.5
		}
	}
	return out
}

func inertia(records, centroids *mat.Dense) (sum float64) {
	n, _ := records.Dims()
	for i := range n {
		r := records.RawRowView(i)
		sum += distance.Squared(r, centroids.RawRowView(cluster.Nearest(centroids, r)))
	}
	return sum
}

// Curator is who holds all records and releases clusters of them by DP-Lloyd (Blum et al.
// 2005): in each round the noisy counts and sums of the records nearest to each centroid.
type Curator struct {
	Mu     dp.Mu   // of all rounds together
	Rounds int     // required
	Clip   float64 // required: the length that a record is cut to
}

// lloyd begins with centroids that k-means++ draws from the records, which it takes for
// free: no private start is as good.
func (c Curator) lloyd(records *mat.Dense, clusters int, rng *rand.Rand) *mat.Dense {
	n, d := records.Dims()
	cut := mat.DenseCopyOf(records)
	for i := range n {
		if r := cut.RawRowView(i); floats.Norm(r, 2) > c.Clip {
			floats.Scale(c.Clip/floats.Norm(r, 2), r)
		}
	}
	centroids, chances := mat.NewDense(clusters, d, nil), make([]float64, n)
	for k := range clusters {
		pick := rng.IntN(n)
		if k > 0 {
			left := rng.Float64() * floats.Sum(chances)
			for pick = 0; pick < n-1 && left >= chances[pick]; pick++ {
				left -= chances[pick]
			}
		}
		centroids.SetRow(k, cut.RawRowView(pick))
		for i := range n {
			if far := distance.Squared(cut.RawRowView(i), centroids.RawRowView(k)); k == 0 || far < chances[i] {
				chances[i] = far
			}
		}
	}
	// A record is in one count, with 1, and in one sum, with at most Clip: as far as the noise
	// on counts goes, sums are over Clip.
	deviation := math.Sqrt2 * math.Sqrt(float64(c.Rounds)) / float64(c.Mu)
	for range c.Rounds {
		counts, sums := make([]float64, clusters), mat.NewDense(clusters, d, nil)
		for i := range n {
			r := cut.RawRowView(i)
			k := cluster.Nearest(centroids, r)
			counts[k]++
			floats.Add(sums.RawRowView(k), r)
		}
		for k := range clusters {
			count := counts[k] + deviation*rng.NormFloat64()
			mean := sums.RawRowView(k)
			for j := range mean {
				mean[j] = (mean[j] + c.Clip*deviation*rng.NormFloat64()) / count
			}
			if count > 3*deviation { // else the centroid stays
				centroids.SetRow(k, mean)
			}
		}
	}
	return centroids
}

// Misdeclared gives each column a centre that is off by .3 of its spread, and a spread by up
// to 22 %, at random: about what is typical of such data elsewhere.
func Misdeclared(records [][]float64, rng *rand.Rand) (out []Column) {
	column := make([]float64, len(records))
	for j := range records[0] {
		for i, r := range records {
			column[i] = r[j]
		}
		mean, sd := stat.MeanStdDev(column, nil)
		out = append(out, Column{Name: fmt.Sprintf("x%d", j), Range: Range{
			Centre: digits(mean + 0.3*sd*float64(2*rng.IntN(2)-1)), Spread: digits(sd * math.Exp(0.2*(2*rng.Float64()-1))),
		}})
	}
	return out
}

// apart draws n records about k centres; far is the spread of centres beside that of records.
func apart(n, d, k int, far float64, rng *rand.Rand) (out [][]float64) {
	centres := make([][]float64, k)
	for c := range centres {
		for range d {
			centres[c] = append(centres[c], far*rng.NormFloat64())
		}
	}
	for i := range n {
		r := make([]float64, d)
		for j := range r {
			r[j] = centres[i%k][j] + rng.NormFloat64()
		}
		out = append(out, r)
	}
	return out
}

// skewed draws n records of d lognormal columns, without clusters.
func skewed(n, d int, rng *rand.Rand) (out [][]float64) {
	for range n {
		r := make([]float64, d)
		for j := range r {
			r[j] = math.Exp(0.8 * rng.NormFloat64())
		}
		out = append(out, r)
	}
	return out
}

// Case is a k-means that is measured beside a curator's.
type Case struct {
	Pooled
	Clusters int
	Weak     bool // there are no clusters, or such that are hardly apart
}

// Generated are cases that need no data; the last has no clusters.
func Generated() (out []Case) {
	for _, c := range []struct {
		name     string
		clusters int
		weak     bool
		draw     func(*rand.Rand) [][]float64
	}{
		{"5 clusters, 30,000 x 20", 5, false, func(r *rand.Rand) [][]float64 { return apart(30_000, 20, 5, 2, r) }},
		{"8 weak clusters, 20,000 x 16", 8, true, func(r *rand.Rand) [][]float64 { return apart(20_000, 16, 8, 0.7, r) }},
		{"lognormal, 20,000 x 10", 4, true, func(r *rand.Rand) [][]float64 { return skewed(20_000, 10, r) }},
	} {
		rng := rand.New(rand.NewPCG(5, uint64(c.clusters)))
		one := Case{Pooled: Pooled{Name: c.name, Records: c.draw(rng)}, Clusters: c.clusters, Weak: c.weak}
		one.Columns = Misdeclared(one.Records, rng)
		out = append(out, one)
	}
	return out
}

// Real are cases of real records; fs.ErrNotExist where their data are not in the corpus.
func Real(data corpus.Corpus) ([]Case, error) {
	table, err := data.Adult()
	if err != nil {
		return nil, err
	}
	var columns []typical
	for _, name := range []string{"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"} {
		columns = append(columns, typical{name: name})
	}
	adult := Case{Pooled: Pooled{Name: "adult, six columns"}, Clusters: 4}
	if adult.Records, err = numbers(table, columns); err != nil {
		return nil, err
	}
	diabetes := Case{Clusters: 5}
	if diabetes.Pooled, err = Diabetes(data, false); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(5, 5))
	adult.Columns = Misdeclared(adult.Records, rng)
	diabetes.Columns = Misdeclared(diabetes.Records, rng)
	return []Case{adult, diabetes}, nil
}

// ruled is a study of the case by the rule for cells, and a curator under the same promise.
// Lengths of clips are a balance of bias and noise, shorter for k-means, which bears bias.
func (c Case) ruled(epsilon dp.Epsilon) (Ask, Curator, error) {
	mu, err := dp.MuOf(dp.Budget{Epsilon: epsilon, Delta: 1e-6})
	if err != nil {
		return Ask{}, Curator{}, err
	}
	d, n := float64(len(c.Columns)), float64(len(c.Records))
	best := forecast.CellTerms{Columns: len(c.Columns), Clusters: c.Clusters, Mu: mu, Parties: parties, Records: n}.Choose()
	clip := func(parties, mu, off float64) float64 {
		noise := math.Sqrt(34) / 3 * math.Sqrt(d) * math.Sqrt(parties) / (mu * n)
		m := max(1, min(0.6+0.8/math.Sqrt(d)-0.2*math.Log(noise), 3)-off)
		return math.Ceil(100*m*math.Sqrt(d)/3) / 100
	}
	half := float64(mu) / 2 // of the moments
	return Ask{Privacy: Promise(epsilon), Sketches: []string{
		fmt.Sprintf("{side: moments, clip: %v, share: %d}", clip(parties, half, 0), best.Moments),
		fmt.Sprintf("{side: cells, L: %d, q: %d, clip: %v, share: %d}", best.Directions, best.Subspace, clip(parties, half, 0.4), best.Cells),
	}}, Curator{Mu: mu, Rounds: 5, Clip: clip(1, float64(mu), 0.4)}, nil
}

// Measure is the inertia of a case by the rule.
func (c Case) Measure(ctx context.Context, epsilon dp.Epsilon, trials int) (Inertia, error) {
	a, curator, err := c.ruled(epsilon)
	if err != nil {
		return Inertia{}, err
	}
	return MeasureInertia(ctx, c.Pooled, c.Clusters, a, curator, trials)
}

// inertia tells how cells do beside a curator.
func (o Options) inertia(ctx context.Context, w io.Writer, trials int) error {
	cases := Generated()
	if o.Corpus != nil {
		real, err := Real(*o.Corpus)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		cases = append(cases, real...)
	}
	fmt.Fprintf(w, "INERTIA over that of k-means without noise, three parties, ε = 1 for whole records, %d trials\n", trials)
	fmt.Fprintln(w, "  (curator: DP-Lloyd in five rounds by who holds all records, from a start that costs nothing)")
	fmt.Fprintln(w, "                                            cells  centroids    curator  one cluster")
	for _, c := range cases {
		got, err := c.Measure(ctx, 1, trials)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %-38s %9.3f  %9.3f  %9.3f  %11.2f\n", c.Name, mean(got.Cells), mean(got.Centroids), mean(got.Curator), got.One)
	}
	fmt.Fprintln(w)
	return nil
}
