package analysis

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/neighbor"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// Neighbors is the section of neighbors. Only their parties are told which records are neighbours.
//
//section:neighbors of neighbors
type Neighbors struct {
	Neighbors   int        `json:"neighbors"`                                   // number of neighbours of each record
	Nearest     []Quantile `json:"nearest" by:"share"`                          // quantiles of the records' squared distances from their nearest neighbour, without the noise
	Farthest    []Quantile `json:"farthest" by:"share"`                         // the same for the last of their neighbours
	Across      float64    `json:"across"`                                      // share of neighbours that another party holds
	Unrelated   float64    `json:"unrelated"`                                   // what Across would be if the holder of a record made no difference
	Edges       [][]int    `json:"edges" by:"features,features" of:"neighbors"` // Edges[i][j]: number of neighbours that records of party i have at party j, by Features
	Reliability float64    `json:"told"`                                        // share of the variation of distances that is due to records and not to errors; at least estimate.LeastReliability
	Unbounded   string     `json:"unbounded,omitempty"`                         // why parties get distances without intervals
}

// Quantile is a value that a share of the values does not exceed.
type Quantile struct {
	Share float64 `json:"share"` // share of the values that are at most Value
	Value float64 `json:"value"` // in the units that the list names
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
	if !(n.Reliability >= estimate.LeastReliability && n.Reliability <= 1) {
		return fmt.Errorf("neighbours that are told apart by %g", n.Reliability)
	}
	if !(n.Across >= 0 && n.Across <= 1 && n.Unrelated >= 0 && n.Unrelated <= 1) {
		return fmt.Errorf("shares of %g and %g of the neighbours", n.Across, n.Unrelated)
	}
	return nil
}

// mostTold is the largest number of neighbours one party is told of. With intervals that is a
// document of less than 2^30 bytes, which parties fetch.
const mostTold = 10_000_000

// neighbors finds the nearest records of each record. A party is told of its own records'
// neighbours: its own ones by their row, those of others by their party's name and a handle drawn
// for this party only.
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
			return Analysis{}, unanswerable("%d records of %s with %d neighbours each exceed the limit of %d neighbours per party: ask for fewer neighbours",
				of.len(), r.name(i), o.Neighbors, mostTold)
		}
	}
	graph, err := r.graph(ctx, index, sk, a.Kind, all, o.Neighbors)
	if err != nil {
		return Analysis{}, err
	}
	m := all.len()
	out := Analysis{Kind: a.Kind, Sketch: sk, Joined: all.joined, Assumptions: premise.List{premise.NearestChosen}, Units: measure.Squared, Features: r.parties()}
	// For each record, or for all together, the upper ends for all other records hold together, and
	// so do the lower ends of the nearest. So the upper ends of the nearest hold, whichever these
	// are.
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
	from, err := r.scratch(sk)
	if err != nil {
		return Analysis{}, err
	}
	d.sort(graph)
	out.Neighbors = &Neighbors{Neighbors: o.Neighbors, Reliability: told, Unbounded: d.of(0, 0, 0).Undefined}
	out.Neighbors.count(graph, all, len(r.Contributions))
	if out.Neighbors.Nearest, err = d.quantiles(from, graph, 0); err != nil {
		return Analysis{}, err
	}
	if out.Neighbors.Farthest, err = d.quantiles(from, graph, o.Neighbors-1); err != nil {
		return Analysis{}, err
	}
	return out, r.reportAll(teller{run: r, all: all, graph: graph, distances: d, column: RowColumn{Analysis: index, Sketch: sk}})
}

// graph returns the graph of nearest neighbours.
func (r *run) graph(ctx context.Context, index, sk int, kind study.AnalysisKind, all *points, k int) (neighbor.Graph, error) {
	if m := all.len(); k >= m {
		return neighbor.Graph{}, unanswerable("%d neighbours are asked for, and each of %d records has only %d others", k, m, m-1)
	}
	from, err := r.scratch(sk)
	if err != nil {
		return neighbor.Graph{}, err
	}
	o := neighbor.Options{Neighbors: k, Workers: r.Workers, Memory: r.work(sk), Room: from}
	tell, last := r.tell(index, kind), atomic.Int64{}
	o.Progress = func(done, total int64) { // called from several goroutines
		if tenth, said := 10*done/max(total, 1), last.Load(); tenth > said && last.CompareAndSwap(said, tenth) {
			tell(int(done), int(total))
		}
	}
	return neighbor.Join(ctx, all.matrix, o)
}

