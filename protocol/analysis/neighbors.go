package analysis

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/neighbor"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// Neighbors is the section of neighbors. Which records are whose neighbours is told to
// their parties alone.
//
//section:neighbors of neighbors
type Neighbors struct {
	Neighbors int        `json:"neighbors"`                                   // of each record
	Nearest   []Quantile `json:"nearest" by:"share"`                          // of the records' squared distances from their nearest neighbour, without the noise
	Farthest  []Quantile `json:"farthest" by:"share"`                         // from the last of their neighbours
	Across    float64    `json:"across"`                                      // share of neighbours that another party holds
	Unrelated float64    `json:"unrelated"`                                   // what that share would be if it said nothing who holds a record
	Edges     [][]int    `json:"edges" by:"features,features" of:"neighbors"` // Edges[i][j]: neighbours that records of party i have at party j, by Features
	Told      float64    `json:"told"`                                        // share of how distances differ that is of the records and not of errors, at least estimate.ToldApart
	Unbounded string     `json:"unbounded,omitempty"`                         // why parties are told distances without intervals
}

// Quantile is a value that a share of the values does not exceed.
type Quantile struct {
	Share float64 `json:"share"` // of the values that are at most this
	Value float64 `json:"value"` // in the units that the list says
}

func (n *Neighbors) check(a Analysis) error {
	if n.Neighbors < 1 || len(n.Edges) != len(a.Features) {
		return fmt.Errorf("%d neighbours, edges of %d parties of %d", n.Neighbors, len(n.Edges), len(a.Features))
	}
	for _, row := range n.Edges {
		if len(row) != len(a.Features) {
			return fmt.Errorf("edges to %d parties of %d", len(row), len(a.Features))
		}
		for _, count := range row {
			if count < 0 {
				return fmt.Errorf("%d edges", count)
			}
		}
	}
	if !(n.Told >= estimate.ToldApart && n.Told <= 1) {
		return fmt.Errorf("neighbours that are told apart by %g", n.Told)
	}
	if !(n.Across >= 0 && n.Across <= 1 && n.Unrelated >= 0 && n.Unrelated <= 1) {
		return fmt.Errorf("shares of %g and %g of the neighbours", n.Across, n.Unrelated)
	}
	return nil
}

// mostTold is how many neighbours one party is told of: with intervals a document of
// below 2^30 bytes, which is what parties fetch.
const mostTold = 10_000_000

// neighbors finds the records nearest to each. A party is told of its own records'
// neighbours: of its own ones by their row, of others' by the name of their party and a
// handle that was drawn for it alone.
func (r *run) neighbors(ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
	o, ok := a.Options.(study.NeighborsOptions)
	if !ok {
		return Analysis{}, fmt.Errorf("options %T", a.Options)
	}
	all, err := r.points(ctx, sk)
	if err != nil {
		return Analysis{}, err
	}
	for i, of := range all.of {
		if of.len() > mostTold/o.Neighbors {
			return Analysis{}, unanswerable("%d records of %s with %d neighbours each are more than the %d that a party is told of: ask for fewer",
				of.len(), r.name(i), o.Neighbors, mostTold)
		}
	}
	graph, err := r.graph(ctx, index, sk, a.Kind, all, o.Neighbors)
	if err != nil {
		return Analysis{}, err
	}
	m := all.len()
	out := Analysis{Kind: a.Kind, Sketch: sk, Joined: all.joined, Rests: premise.List{premise.NearestChosen}, Units: measure.Squared, Features: r.parties()}
	// For each record, or for all, the upper ends for all the others hold together, so that
	// those of the nearest do, whichever these are, and the lower ends of the nearest.
	level, each, others := out.promise(a, 1), o.Neighbors, m-1
	if a.Intervals == study.IntervalsAll {
		each, others = m*o.Neighbors, m*(m-1)/2
	}
	out.EachLevel = float64(level.Bonferroni(others))
	d, err := r.near(sk, all, choice{level, each, others})
	if err != nil {
		return Analysis{}, err
	}
	told, err := d.told(all, pairsWithin(all))
	if err != nil {
		return Analysis{}, err
	}
	d.sort(graph)
	out.Neighbors = &Neighbors{Neighbors: o.Neighbors, Told: told, Unbounded: d.of(0, 0, 0).Undefined}
	out.Neighbors.count(graph, all, len(r.Contributions))
	out.Neighbors.Nearest = d.quantiles(graph, 0)
	out.Neighbors.Farthest = d.quantiles(graph, o.Neighbors-1)
	for i := range r.Contributions {
		t := &teller{run: r, to: i, all: all, graph: graph, distances: d, column: RowColumn{Analysis: index, Sketch: sk}}
		if err := t.tell(); err != nil {
			return Analysis{}, err
		}
	}
	return out, nil
}

