package plan

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// A table is judged by how well the count of a cell is known, for the table with the most cells.
func ofCountsTable() forecaster {
	return forecaster{
		kind: study.CountsTable, asks: once, about: nowhere, names: unnamed, inward: true,
		other: map[sketch.Side]errorFunc{sketch.Counts: func(c *cell, q question) (forecast.Error, error) {
			f, err := c.counted(q)
			return f.Cell(c.mostCells(q.analysis)), err
		}},
		intervals: func(c *cell, a study.Analysis) int { return analysis.TableIntervals(c.Study, a) },
		measure:   "share of the records of a cell, where all of a table have as many", usable: halfWithin,
		worth: func(f judgement) string {
			cells := f.cell.mostCells(f.asked)
			each := f.cell.unionRecords() / float64(cells)
			return fmt.Sprintf("of the table with the most cells, %d, each would have %s records if all had as many, known to ± %s", cells, whole(each, 3), whole(f.Chosen.AtWorst.HalfWidth*each, 2))
		},
	}
}

// mostCells returns the number of cells of the largest table asked for.
func (c *cell) mostCells(a study.Analysis) (most int) {
	o, _ := a.Options.(study.TableOptions)
	for i, t := range c.Study.CountTables(c.index) {
		if o.Asks(c.sketch().Tables[i]) {
			most = max(most, t.Cells())
		}
	}
	return most
}
