package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/seed/stream"
)

// liuTable is one of tables I and II.
type liuTable struct {
	name      string
	what      string
	estimate  func(u, v []float64) float64
	truth     func(xx, yy, xy float64) float64
	deviation func(xx, yy, xy float64, k int) float64 // relative, by theory
	published map[int]float64                         // mean relative error in %
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
	}
	tableTwo = liuTable{
		name: "liu-2", what: "squared distance of two columns",
		estimate:  apart,
		truth:     func(xx, yy, xy float64) float64 { return xx + yy - 2*xy },
		deviation: func(_, _, _ float64, k int) float64 { return math.Sqrt(2 / float64(k)) },
		published: map[int]float64{100: 10.44, 500: 4.97, 1000: 2.70, 2000: 2.59, 3000: 1.80},
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
		Columns:  []string{"k", "published mean error", "95 % of means of 20", "our mean error", "theory"},
	}
	r := source(table.name, -1)
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
			return 100 * math.Abs(table.estimate(u, v)-truth) / truth, nil
		})
		if err != nil {
			return Table{}, err
		}
		twenty := means(errs, publishedRuns, 4000, r)
		low, high := quantile(twenty, 0.025), quantile(twenty, 0.975)
		deviation := 100 * table.deviation(xx, yy, xy, k)
		theory := deviation * math.Sqrt(2/math.Pi)
		ours := mean(errs)
		published := table.published[k]
		t.Lines = append(t.Lines, Line{
			Cells:   []string{fmt.Sprint(k), percent(published), fmt.Sprintf("%s to %s", percent(low), percent(high)), percent(ours), percent(theory)},
			Holds:   published >= low && published <= high && math.Abs(ours-theory) < 5*standardError(errs),
			Because: "the published mean lies where 95 % of our means of 20 lie, and our mean is within five standard errors of theory",
		})
	}
	return t, nil
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", x) }

// liuProducts is figure 6: the errors of the inner products of two sets of columns.
func liuProducts(ctx context.Context, o Options) (Table, error) {
	const records, columns = 10_000, 30
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
	for _, k := range []int{500, 1000, 5000} {
		spec := projection.Spec{Family: projection.Gaussian, K: k}
		type run struct{ square, mean float64 }
		runs, err := each(ctx, o, o.Repeats, func(i int) (run, error) {
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
	}
	return t, nil
}

// uniformColumns draws whole numbers up to 2^14, records × columns, and their columns'
// lengths.
func uniformColumns(r *rand.Rand, records, columns int) (x []int64, length []float64) {
	x, length = make([]int64, records*columns), make([]float64, columns)
	for i := range x {
		x[i] = r.Int64N(1<<14 + 1)
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
		Setting:  fmt.Sprintf("%d control charts of %d values, six clusters, best of 20 starts; R with normal entries, %d matrices a line, in this process.", len(charts), d, o.Repeats),
		Columns:  []string{"k", "published error", "our error by sizes: median [quartiles]", "records in another cluster: median [quartiles]"},
		Notes: []string{"The paper's error compares the sizes of clusters. Which records are in them differs more.",
			"Six clusters of these charts have several optima of nearly equal inertia. Best of 20 starts moves between them from matrix to matrix; the paper has one run of each, started alike."},
	}
	for _, line := range []struct {
		k         int
		published float64
	}{{30, 0.17}, {20, 2.50}, {10, 4.33}} {
		type run struct{ sizes, members float64 }
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
			return run{sizeError(whole.Labels, found.Labels, clusters), 100 * (1 - agreement)}, err
		})
		if err != nil {
			return Table{}, err
		}
		var sizes, members []float64
		for _, one := range runs {
			sizes, members = append(sizes, one.sizes), append(members, one.members)
		}
		t.Lines = append(t.Lines, Line{
			Cells:   []string{fmt.Sprint(line.k), percent(line.published), quartiles(sizes), quartiles(members)},
			Holds:   line.published <= quantile(sizes, 0.99),
			Because: "the published error is no larger than 99 % of ours",
		})
	}
	return t, nil
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