// graph is that of the nearest neighbours.
func (r *run) graph(ctx context.Context, index, sk int, kind study.AnalysisKind, all *points, k int) (neighbor.Graph, error) {
	if m := all.len(); k >= m {
		return neighbor.Graph{}, unanswerable("%d neighbours are asked for, and each of %d records has only %d others", k, m, m-1)
	}
	o := neighbor.Options{Neighbors: k, Workers: r.Workers, Memory: r.work(sk)}
	tell, last := r.tell(index, kind), atomic.Int64{}
	o.Progress = func(done, total int64) { // from several goroutines
		if tenth, said := 10*done/max(total, 1), last.Load(); tenth > said && last.CompareAndSwap(said, tenth) {
			tell(int(done), int(total))
		}
	}
	return neighbor.Join(ctx, all.matrix, o)
}

// parties are the contributions, as features.
func (r *run) parties() (out []Feature) {
	for i := range r.Contributions {
		out = append(out, Feature{Party: r.name(i)})
	}
	return out
}

func (r *run) name(contribution int) string {
	return r.Study.Parties[r.Contributions[contribution].Party].Name
}

// count fills in who is near whom.
func (n *Neighbors) count(graph neighbor.Graph, all *points, parties int) {
	sizes := make([]float64, parties)
	n.Edges = make([][]int, parties)
	for i := range n.Edges {
		n.Edges[i] = make([]int, parties)
	}
	across := 0
	for record := range all.len() {
		holder := all.holder(record)
		sizes[holder]++
		index, _ := graph.Of(record)
		for _, other := range index {
			to := all.holder(int(other))
			n.Edges[holder][to]++
			if to != holder {
				across++
			}
		}
	}
	m := float64(all.len())
	n.Across = float64(across) / (m * float64(n.Neighbors))
	for _, size := range sizes {
		n.Unrelated += size / m * (m - size) / (m - 1)
	}
}

// distances estimates the squared distances of pairs of records.
type distances struct {
	law   estimate.Records
	all   *points
	make  func(estimate.Records) (estimator, error)
	ready map[estimate.Noise]estimator // by the mean noise of a pair
}

// estimator is [estimate.Distances] or [estimate.Nearest].
type estimator interface {
	Of(squared float64) estimate.Estimate
}

// choice is of how many others neighbours are chosen, how many of them have intervals that
// hold together, and at which level.
type choice struct {
	level        estimate.Level
	each, others int
}

// distances are those of records that were not chosen by them.
func (r *run) distances(sk int, all *points, level estimate.Level) (*distances, error) {
	return r.distancesBy(sk, all, func(law estimate.Records) (estimator, error) { return law.Distances(level) })
}

// near are those of records that were chosen as the nearest.
func (r *run) near(sk int, all *points, c choice) (*distances, error) {
	return r.distancesBy(sk, all, func(law estimate.Records) (estimator, error) { return law.Nearest(c.level, c.each, c.others) })
}

func (r *run) distancesBy(sk int, all *points, make func(estimate.Records) (estimator, error)) (*distances, error) {
	law, err := r.law(sk, all)
	if err != nil {
		return nil, err
	}
	_, err = make(law)
	return &distances{law: law, all: all, make: make, ready: map[estimate.Noise]estimator{}}, err
}

