package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/stream"
	"github.com/cosketch/cosketch/testnet/live"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// liuTable is one of tables I and II.
type liuTable struct {
	name      string
	what      string
	estimate  func(u, v []float64) float64
	truth     func(xx, yy, xy float64) float64
	deviation func(xx, yy, xy float64, k int) float64 // relative, by theory
	published map[int]float64                         // mean relative error in %
	drawn     int                                     // which number of the study on nodes is its

	// With noise, for columns with bounds 0 and hx, hy.
	noised      func(xx, yy, xy, both float64, k int, v noised) float64
	sensitivity func(hx, hy float64) float64 // of the true number to one value
	crossed     float64                      // how often the product is in it
}

var (
	tableOne = liuTable{
		name: "liu-1", what: "inner product of two columns",
		estimate: dot,
		truth:    func(_, _, xy float64) float64 { return xy },
		deviation: func(xx, yy, xy float64, k int) float64 {
			cos2 := xy * xy / xx / yy
			return math.Sqrt((1 + cos2) / (cos2 * float64(k)))
		},
		published: map[int]float64{100: 9.91, 500: 5.84, 1000: 2.94, 2000: 2.69, 3000: 1.81},
		noised:    productVariance, sensitivity: func(hx, hy float64) float64 { return hx * hy }, crossed: 1,
	}
	tableTwo = liuTable{
		name: "liu-2", what: "squared distance of two columns",
		estimate:  apart,
		truth:     func(xx, yy, xy float64) float64 { return xx + yy - 2*xy },
		deviation: func(_, _, _ float64, k int) float64 { return math.Sqrt(2 / float64(k)) },
		published: map[int]float64{100: 10.44, 500: 4.97, 1000: 2.70, 2000: 2.59, 3000: 1.80},
		drawn:     1,
		noised:    distanceVariance, sensitivity: func(hx, hy float64) float64 { return math.Pow(max(hx, hy), 2) }, crossed: 2,
	}
)

// publishedRuns is how many matrices a mean of the paper is over.
const publishedRuns = 20

func liuErrors(ctx context.Context, o Options, table liuTable) (Table, error) {
	adult, err := o.Corpus.Adult()
	if err != nil {
		return Table{}, err
	}
	const records = 10_000
	x, err := adult.Numbers("fnlwgt")
	if err != nil {
		return Table{}, err
	}
	y, err := adult.Numbers("education-num")
	if err != nil {
		return Table{}, err
	}
	x, y = x[:records], y[:records]
	xx, yy, xy := dot(x, x), dot(y, y), dot(x, y)
	truth := table.truth(xx, yy, xy)
	flat := make([]int64, 0, 2*records)
	labels := make([][]byte, records)
	for i := range x {
		flat = append(flat, int64(x[i]), int64(y[i]))
		labels[i] = fmt.Appendf(nil, "%d", i)
	}
	t := Table{
		Question: "How far off is the " + table.what + " that is taken from their projections?",
		Setting:  fmt.Sprintf("Adult, the first %d records, fnlwgt and education-num as they are; R of k rows with normal entries; %d matrices a line, in this process.", records, o.Repeats),
		Columns:  []string{"k", "published mean error", "95 % of means of 20", "our mean error", "theory", "2,000 draws of its law"},
	}
	r := source(table.name, -1)
	chart := newErrorChart(table.name, "Mean relative error of the "+table.what+", by k", "k", "mean relative error, %")
	var asPlayed []float64 // signed errors at the k of the study
	for _, k := range []int{100, 500, 1000, 2000, 3000} {
		spec := projection.Spec{Family: projection.Gaussian, K: k}
		errs, err := each(ctx, o, o.Repeats, func(i int) (float64, error) {
			matrix, err := projection.New(spec, stream.New(key(table.name, i*10_000+k)))
			if err != nil {
				return 0, err
			}
			sums := make([]int64, 2*k)
			matrix.AddOuters(sums, labels, flat)
			u, v := make([]float64, k), make([]float64, k)
			for j := range k {
				u[j], v[j] = float64(sums[2*j])*spec.Scale(), float64(sums[2*j+1])*spec.Scale()
			}
			return 100 * (table.estimate(u, v) - truth) / truth, nil
		})
		if err != nil {
			return Table{}, err
		}
		if k == adultK {
			asPlayed = slices.Clone(errs)
		}
		for i, e := range errs {
			errs[i] = math.Abs(e)
		}
		twenty := means(errs, publishedRuns, 4000, r)
		low, high := quantile(twenty, 0.025), quantile(twenty, 0.975)
		deviation := 100 * table.deviation(xx, yy, xy, k)
		theory := deviation * math.Sqrt(2/math.Pi)
		ours := mean(errs)
		published := table.published[k]
		law := table.law(xx, yy, xy, k, lawRuns)
		t.Lines = append(t.Lines, Line{
			Cells: []string{fmt.Sprint(k), percent(published), fmt.Sprintf("%s to %s", percent(low), percent(high)), percent(ours), percent(theory), percent(mean(law))},
			Holds: published >= low && published <= high && math.Abs(ours-theory) < 5*standardError(errs) &&
				math.Abs(mean(law)-theory) < 3*standardError(law)+theory/float64(k),
			Because: "the published mean lies where 95 % of our means of 20 lie, our mean is within five standard errors of theory, and that of the law within three (and 1/k, as theory takes errors for normal)",
		})
		chart.add(float64(k), published, ours, low, high, theory)
	}
	t.charts = append(t.charts, chart.done())
	t.Beyond = columnsBeyond(table, x, y)
	drawn, err := o.play(ctx, adultStudy(x, y), func(out live.Outcome) ([]Drawn, error) { return readAdult(out, xx, yy, xy) })
	if err != nil {
		return Table{}, err
	}
	if drawn != nil {
		drawn = drawn[table.drawn : table.drawn+1]
	}
	t.compare(fmt.Sprintf("The two columns at two of three parties, columns side, family gaussian, k = %d, mechanism none, as the paper has it; the bounds are 0 and the greatest value.", adultK),
		drawn, spread(asPlayed).in("%").of(0))
	return t, nil
}

