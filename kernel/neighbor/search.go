package neighbor

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/distance"
	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/kernel/room"
)

// Options of a search.
type Options struct {
	Neighbors int                     // required: number of neighbours of each query, at least 1
	Workers   int                     // goroutines. Default: 1
	Memory    int64                   // bytes of working memory, besides points and result; it holds at least a few hundred points. Default: 256 MB
	Room      room.Allocator          // for the result. Default: memory
	Progress  func(done, total int64) // called by workers, in any order, with the pairs of points compared so far; may be nil
}

const defaultMemory = 256 << 20

// Graph holds the neighbours of m queries, nearest first.
type Graph struct {
	Neighbors int       // of each query
	Index     []int32   // m × Neighbors: indices of points
	Squared   []float64 // m × Neighbors: their squared distances
}

func (g Graph) Len() int { return len(g.Index) / g.Neighbors }

// Of returns the neighbours of a query, nearest first, and their squared distances.
// Neither must be changed.
func (g Graph) Of(query int) (index []int32, squared []float64) {
	from, to := query*g.Neighbors, (query+1)*g.Neighbors
	return g.Index[from:to:to], g.Squared[from:to:to]
}

// Search finds, for each row of queries (m × d), the nearest of points (n × d). It keeps neither.
// It returns an error if there are fewer points than neighbours, or a value is not finite.
func Search(ctx context.Context, points, queries *mat.Dense, o Options) (Graph, error) {
	return search(ctx, points.RawMatrix(), queries.RawMatrix(), false, o)
}

// Join finds, for each row of points (n × d), the nearest other rows: the graph of nearest
// neighbours. A point is not its own neighbour, but an identical one is.
func Join(ctx context.Context, points *mat.Dense, o Options) (Graph, error) {
	return search(ctx, points.RawMatrix(), points.RawMatrix(), true, o)
}

func search(ctx context.Context, points, queries blas64.General, join bool, o Options) (Graph, error) {
	others := points.Rows
	if join {
		others--
	}
	switch {
	case o.Neighbors < 1:
		return Graph{}, fmt.Errorf("searching neighbours: %d for each point: at least 1 is needed", o.Neighbors)
	case o.Neighbors > others:
		return Graph{}, fmt.Errorf("searching neighbours: %d for each point, but there are only %d others: ask for fewer", o.Neighbors, max(others, 0))
	case points.Rows > math.MaxInt32:
		return Graph{}, fmt.Errorf("searching neighbours: %d points: at most %d are possible", points.Rows, math.MaxInt32)
	}
	s := &searcher{Options: o, points: points, queries: queries, join: join}
	var err error
	if s.frame, err = distance.NewFrame(max(o.Workers, 1), points, queries); err != nil {
		return Graph{}, fmt.Errorf("searching neighbours: %w", err)
	}
	if s.Memory == 0 {
		s.Memory = defaultMemory
	}
	if err := s.prepare(); err != nil {
		return Graph{}, fmt.Errorf("searching neighbours: %w", err)
	}
	if err := s.run(ctx); err != nil {
		return Graph{}, fmt.Errorf("searching neighbours: %w", err)
	}
	return Graph{Neighbors: o.Neighbors, Index: s.index, Squared: s.squared}, nil
}

// Queries are compared in blocks of blockGroups groups of rows, which stay in a near cache while
// panels pass by.
const (
	blockGroups  = 8
	blockQueries = blockGroups * distance.Rows
)

// searcher is one search. Each query has a heap in index and squared with the farthest neighbour on
// top. Its first found[query] entries are in use.
type searcher struct {
	Options
	points, queries blas64.General
	join            bool
	frame           distance.Frame
	panels          []float32 // a part of the points, packed
	index           []int32
	squared         []float64
	found           []int32
	done            atomic.Int64
}

// prepare allocates the result, and as many packed points as the memory allows.
func (s *searcher) prepare() (err error) {
	m, k := s.queries.Rows, s.Neighbors
	if s.index, err = room.Of[int32](s.Room, m*k); err != nil {
		return err
	}
	if s.squared, err = room.Of[float64](s.Room, m*k); err != nil {
		return err
	}
	if s.found, err = room.Of[int32](s.Room, m); err != nil {
		return err
	}
	const least = 16
	size := int64(s.frame.PanelSize())
	each := int64(blockGroups*s.frame.GroupSize()) * int64(max(s.Workers, 1))
	panels := max((s.Memory/4-each)/size, least)
	all := int64(s.points.Rows+distance.Lanes-1) / distance.Lanes
	s.panels = make([]float32, min(panels, all)*size)
	return nil
}

