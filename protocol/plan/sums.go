package plan

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
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
			answer.Measure = "share of the records of a cell"
		}
		if a.Intervals == study.IntervalsAll {
			answer.Together, answer.EachLevel = c.intervals(a), float64(c.level(a))
		}
		hardest, most, least, err := c.hardest(c.questions(a))
		if err != nil {
			return fmt.Errorf("%s: %w", a.Kind, err)
		}
		answer.Pair, answer.Best = c.names(hardest), least.Deviation
		if answer.Chosen, err = c.choice(a, most); err != nil {
			return err
		}
		if c.sketch().Side == sketch.Cells {
			answer.Pair, answer.Chosen.Usable = nil, most.Deviation <= faintCell
		}
		if !answer.Chosen.Usable {
			answer.Needs = c.needs(hardest)
		}
		answer.Verdict = c.summedVerdict(a, answer)
		out.Analyses = append(out.Analyses, answer)
	}
	return nil
}

// faintCell is the largest error of a typical cell's count, in units of itself, with which
// cells are said to be of use: one half more than what keeps a cell from being dropped.
const faintCell = 1. / 4.5

func (c *cell) summedVerdict(a study.Analysis, f Analysis) string {
	if c.sketch().Side != sketch.Cells {
		return verdict(a, f, c.Study.Privacy.Mechanism)
	}
	cells := 1 << c.sketch().Projection.K
	text := fmt.Sprintf("a cell of the %d would have %.3g records if all had as many, and its count errs by %.2g",
		cells, c.unionRecords()/float64(cells), f.Chosen.StandardError*c.unionRecords()/float64(cells))
	if !f.Chosen.Usable {
		return "not usable: " + text + needed(f.Needs, c.Study.Privacy.Mechanism)
	}
	return "usable: " + text
}

// momentNoise is that on the parties' sum of moments, in encoded units.
func (c *cell) momentNoise() (estimate.MomentNoise, error) {
	plan, err := release.For(c.Study, c.viewer(), c.index)
	if err != nil {
		return estimate.MomentNoise{}, err
	}
	return plan.MomentNoise(len(c.Study.Parties)), nil
}

// ofSums forecasts a question that moments or cells answer.
func (c *cell) ofSums(q question) (forecast.Error, error) {
	if c.sketch().Side == sketch.Cells {
		plan, err := release.For(c.Study, c.viewer(), c.index)
		if err != nil {
			return forecast.Error{}, err
		}
		cells := float64(int(1) << plan.Spec().K)
		return forecast.Relative(plan.CellNoise(len(c.Study.Parties)).Count, c.unionRecords()/cells), nil
	}
	noise, err := c.momentNoise()
	if err != nil {
		return forecast.Error{}, err
	}
	s := forecast.Sums{
		X: c.central(q.x.feature), Y: c.central(q.y.feature), Keep: c.keep(c.viewer()), Records: c.unionRecords(), Noise: noise, Level: c.level(q.analysis),
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

// central is what a feature is expected to look like around the public centre of sums.
func (c *cell) central(f study.Feature) forecast.Column {
	out := c.encoded(f)
	if _, _, bounded := c.Study.Columns[f.Column].Scale.Bounds(); bounded && f.Kind == study.Value {
		out.Mean -= 0.5
	}
	return out
}

// sumsBytes is about what a sums sketch takes: its largest entries are those of all
// records in one place, or of noise.
func (c *cell) sumsBytes(plan release.Plan, records int64) (int64, error) {
	rows, cols := plan.Shape(records)
	weights, one := c.Study.MomentWeights(c.index), float64(c.Study.Bits.One())
	var length float64
	for _, column := range c.columns(c.viewer()) {
		length = math.Max(length, column.Mean*column.Mean+column.Spread*column.Spread)
	}
	largest := float64(weights.Square) * length * one * one
	if plan.Sketch().Side == sketch.Cells {
		largest = float64(c.Study.CellWeight(c.index))
	}
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

// directions is the most of them with which a cell of average size stands out of its noise
// with some to spare, at this ε and with these records; at least 1.
func (c *cell) directions() int {
	best := 1
	most := min(sketch.MaxDirections, projection.HadamardSize(len(c.columns(c.viewer()))))
	for l := 1; l <= most; l++ {
		if sketch.CellEntries(l, len(c.columns(c.viewer()))) > sketch.MaxCellEntries {
			break
		}
		at := c.times(1)
		own := at.sketch()
		own.Projection.K = l
		at = at.taking(own)
		e, err := at.ofSums(question{})
		if err != nil || e.Deviation > faintCell {
			break
		}
		best = l
	}
	return best
}

// taking is the cell of a copy of the study with another sketch in its place.
func (c *cell) taking(sk study.Sketch) *cell {
	out := *c
	out.Study, out.kept = c.Study.Taking(c.index, sk), map[int]forecast.Contribution{}
	return &out
}

// directionsWarning says when the study has other directions than its records bear.
func (c *cell) directionsWarning() []Warning {
	if c.sketch().Side != sketch.Cells || c.Study.Privacy.Mechanism == dp.None {
		return nil
	}
	if best, own := c.directions(), c.sketch().Projection.K; best != own && (best < own || best > own+1) {
		why := "fewer cells would stand out of the noise better"
		if best > own {
			why = "more cells would tell clusters apart better and still stand out of the noise"
		}
		return []Warning{c.warning([]string{"sketches:", fmt.Sprintf("  - {side: cells, L: %d, …}", best)}, "with L = %d, %s", own, why)}
	}
	return nil
}

// subspaceWarning says when the centroids of cells keep noise that moments could take off.
func (c *cell) subspaceWarning() []Warning {
	own := c.sketch()
	if _, ok := c.Study.Moments(); !ok || own.Side != sketch.Cells || own.Subspace > 0 || c.Study.Privacy.Mechanism == dp.None {
		return nil
	}
	for _, a := range c.Study.Analyses {
		if o, ok := a.Options.(study.KMeansOptions); ok && !o.Auto && o.Clusters-1 < len(c.columns(c.viewer())) {
			return []Warning{c.warning([]string{"sketches:", fmt.Sprintf("  - {side: cells, L: %d, q: %d, …}", own.Projection.K, o.Clusters-1)},
				"%d clusters lie in %d directions: projected on as many eigenvectors of the moments, cells' centroids lose most of their noise", o.Clusters, o.Clusters-1)}
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
			l, q := at.directions(), 1
			if o, ok := a.question.analysis.Options.(study.KMeansOptions); ok {
				q = max(min(o.Clusters-1, len(at.columns(at.viewer()))), 1)
			}
			out = append(out, c.warning([]string{
				"sketches:", fmt.Sprintf("  - {side: moments, clip: %v, share: 7}", clip), fmt.Sprintf("  - {side: cells, L: %d, q: %d, clip: %v, share: 3}", l, q, clip),
			}, "%s of horizontal records needs no record of its own in a release: cells and moments answer it, at the same promise", a.answer.Kind))
			continue
		}
		at := c.taking(study.Sketch{Side: side, Share: c.sketch().Share, Clip: clip})
		e, err := at.forecast(a.question)
		if err != nil || e.Undefined != "" {
			continue
		}
		text := fmt.Sprintf("%s errs %.2g times as far as with side moments", a.answer.Kind, a.answer.Chosen.StandardError/e.Deviation)
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
			e := c.central(f)
			squares += e.Mean*e.Mean + e.Spread*e.Spread
		}
	}
	return math.Ceil(10*1.25*math.Sqrt(squares)) / 10
}
