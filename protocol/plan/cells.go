package plan

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// ofCells returns the additive of counts and sums of records by cell.
func ofCells() additive {
	return additive{
		side:    sketch.Cells,
		shown:   func(s Sketch) string { return fmt.Sprintf(", L = %d", s.K) },
		warn:    func(c *cell) []Warning { return append(c.directionsWarning(), c.subspaceWarning()...) },
		instead: (*cell).cellsInstead,
	}
}

// countNoise returns the variance of the noise on the count of a cell, of all parties together.
func (c *cell) countNoise() (float64, error) {
	plan, err := c.plan(c.viewer())
	if err != nil {
		return 0, err
	}
	return plan.CellNoise(len(c.Study.Parties)).Count, nil
}

// directions returns the best number of directions for these records at this ε.
func (c *cell) directions() (int, error) {
	count, err := c.countNoise()
	return forecast.Directions(len(c.columns(c.viewer())), c.unionRecords(), math.Sqrt(count)), err
}

// directionsWarning warns if the study has far more or fewer directions than its records support.
func (c *cell) directionsWarning() []Warning {
	if c.Study.Privacy.Mechanism == dp.None {
		return nil
	}
	best, err := c.directions()
	own := c.sketch().Projection.K
	if err != nil || best >= own-1 && best <= own+1 {
		return nil
	}
	why := "fewer cells would stand out of the noise more clearly"
	if best > own {
		why = "more cells would tell clusters apart better and still stand out of the noise"
	}
	return []Warning{c.warning([]string{"sketches:", fmt.Sprintf("  - {side: cells, L: %d, …}", best)}, "with L = %d, %s", own, why)}
}

// subspaceWarning warns if the centroids of cells keep noise that moments could remove, or if they
// lose directions in which clusters differ.
func (c *cell) subspaceWarning() []Warning {
	own := c.sketch()
	if _, ok := c.Study.Moments(); !ok || c.Study.Privacy.Mechanism == dp.None {
		return nil
	}
	for _, a := range c.Study.Analyses {
		o, ok := a.Options.(study.KMeansOptions)
		if !ok || o.Auto {
			continue
		}
		best, d := forecast.CellTerms{Columns: len(c.columns(c.viewer())), Clusters: o.Clusters}.Choose().Subspace, len(c.columns(c.viewer()))
		change := []string{"sketches:", fmt.Sprintf("  - {side: cells, L: %d, q: %d, …}", own.Projection.K, best)}
		switch {
		case own.Subspace == 0 && best < d:
			return []Warning{c.warning(change, "%d clusters differ in at most %d directions. Projected on as many eigenvectors of the moments, the centroids of cells lose most of their noise", o.Clusters, best)}
		case own.Subspace > 0 && own.Subspace < best:
			return []Warning{c.warning(change, "%d clusters differ in up to %d directions, but q keeps only %d eigenvectors of the moments. Clusters that differ in the others are not told apart", o.Clusters, best, own.Subspace)}
		}
	}
	return nil
}

// cellsInstead recommends cells, with moments that reduce their noise.
func (c *cell) cellsInstead(a asking, clip float64) []Warning {
	at := c.taking(study.Sketch{Side: sketch.Cells, Share: c.sketch().Share, Clip: clip, Projection: projection.Spec{Family: projection.Hadamard, K: 1}})
	best := forecast.CellTerms{Columns: len(at.columns(at.viewer())), Clusters: clusters(a.question.analysis)}.Choose()
	count, err := at.countNoise()
	if err != nil {
		return nil
	}
	count *= float64(best.Moments+best.Cells) / float64(best.Cells) // the moments take a share of the budget
	l := forecast.Directions(len(at.columns(at.viewer())), at.unionRecords(), math.Sqrt(count))
	return []Warning{c.warning([]string{
		"sketches:", fmt.Sprintf("  - {side: moments, clip: %v, share: %d}", clip, best.Moments), fmt.Sprintf("  - {side: cells, L: %d, q: %d, clip: %v, share: %d}", l, best.Subspace, clip, best.Cells),
	}, "%s of a horizontal study needs no row for each record. Cells and moments answer it, with the same guarantee", a.answer.Kind)}
}
