package plan

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// ofCounts returns the additive of counts of records by the cells of tables.
func ofCounts() additive {
	return additive{side: sketch.Counts, shown: func(s Sketch) string { return fmt.Sprintf(", %d counts", s.K) }}
}

// counted returns the noise of a question by counts, and the number of all records.
func (c *cell) counted(q question) (forecast.Counts, error) {
	plan, err := c.plan(c.viewer())
	if err != nil {
		return forecast.Counts{}, err
	}
	return forecast.Counts{Records: c.unionRecords(), Noise: plan.CountNoise(len(c.Study.Parties)), Level: c.level(q.analysis)}, nil
}

// nowhere is for answers that depend on no column's spread.
func nowhere(*cell, question) []place { return nil }
