package sum

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// counts returns the row of counts of records by the cells of tables. No record is clipped.
func counts() Row {
	return Row{
		Side: sketch.Counts, AtReadBits: true,
		Shape: func(s *study.Study, index int) (rows, cols int64) {
			_, n := s.CountSize(index)
			return 1, int64(n)
		},
		Sensitivity: func(s *study.Study, index int, _ int64) (dp.Sensitivity, error) {
			tables, _ := s.CountSize(index)
			return dp.RecordCounts(tables, s.CountWeight(), s.Neighbours())
		},
		Open: func(o Options) (Adder, error) {
			return sketch.NewCounts(sketch.CountsOptions{
				Columns: len(o.Study.Features(0, o.Index)), Tables: o.Study.CountTables(o.Index), One: o.Study.ReadBits().One(),
				Weight: o.Study.CountWeight(), Limit: o.Limit, Workers: o.Workers,
			})
		},
		Largest:  func(s *study.Study, _ int, _ int64, _ float64) float64 { return float64(s.CountWeight()) },
		Extremes: corners,
		DisjointEntries: func(s *study.Study, index int) int {
			_, n := s.CountSize(index)
			return n
		},
	}
}

// corners returns the record in the first cell of every column and the one in the last. They share
// no cell of any table.
func corners(s *study.Study, index int) []Change {
	features := s.Features(0, index)
	low, high := make([]int64, len(features)), make([]int64, len(features))
	for i, f := range features {
		if f.Kind != study.OneHot {
			low[i], high[i] = ends(s.Columns[f.Column], s.Bits)
			continue
		}
		if i == 0 || features[i-1].Column != f.Column {
			low[i] = s.Bits.One()
		}
		if i == len(features)-1 || features[i+1].Column != f.Column {
			high[i] = s.Bits.One()
		}
	}
	if s.Privacy.Replaced {
		return []Change{{Without: low, With: high}}
	}
	return []Change{{With: low}, {With: high}}
}
