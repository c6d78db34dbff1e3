package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
)

// liuClusters computes table III.
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
		playedSizes, playedMembers = sizes, members // the last line's are compared with nodes
	}
	t.charts = append(t.charts, chart.done())
	const k = 10
	drawn, err := o.play(ctx, chartStudy(charts, k), func(out Outcome) ([]Drawn, error) {
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

// chartStudy clusters the charts. Their classes are spread evenly over the parties.
func chartStudy(charts [][]float64, k int) Study {
	names := numbered(len(charts[0]))
	s := Study{
		Name: "liu-charts", Partition: study.Horizontal, Columns: columns(names, "kind: numeric, bounds: [0, 80]"),
		Sketches: []string{fmt.Sprintf("side: records, family: gaussian, k: %d", k)}, Privacy: "mechanism: none",
		Analyses: []string{"kind: k-means, clusters: 6, restarts: 20"},
	}
	for i, chart := range charts {
		d := &s.Data[i%parties]
		d.Columns, d.IDs, d.Values = names, append(d.IDs, strconv.Itoa(i)), append(d.Values, chart)
	}
	return s
}

// warmStart runs Lloyd's iteration from the centroids of the points with given labels.
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

// sizeError is the paper's error: half the sum of the differences in size, in percent of the
// records. Clusters of a and b are matched greedily by shared records.
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
