package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/sources"
)

// The setting of all the paper's experiments: two normal clusters, four apart, at ε = 4.
const (
	blobDistance = 4
	blobEpsilon  = 4
	blobRecords  = 1000
	blobGrain    = 1 << 10 // scale of values as integers
)

// blobs draws records of two clusters in d dimensions as integers, with their labels.
func blobs(r *rand.Rand, n, d int) (x []int64, labels []int) {
	for i := range n {
		labels = append(labels, i%2)
		for range d {
			centre := (float64(i%2) - 0.5) * blobDistance / math.Sqrt(float64(d))
			x = append(x, int64(math.Round((centre+r.NormFloat64())*blobGrain)))
		}
	}
	return x, labels
}

// laplace draws noise of scale b.
func laplace(r *rand.Rand, b float64) float64 { return b * (r.ExpFloat64() - r.ExpFloat64()) }

// clustered returns the share of records that 2-means assigns to their own cluster.
func clustered(ctx context.Context, points []float64, k int, labels []int, i int) (float64, error) {
	found, err := cluster.KMeans(ctx, mat.NewDense(len(labels), k, points), cluster.Options{Clusters: 2, Restarts: 10, Rand: source("k-means", i)})
	if err != nil {
		return 0, err
	}
	return cluster.Agreement(found.Labels, labels)
}

// released projects records by a family and adds Laplace noise of scale b.
func released(spec projection.Spec, x []int64, d int, b float64, i int) ([]float64, error) {
	f, err := fixed(spec, d, "dhaliwal", i)
	if err != nil {
		return nil, err
	}
	y, r := project(f, x), source("dhaliwal-noise", i)
	for j := range y {
		y[j] = y[j]/blobGrain + laplace(r, b)
	}
	return y, nil
}

// dhaliwalClusters computes table 1, with the project's own choice in the same setting.
func dhaliwalClusters(ctx context.Context, o Options) (Table, error) {
	t := Table{
		Question: "How many records does 2-means still put into the right cluster?",
		Setting:  fmt.Sprintf("Two normal clusters of unit variance, %d apart, %d records, ε = %d for a change of l1 norm 1; %d draws of data, R and noise a line, in this process.", blobDistance, blobRecords, blobEpsilon, o.Repeats),
		Columns:  []string{"d", "k", "data", "published", "our mean", "our 5 % to 95 %"},
		Notes: []string{"Each published column is one draw of R, shared by both of its rows. \"None\" is Φ(2) = .977 for any d.",
			"element: b = 2√k/ε (theorem 3). row: b = √(2k ln 2k)/ε, the least that theorem 5 allows, to which it gives probability 0.",
			"ours: sparse signs, one for each column, and b = 1/ε: pure ε for the same change, for certain.",
			"Best of ten starts is kept, as the paper does not say how it starts."},
		Beyond: &Beyond{
			Statistic: "Records in the right cluster at ε = 4.",
			Notes:     []string{"Source: theorem 3, element. Ours: not projected. The curator releases both clusters' means with Gaussian noise. No rule puts more than Φ(2) of the records right, whatever it is told: that is the last column."},
		},
	}
	chart := newErrorChart("dhaliwal-1", "Records in the right cluster, by d", "d", "share of the records")
	for _, line := range []struct {
		d, k               int
		none, element, row float64 // published; 0: not in the paper
	}{{3, 2, .9783, .9441, .9477}, {10, 3, .9772, .9082, .9090}, {50, 10, .9771, .6954, .6796}, {100, 20, .9797, .6927, .6668}, {100, 100, 0, 0, 0}} {
		beyond := BeyondLine{Privacy: fmt.Sprintf("d = %d, k = %d", line.d, line.k), Method: "identity, laplace", Bound: "0.977"}
		for _, mode := range blobModes(line.d, line.k, line.none, line.element, line.row) {
			got, err := mode.accuracies(ctx, o, line.d)
			if err != nil {
				return Table{}, err
			}
			low, high := quantile(got, 0.05), quantile(got, 0.95)
			one := Line{Cells: []string{fmt.Sprint(line.d), fmt.Sprint(mode.spec.K), mode.name, "", fmt.Sprintf("%.3f", mean(got)), fmt.Sprintf("%.3f to %.3f", low, high)}, Holds: true}
			if mode.published > 0 {
				one.Cells[3] = fmt.Sprintf("%.4f", mode.published)
				one.Because = "the published value lies within the range of single draws"
				one.Holds = mode.published >= quantile(got, 0.005) && mode.published <= quantile(got, 0.999)
			}
			if mode.name == "none" {
				one.Because, one.Holds = "the mean is .977 ± .003", math.Abs(mean(got)-0.97725) < 0.003
			}
			if line.k == 100 {
				one.Because, one.Holds = claimAtHundred(mode.name, mean(got))
			}
			t.Lines = append(t.Lines, one)
			if line.k < 100 { // of the lines at d = 100, draw the paper's own
				chart.also(mode.name, float64(line.d), mean(got), low, high)
			}
			if mode.published > 0 {
				chart.also(mode.name+", published", float64(line.d), mode.published, mode.published, mode.published)
			}
			switch mode.name {
			case "element":
				beyond.Source = fmt.Sprintf("%.3f", mean(got))
			case "ours, not projected":
				beyond.Ours = fmt.Sprintf("%.3f", mean(got))
			}
		}
		curated, err := each(ctx, o, o.Repeats, func(i int) (float64, error) { return curatedBlobs(line.d, i) })
		if err != nil {
			return Table{}, err
		}
		beyond.Curator = fmt.Sprintf("%.3f", mean(curated))
		t.Beyond.Lines = append(t.Beyond.Lines, beyond)
	}
	t.charts = append(t.charts, chart.done())
	return t, blobsPlayed(ctx, o, &t, func(d played) ([]Drawn, []reference) { return d.drawn[:1], []reference{spread(d.accuracy)} })
}

