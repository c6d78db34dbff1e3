package dp

import (
	"errors"
	"fmt"
	"math"
)

// Neighbours says what a record's contribution becomes under unit record.
type Neighbours int

// What neighbouring data sets may differ in.
const (
	Zeroed   Neighbours = iota // the contribution is replaced by zeros
	Replaced                   // or by that of any other record
)

// CellWeights are what a record counts in a cells sketch.
type CellWeights struct {
	Count int64 // in its cell; required
	Cut   int64 // among those that were clipped; 0: these are not counted
}

// NewCellWeights are those of records clipped to l2 norm ≤ clip: a record counts as much as a
// longest one, so that counts and sums have equal parts in the sensitivity, and among those
// that were clipped, where these are counted, a third of it, which makes noise 3 % larger.
func NewCellWeights(clip int64, cut bool) CellWeights {
	w := CellWeights{Count: clip}
	if cut {
		w.Cut = max(1, clip/3)
	}
	return w
}

// RecordCells is the sensitivity of a cells sketch when one record's contribution
// changes, records of d entries having been clipped to l2 norm ≤ clip (ClipL2): a record x
// adds (weight, x) to the row of its cell and, where it was cut and that is counted, its
// weight to one entry more, so that replaced by zeros it takes weight² + clip² + cut² in
// l2 squared away, attained by every record that was cut. Replaced by another record, it
// moves two rows so, which makes twice as much, or one row in which the weight stays and
// the entries move by 2·clip at most, 4·clip²; the number of those that were cut changes
// by one.
func RecordCells(clip int64, d int, w CellWeights, n Neighbours) (Sensitivity, error) {
	if clip < 1 || w.Count < 1 || w.Cut < 0 || d < 1 {
		return Sensitivity{}, fmt.Errorf("sensitivity of cells of %d columns clipped to %d with weights %d and %d: want all above 0", d, clip, w.Count, w.Cut)
	}
	square, err1 := product(clip, clip)
	count, err2 := product(w.Count, w.Count)
	l2, err3 := sum(square, count)
	entries := 1 + d
	if n == Replaced && errors.Join(err1, err2, err3) == nil {
		var same int64
		l2, err1 = sum(l2, l2)
		same, err2 = product(4, square)
		l2, entries = max(l2, same), 2*entries
	}
	if w.Cut > 0 && errors.Join(err1, err2, err3) == nil {
		var cut int64
		cut, err1 = product(w.Cut, w.Cut)
		l2, err2 = sum(l2, cut)
		entries++
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return Sensitivity{}, fmt.Errorf("sensitivity of cells clipped to %d: %w", clip, errOverflow)
	}
	return spread(l2, entries), nil
}

// RecordCodes is the sensitivity of a codes sketch when one record's contribution changes: a record's
// projection y on q axes, cut to l2 norm ≤ radius, adds (weight, y) to the row of its nearest code
// point, and so moves the sketch as a record of a cells sketch moves that. Which axes and points there
// are is no matter: whoever chose them, y is no longer than the radius and enters one row.
func RecordCodes(radius int64, q int, w CellWeights, n Neighbours) (Sensitivity, error) {
	s, err := RecordCells(radius, q, w, n)
	if err != nil {
		return Sensitivity{}, fmt.Errorf("sensitivity of codes: %w", err)
	}
	return s, nil
}

// CountWeight is what one record adds to a count under Gaussian noise, so that what the variance of discrete
// noise exceeds the continuous one by is negligible.
const CountWeight = 64

// RecordCounts is the sensitivity of counts when one record's contribution changes: it adds its weight to one cell
// of each of so many tables. Replaced by zeros it takes that away, and replaced by another record it moves two
// cells of each table at most. Both are attained.
func RecordCounts(tables int, weight int64, n Neighbours) (Sensitivity, error) {
	if tables < 1 || weight < 1 {
		return Sensitivity{}, fmt.Errorf("sensitivity of counts in %d tables with weight %d: want both above 0", tables, weight)
	}
	cells := int64(tables)
	if n == Replaced {
		cells *= 2
	}
	l1, err1 := product(cells, weight)
	l2, err2 := product(cells, weight, weight)
	if err := errors.Join(err1, err2); err != nil {
		return Sensitivity{}, fmt.Errorf("sensitivity of counts in %d tables: %w", tables, errOverflow)
	}
	return Sensitivity{L1: l1, L2Squared: l2}, nil
}

// Within is the sensitivity of so many entries of which one record moves a squared length at most.
func Within(squared int64, entries int) Sensitivity {
	return Sensitivity{L1: int64(math.Ceil(math.Sqrt(float64(entries) * float64(squared)))), L2Squared: squared}
}

// spread is the sensitivity of a change of that length over so many entries.
func spread(l2Squared int64, entries int) Sensitivity {
	return Sensitivity{L1: int64(multiply(uint64(l2Squared), uint64(entries)).root()), L2Squared: l2Squared}
}

// sum adds, refusing what int64 does not hold; the terms are not negative.
func sum(terms ...int64) (total int64, err error) {
	for _, t := range terms {
		if total += t; total < 0 {
			return 0, errOverflow
		}
	}
	return total, nil
}
