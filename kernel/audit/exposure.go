package audit

import (
	"fmt"
	"math"
	"strings"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Limits of the rule of [Exposure.Acceptable].
const (
	maxShare = 0.1 // released numbers per number held
	minLoad  = 20  // records per coordinate of a sparse columns sketch
)

// Shape determines how much one party's sketch without noise reveals.
type Shape struct {
	Side       sketch.Side     // required
	Projection projection.Spec // required
	Records    int             // required except on the records side: m, the number of this party's records
	Columns    int             // required except on the columns side: d, the number of columns that this party projects or sums
	Functions  int             // columns side: sketched functions per value column; default 1, 2 if squares are sketched too
	Attributes int             // records side: the number of attributes that the columns encode, as a category has many columns; default Columns
	Discrete   bool            // some of the attributes are binary or categorical
}

// Exposure is what a noise-free sketch of some shape reveals to an attacker who knows R, such as an
// aggregator helped by one party.
type Exposure struct {
	Shape Shape

	// Share is the number of values released per value held. It is k·functions/m on the columns
	// side and k per attribute on the records side. For m records of d columns it is (d+3)/(2m) for
	// moments, 2^L·(1+d)/(m·d) for cells, k·(1+d)/(m·d) for codes, the number of cells per m·d for
	// counts, and 2/m for the side Look. At 1 the sketch determines the data. Shares of sketches of
	// the same data add up, as the ranks of independent matrices do.
	Share float64

	// RSquared is the part of a column's variance (columns side) or of a record's squared norm
	// (records side) that least squares recovers: about min(1, Share). On the records side it
	// counts entries, which may be more than attributes. With knowledge about the data (few
	// distinct values, sparsity, a covariance) an attacker recovers more.
	RSquared float64

	// Alone is the expected share of records (columns side) or columns (records side) that share a
	// coordinate with no other, so that their value appears unchanged in the sketch: 1 − (1 −
	// (1−s/k)^(m−1))^s, e^(−m/k) for s = 1. It is set for the family Sparse. For cells and codes it
	// is the expected share of records alone in their cell if all cells were equally likely. As
	// they are not, the true share is larger.
	Alone float64
}

// Expose computes the exposure of a sketch without noise.
func Expose(shape Shape) (Exposure, error) {
	if shape.Functions == 0 {
		shape.Functions = 1
	}
	if row, ok := shape.summed(); ok {
		return shape.sums(row)
	}
	n, functions, err := shape.held()
	if err != nil {
		return Exposure{}, fmt.Errorf("computing the exposure of a sketch: %w", err)
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

// summed describes one side that sums over records.
type summed struct {
	side sketch.Side
	// share returns Exposure.Share for m records of d columns, and alone returns Exposure.Alone;
	// alone is nil if unknown.
	share func(s Shape, m, d float64) float64
	alone func(s Shape, m float64) float64
	// refused is the reason why such a sketch is never acceptable without noise.
	refused string
}

// summing returns all such sides.
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

// summed returns the entry for a shape's side; ok is false for a side that projects.
func (s Shape) summed() (row summed, ok bool) {
	for _, row := range summing() {
		if row.side == s.Side {
			return row, true
		}
	}
	return summed{}, false
}

// sums computes the exposure of a sketch without a projection.
func (s Shape) sums(row summed) (Exposure, error) {
	if err := s.Projection.Validate(); err != nil {
		return Exposure{}, fmt.Errorf("computing the exposure of a %s sketch: %w", s.Side, err)
	}
	if s.Records < 1 || s.Columns < 1 {
		return Exposure{}, fmt.Errorf("computing the exposure of a %s sketch: %d records and %d columns: want at least 1 of each", s.Side, s.Records, s.Columns)
	}
	m := float64(s.Records)
	e := Exposure{Shape: s, Share: row.share(s, m, float64(s.Columns))}
	if row.alone != nil {
		e.Alone = row.alone(s, m)
	}
	e.RSquared = math.Min(1, e.Share)
	return e, nil
}

// held returns the number of labels that R has rows for, and the number of functions of a value
// that are sketched.
func (s Shape) held() (n, functions int, err error) {
	if err := s.Projection.Validate(); err != nil {
		return 0, 0, err
	}
	switch s.Side {
	case sketch.Columns:
		if s.Records < 1 || s.Functions < 1 {
			return 0, 0, fmt.Errorf("a columns sketch of %d records and %d functions per column: want at least 1 of each", s.Records, s.Functions)
		}
		return s.Records, s.Functions, nil
	case sketch.Records:
		if s.Columns < 1 {
			return 0, 0, fmt.Errorf("a records sketch of %d columns: want at least 1", s.Columns)
		}
		return s.Columns, 1, nil
	}
	return 0, 0, fmt.Errorf("unknown side %q", s.Side)
}

// Acceptable reports whether one sketch may be released without noise; if not, reason says why. On
// the columns side this needs k·functions ≤ m/10 and, for a sparse projection, m/k ≥ 20. On the
// records side k may be at most a tenth of the attributes.
//
// Some sketches are refused whatever their size. Sketches of binary and categorical columns: if
// few values are possible, they can be read off far smaller sketches. Sides Moments and Look: two
// releases that differ by a record reveal values of that record. Sides Cells, Codes and Counts: a
// record may be alone in its cell. Only the steward of the data may overrule a refusal, in the
// party's own site file.
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

// Release is everything that is released of the same data without noise.
type Release struct {
	Sketches []Exposure // of one study
	Earlier  float64    // the sum of the shares of earlier releases
}

// Share returns the number of values released for each value held.
func (r Release) Share() float64 {
	sum := r.Earlier
	for _, e := range r.Sketches {
		sum += e.Share
	}
	return sum
}

// Acceptable applies the rule for everything released together: each sketch must be acceptable, and
// all sketches may release at most a tenth of a number for each number held.
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
	if share <= maxShare*(1+1e-12) { // allows rounding in sums of exact tenths
		return true, ""
	}
	what := "all sketches together release"
	if r.Earlier > 0 {
		what = "together with earlier releases of these data without noise, this releases"
	}
	return false, fmt.Sprintf("%s %.3g numbers for each number held, more than the %g that is allowed", what, share, maxShare)
}

// String tells a steward what the release as a whole reveals.
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
		text += fmt.Sprintf("; all releases of these data without noise together: %.3g numbers for each number held; whoever knows the matrices recovers about %.0f %% of the variance", share, 100*math.Min(1, share))
	}
	return text
}