// blobMode is one way to release the records.
type blobMode struct {
	name      string
	published float64 // accuracy; 0: not in the paper
	spec      projection.Spec
	b         float64 // scale of the noise
}

// blobModes returns those of table 1, and ours.
func blobModes(d, k int, none, element, row float64) []blobMode {
	whole, normal := projection.Spec{Family: projection.Identity, K: d}, projection.Spec{Family: projection.Gaussian, K: k}
	return []blobMode{
		{"none", none, whole, 0},
		{"element", element, normal, 2 * math.Sqrt(float64(k)) / blobEpsilon},
		{"row", row, normal, math.Sqrt(2*float64(k)*math.Log(2*float64(k))) / blobEpsilon},
		{"ours", 0, projection.Spec{Family: projection.Sparse, K: k, S: 1}, 1. / blobEpsilon},
		{"ours, not projected", 0, whole, 1. / blobEpsilon},
	}
}

// accuracies draws data, R and noise o.Repeats times.
func (m blobMode) accuracies(ctx context.Context, o Options, d int) ([]float64, error) {
	return each(ctx, o, o.Repeats, func(i int) (float64, error) {
		x, labels := blobs(source("dhaliwal-1", i), blobRecords, d)
		y, err := released(m.spec, x, d, m.b, i)
		if err != nil {
			return 0, err
		}
		return clustered(ctx, y, m.spec.K, labels, i)
	})
}

// curatedBlobs returns the accuracy with the two clusters' means, which a curator releases with
// Gaussian noise at the same ε and δ = 10⁻⁶. Membership of clusters is taken as public.
func curatedBlobs(d, i int) (float64, error) {
	x, labels := blobs(source("dhaliwal-1", i), blobRecords, d)
	mu, err := dp.MuOf(dp.Budget{Epsilon: blobEpsilon, Delta: 1e-6})
	if err != nil {
		return 0, err
	}
	r := source("dhaliwal-curator", i)
	var means [2][]float64
	for c := range means {
		means[c] = make([]float64, d)
		for j := range d {
			for n, label := range labels {
				if label == c {
					means[c][j] += float64(x[n*d+j]) / blobGrain
				}
			}
			means[c][j] = (means[c][j] + r.NormFloat64()/float64(mu)) / (blobRecords / 2)
		}
	}
	right := 0
	for n, label := range labels {
		row := make([]float64, d)
		for j := range row {
			row[j] = float64(x[n*d+j]) / blobGrain
		}
		if (apart(row, means[1]) < apart(row, means[0])) == (label == 1) {
			right++
		}
	}
	return float64(right) / blobRecords, nil
}

// claimAtHundred checks the accuracy at d = k = 100, where the paper's noise leaves nothing.
func claimAtHundred(mode string, accuracy float64) (string, bool) {
	switch mode {
	case "element":
		return "about .52", math.Abs(accuracy-0.517) < 0.03
	case "ours":
		return "above .87", accuracy > 0.87
	case "ours, not projected":
		return "above .95", accuracy > 0.95
	}
	return "", true
}

