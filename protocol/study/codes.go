package study

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/codebook"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
)

// ofCodes returns the row of counts and sums of records, by the code points of the codebook that
// the second round of a study uses.
func ofCodes() additive {
	return additive{
		side:   sketch.Codes,
		limit:  func(_ *Study, _ int, bound int64) int64 { return bound / sketch.MaxRadius },
		method: func(Sketch) string { return "code points" },
		says:   (*Study).describeCodes,
	}
}

// TwoRounds reports whether the study has a second round, which depends on the result of the first.
func (s *Study) TwoRounds() bool { return s.Rounds == 2 }

// SecondRound reports whether a sketch, by its index, belongs to the second round.
func (s *Study) SecondRound(index int) bool {
	return s.Sketches[index].Side == sketch.Codes || s.Pooled(index)
}

// FirstAnswers reports whether the first round alone answers some analysis of the study. If the
// second round has no quorum, these answers are the result.
func (s *Study) FirstAnswers() bool {
	return s.TwoRounds() && slices.ContainsFunc(s.Analyses, func(a Analysis) bool {
		index, ok := s.SketchFor(a)
		return ok && !s.SecondRound(index)
	})
}

// FirstBy is the deadline of the first round, unless masks need all parties: three quarters of the
// time between the close of approval and of upload.
func (s *Study) FirstBy() protocol.Instant { return s.Deadline - (s.Deadline-s.Expires)/4 }

// WithBasis returns the study with the basis of its second round, which follows from the first. It is the
// same study; no file contains the basis.
func (s *Study) WithBasis(b protocol.Basis) *Study {
	out := *s
	out.basis = &b
	return &out
}

// AwaitsBasis reports whether a sketch belongs to a second round whose basis is not known yet.
func (s *Study) AwaitsBasis(index int) bool { return s.basis == nil && s.SecondRound(index) }

// Basis returns the basis of the second round; before it is known, Beforehand.
func (s *Study) Basis() protocol.Basis {
	if s.basis != nil {
		return *s.basis
	}
	return s.PlaceholderBasis()
}

// PlaceholderBasis returns a placeholder for the basis of the second round, for sizes and rehearsals. It
// does not depend on data.
func (s *Study) PlaceholderBasis() (b protocol.Basis) {
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
				b.Moves = append(b.Moves, s.PublicStandard(features[at]))
			}
		}
	}
	return b
}

// usualEdge is the index of a clip that few records of most data exceed by much.
const usualEdge = 3

// Codebook returns the codebook of a codes sketch. Before the interim it is a placeholder, for
// sizes and rehearsals, which does not depend on data.
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

// MostClusters returns the largest number of clusters that k-means may find in a sketch.
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

// CodeWeights returns the weights of a codes sketch.
func (s *Study) CodeWeights(index int) dp.CellWeights {
	return dp.NewCellWeights(s.Codebook(index).Radius, s.Privacy.Mechanism != dp.None)
}

// MostCodeEntries returns the largest number of integers in a codes sketch; the first round
// determines the number.
func (s *Study) MostCodeEntries(index int) int64 {
	return int64(sketch.MaxCodes+1) * int64(1+codebook.Axes(s.MostClusters(index), len(s.Features(0, index))))
}

// describeCodes describes a codes sketch.
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
