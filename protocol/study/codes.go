package study

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/codebook"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
)

// ofCodes is the row of numbers of records, and sums of them, by the code points of a codebook, which the second
// round of a study goes by.
func ofCodes() additive {
	return additive{
		side:   sketch.Codes,
		limit:  func(_ *Study, _ int, bound int64) int64 { return bound / sketch.MaxRadius },
		method: func(Sketch) string { return "code points" },
		says:   (*Study).describeCodes,
	}
}

// TwoRounds reports a study whose second round goes by what came of the first.
func (s *Study) TwoRounds() bool { return s.Rounds == 2 }

// SecondRound reports whether a sketch, by its index, is of the second round.
func (s *Study) SecondRound(index int) bool {
	return s.Sketches[index].Side == sketch.Codes || s.Pooled(index)
}

// FirstAnswers reports whether the first round alone answers some analysis of the study: where the second lacks a
// quorum, that is the result.
func (s *Study) FirstAnswers() bool {
	return s.TwoRounds() && slices.ContainsFunc(s.Analyses, func(a Analysis) bool {
		index, ok := s.SketchFor(a)
		return ok && !s.SecondRound(index)
	})
}

// FirstBy is until when first rounds are waited for, where no masks need all of them: three quarters of the time
// between the close of approval and of upload.
func (s *Study) FirstBy() protocol.Instant { return s.Deadline - (s.Deadline-s.Expires)/4 }

// By is the study whose second round goes by what came of the first. It is the same study: no file has that.
func (s *Study) By(b protocol.Basis) *Study {
	out := *s
	out.basis = &b
	return &out
}

// Awaits reports whether a sketch is of a second round, and what that goes by is not known yet.
func (s *Study) Awaits(index int) bool { return s.basis == nil && s.SecondRound(index) }

// Basis is what the second round goes by.
func (s *Study) Basis() protocol.Basis {
	if s.basis != nil {
		return *s.basis
	}
	return s.Beforehand()
}

// Beforehand is what takes the place of what came of the first round before that is there, for sizes and rehearsals:
// it says nothing of data.
func (s *Study) Beforehand() (b protocol.Basis) {
	if at := slices.IndexFunc(s.Sketches, func(sk Sketch) bool { return sk.Side == sketch.Codes }); at >= 0 {
		b.Codebook = s.Codebook(at)
		return b
	}
	for _, i := range s.PooledMoments() {
		edges := s.ClipEdges(i)
		b.Clips = append(b.Clips, edges[min(usualEdge, len(edges)-1)])
		if s.LooksAtValues() && b.Moves == nil {
			features := s.Features(0, i)
			for _, at := range s.MomentEntries(i) {
				b.Moves = append(b.Moves, s.Still(features[at]))
			}
		}
	}
	return b
}

// usualEdge is the clip among those that there are to choose from that few records of most data exceed by much.
const usualEdge = 3

// Codebook is what a codes sketch goes by. Before the interim is there, it is one that takes its place, for sizes and
// rehearsals: it says nothing of data.
func (s *Study) Codebook(index int) sketch.Codebook {
	if s.basis != nil {
		return s.basis.Codebook
	}
	centres := s.Centres(index)
	d, k := len(centres), s.MostClusters(index)
	c := sketch.Codebook{Radius: max(s.Bits.One(), 2)}
	for _, v := range centres {
		c.Centre = append(c.Centre, 16*v)
	}
	for a := range codebook.Axes(k, d) {
		axis := make([]int64, d)
		axis[a] = sketch.AxisOne
		c.Axes = append(c.Axes, axis)
	}
	for m := range min(2*k, sketch.MaxCodes) { // outwards along each axis in turn
		code, q := make([]int64, len(c.Axes)), len(c.Axes)
		code[m%q] = c.Radius * int64(1-2*(m/q%2)) / int64(1+m/(2*q))
		c.Codes = append(c.Codes, code)
	}
	return c
}

// MostClusters is how many clusters k-means may find in a sketch.
func (s *Study) MostClusters(index int) int {
	most := 2
	for _, a := range s.Analyses {
		o, ok := a.Options.(KMeansOptions)
		if at, answered := s.SketchFor(a); ok && answered && at == index {
			most = max(most, o.Clusters, o.MaxClusters)
		}
	}
	return most
}

// CodeWeights are those of a codes sketch.
func (s *Study) CodeWeights(index int) dp.CellWeights {
	return dp.NewCellWeights(s.Codebook(index).Radius, s.Privacy.Mechanism != dp.None)
}

// MostCodeEntries is how many integers a codes sketch has at most: the first round says how many.
func (s *Study) MostCodeEntries(index int) int64 {
	return int64(sketch.MaxCodes+1) * int64(1+codebook.Axes(s.MostClusters(index), len(s.Features(0, index))))
}

// describeCodes says what a codes sketch is.
func (s *Study) describeCodes(i int, noisy string) string {
	q := codebook.Axes(s.MostClusters(i), len(s.Features(0, i)))
	most := s.MostCodeEntries(i)
	return fmt.Sprintf("of the second round: up to %d code points, %d integers at most, %s, however many records there are. The first round says where they lie: where records are dense, as far as its noise lets one see. Each record counts at the nearest point: for each leave a %s count of your records and %s sums of their places along %s. What the aggregator says of the points costs accuracy if it is wrong, and no privacy",
		sketch.MaxCodes, most, s.Sizes(most, most), noisy, noisy, directions(q))
}

func directions(n int) string {
	if n == 1 {
		return "one direction"
	}
	return fmt.Sprintf("%d directions", n)
}