// dhaliwalDistances computes figure 3: recovered squared distances are unbiased.
func dhaliwalDistances(ctx context.Context, o Options) (Table, error) {
	t, err := distancesAgainst(ctx, o, func(k int, r2, b float64) float64 {
		return sources.DistanceVariance(k, r2, sources.Noise{Mechanism: dp.Laplace, Scale: b})
	})
	if err != nil {
		return Table{}, err
	}
	t.Beyond = blobsBeyond()
	return t, blobsPlayed(ctx, o, &t, func(d played) ([]Drawn, []reference) { return d.drawn[1:2], []reference{spread(d.off).of(0)} })
}

// blobsBeyond compares methods for the squared distance of two records in the paper's setting.
func blobsBeyond() *Beyond {
	const d, r2, delta = 3, 14., 1e-6 // r2: 2d within a cluster, 16 more between two
	out := &Beyond{
		Statistic: fmt.Sprintf("Standard deviation of a squared distance of %g at d = %d, for a change of l1 norm 1, δ = 10⁻⁶ where there is one.", r2, d),
		Notes:     []string{"Source: theorem 3, element, at k = 2. The curator's number moves by 2|z| + 1 at most where a record moves by 1; |z| = √14 is taken, which a bound on records would have to promise. Bounds for two parties are about long vectors, and say nothing at d = 3."},
	}
	for _, epsilon := range []dp.Epsilon{1, 4, 8} {
		mu, err := dp.MuOf(dp.Budget{Epsilon: epsilon, Delta: delta})
		if err != nil {
			continue // unreachable
		}
		theirs := sources.DistanceVariance(2, r2, sources.Noise{Mechanism: dp.Laplace, Scale: 2 * math.Sqrt2 / float64(epsilon)})
		b := 1 / float64(epsilon)
		out.Lines = append(out.Lines, BeyondLine{
			Privacy: fmt.Sprintf("ε = %g", float64(epsilon)), Source: figures(math.Sqrt(theirs)), Method: "identity, laplace",
			Ours: figures(math.Sqrt(16*b*b*r2 + 56*d*math.Pow(b, 4))), Curator: figures((2*math.Sqrt(r2) + 1) / float64(mu)),
		})
	}
	return out
}

// distancesAgainst compares the recovered distances with a theoretical variance.
func distancesAgainst(ctx context.Context, o Options, theory func(k int, r2, b float64) float64) (Table, error) {
	const d, k, pairs = 3, 2, 1000
	x, _ := blobs(source("dhaliwal-3", -1), 2*pairs, d)
	t := Table{
		Question: "Are recovered squared distances right on average?",
		Setting:  fmt.Sprintf("%d pairs of records, d = %d, k = %d, each released %d times with R and noise drawn anew, in this process (1000 times in the paper).", pairs, d, k, o.Repeats),
		Columns:  []string{"noise", "published mean difference", "our mean difference", "standard error", "variance over theory"},
		Notes:    []string{"Theory is 2r⁴/k + 16b²r² + 56kb⁴: claim 7 of the paper prints another cross term."},
	}
	for _, mode := range []struct {
		name      string
		published string
		b         float64
	}{{"element", "0.006", 2 * math.Sqrt(k) / blobEpsilon}, {"row", "-0.011", math.Sqrt(2*k*math.Log(2*k)) / blobEpsilon}} {
		type run struct{ off, square float64 }
		runs, err := each(ctx, o, pairs, func(p int) (run, error) {
			var out run
			r := source("dhaliwal-3", p)
			z, truth := make([]int64, d), 0.0
			for j := range d {
				z[j] = x[2*p*d+j] - x[(2*p+1)*d+j]
				truth += float64(z[j]*z[j]) / blobGrain / blobGrain
			}
			expected := theory(k, truth, mode.b)
			for i := range o.Repeats {
				f, err := fixed(projection.Spec{Family: projection.Gaussian, K: k}, d, "dhaliwal-3"+mode.name, p*100_000+i)
				if err != nil {
					return run{}, err
				}
				got := -4 * k * mode.b * mode.b
				for _, v := range project(f, z) {
					v = v/blobGrain + laplace(r, mode.b) - laplace(r, mode.b)
					got += v * v
				}
				out.off += (got - truth) / float64(o.Repeats)
				out.square += (got - truth) * (got - truth) / expected / float64(o.Repeats)
			}
			return out, nil
		})
		if err != nil {
			return Table{}, err
		}
		t.charts = append(t.charts, histogram("dhaliwal-3-"+mode.name, "Recovered less true squared distances, "+mode.name+", means of each pair", "difference", offsOf(runs, func(r run) float64 { return r.off }), 0))
		var offs, squares []float64
		for _, one := range runs {
			offs, squares = append(offs, one.off), append(squares, one.square)
		}
		t.Lines = append(t.Lines, Line{
			Cells:   []string{mode.name, mode.published, fmt.Sprintf("%.3f", mean(offs)), fmt.Sprintf("%.3f", standardError(offs)), fmt.Sprintf("%.3f", mean(squares))},
			Holds:   math.Abs(mean(offs)) < 5*standardError(offs) && math.Abs(mean(squares)-1) < 5*standardError(squares),
			Because: "mean difference zero and variance that of theory, within five standard errors",
		})
	}
	return t, nil
}

