package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
)

// codeSize forecasts the number of records of a cluster that a second round finds.
func codeSize(c *cell, q question) (forecast.Error, error) {
	plan, err := c.plan(c.viewer())
	if err != nil {
		return forecast.Error{}, err
	}
	_, count := plan.CodeNoise(len(c.Study.Parties))
	f := forecast.Codes{Columns: c.columns(c.viewer()), Keep: forecast.Whole(), Records: c.unionRecords(), Clusters: clusters(q.analysis), Count: count}
	if f.Keep, f.Product, err = c.fromMoments(); err != nil {
		return forecast.Error{}, err
	}
	return f.Size(), nil
}

// fromMoments is what a sketch of moments beside this one keeps of a record, and the noise on its products; of a
// study without one all, and none.
func (c *cell) fromMoments() (forecast.Contribution, float64, error) {
	at, ok := c.Study.Moments()
	if !ok {
		return forecast.Whole(), 0, nil
	}
	moments := *c
	moments.index, moments.kept = at, map[int]forecast.Contribution{}
	noise, err := moments.momentNoise()
	if err != nil {
		return forecast.Contribution{}, 0, err
	}
	return moments.keep(c.viewer()), noise.Product, nil
}
