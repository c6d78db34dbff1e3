package audit

import (
	"fmt"
	"math"
	"strings"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// The rule of [Exposure.Acceptable].
const (
	maxShare = 0.1 // released numbers per number held
	minLoad  = 20  // records per coordinate of a sparse columns sketch
)

// Shape is what decides how much one party's sketch without noise gives away.
type Shape struct {
	Side       sketch.Side     // required
	Projection projection.Spec // required
	Records    int             // required but on the records side: m, the records of this party
	Columns    int             // required but on the columns side: d, the columns that this party projects or sums
	Functions  int             // columns side: sketched functions per value column; default 1, 2 where squares are sketched too
	Attributes int             // records side: the attributes that the columns encode, as a category is many; default Columns
	Discrete   bool            // some of the attributes are binary or categorical
}

// Exposure is what a noise-free sketch of some shape tells someone who knows R,
// as an aggregator with one party's help does.
type Exposure struct {
	Shape Shape

	// Share is the number of values released per value held: k·functions/m on the
	// columns side, k per attribute on the records side, (d+3)/(2m) for moments, 2^L·(1+d)/(m·d) for
	// cells, k·(1+d)/(m·d) for codes, and for counts as many as there are cells per m·d. At 1 the data are in the sketch. Shares of sketches of the same data add up, as the ranks
	// of independent matrices do.
	Share float64

	// RSquared is the part of a column's variance (columns side) or of a record's
	// squared norm (records side) that least squares recovers: about
	// min(1, Share), of entries where these are more than attributes. Knowledge about the data (few distinct values, sparsity, a
	// covariance) recovers more.
	RSquared float64

	// Alone is the expected part of the records (columns side) or columns (records
	// side) that share a coordinate with no other, so whose value stands in the
	// sketch as it is: 1 − (1 − (1−s/k)^(m−1))^s, e^(−m/k) for s = 1. Sparse, and of
	// records in cells, were these all equally likely, which they are not: more are alone.
	Alone float64
}

// Expose works out the exposure of a sketch without noise.
func Expose(shape Shape) (Exposure, error) {
	if shape.Functions == 0 {
		shape.Functions = 1
	}
	if row, ok := shape.summed(); ok {
		return shape.sums(row)
	}
	n, functions, err := shape.held()
	if err != nil {
		return Exposure{}, fmt.Errorf("working out what a sketch gives away: %w", err)
	}
	p := shape.Projection
	if shape.Attributes == 0 {
		shape.Attributes = shape.Columns
	}
	share := float64(p.K) * float64(functions) / float64(n)
	e := Exposure{Shape: shape, Share: share, RSquared: math.Min(1, share)}
	if shape.Side == sketch.Records {
		e.Share = float64(p.K) / float64(shape.Attributes)
	}
	if p.Family == projection.Sparse {
		s := float64(p.S)
		alone := math.Pow(1-s/float64(p.K), float64(n-1))
		e.Alone = 1 - math.Pow(1-alone, s)
	}
	return e, nil
}

// summed is what is known of one side that sums over records.
type summed struct {
	side sketch.Side
	// share is Exposure.Share, of m records of d columns, and alone Exposure.Alone; nil: nothing is known of it.
	share func(s Shape, m, d float64) float64
	alone func(s Shape, m float64) float64
	// refused is why such a sketch is never acceptable without noise.
	refused string
}

// summing are all such sides.
func summing() []summed {
	cells := func(s Shape) float64 { return math.Exp2(float64(s.Projection.K)) }
	return []summed{{
		side:    sketch.Moments,
		share:   func(_ Shape, m, d float64) float64 { return (d + 3) / (2 * m) },
		refused: "moments tell the values of a record that is alone in having something, or that came between two releases",
	}, {
		side:    sketch.Cells,
		share:   func(s Shape, m, d float64) float64 { return cells(s) * (1 + d) / (m * d) },
		alone:   func(s Shape, m float64) float64 { return math.Pow(1-1/cells(s), m-1) },
		refused: "a cell may hold a single record, and then shows its values",
	}, {
		side:    sketch.Codes, // k is the number of code points, and there are at most d axes
		share:   func(s Shape, m, d float64) float64 { return float64(s.Projection.K) * (1 + d) / (m * d) },
		alone:   func(s Shape, m float64) float64 { return math.Pow(1-1/float64(s.Projection.K), m-1) },
		refused: "a code point may have a single record, and then shows where it is",
	}, {
		side:    sketch.Look,
		share:   func(_ Shape, m, d float64) float64 { return 2 / m },
		refused: "sums of values and counts of lengths tell of a record that came between two releases",
	}, {
		side:    sketch.Counts, // k is the number of cells
		share:   func(s Shape, m, d float64) float64 { return float64(s.Projection.K) / (m * d) },
		refused: "a cell may count a single record, and then shows what it has",
	}}
}

// summed returns the row of a shape's side; ok is false for one that projects.
func (s Shape) summed() (row summed, ok bool) {
	for _, row := range summing() {
		if row.side == s.Side {
			return row, true
		}
	}
	return summed{}, false
}

// sums is what a sketch without a projection gives away.
func (s Shape) sums(row summed) (Exposure, error) {
	if err := s.Projection.Validate(); err != nil || s.Records < 1 || s.Columns < 1 {
		return Exposure{}, fmt.Errorf("working out what %s of %d records and %d columns give away: %v", s.Side, s.Records, s.Columns, err)
	}
	m := float64(s.Records)
	e := Exposure{Shape: s, Share: row.share(s, m, float64(s.Columns))}
	if row.alone != nil {
		e.Alone = row.alone(s, m)
	}
	e.RSquared = math.Min(1, e.Share)
	return e, nil
}

// held is how many labels R has rows for, and how many functions of a value are
// sketched.
func (s Shape) held() (n, functions int, err error) {
	if err := s.Projection.Validate(); err != nil {
		return 0, 0, err
	}
	switch s.Side {
	case sketch.Columns:
		if s.Records < 1 || s.Functions < 1 {
			return 0, 0, fmt.Errorf("a columns sketch of %d records and %d functions per column", s.Records, s.Functions)
		}
		return s.Records, s.Functions, nil
	case sketch.Records:
		if s.Columns < 1 {
			return 0, 0, fmt.Errorf("a records sketch of %d columns", s.Columns)
		}
		return s.Columns, 1, nil
	}
	return 0, 0, fmt.Errorf("unknown side %q", s.Side)
}

// Acceptable holds the rule for one sketch without noise: refused unless, on the
// columns side, k·functions ≤ m/10 and, for a sparse projection, m/k ≥ 20; on the
// records side, k is at most a tenth of the attributes. Refused whatever their size are sketches of binary and
// categorical columns, as what has few values is read off far smaller sketches; moments, as those of two
// releases that differ by a record tell that record; and cells and counts, since nothing keeps a record from
// being alone in its cell. A refusal comes with its reason. The steward of the
// data may overrule it in the party's own site file, no one else.
func (e Exposure) Acceptable() (ok bool, reason string) {
	p := e.Shape.Projection
	switch row, sums := e.Shape.summed(); {
	case sums:
		return false, row.refused
	case e.Shape.Discrete:
		return false, "binary and categorical values can be read off however small a sketch is, where few of them are possible or common"
	case e.Shape.Side == sketch.Records:
		if 10*p.K > e.Shape.Attributes {
			return false, fmt.Sprintf("k = %d is more than a tenth of %d columns", p.K, e.Shape.Attributes)
		}
		return true, ""
	}
	if 10*p.K*e.Shape.Functions > e.Shape.Records {
		return false, fmt.Sprintf("k = %d with %d sketched functions of each column is more than a tenth of %d records",
			p.K, e.Shape.Functions, e.Shape.Records)
	}
	if p.Family == projection.Sparse && e.Shape.Records < minLoad*p.K {
		return false, fmt.Sprintf("a sparse sketch with k = %d has fewer than %d records per coordinate (%d records)",
			p.K, minLoad, e.Shape.Records)
	}
	return true, ""
}

// Release is all that leaves of the same data without noise.
type Release struct {
	Sketches []Exposure // of one study
	Earlier  float64    // the sum of the shares of what left before
}

// Share is the number of values released for each value held.
func (r Release) Share() float64 {
	sum := r.Earlier
	for _, e := range r.Sketches {
		sum += e.Share
	}
	return sum
}

// Acceptable holds the rule for what leaves together: each sketch is acceptable, and all release at most a
// tenth of a number for each number held.
func (r Release) Acceptable() (ok bool, reason string) {
	for i, e := range r.Sketches {
		if ok, reason := e.Acceptable(); !ok {
			if len(r.Sketches) > 1 {
				reason = fmt.Sprintf("sketch %d: %s", i+1, reason)
			}
			return false, reason
		}
	}
	share := r.Share()
	if share <= maxShare*(1+1e-12) { // sums of exact tenths are
		return true, ""
	}
	what := "all sketches together release"
	if r.Earlier > 0 {
		what = "with what left of these data without noise before, it would be"
	}
	return false, fmt.Sprintf("%s %.2g numbers for each number held, more than a tenth", what, share)
}

// String tells a steward what all of it gives away.
func (r Release) String() string {
	var out []string
	for i, e := range r.Sketches {
		text := e.String()
		if len(r.Sketches) > 1 {
			text = fmt.Sprintf("sketch %d: %s", i+1, text)
		}
		out = append(out, text)
	}
	text := strings.Join(out, "; ")
	if share := r.Share(); len(r.Sketches) > 1 || r.Earlier > 0 {
		text += fmt.Sprintf("; together with all that left of these data without noise: %.3g numbers for each number held, whoever knows the matrices recovers about %.0f %% of the variance", share, 100*math.Min(1, share))
	}
	return text
}

// Invertible reports a shape of which R has an inverse, but for rows of it that depend on each
// other: on the records side k ≥ d, on the columns side k ≥ m. What is sketched without
// noise is then as good as the data for whoever knows R, and also for whoever knows d
// independent records of the records side and is told their sketches, or only distances.
func (e Exposure) Invertible() bool {
	switch e.Shape.Side {
	case sketch.Records:
		return e.Shape.Projection.K >= e.Shape.Columns
	case sketch.Columns:
		return e.Shape.Projection.K >= e.Shape.Records
	}
	return false
}

// Flags lists what nobody should release without noise, whoever accepts what Acceptable
// refuses: it is empty for a shape that cannot be inverted.
func (e Exposure) Flags() []string {
	k := e.Shape.Projection.K
	switch {
	case !e.Invertible():
		return nil
	case e.Shape.Projection.Family == projection.Identity:
		return []string{fmt.Sprintf("without a projection, the sketch is the data: %d values of each record stand in it as they are", e.Shape.Columns)}
	case e.Shape.Side == sketch.Records:
		return []string{fmt.Sprintf("k = %d is not below the number of values of a record, %d, so the map can be inverted: whoever knows R, or as many records as that, has all records", k, e.Shape.Columns)}
	}
	return []string{fmt.Sprintf("k = %d is not below the number of records, %d, so the map can be inverted: whoever knows R has every value of every column", k, e.Shape.Records)}
}

// String tells a steward what the sketch would give away without noise.
func (e Exposure) String() string {
	p := e.Shape.Projection
	if row, ok := e.Shape.summed(); ok {
		return e.sums(row)
	}
	held := fmt.Sprintf("%d records", e.Shape.Records)
	what := "records"
	if e.Shape.Side == sketch.Records {
		held = fmt.Sprintf("%d columns", e.Shape.Columns)
		what = "columns"
	}
	text := fmt.Sprintf("%s sketch, %v, of %s: releases %.3g numbers for each number held; whoever knows R recovers about %.0f %% of the variance",
		e.Shape.Side, p, held, e.Share, 100*e.RSquared)
	if p.Family == projection.Sparse {
		text += fmt.Sprintf(", and reads %.2g %% of the %s as they are", 100*e.Alone, what)
	}
	if e.Share > 1 {
		text += "; the sketch is larger than the data"
	}
	return text
}

// sums is String for sketches without a projection.
func (e Exposure) sums(row summed) string {
	text := fmt.Sprintf("%s of %d records and %d columns: %.3g numbers for each number held", e.Shape.Side, e.Shape.Records, e.Shape.Columns, e.Share)
	if row.alone != nil {
		text += fmt.Sprintf("; %.2g %% of the records or more are alone in their cell, which shows their values as they are", 100*e.Alone)
	}
	return text
}