// lawRuns is how many runs the law of the errors is drawn for.
const lawRuns = 2000

// law draws relative errors, in percent, by the law that two columns sketched with normal
// entries have: k pairs of normal variables with the columns' products for covariance.
func (t liuTable) law(xx, yy, xy float64, k, runs int) []float64 {
	r, out := source(t.name+"-law", k), make([]float64, runs)
	slope, rest := xy/math.Sqrt(xx), math.Sqrt(yy-xy*xy/xx)
	scale := 1 / math.Sqrt(float64(k))
	u, v := make([]float64, k), make([]float64, k)
	truth := t.truth(xx, yy, xy)
	for i := range out {
		for j := range k {
			a, b := r.NormFloat64()*scale, r.NormFloat64()*scale
			u[j], v[j] = math.Sqrt(xx)*a, slope*a+rest*b
		}
		out[i] = 100 * math.Abs(t.estimate(u, v)-truth) / truth
	}
	return out
}

// adultK is that of the study on running nodes.
const adultK = 1000

// adultStudy has the two columns at two parties and a third column, of which nothing is
// asked, at the third.
func adultStudy(x, y []float64) live.Study {
	s := live.Study{
		Name: "liu-adult", Partition: study.Vertical,
		Sketches: []string{fmt.Sprintf("side: columns, family: gaussian, k: %d, helpers: {ones: 0}", adultK)},
		Privacy:  "mechanism: none", Analyses: []string{"kind: inner-product", "kind: distance"},
	}
	ones := make([]float64, len(x))
	for i := range ones {
		ones[i] = 1
	}
	for p, column := range []struct {
		name   string
		values []float64
	}{{"fnlwgt", x}, {"education-num", y}, {"ones", ones}} {
		s.Columns = append(s.Columns, fmt.Sprintf("name: %s, kind: numeric, bounds: [0, %s], source: public data, owner: %s",
			column.name, scenario.Decimal(slices.Max(column.values)), scenario.PartyNames[p]))
		s.Data[p].Columns = []string{column.name}
		for i, v := range column.values {
			s.Data[p].IDs = append(s.Data[p].IDs, strconv.Itoa(i))
			s.Data[p].Values = append(s.Data[p].Values, []float64{v})
		}
	}
	return s
}

