package sum

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// codes returns the row of counts of records, and sums of their positions, by the code points of a
// codebook.
func codes() Row {
	return Row{
		Side: sketch.Codes,
		Shape: func(s *study.Study, index int) (rows, cols int64) {
			c := s.Codebook(index)
			return int64(sketch.CodeRows(len(c.Codes), s.CodeWeights(index))), int64(1 + len(c.Axes))
		},
		Sensitivity: func(s *study.Study, index int, _ int64) (dp.Sensitivity, error) {
			c := s.Codebook(index)
			return dp.RecordCodes(c.Radius, len(c.Axes), s.CodeWeights(index), s.Neighbours())
		},
		Open: func(o Options) (Adder, error) {
			return sketch.NewCodes(sketch.CodesOptions{
				SumsOptions: o.centred(), Codebook: o.Study.Codebook(o.Index), Weights: o.Study.CodeWeights(o.Index),
			})
		},
		Largest: func(s *study.Study, index int, _ int64, _ float64) float64 {
			return float64(s.CodeWeights(index).Count)
		},
		Extremes: axes,
		DisjointEntries: func(s *study.Study, index int) int { // all records change the count of clipped records
			c := s.Codebook(index)
			return len(c.Codes) * (1 + len(c.Axes))
		},
	}
}
