package plan

import (
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// mostBytes limits the sketches that are searched for the best k, written at full width.
const mostBytes = 64 << 20

// greatestK returns the largest k that the search for the best one considers: that of a sketch of
// mostBytes. On the columns side it is at most the number of records, and without noise at most
// what package audit accepts.
func (c *cell) greatestK(party int) int {
	features := len(c.Study.Features(party, c.index))
	if c.sketch().Side == sketch.Records {
		k := int(min(mostBytes/8/c.Options.records(party), 1<<24))
		if c.method.Mechanism == dp.None {
			k = min(k, features/10)
		}
		return max(k, 1)
	}
	n := int(min(c.Options.records(party), 1<<24))
	if c.method.Mechanism == dp.None {
		functions := 1
		if c.sketch().Helpers.Squares {
			functions = 2
		}
		n /= max(10*functions, 20*c.method.S)
	}
	return max(min(n, mostBytes/8/features), 1)
}

// viewer returns the party whose bytes are counted.
func (c *cell) viewer() int { return max(c.Party, 0) }

// bytes returns roughly the size of the viewing party's sketch, at the smallest width that holds
// the largest expected entry.
func (c *cell) bytes() (int64, error) {
	party := c.viewer()
	records := c.Options.records(party)
	plan, err := c.plan(party)
	if err != nil {
		return 0, err
	}
	if !c.projects() {
		return c.sumsBytes(plan, records)
	}
	rows, cols := plan.Shape(records)
	squares := 0.0 // |x|² of the vector that a row of R, or all of R, multiplies
	for _, f := range plan.Features {
		m := plan.OnesWeight() * plan.OnesWeight()
		if f.Kind == study.Value || f.Kind == study.OneHot {
			e := c.encoded(f)
			m = e.Mean*e.Mean + e.Spread*e.Spread
			if plan.Joined() && f.Kind == study.Value { // values are centred
				m = e.Spread * e.Spread
			}
		}
		if plan.Sketch().Side == sketch.Columns {
			squares = math.Max(squares, m*float64(records))
		} else {
			squares += m
		}
	}
	reached := plan.Spec().K // coordinates over which a row of R is spread
	if plan.Sketch().Side == sketch.Records {
		reached = int(cols)
	}
	unit := plan.Unit()
	one := plan.Spec().Scale() / unit
	variance := squares*one*one*float64(plan.Spec().RowL2Squared())/float64(reached) + plan.NoiseOf(0, 1, records).Variance/unit/unit
	tail := math.Log(2 * float64(rows) * float64(cols))
	reach := math.Sqrt(2 * variance * tail)
	if plan.Study.Privacy.Mechanism == dp.Laplace {
		reach = math.Max(reach, math.Sqrt(plan.Noise.Variance()/2)*tail)
	}
	if !plan.Flips.Zero() && plan.Spec().OrthogonalRows(len(c.searched())) {
		reach = float64(c.Study.Bits.One()) // of a flipped bit
	}
	width := 1
	if c.Study.Masked() {
		width = sketch.MaxWidth
	}
	for limit := 127.0; width < sketch.MaxWidth && reach > limit; limit = limit*256 + 255 {
		width++
	}
	size, err := sketch.EncodedSize(int(rows), int(cols), width)
	for _, beside := range plan.RowColumns() {
		size += rows * int64(beside.Width)
	}
	return size, err
}

// rawBytes returns the size of the viewing party's values as fixed-point integers.
func (c *cell) rawBytes() int64 {
	width := int64(1)
	if c.Study.Bits > 7 {
		width = 2
	}
	return c.Options.records(c.viewer()) * int64(len(c.columns(c.viewer()))) * width
}
