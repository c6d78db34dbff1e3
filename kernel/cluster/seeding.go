package cluster

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/distance"
)

// seed draws centroids by greedy k-means++: several points are drawn with probability proportional
// to their squared distance from the nearest seed so far, and the next seed is the one that brings
// all points nearest to a seed.
func (l *lloyd) seed() error {
	n := l.points.Rows
	trials := min(2+int(math.Log(float64(l.opts.Clusters))), distance.Rows)
	s := &seeding{lloyd: l, near: make([][]float32, trials), sums: make([][]float64, trials)}
	// These are not large: of more points than BatchAbove only a part is clustered.
	for t := range s.near {
		s.near[t], s.sums[t] = make([]float32, n), make([]float64, (n+distance.ChunkRows-1)/distance.ChunkRows)
	}
	l.closest = make([]float32, n)
	for i := range l.closest {
		l.closest[i] = math.MaxFloat32
	}
	first := []int{l.opts.Rand.IntN(n)}
	for c := range l.opts.Clusters {
		candidates := first
		if c > 0 {
			candidates = candidates[:0:0]
			for range trials {
				candidates = append(candidates, s.draw(l.opts.Rand))
			}
		}
		best, err := s.try(candidates)
		if err != nil {
			return err
		}
		copy(distance.Row(l.centroids, c), distance.Row(l.points, candidates[best]))
		l.closest, s.near[best] = s.near[best], l.closest
		s.total = append(s.total[:0], s.sums[best]...)
	}
	l.closest = nil
	return nil
}

// seeding is the state of seed.
type seeding struct {
	*lloyd
	near  [][]float32 // by candidate: squared distances of the points to the nearest seed, including the candidate
	sums  [][]float64 // of near, piece by piece
	total []float64   // of closest, piece by piece
}

// draw picks a point with probability proportional to closest, or any point if all are 0.
func (s *seeding) draw(source *rand.Rand) int {
	total := sum(s.total)
	if !(total > 0) {
		return source.IntN(len(s.closest))
	}
	left := source.Float64() * total
	last := 0 // the last point of positive weight, in case rounding uses up the total
	for piece, weight := range s.total {
		from := piece * distance.ChunkRows
		to := min(from+distance.ChunkRows, len(s.closest))
		if left >= weight && piece < len(s.total)-1 {
			left -= weight
			continue
		}
		for i, w := range s.closest[from:to] {
			if w > 0 {
				last = from + i
				if left < float64(w) {
					return last
				}
				left -= float64(w)
			}
		}
	}
	return last
}

// try computes near for each candidate and returns the candidate that leaves least.
func (s *seeding) try(candidates []int) (best int, err error) {
	few := general(len(candidates), s.points.Cols)
	for t, i := range candidates {
		copy(distance.Row(few, t), distance.Row(s.points, i))
	}
	rows := make([]float32, s.frame.GroupSize())
	var most float64
	for _, norm := range s.frame.Group(rows, few, 0, distance.Normed) {
		most = max(most, norm)
	}
	for t := range candidates {
		clear(s.sums[t])
	}
	level := cpu.Best()
	err = s.each(func(piece, p int, panel []float32) {
		var scores [distance.Rows * distance.Lanes]float32
		distance.Scores(level, scores[:], rows, panel)
		from := p * distance.Lanes
		to := min(from+distance.Lanes, s.points.Rows)
		for t := range candidates {
			s.sums[t][piece] += s.approach(t, from, to, scores[t*distance.Lanes:], few, most)
		}
	})
	if err != nil {
		return 0, err
	}
	least := math.Inf(1)
	for t := range candidates {
		if left := sum(s.sums[t]); left < least {
			best, least = t, left
		}
	}
	return best, nil
}

// approach fills near of a candidate for some points and returns its sum. Distances that float32
// does not resolve are computed in float64, so that a point at the place of a seed has weight 0.
func (s *seeding) approach(t, from, to int, scores []float32, few blas64.General, most float64) (total float64) {
	near := s.near[t][from:to]
	for i, closest := range s.closest[from:to] {
		norm := s.norms[from+i]
		d := scores[i] + norm
		if d < s.frame.Slack(float64(norm), most) {
			d = s.frame.Scaled(distance.Squared(distance.Row(s.points, from+i), distance.Row(few, t)))
		}
		near[i] = min(d, closest)
		total += float64(near[i])
	}
	return total
}