// of estimates the squared distance of two records from that of their sketches.
func (d *distances) of(x, y int, squared float64) estimate.Estimate {
	return d.between(d.all.noise(x), d.all.noise(y), squared)
}

// between does so for two points whose coordinates have these noises; that of one is zero
// where it is known exactly.
func (d *distances) between(x, y estimate.Noise, squared float64) estimate.Estimate {
	noise := meanNoise(x, y)
	ready, ok := d.ready[noise]
	if !ok {
		law := d.law
		law.Noise = noise
		ready, _ = d.make(law) // refused only what was refused before
		d.ready[noise] = ready
	}
	return ready.Of(squared)
}

func meanNoise(x, y estimate.Noise) estimate.Noise {
	x.Variance, x.FourthCumulant = (x.Variance+y.Variance)/2, (x.FourthCumulant+y.FourthCumulant)/2
	return x
}

// unbiased is the estimate alone: the interval may be undefined.
func (d *distances) unbiased(x, y estimate.Noise, squared float64) float64 {
	return squared - float64(d.law.K)*(x.Variance+y.Variance)
}

// debiased is that of two records, and zero where it is below: no distance is.
func (d *distances) debiased(x, y int, squared float64) float64 {
	return max(0, d.unbiased(d.all.noise(x), d.all.noise(y), squared))
}

// sort orders neighbours by their distance without the noise, where records differ in that.
func (d *distances) sort(graph neighbor.Graph) {
	if !slices.ContainsFunc(d.all.has, func(h holding) bool { return h.noise != d.all.has[0].noise }) {
		return
	}
	type near struct {
		index   int32
		squared float64
	}
	for i := range graph.Len() {
		index, squared := graph.Of(i)
		row := make([]near, len(index))
		for rank := range row {
			row[rank] = near{index[rank], squared[rank]}
		}
		slices.SortStableFunc(row, func(a, b near) int {
			return cmp.Compare(d.unbiased(d.all.noise(i), d.all.noise(int(a.index)), a.squared), d.unbiased(d.all.noise(i), d.all.noise(int(b.index)), b.squared))
		})
		for rank, n := range row {
			index[rank], squared[rank] = n.index, n.squared
		}
	}
}

// mostPairs bounds the pairs by which it is told whether distances tell records apart: their
// mean and variance are known to a part in a hundred.
const mostPairs = 100_000

// pairsWithin are pairs of records: all of few, and as many as mostPairs of many, each record
// with others at the same steps in their order.
func pairsWithin(all *points) func(yield func(x, y int)) {
	m := all.len()
	steps := max(1, min((m-1)/2, mostPairs/m))
	return func(yield func(x, y int)) {
		for s := range steps {
			step := 1 + s*((m-1)/2)/steps
			for x := range m {
				yield(x, (x+step)%m)
			}
		}
	}
}

// told is the share of how distances of pairs of records differ that is not what errors make
// of them, or that neighbours cannot be told apart.
func (d *distances) told(all *points, pairs func(yield func(x, y int))) (float64, error) {
	var n, mean, squares float64
	noise := estimate.Noise{}
	pairs(func(x, y int) {
		of, other := all.noise(x), all.noise(y)
		at := d.unbiased(of, other, squaredApart(all.matrix.RawRowView(x), all.matrix.RawRowView(y)))
		n++
		off := at - mean
		mean += off / n
		squares += off * (at - mean)
		noise.Variance += (of.Variance + other.Variance) / 2
		noise.FourthCumulant += (of.FourthCumulant + other.FourthCumulant) / 2
	})
	law := d.law
	law.Noise.Variance, law.Noise.FourthCumulant = noise.Variance/n, noise.FourthCumulant/n
	return apart(law.Told(mean, squares/n))
}

// apart refuses what errors make of distances.
func apart(told float64) (float64, error) {
	if told < estimate.ToldApart {
		return 0, unanswerable("the nearest records cannot be told apart: of how distances differ errors make %.0f %%, and the order of distances means something below %.0f %%",
			100*(1-max(0, told)), 100*(1-estimate.ToldApart))
	}
	return told, nil
}