// parties returns the contributions as features.
func (r *run) parties() (out []Feature) {
	for i := range r.Contributions {
		out = append(out, Feature{Party: r.name(i)})
	}
	return out
}

func (r *run) name(contribution int) string {
	return r.Study.Parties[r.Contributions[contribution].Party].Name
}

// count counts which parties' records are near which.
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

// choice says from how many others neighbours are chosen, how many of them have intervals that hold
// together, and at which level.
type choice struct {
	level        estimate.Level
	each, others int
}

// distances returns an estimator for pairs that were not chosen by their distance.
func (r *run) distances(sk int, all *points, level estimate.Level) (*distances, error) {
	return r.distancesBy(sk, all, func(law estimate.Records) (estimator, error) { return law.Distances(level) })
}

// near returns an estimator for records that were chosen as the nearest.
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

// of estimates the squared distance of two records from the squared distance of their sketches.
func (d *distances) of(x, y int, squared float64) estimate.Estimate {
	return d.between(d.all.noise(x), d.all.noise(y), squared)
}

// between is of for two points whose coordinates have these noises. The noise of a point that is
// known exactly is zero.
func (d *distances) between(x, y estimate.Noise, squared float64) estimate.Estimate {
	noise := meanNoise(x, y)
	ready, ok := d.ready[noise]
	if !ok {
		law := d.law
		law.Noise = noise
		ready, _ = d.make(law) // the first call in distancesBy returned its error
		if len(d.ready) == mostReady {
			clear(d.ready)
		}
		d.ready[noise] = ready
	}
	return ready.Of(squared)
}

// mostReady limits the cached estimators. Records have as many distinct noises as there are sets of
// parties, and pairs of records the square of that.
const mostReady = 1 << 14

func meanNoise(x, y estimate.Noise) estimate.Noise {
	x.Variance, x.FourthCumulant = (x.Variance+y.Variance)/2, (x.FourthCumulant+y.FourthCumulant)/2
	return x
}

// unbiased returns the estimate without its interval, which may be undefined.
func (d *distances) unbiased(x, y estimate.Noise, squared float64) float64 {
	return squared - float64(d.law.K)*(x.Variance+y.Variance)
}

// debiased returns the unbiased estimate for two records, but at least zero.
func (d *distances) debiased(x, y int, squared float64) float64 {
	return max(0, d.unbiased(d.all.noise(x), d.all.noise(y), squared))
}

// sort orders neighbours by their distance without the noise, if records differ in noise.
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

// mostPairs limits the pairs used to decide whether distances tell records apart. Their mean and
// variance are then known to about one percent.
const mostPairs = 100_000

// pairsWithin yields pairs of records: all of them if records are few, otherwise about mostPairs,
// at least one per record. Each record is paired with others at the same steps in their order.
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

// told returns the share of the variation of pairs' distances that is not due to errors. It returns
// an error if neighbours cannot be told apart.
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
	return apart(law.Reliability(mean, squares/n))
}

// apart returns an error if the variation of distances is mostly due to errors.
func apart(told float64) (float64, error) {
	if told < estimate.LeastReliability {
		return 0, unanswerable("the nearest records cannot be told apart: noise and projection cause %.0f %% of the variation of distances; the order of distances is meaningful below %.0f %%",
			100*(1-max(0, told)), 100*(1-estimate.LeastReliability))
	}
	return told, nil
}

// quantiles returns those of the records' distances from their neighbour of a rank.
func (d *distances) quantiles(from room.Allocator, graph neighbor.Graph, rank int) ([]Quantile, error) {
	values, err := room.Of[float64](from, graph.Len())
	if err != nil {
		return nil, err
	}
	for i := range values {
		index, squared := graph.Of(i)
		values[i] = d.debiased(i, int(index[rank]), squared[rank])
	}
	return quantilesOf(values), nil
}

// teller tells one contribution its part of the graph.
type teller struct {
	*run
	*distances
	to      int
	all     *points
	graph   neighbor.Graph
	column  RowColumn // what its columns have in common
	names   []string  // of contributions
	own     []int32   // by record: its row in the contribution, or -1
	handles []uint64  // by record: its handle
	drawn   []bool    // by record: whether it has a handle
}