// Invertible reports whether R can be inverted, unless some of its rows are linearly dependent: on
// the records side k ≥ d, on the columns side k ≥ m. A sketch without noise is then equivalent to
// the data for everyone who knows R. On the records side it is also for everyone who knows d
// independent records and their sketches, or only distances.
func (e Exposure) Invertible() bool {
	switch e.Shape.Side {
	case sketch.Records:
		return e.Shape.Projection.K >= e.Shape.Columns
	case sketch.Columns:
		return e.Shape.Projection.K >= e.Shape.Records
	}
	return false
}

// Flags lists warnings about releases without noise that should never be made, even if the steward
// accepts what Acceptable refuses. It is empty for a shape that cannot be inverted.
func (e Exposure) Flags() []string {
	k := e.Shape.Projection.K
	switch {
	case !e.Invertible():
		return nil
	case e.Shape.Projection.Family == projection.Identity:
		return []string{fmt.Sprintf("without a projection, the sketch is the data: %d values of each record stand in it as they are", e.Shape.Columns)}
	case e.Shape.Side == sketch.Records:
		return []string{fmt.Sprintf("k = %d is at least the number of values of a record, %d, so the map can be inverted: whoever knows R, or that many records, can recover all records", k, e.Shape.Columns)}
	}
	return []string{fmt.Sprintf("k = %d is at least the number of records, %d, so the map can be inverted: whoever knows R can recover every value of every column", k, e.Shape.Records)}
}

// String tells a steward what the sketch would reveal without noise.
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
