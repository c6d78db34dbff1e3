package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
)

// unionRecords is how many records all parties have.
func (c *cell) unionRecords() (n float64) {
	for party := range c.Study.Parties {
		n += c.records(party)
	}
	return n
}

// summed describes a sketch of side moments or cells, which has no projection to choose.
func (c *cell) summed(out *Sketch) error {
	out.Method = "sums"
	if m := c.Study.Privacy.Mechanism; m != dp.None {
		out.Method += ", " + string(m)
	}
	for _, a := range c.Study.Analyses {
		if at, ok := c.Study.SketchFor(a); !ok || at != c.index {
			continue
		}
		answer := Analysis{Kind: a.Kind, Measure: measures[a.Kind], Options: []Choice{}}
		if a.Kind == study.KMeans {
			answer.Measure = "share of the records of a cluster, where all have as many"
		}
		hardest, err := c.judgedBy(a, c.questions(a), &answer)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Kind, err)
		}
		if !answer.Chosen.Usable {
			answer.Needs = c.needs(hardest, nil)
		}
		c.conclude(a, &answer)
		out.Analyses = append(out.Analyses, answer)
	}
	return nil
}

// usableCells reports whether clusters can be told by cells, and the number of records of one
// is known within itself.
func usableCells(e forecast.Error) bool { return e.Undefined == "" && e.HalfWidth <= 1 }

// worthOfCells says how well the records of clusters are known.
func (c *cell) worthOfCells(a study.Analysis, f Analysis) string {
	each := c.unionRecords() / float64(c.clusters(a))
	return fmt.Sprintf("clusters of equal size would have %s records each, known to ± %s", whole(each, 3), whole(f.Chosen.AtWorst.HalfWidth*each, 2))
}