func offsOf[T any](runs []T, of func(T) float64) (out []float64) {
	for _, r := range runs {
		out = append(out, of(r))
	}
	return out
}

// dhaliwalSpread computes figure 4: the standard deviation of released coordinates.
func dhaliwalSpread(ctx context.Context, o Options) (Table, error) {
	const d = 100
	t := Table{
		Question: "How far do the released coordinates spread?",
		Setting:  fmt.Sprintf("A normal cluster of unit variance, d = %d; %d draws of R a line, ten records each, in this process.", d, o.Repeats),
		Columns:  []string{"k", "noise", "printed √(1 + 2b²)", "√(d/k + 2b²)", "ours"},
		Notes:    []string{"Projecting adds up d coordinates into k, so that the data's own part is d/k, not 1."},
	}
	chart := newErrorChart("dhaliwal-4", "Standard deviation of released coordinates, by k", "k", "standard deviation")
	for _, k := range []int{2, 10, 20, 50, 100} {
		for _, mode := range []struct {
			name string
			b    float64
		}{{"element", 2 * math.Sqrt(float64(k)) / blobEpsilon}, {"row", math.Sqrt(2*float64(k)*math.Log(2*float64(k))) / blobEpsilon}} {
			got, err := each(ctx, o, o.Repeats, func(i int) (float64, error) {
				r := source("dhaliwal-4", i)
				x := make([]int64, 10*d)
				for j := range x {
					x[j] = int64(math.Round(r.NormFloat64() * blobGrain))
				}
				y, err := released(projection.Spec{Family: projection.Gaussian, K: k}, x, d, mode.b, i)
				return dot(y, y) / float64(len(y)), err
			})
			if err != nil {
				return Table{}, err
			}
			printed, right := math.Sqrt(1+2*mode.b*mode.b), math.Sqrt(float64(d)/float64(k)+2*mode.b*mode.b)
			t.Lines = append(t.Lines, Line{
				Cells:   []string{fmt.Sprint(k), mode.name, fmt.Sprintf("%.3f", printed), fmt.Sprintf("%.3f", right), fmt.Sprintf("%.3f", math.Sqrt(mean(got)))},
				Holds:   math.Abs(mean(got)-right*right) < 5*standardError(got),
				Because: "within five standard errors of √(d/k + 2b²)",
			})
			chart.also(mode.name+", printed", float64(k), printed, printed, printed)
			chart.also(mode.name+", ours", float64(k), math.Sqrt(mean(got)), math.Sqrt(quantile(got, 0.025)), math.Sqrt(quantile(got, 0.975)))
		}
	}
	t.charts = append(t.charts, chart.done())
	return t, blobsPlayed(ctx, o, &t, func(d played) ([]Drawn, []reference) { return d.drawn[2:3], []reference{spread(d.width)} })
}

// played holds the study of the paper's records on running nodes, and draws in this process.
type played struct {
	drawn                []Drawn // accuracy, error of a recovered mean distance, standard deviation of released coordinates
	accuracy, off, width []float64
}

// playedRange is the bound of values in the study; all records lie within.
const playedRange = 8