// run processes the points part by part. Each part is packed, then compared with every query. So a
// query meets points in order of index.
func (s *searcher) run(ctx context.Context) error {
	size := s.frame.PanelSize()
	part := len(s.panels) / size * distance.Lanes
	blocks := (s.queries.Rows + blockQueries - 1) / blockQueries
	for from := 0; from < s.points.Rows; from += part {
		count := min(part, s.points.Rows-from)
		panels := (count + distance.Lanes - 1) / distance.Lanes
		err := parallel.ShareUntil(ctx, panels, s.Workers, func(_, i int) {
			s.frame.Panel(s.panels[i*size:][:size], s.points, from+i*distance.Lanes, distance.Normed)
		})
		if err != nil {
			return err
		}
		err = parallel.ShareUntil(ctx, blocks, s.Workers, func(_, i int) {
			b := s.block(i * blockQueries)
			b.compare(ctx, from, panels)
			s.progress(int64(b.count) * int64(count))
		})
		if err != nil {
			return err
		}
	}
	parallel.Share(blocks, s.Workers, func(_, i int) {
		for q := i * blockQueries; q < min((i+1)*blockQueries, s.queries.Rows); q++ {
			s.heap(q).sort()
		}
	})
	return nil
}

func (s *searcher) progress(pairs int64) {
	if done := s.done.Add(pairs); s.Progress != nil {
		s.Progress(done, int64(s.points.Rows)*int64(s.queries.Rows))
	}
}

// block is a range of the queries, packed.
type block struct {
	*searcher
	first, count int // which queries
	rows         []float32
	norms        [blockQueries]float64
	limits       [blockGroups]distance.Limits
}

func (s *searcher) block(first int) *block {
	b := &block{searcher: s, first: first, count: min(blockQueries, s.queries.Rows-first)}
	size := s.frame.GroupSize()
	b.rows = make([]float32, b.groups()*size)
	for g := range b.groups() {
		norms := s.frame.Group(b.rows[g*size:][:size], s.queries, first+g*distance.Rows, distance.Plain)
		for r, norm := range norms {
			q := g*distance.Rows + r
			b.norms[q] = norm
			b.limits[g][r] = never
			if q < b.count {
				b.limit(q)
			}
		}
	}
	return b
}

func (b *block) groups() int { return (b.count + distance.Rows - 1) / distance.Rows }

// never is a limit that no score meets.
const never = -math.MaxFloat32

// limit sets how low a score must be for an exact comparison: that of the farthest neighbour so
// far. A later point at the same distance comes after it, so at distance 0 none can follow.
func (b *block) limit(q int) {
	farthest := math.Inf(1)
	if h := b.heap(b.first + q); h.full() {
		farthest = h.squared[0]
	}
	limit := float32(never)
	if farthest > 0 {
		limit = b.frame.Limit(farthest, b.norms[q])
	}
	b.limits[q/distance.Rows][q%distance.Rows] = limit
}

// compare compares the queries with that many panels of points. From is the index of the first
// point.
func (b *block) compare(ctx context.Context, from, panels int) {
	level := cpu.Best()
	group, panel := b.frame.GroupSize(), b.frame.PanelSize()
	const stretch = 256 // panels between two checks of ctx
	var masks distance.Masks
	for i := range panels {
		if i%stretch == 0 && ctx.Err() != nil {
			return
		}
		lanes := b.panels[i*panel:][:panel]
		for g := range b.groups() {
			if !distance.Below(level, &masks, b.rows[g*group:][:group], lanes, &b.limits[g]) {
				continue
			}
			for r, mask := range masks {
				for ; mask != 0; mask &= mask - 1 {
					b.offer(g*distance.Rows+r, from+i*distance.Lanes+bits.TrailingZeros32(mask))
				}
			}
		}
	}
}

// offer compares a query with a point exactly, and adds it if it is near enough.
func (b *block) offer(q, point int) {
	query := b.first + q
	if b.join && query == point {
		return
	}
	squared := distance.Squared(distance.Row(b.queries, query), distance.Row(b.points, point))
	if b.heap(query).offer(squared, int32(point)) {
		b.limit(q)
	}
}