// quantiles are those of the records' distances from their neighbour of a rank.
func (d *distances) quantiles(graph neighbor.Graph, rank int) []Quantile {
	values := make([]float64, graph.Len())
	for i := range values {
		index, squared := graph.Of(i)
		values[i] = d.debiased(i, int(index[rank]), squared[rank])
	}
	return quantiles(values)
}

// teller tells one contribution of the graph.
type teller struct {
	*run
	*distances
	to     int
	all    *points
	graph  neighbor.Graph
	column RowColumn // what its columns have in common
}

// tell adds, for each rank, who the neighbour is, and its distance with the interval.
func (t *teller) tell() error {
	names, err := t.handles()
	if err != nil {
		return err
	}
	own := t.own()
	of := t.all.of[t.to]
	for rank := range t.graph.Neighbors {
		who, distance, low, high := t.named(neighborColumn, rank), t.named(distanceColumn, rank), t.named(distanceLowColumn, rank), t.named(distanceHighColumn, rank)
		bounded := true
		for _, record := range of.all() {
			if record == notJoined {
				who.add("", -1)
				distance.Numbers, low.Numbers, high.Numbers = append(distance.Numbers, 0), append(low.Numbers, 0), append(high.Numbers, 0)
				continue
			}
			index, squared := t.graph.Of(record)
			other := int(index[rank])
			who.add(names[other], own[other])
			e := t.distances.of(record, other, squared[rank])
			bounded = bounded && e.Defined()
			distance.Numbers = append(distance.Numbers, t.debiased(record, other, squared[rank]))
			low.Numbers, high.Numbers = append(low.Numbers, e.Low), append(high.Numbers, e.High)
		}
		columns := []RowColumn{who, distance, low, high}
		if !bounded {
			columns = columns[:2]
		}
		for _, c := range columns {
			t.run.inform(t.to, c)
		}
	}
	return nil
}

func (t *teller) named(what string, rank int) RowColumn {
	c := t.column
	c.Name = what + "_" + strconv.Itoa(rank+1)
	return c
}

func (c *RowColumn) add(text string, own int) {
	c.Texts, c.Own = append(c.Texts, text), append(c.Own, own)
}

// own says for each record which row of the contribution it is, or -1.
func (t *teller) own() []int {
	out := make([]int, t.all.len())
	for i := range out {
		out[i] = -1
	}
	for row, record := range t.all.of[t.to].all() {
		if record != notJoined {
			out[record] = row
		}
	}
	return out
}

// handleBytes is the length of a handle.
const handleBytes = 8

// handles names the neighbours that other parties hold: their party, and 8 random bytes.
// A record has one handle in all that an analysis tells a party. What others are told,
// and other results, have other handles, so that nobody can follow a record by them.
func (t *teller) handles() (map[int]string, error) {
	if t.Entropy == nil {
		return nil, &brokenInput{errors.New("no entropy for handles")}
	}
	own := t.own()
	out := map[int]string{}
	for _, record := range t.all.of[t.to].all() {
		if record == notJoined {
			continue
		}
		index, _ := t.graph.Of(record)
		for _, other := range index {
			if own[other] >= 0 || out[int(other)] != "" {
				continue
			}
			var handle [handleBytes]byte
			if _, err := io.ReadFull(t.Entropy, handle[:]); err != nil {
				return nil, &brokenInput{fmt.Errorf("drawing handles: %w", err)}
			}
			out[int(other)] = t.name(t.all.holder(int(other))) + ":" + hex.EncodeToString(handle[:])
		}
	}
	return out, nil
}

func ofNeighbors() kind {
	return kind{
		name: study.Neighbors, ways: []way{onRecords((*run).neighbors)},
		told: func(a study.Analysis) int {
			o, _ := a.Options.(study.NeighborsOptions)
			return 4 * o.Neighbors
		},
		record: func(a study.Analysis) int64 {
			o, _ := a.Options.(study.NeighborsOptions)
			return recordBytes + neighborBytes*int64(o.Neighbors)
		},
	}
}