// reportAll tells each contribution its part of the graph.
func (r *run) reportAll(t teller) error {
	sk := t.column.Sketch
	from, err := r.scratch(sk)
	if err != nil {
		return err
	}
	lasting, err := r.persistent(sk)
	if err != nil {
		return err
	}
	m := t.all.len()
	if t.own, err = room.Of[int32](from, m); err != nil {
		return err
	}
	if t.handles, err = room.Of[uint64](from, m); err != nil {
		return err
	}
	if t.drawn, err = room.Of[bool](from, m); err != nil {
		return err
	}
	for i := range r.Contributions {
		t.names = append(t.names, r.name(i))
	}
	for t.to = range r.Contributions {
		if err := t.tell(lasting); err != nil {
			return err
		}
	}
	return nil
}

// tell adds, for each rank, who the neighbour is, and its distance with the interval.
func (t *teller) tell(from room.Allocator) error {
	of := t.all.of[t.to]
	for i := range t.own {
		t.own[i] = -1
	}
	for row, record := range of.all() {
		if record != notJoined {
			t.own[record] = int32(row)
		}
	}
	if err := t.draw(); err != nil {
		return err
	}
	for rank := range t.graph.Neighbors {
		columns, err := t.rank(from, of, rank)
		if err != nil {
			return err
		}
		for _, c := range columns {
			if from == nil {
				c = c.spelt()
			}
			t.run.inform(t.to, c)
		}
	}
	return nil
}

// rank returns the columns about the neighbours of a rank.
func (t *teller) rank(from room.Allocator, of rows, rank int) (_ []RowColumn, err error) {
	who, distance, low, high := t.named(neighborColumn, rank), t.named(distanceColumn, rank), t.named(distanceLowColumn, rank), t.named(distanceHighColumn, rank)
	n := of.len()
	if who.coded, err = newCoded(from, t.names, n, true); err != nil {
		return nil, err
	}
	if who.Own, err = room.Of[int](from, n); err != nil {
		return nil, err
	}
	for _, c := range []*RowColumn{&distance, &low, &high} {
		if c.Numbers, err = room.Of[float64](from, n); err != nil {
			return nil, err
		}
	}
	bounded := true
	for row, record := range of.all() {
		who.coded.of[row], who.Own[row] = noName, -1
		if record == notJoined {
			continue
		}
		index, squared := t.graph.Of(record)
		other := int(index[rank])
		if who.Own[row] = int(t.own[other]); who.Own[row] < 0 {
			who.coded.of[row], who.coded.handles[row] = int32(t.all.holder(other)), t.handles[other]
		}
		e := t.distances.of(record, other, squared[rank])
		bounded = bounded && e.Defined()
		distance.Numbers[row] = t.debiased(record, other, squared[rank])
		low.Numbers[row], high.Numbers[row] = e.Low, e.High
	}
	if !bounded {
		return []RowColumn{who, distance}, nil
	}
	return []RowColumn{who, distance, low, high}, nil
}

func (t *teller) named(what string, rank int) RowColumn {
	c := t.column
	c.Name = what + "_" + strconv.Itoa(rank+1)
	return c
}

func (c *RowColumn) add(text string, own int) {
	c.Texts, c.Own = append(c.Texts, text), append(c.Own, own)
}

// handleBytes is the length of a handle.
const handleBytes = 8

// draw draws 8 random bytes for each neighbour that other parties hold. A record has one handle in
// everything that an analysis tells a party. Other parties and other results get other handles, so
// that nobody can follow a record by them.
func (t *teller) draw() error {
	if t.Entropy == nil {
		return &brokenInput{errors.New("no entropy for handles")}
	}
	clear(t.drawn)
	var handle [handleBytes]byte
	for _, record := range t.all.of[t.to].all() {
		if record == notJoined {
			continue
		}
		index, _ := t.graph.Of(record)
		for _, other := range index {
			if t.own[other] >= 0 || t.drawn[other] {
				continue
			}
			if _, err := io.ReadFull(t.Entropy, handle[:]); err != nil {
				return &brokenInput{fmt.Errorf("drawing handles: %w", err)}
			}
			t.handles[other], t.drawn[other] = binary.BigEndian.Uint64(handle[:]), true
		}
	}
	return nil
}

func ofNeighbors() kind {
	return kind{
		name: study.Neighbors, ways: []way{onRecords((*run).neighbors)},
		told: func(a study.Analysis) int {
			o, _ := a.Options.(study.NeighborsOptions)
			return 4 * o.Neighbors
		},
		// Each neighbour and its distance; its row, its handle and quantiles. Then what is said of each neighbour.
		record: func(a study.Analysis, _ int64) (takes, stays int64) {
			o, _ := a.Options.(study.NeighborsOptions)
			return 12*int64(o.Neighbors) + 40, 44 * int64(o.Neighbors)
		},
	}
}