// whole shows a number to some digits, without an exponent.
func whole(x float64, digits int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		rounded = x
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// clusters is how many k-means looks for; the fewest where the data say it.
func (c *cell) clusters(a study.Analysis) int {
	o, _ := a.Options.(study.KMeansOptions)
	return max(o.Clusters, 2)
}

// momentNoise is that on the parties' sum of moments, in encoded units.
func (c *cell) momentNoise(of ...study.Feature) (estimate.MomentNoise, error) {
	plan, err := c.plan(c.viewer())
	if err != nil {
		return estimate.MomentNoise{}, err
	}
	label := slices.ContainsFunc(of, func(f study.Feature) bool {
		return f.Column >= 0 && c.Study.Columns[f.Column].Label && plan.Moments.Layout.Classes > 0
	})
	return plan.MomentNoise(len(c.Study.Parties), plan.Expected(c.unionRecords()), label), nil
}

// ofSums forecasts a question that moments or cells answer.
func (c *cell) ofSums(q question) (forecast.Error, error) {
	if c.sketch().Side == sketch.Cells {
		return c.ofCells(q)
	}
	noise, err := c.momentNoise(q.x.feature, q.y.feature)
	if err != nil {
		return forecast.Error{}, err
	}
	s := forecast.Sums{
		X: c.central(q.x), Y: c.central(q.y), Keep: c.keep(c.viewer()), Records: c.unionRecords(), Noise: noise, Level: c.level(q.analysis),
	}
	switch {
	case q.analysis.Kind == study.Mean:
		return s.Mean()
	case q.analysis.Kind == study.Correlation:
		return s.Correlation()
	case q.x == q.y:
		return s.Variance()
	}
	return s.Covariance()
}

// ofCells forecasts the number of records of a cluster.
func (c *cell) ofCells(q question) (forecast.Error, error) {
	count, err := c.countNoise()
	if err != nil {
		return forecast.Error{}, err
	}
	f := forecast.Cells{
		Columns: c.columns(c.viewer()), Keep: forecast.Whole(), Records: c.unionRecords(), Cells: 1 << c.sketch().Projection.K,
		Clusters: c.clusters(q.analysis), Subspace: c.sketch().Subspace, Count: count,
	}
	if at, ok := c.Study.Moments(); ok {
		moments := *c
		moments.index, moments.kept = at, map[int]forecast.Contribution{}
		noise, err := moments.momentNoise()
		if err != nil {
			return forecast.Error{}, err
		}
		f.Keep, f.Product = moments.keep(c.viewer()), noise.Product
	}
	return f.Size(), nil
}

// countNoise is the variance of that on the count of a cell, of all parties.
func (c *cell) countNoise() (float64, error) {
	plan, err := c.plan(c.viewer())
	if err != nil {
		return 0, err
	}
	return plan.CellNoise(len(c.Study.Parties)).Count, nil
}

// sumsBytes is about what a sums sketch takes: its largest entries are those of all
// records in one place, or of noise.
func (c *cell) sumsBytes(plan release.Plan, records int64) (int64, error) {
	rows, cols := plan.Shape(records)
	var length float64
	for _, column := range c.columns(c.viewer()) {
		length = math.Max(length, column.Mean*column.Mean+column.Spread*column.Spread)
	}
	row, _ := sum.RowOf(c.sketch().Side)
	clip := plan.Clip
	if plan.Moments != nil && len(plan.Moments.Clips) > 0 {
		clip = plan.Moments.Clips[plan.Expected(c.unionRecords())]
	}
	largest := row.Largest(c.Study, c.index, clip, length)
	reach := largest*float64(records) + 5*math.Sqrt(plan.Noise.Variance())
	width := 1
	if c.Study.Masked() {
		width = sketch.MaxWidth
	}
	for limit := 127.0; width < sketch.MaxWidth && reach > limit; limit = limit*256 + 255 {
		width++
	}
	return sketch.EncodedSize(int(rows), int(cols), width)
}

// directions are as many as these records bear at this ε.
func (c *cell) directions() (int, error) {
	count, err := c.countNoise()
	return forecast.Directions(len(c.columns(c.viewer())), c.unionRecords(), math.Sqrt(count)), err
}

// taking is the cell of a copy of the study with another sketch in its place.
func (c *cell) taking(sk study.Sketch) *cell {
	out := *c
	out.Study, out.kept = c.Study.Taking(c.index, sk), map[int]forecast.Contribution{}
	return &out
}

// directionsWarning says when the study has far more or fewer directions than its records
// bear.
func (c *cell) directionsWarning() []Warning {
	if c.sketch().Side != sketch.Cells || c.Study.Privacy.Mechanism == dp.None {
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

// subspaceWarning says when the centroids of cells keep noise that moments could take off,
// and when they lose directions in which clusters differ.
func (c *cell) subspaceWarning() []Warning {
	own := c.sketch()
	if _, ok := c.Study.Moments(); !ok || own.Side != sketch.Cells || c.Study.Privacy.Mechanism == dp.None {
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

// sumsInstead recommends moments or cells where a horizontal study projects under unit
// record: those that answer the same analyses, at the same promise.
func (c *cell) sumsInstead(asked []asking) []Warning {
	s := c.Study
	if s.Partition != study.Horizontal || s.Privacy.Unit != dp.Record || s.Privacy.Mechanism != dp.Gaussian || c.sketch().Side.Sums() {
		return nil
	}
	clip := c.typicalClip()
	var out []Warning
	said := map[sketch.Side]bool{}
	for _, a := range asked {
		side := sketch.Moments
		switch a.answer.Kind {
		case study.Correlation, study.Covariance, study.PCA, study.Regression:
		case study.KMeans:
			side = sketch.Cells
		default:
			continue
		}
		if said[side] {
			continue
		}
		said[side] = true
		if side == sketch.Cells {
			at := c.taking(study.Sketch{Side: side, Share: c.sketch().Share, Clip: clip, Projection: projection.Spec{Family: projection.Hadamard, K: 1}})
			best := forecast.CellTerms{Columns: len(at.columns(at.viewer())), Clusters: c.clusters(a.question.analysis)}.Choose()
			count, err := at.countNoise()
			if err != nil {
				continue
			}
			count *= float64(best.Moments+best.Cells) / float64(best.Cells) // the moments take a part
			l := forecast.Directions(len(at.columns(at.viewer())), at.unionRecords(), math.Sqrt(count))
			out = append(out, c.warning([]string{
				"sketches:", fmt.Sprintf("  - {side: moments, clip: %v, share: %d}", clip, best.Moments), fmt.Sprintf("  - {side: cells, L: %d, q: %d, clip: %v, share: %d}", l, best.Subspace, clip, best.Cells),
			}, "%s of a horizontal study needs no row for each record. Cells and moments answer it, with the same guarantee", a.answer.Kind))
			continue
		}
		at := c.taking(study.Sketch{Side: side, Share: c.sketch().Share, Clip: clip, Moments: study.Moments{Sums: 3}})
		e, err := at.forecast(a.question)
		if err != nil || e.Undefined != "" {
			continue
		}
		text := fmt.Sprintf("%s errs %.2g times as much as with side moments", a.answer.Kind, a.answer.Chosen.StandardError/e.Deviation)
		switch {
		case a.answer.Chosen.Undefined != "":
			text = fmt.Sprintf("%s has no interval, and with side moments errs by %.2g", a.answer.Kind, e.Deviation)
		case a.answer.Chosen.StandardError < farFromBest*e.Deviation:
			continue
		}
		out = append(out, c.warning([]string{"sketches:", fmt.Sprintf("  - {side: moments, clip: %v}", clip)}, "%s", text))
	}
	return out
}

// typicalClip is a length that few records exceed: a quarter more than that of a typical
// one.
func (c *cell) typicalClip() float64 {
	var squares float64
	for _, f := range c.Study.Features(c.viewer(), c.index) {
		if f.Kind == study.Value || f.Kind == study.OneHot {
			e := c.moved(f)
			squares += e.Mean*e.Mean + e.Spread*e.Spread
		}
	}
	return math.Ceil(10*1.25*math.Sqrt(squares)) / 10
}