// blobsPlayed runs the study once for all three tables, and adds this table's number.
func blobsPlayed(ctx context.Context, o Options, t *Table, of func(played) ([]Drawn, []reference)) error {
	const d, n, draws = 100, 999, 60
	x, labels := blobs(source("dhaliwal-played", -1), n, d)
	names, rows := numbered(d), make([][]float64, n)
	for i := range rows {
		for _, v := range x[i*d : (i+1)*d] {
			rows[i] = append(rows[i], float64(v)/blobGrain)
		}
	}
	b := 1. / blobEpsilon
	// between returns the mean squared distance between the first two parties' records.
	between := func(y []float64, k int) (sum float64) {
		third := n / parties
		for i := range third {
			for j := third; j < 2*third; j++ {
				sum += apart(y[i*k:(i+1)*k], y[j*k:(j+1)*k])
			}
		}
		return sum / float64(third*third)
	}
	truth := between(slices.Concat(rows...), d)
	out := played{}
	var err error
	out.drawn, err = o.play(ctx, Study{
		Name: "dhaliwal-blobs", Partition: study.Horizontal, Columns: columns(names, fmt.Sprintf("kind: numeric, bounds: [-%d, %d]", playedRange, playedRange)),
		Sketches: []string{fmt.Sprintf("side: records, family: sparse, k: %d", d)}, Privacy: fmt.Sprintf("unit: attribute, mechanism: laplace, epsilon: %d", 2*playedRange*blobEpsilon),
		Analyses: []string{"kind: k-means, clusters: 2, restarts: 10", "kind: group-distance"}, Data: dealt(names, rows),
	}, func(o Outcome) ([]Drawn, error) { return readBlobs(o, labels, truth) })
	if err != nil || out.drawn == nil {
		return err
	}
	type run struct{ accuracy, off, width float64 }
	runs, err := each(ctx, o, draws, func(i int) (run, error) {
		y, err := released(projection.Spec{Family: projection.Sparse, K: d, S: 1}, x, d, b, 1000+i)
		if err != nil {
			return run{}, err
		}
		off := between(y, d) - 4*d*b*b - truth
		width := deviationOf(mat.NewDense(n, d, y))
		accuracy, err := clustered(ctx, y, d, labels, i)
		return run{accuracy, off, width}, err
	})
	if err != nil {
		return err
	}
	out.accuracy = offsOf(runs, func(r run) float64 { return r.accuracy })
	out.off = offsOf(runs, func(r run) float64 { return r.off })
	out.width = offsOf(runs, func(r run) float64 { return r.width })
	drawn, refs := of(out)
	t.compare(fmt.Sprintf("Three parties with 333 records of d = %d each, records side, family sparse, k = %d, mechanism laplace. Values have bounds of ±%d, so that noise for a change of 1 at ε = %d is noise for a change over the whole range at ε = %d. No study can ask for the paper's own noise, whose promise may fail.", d, d, playedRange, blobEpsilon, 2*playedRange*blobEpsilon),
		drawn, refs...)
	return nil
}

// deviationOf returns the standard deviation of the entries around their column means.
func deviationOf(y *mat.Dense) float64 {
	n, k := y.Dims()
	var sum float64
	for j := range k {
		sum += variance(mat.Col(nil, j, y)) * float64(n-1) / float64(n)
	}
	return math.Sqrt(sum / float64(k))
}

// readBlobs reads the numbers of the three tables from the study.
func readBlobs(out Outcome, labels []int, truth float64) ([]Drawn, error) {
	found, err := clustersOf(out, len(labels))
	if err != nil {
		return nil, err
	}
	accuracy, err := cluster.Agreement(found, labels)
	if err != nil {
		return nil, err
	}
	a, err := answer(out.Result, "group-distance")
	if err != nil {
		return nil, err
	}
	n, err := pairOf(a, partyNames[0], partyNames[1])
	if err != nil {
		return nil, err
	}
	const unit = 2 * playedRange // 1 in encoded values
	distance, err := number("mean recovered less mean true squared distance between two parties", n, unit*unit)
	if err != nil {
		return nil, err
	}
	_, k := entries(out.Releases[0], 0).Dims()
	all := mat.NewDense(len(labels), k, nil)
	at := 0
	for _, r := range out.Releases {
		points := entries(r, 0)
		rows, _ := points.Dims()
		all.Slice(at, at+rows, 0, k).(*mat.Dense).Scale(unit, points)
		at += rows
	}
	return []Drawn{{What: "records in the right cluster", Value: accuracy}, distance.less(truth), {What: "deviation of released coordinates", Value: deviationOf(all)}}, nil
}
