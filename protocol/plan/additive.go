package plan

import (
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
)

// additive is what a plan knows of one side whose sketches are sums over records, beside what protocol/sum does.
// Each stands in a file of its own. A side of which nothing else is known has none.
type additive struct {
	side sketch.Side
	// shown is how a sketch goes on after its method, for people; nil: not at all.
	shown func(s Sketch) string
	// tails are how much farther means and correlations err where values have no end, at the noise of a mean of
	// typical records; nil: as where one length is told.
	tails func(c *cell) (means, correlations tail, noise float64)
	// cuts is what a clip does beyond what the noise bears, nil where that is nothing; no function: nobody
	// knows, and many records that are cut are warned of.
	cuts func(c *cell) (*cutting, error)
	warn func(c *cell) []Warning // of its size
	// instead recommends such a sketch, of a clip that few records exceed, to a horizontal study that projects.
	instead func(c *cell, a asking, clip float64) []Warning
}

func additives() []additive { return []additive{ofMoments(), ofCells(), ofCounts()} }

// additiveOf is the row of a side; of those that have none, and of those that project, it is empty.
func additiveOf(side sketch.Side) additive {
	rows := additives()
	if at := slices.IndexFunc(rows, func(row additive) bool { return row.side == side }); at >= 0 {
		return rows[at]
	}
	return additive{}
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

// sumsInstead recommends sums over records where a horizontal study projects under unit
// record: those that answer the same analyses, at the same promise.
func (c *cell) sumsInstead(asked []asking) (out []Warning) {
	s := c.Study
	if s.Partition != study.Horizontal || s.Privacy.Unit != dp.Record || s.Privacy.Mechanism != dp.Gaussian || !c.projects() {
		return nil
	}
	clip := c.typicalClip()
	said := map[sketch.Side]bool{}
	for _, a := range asked {
		kind, _ := study.KindOf(a.question.analysis.Kind)
		for _, needs := range kind.Needs(a.question.analysis.Options) {
			row := additiveOf(needs.Side)
			if row.instead == nil {
				continue
			}
			if !said[needs.Side] {
				said[needs.Side] = true
				out = append(out, row.instead(c, a, clip)...)
			}
			break
		}
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