// readAdult takes the relative errors of product and distance.
func readAdult(out live.Outcome, xx, yy, xy float64) (drawn []Drawn, err error) {
	for _, one := range []struct {
		kind  string
		truth float64
	}{{"inner-product", xy}, {"distance", xx + yy - 2*xy}} {
		a, err := answer(out.Result, one.kind)
		if err != nil {
			return nil, err
		}
		n, err := pairOf(a, "fnlwgt", "education-num")
		if err != nil {
			return nil, err
		}
		d, err := number("relative error of the "+one.kind, n, 100/one.truth)
		if err != nil {
			return nil, err
		}
		drawn = append(drawn, d.less(100))
	}
	return drawn, nil
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", x) }

// liuProducts is figure 6: the errors of the inner products of two sets of columns.
func liuProducts(ctx context.Context, o Options) (Table, error) {
	const records, columns = productRecords, productColumns
	r := source("liu-6", -1)
	x, length := uniformColumns(r, records, 2*columns)
	labels := make([][]byte, records)
	for i := range labels {
		labels[i] = fmt.Appendf(nil, "%d", i)
	}
	t := Table{
		Question: "How are the errors of inner products of columns of unit length spread?",
		Setting:  fmt.Sprintf("Two sets of %d columns of %d uniform numbers, each scaled to length one, 100 columns a set in the paper; %d matrices, in this process.", columns, records, o.Repeats),
		Columns:  []string{"k", "published bound", "root mean squared error", "theory", "mean of one matrix (deviation over matrices)"},
		Notes: []string{"Errors have mean zero over matrices. The entries of one matrix lean together, as all columns share a direction.",
			"The error falls as the root of k."},
	}
	chart := newErrorChart("liu-6", "Root mean squared error of inner products of columns of length one, by k", "k", "root mean squared error")
	var asPlayed, holding, single []float64
	for _, k := range []int{200, 500, 1000, 5000} {
		spec := projection.Spec{Family: projection.Gaussian, K: k}
		type run struct {
			square, mean, part, within float64 // the last two of the pairs that the study on nodes has: mean square, and intervals that hold
			errors                     []float64
		}
		repeats := o.Repeats
		if k <= 500 {
			repeats = 4 * o.Repeats // they take a tenth of the time
		}
		runs, err := each(ctx, o, repeats, func(i int) (run, error) {
			matrix, err := projection.New(spec, stream.New(key("liu-6", i*10_000+k)))
			if err != nil {
				return run{}, err
			}
			sums := make([]int64, 2*columns*k)
			matrix.AddOuters(sums, labels, x)
			u := make([][]float64, 2*columns)
			for c := range u {
				u[c] = make([]float64, k)
				for j := range k {
					u[c][j] = float64(sums[j*2*columns+c]) * spec.Scale() / length[c]
				}
			}
			var out run
			for a := range columns {
				for b := columns; b < 2*columns; b++ {
					off := dot(u[a], u[b]) - cosine(x, length, 2*columns, a, b)
					out.square += off * off / (columns * columns)
					out.mean += off / (columns * columns)
					if a < playedColumns && b < columns+playedColumns {
						const pairs = playedColumns * playedColumns
						out.part += off * off / pairs
						c := dot(u[a], u[b])
						if math.Abs(off) < normal95*math.Sqrt((dot(u[a], u[a])*dot(u[b], u[b])+c*c)/float64(k)) {
							out.within += 100. / pairs
						}
					}
					if k == 5000 && i == 0 {
						out.errors = append(out.errors, off)
					}
				}
			}
			return out, nil
		})
		if err != nil {
			return Table{}, err
		}
		var squares, centres []float64
		for _, one := range runs {
			squares, centres = append(squares, one.square), append(centres, one.mean)
		}
		error := math.Sqrt(mean(squares))
		theory := math.Sqrt((1 + 0.75*0.75) / float64(k)) // cosines of uniform columns are 3/4
		t.Lines = append(t.Lines, Line{
			Cells: []string{fmt.Sprint(k), fmt.Sprintf("%.4f", math.Sqrt(2/float64(k))), fmt.Sprintf("%.4f", error), fmt.Sprintf("%.4f", theory), fmt.Sprintf("%.4f", math.Sqrt(variance(centres)))},
			// Errors of one matrix go together, so that a matrix is about two draws.
			Holds:   math.Abs(mean(squares)-theory*theory) < 5*standardError(squares),
			Because: "the mean squared error is within five standard errors of theory",
		})
		var roots []float64
		for _, one := range runs {
			roots = append(roots, math.Sqrt(one.square))
			if k == productK {
				asPlayed, holding = append(asPlayed, math.Sqrt(one.part)), append(holding, one.within)
			}
			single = append(single, one.errors...)
		}
		chart.add(float64(k), math.NaN(), error, quantile(roots, 0.025), quantile(roots, 0.975), theory)
	}
	t.charts = append(t.charts, histogram("liu-6a", "Errors of the inner products of one matrix, k = 5000, and the law over all matrices", "error", single, math.Sqrt(1.5625/5000)), chart.done())
	drawn, err := o.play(ctx, productStudy(x), func(out live.Outcome) ([]Drawn, error) { return readProducts(out, x, length) })
	if err != nil {
		return Table{}, err
	}
	t.compare(fmt.Sprintf("Three parties with %d of the columns each, columns side, family gaussian, k = %d, mechanism none. The mean of draws in this process is over the pairs of %d and %d columns.", playedColumns, productK, playedColumns, playedColumns),
		drawn, spread(asPlayed), spread(holding).in("%"))
	return t, nil
}

// Sizes of figure 6, and of its study on running nodes.
const (
	productRecords, productColumns = 10_000, 30
	playedColumns, productK        = 10, 500
)

// normal95 is how many deviations a normal variable keeps to in 95 % of draws.
const normal95 = 1.96

// productStudy has ten of the columns of the first set at one party, ten of the second at
// another, and ten of the rest at the third.
func productStudy(x []int64) live.Study {
	s := live.Study{
		Name: "liu-products", Partition: study.Vertical,
		Sketches: []string{fmt.Sprintf("side: columns, family: gaussian, k: %d, helpers: {ones: 0}", productK)},
		Privacy:  "mechanism: none", Analyses: []string{"kind: inner-product"},
	}
	for p, first := range playedFirst {
		for c := range playedColumns {
			name := fmt.Sprintf("c%d", first+c)
			s.Columns = append(s.Columns, fmt.Sprintf("name: %s, kind: numeric, bounds: [0, %d], source: made up, owner: %s", name, productGrain, scenario.PartyNames[p]))
			s.Data[p].Columns = append(s.Data[p].Columns, name)
		}
		for i := 0; i < len(x); i += 2 * productColumns {
			var row []float64
			for c := range playedColumns {
				row = append(row, float64(x[i+first+c]))
			}
			s.Data[p].IDs = append(s.Data[p].IDs, strconv.Itoa(i))
			s.Data[p].Values = append(s.Data[p].Values, row)
		}
	}
	return s
}

// playedFirst is the first column of each party.
var playedFirst = [scenario.Parties]int{0, productColumns, productColumns - playedColumns}

// readProducts takes the errors of the products between the first two parties' columns, and
// how many of their intervals hold.
func readProducts(out live.Outcome, x []int64, length []float64) ([]Drawn, error) {
	a, err := answer(out.Result, "inner-product")
	if err != nil {
		return nil, err
	}
	var square, pairs, within float64
	for _, p := range a.Pairs {
		from, to := a.Features[p.I], a.Features[p.J]
		if from.Party == to.Party {
			continue
		}
		var i, j int
		if _, err := fmt.Sscanf(from.Column+" "+to.Column, "c%d c%d", &i, &j); err != nil {
			return nil, err
		}
		d, err := number("a product", p.Number, 1/length[i]/length[j])
		if err != nil {
			return nil, err
		}
		if west := scenario.PartyNames[2]; from.Party == west || to.Party == west {
			continue
		}
		truth := cosine(x, length, 2*productColumns, i, j)
		square, pairs = square+(d.Value-truth)*(d.Value-truth), pairs+1
		if d.Low != nil && *d.Low <= truth && truth <= *d.High {
			within++
		}
	}
	return []Drawn{
		{What: fmt.Sprintf("root mean squared error of %.0f products", pairs), Value: math.Sqrt(square / pairs)},
		{What: fmt.Sprintf("of %.0f intervals hold", pairs), Value: 100 * within / pairs},
	}, nil
}

// productGrain is the greatest value, 1 in the paper.
const productGrain = 1 << 14

// uniformColumns draws whole numbers up to productGrain, records × columns, and their columns'
// lengths.
func uniformColumns(r *rand.Rand, records, columns int) (x []int64, length []float64) {
	x, length = make([]int64, records*columns), make([]float64, columns)
	for i := range x {
		x[i] = r.Int64N(productGrain + 1)
		length[i%columns] += float64(x[i]) * float64(x[i])
	}
	for c := range length {
		length[c] = math.Sqrt(length[c])
	}
	return x, length
}

func cosine(x []int64, length []float64, columns, a, b int) (sum float64) {
	for i := 0; i < len(x); i += columns {
		sum += float64(x[i+a]) * float64(x[i+b])
	}
	return sum / length[a] / length[b]
}

// liuClusters is table III.
func liuClusters(ctx context.Context, o Options) (Table, error) {
	charts, err := o.Corpus.SyntheticControl()
	if err != nil {
		return Table{}, err
	}
	const clusters, grain = 6, 1e4 // values have four decimals
	d := len(charts[0])
	original := mat.NewDense(len(charts), d, nil)
	var flat []int64
	for i, chart := range charts {
		original.SetRow(i, chart)
		for _, v := range chart {
			flat = append(flat, int64(math.Round(v*grain)))
		}
	}
	whole, err := cluster.KMeans(ctx, original, cluster.Options{Clusters: clusters, Restarts: 20, Rand: source("liu-3", -1)})
	if err != nil {
		return Table{}, err
	}
	t := Table{
		Question: "Do clusters of projected charts match those of the charts themselves?",
		Setting:  fmt.Sprintf("%d control charts of %d values, six clusters; R with normal entries, %d matrices a line, in this process.", len(charts), d, o.Repeats),
		Columns:  []string{"k", "published error", "warm start, error by sizes: median [quartiles]", "records in another cluster", "best of 20 starts, error by sizes", "records in another cluster"},
		Notes: []string{"The paper's error compares the sizes of clusters. Which records are in them differs more.",
			"Six clusters of these charts have several optima of nearly equal inertia. Best of 20 starts moves between them from matrix to matrix. The paper has one run of each; a warm start takes the projected centroids of the unprojected clusters, as near to one another as two runs can be."},
	}
	chart := newErrorChart("liu-3", "Clusters of projected control charts, by k", "k", "records, %")
	var playedSizes, playedMembers []float64
	for _, line := range []struct {
		k         int
		published float64
	}{{30, 0.17}, {20, 2.50}, {10, 4.33}} {
		type run struct{ sizes, members, warmSizes, warmMembers float64 }
		runs, err := each(ctx, o, o.Repeats, func(i int) (run, error) {
			f, err := fixed(projection.Spec{Family: projection.Gaussian, K: line.k}, d, "liu-3", i*100+line.k)
			if err != nil {
				return run{}, err
			}
			points := mat.NewDense(len(charts), line.k, project(f, flat))
			found, err := cluster.KMeans(ctx, points, cluster.Options{Clusters: clusters, Restarts: 20, Rand: source("liu-3", i)})
			if err != nil {
				return run{}, err
			}
			agreement, err := cluster.Agreement(whole.Labels, found.Labels)
			if err != nil {
				return run{}, err
			}
			warm := warmStart(points, whole.Labels, clusters)
			kept, err := cluster.Agreement(whole.Labels, warm)
			return run{sizeError(whole.Labels, found.Labels, clusters), 100 * (1 - agreement), sizeError(whole.Labels, warm, clusters), 100 * (1 - kept)}, err
		})
		if err != nil {
			return Table{}, err
		}
		var sizes, members, warmSizes, warmMembers []float64
		for _, one := range runs {
			sizes, members = append(sizes, one.sizes), append(members, one.members)
			warmSizes, warmMembers = append(warmSizes, one.warmSizes), append(warmMembers, one.warmMembers)
		}
		t.Lines = append(t.Lines, Line{
			Cells: []string{fmt.Sprint(line.k), percent(line.published), quartiles(warmSizes), quartiles(warmMembers), quartiles(sizes), quartiles(members)},
			Holds: line.published <= quantile(warmSizes, 0.99) && quantile(warmSizes, 0.5) < 6 && quantile(warmMembers, 0.5) < 25 &&
				quantile(warmMembers, 0.5) > 1.5*quantile(warmSizes, 0.5),
			Because: "the published error is no larger than 99 % of ours from a warm start, whose median is below 6 %, and more than half as much again is misplaced",
		})
		chart.add(float64(line.k), line.published, quantile(warmSizes, 0.5), quantile(warmSizes, 0.25), quantile(warmSizes, 0.75), math.NaN())
		chart.also("records in another cluster", float64(line.k), quantile(warmMembers, 0.5), quantile(warmMembers, 0.25), quantile(warmMembers, 0.75))
		playedSizes, playedMembers = sizes, members // of the last line
	}
	t.charts = append(t.charts, chart.done())
	const k = 10
	drawn, err := o.play(ctx, chartStudy(charts, k), func(out live.Outcome) ([]Drawn, error) {
		labels, err := clustersOf(out, len(charts))
		if err != nil {
			return nil, err
		}
		agreement, err := cluster.Agreement(whole.Labels, labels)
		return []Drawn{{What: "error by sizes", Value: sizeError(whole.Labels, labels, clusters)}, {What: "records in another cluster", Value: 100 * (1 - agreement)}}, err
	})
	if err != nil {
		return Table{}, err
	}
	t.compare(fmt.Sprintf("Three parties with a third of the charts each, records side, family gaussian, k = %d, mechanism none, k-means of 20 starts, as the paper has it with two parties.", k),
		drawn, spread(playedSizes).in("%"), spread(playedMembers).in("%"))
	return t, nil
}

// chartStudy clusters the charts. Their classes are dealt out evenly.
func chartStudy(charts [][]float64, k int) live.Study {
	names := numbered(len(charts[0]))
	s := live.Study{
		Name: "liu-charts", Partition: study.Horizontal, Columns: columns(names, "kind: numeric, bounds: [0, 80]"),
		Sketches: []string{fmt.Sprintf("side: records, family: gaussian, k: %d", k)}, Privacy: "mechanism: none",
		Analyses: []string{"kind: k-means, clusters: 6, restarts: 20"},
	}
	for i, chart := range charts {
		d := &s.Data[i%scenario.Parties]
		d.Columns, d.IDs, d.Values = names, append(d.IDs, strconv.Itoa(i)), append(d.Values, chart)
	}
	return s
}

// warmStart is Lloyd's iteration from the centroids of the points under given labels.
func warmStart(points *mat.Dense, labels []int, clusters int) []int {
	n, k := points.Dims()
	labels = slices.Clone(labels)
	const rounds = 300
	for range rounds {
		centroids, sizes := mat.NewDense(clusters, k, nil), make([]float64, clusters)
		for i, c := range labels {
			sizes[c]++
			for j := range k {
				centroids.Set(c, j, centroids.At(c, j)+points.At(i, j))
			}
		}
		for c, size := range sizes {
			for j := range k {
				centroids.Set(c, j, centroids.At(c, j)/max(size, 1))
			}
		}
		moved := false
		for i := range n {
			near := labels[i]
			for c := range clusters {
				if sizes[c] > 0 && apart(points.RawRowView(i), centroids.RawRowView(c)) < apart(points.RawRowView(i), centroids.RawRowView(near)) {
					near = c
				}
			}
			moved, labels[i] = moved || near != labels[i], near
		}
		if !moved {
			break
		}
	}
	return labels
}

func quartiles(x []float64) string {
	return fmt.Sprintf("%s [%.2f, %.2f]", percent(quantile(x, 0.5)), quantile(x, 0.25), quantile(x, 0.75))
}

// sizeError is the paper's: half of how much the sizes differ, in percent of the records,
// clusters taken in the order of those of a that they share most records with.
func sizeError(a, b []int, clusters int) float64 {
	shared := make([][]int, clusters)
	for c := range shared {
		shared[c] = make([]int, clusters)
	}
	sizeA, sizeB := make([]int, clusters), make([]int, clusters)
	for i := range a {
		shared[a[i]][b[i]]++
		sizeA[a[i]]++
		sizeB[b[i]]++
	}
	taken := make([]bool, clusters)
	var off float64
	for range clusters {
		from, to, most := -1, -1, -1
		for i := range clusters {
			for j := range clusters {
				if sizeA[i] >= 0 && !taken[j] && shared[i][j] > most {
					from, to, most = i, j, shared[i][j]
				}
			}
		}
		off += math.Abs(float64(sizeA[from] - sizeB[to]))
		sizeA[from], taken[to] = -1, true
	}
	return 100 * off / 2 / float64(len(a))
}
