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

// additive is what a plan knows of one side whose sketches are sums over records, beyond
// protocol/sum. Each is in a file of its own. A side about which nothing else is known has none.
type additive struct {
	side sketch.Side
	// shown returns what follows a sketch's method, for people; nil: nothing.
	shown func(s Sketch) string
	// tails returns the tail factors on errors of means and correlations, and the noise of a mean
	// of typical records; nil: those for one declared length.
	tails func(c *cell) (means, correlations tail, noise float64)
	// cuts returns the effect of a clip if the noise cannot hide it, and nil otherwise. No
	// function: it is unknown, and a warning is given if many records are cut.
	cuts func(c *cell) (*cutting, error)
	warn func(c *cell) []Warning // about its size
	// instead recommends such a sketch, with a clip that few records exceed, to a horizontal study
	// that projects.
	instead func(c *cell, a asking, clip float64) []Warning
}

func additives() []additive { return []additive{ofMoments(), ofCells(), ofCounts()} }

// additiveOf returns the additive of a side; empty for sides without one, and for those that
// project.
func additiveOf(side sketch.Side) additive {
	rows := additives()
	if at := slices.IndexFunc(rows, func(row additive) bool { return row.side == side }); at >= 0 {
		return rows[at]
	}
	return additive{}
}

// sumsBytes returns roughly the size of a sums sketch. Its largest entries have all records in one
// place, or are noise.
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

// sumsInstead recommends sums over records if a horizontal study projects under unit record: those
// that answer the same analyses, with the same promise.
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

// typicalClip returns a length that few records exceed: a quarter more than that of a typical one.
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
