package plan

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// ofCounts is the row of numbers of records by the cells of tables.
func ofCounts() additive {
	return additive{side: sketch.Counts, shown: func(s Sketch) string { return fmt.Sprintf(", %d counts", s.K) }}
}

// counted is the noise of a question by counts, beside all records.
func (c *cell) counted(q question) (forecast.Counts, error) {
	plan, err := c.plan(c.viewer())
	if err != nil {
		return forecast.Counts{}, err
	}
	return forecast.Counts{Records: c.unionRecords(), Noise: plan.CountNoise(len(c.Study.Parties)), Level: c.level(q.analysis)}, nil
}

// nowhere is of answers that depend on no column's spread.
func nowhere(*cell, question) []place { return nil }
