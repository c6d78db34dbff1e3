package dp

import (
	"errors"
	"fmt"
	"math"
)

// Neighbours says what a record's contribution becomes under unit record.
type Neighbours int

// Neighbouring data sets differ in one record's contribution:
const (
	Zeroed   Neighbours = iota // it is replaced by zeros
	Replaced                   // it is replaced by zeros or by any other record's
)

// CellWeights are the weights of one record in the counts of a cells sketch.
type CellWeights struct {
	Count int64 // in the count of its cell; required
	Cut   int64 // in the count of clipped records; 0: they are not counted
}

// NewCellWeights returns the weights for records clipped to l2 norm ≤ clip. Count is clip, so that
// counts and sums have equal parts in the sensitivity. If clipped records are counted, Cut is a
// third of that, which makes the noise 3 % larger.
func NewCellWeights(clip int64, cut bool) CellWeights {
	w := CellWeights{Count: clip}
	if cut {
		w.Cut = max(1, clip/3)
	}
	return w
}

// RecordCells returns the sensitivity of a cells sketch when one record's contribution changes,
// records of d entries having been clipped to l2 norm ≤ clip (ClipL2). A record x adds (weight, x)
// to the row of its cell. If it was clipped and that is counted, it also adds w.Cut to one more
// entry.
//
// Replacing it by zeros moves the sketch by weight² + clip² + cut² in l2 squared, nearly
// attained by every clipped record (ClipL2 rounds towards zero). Replacing it by another record moves two rows, which doubles weight² + clip², or
// one row, in which the weight stays and the entries move by at most 2·clip, that is 4·clip². The
// count of clipped records changes by at most one record.
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
	return sensitivityOver(l2, entries), nil
}

// RecordCodes returns the sensitivity of a codes sketch when one record's contribution changes. A
// record's projection y on q axes, clipped to l2 norm ≤ radius, adds (weight, y) to the row of its
// nearest code point, so it moves the sketch as in RecordCells. This holds for any axes and points,
// whoever chose them, since |y| ≤ radius and y enters one row.
func RecordCodes(radius int64, q int, w CellWeights, n Neighbours) (Sensitivity, error) {
	s, err := RecordCells(radius, q, w, n)
	if err != nil {
		return Sensitivity{}, fmt.Errorf("sensitivity of codes: %w", err)
	}
	return s, nil
}

// CountWeight is the weight of one record in a count under Gaussian noise. It is large enough that
// the extra variance of discrete over continuous noise is negligible.
const CountWeight = 64

// RecordCounts returns the sensitivity of counts when one record's contribution changes. A record
// adds its weight to one cell of each of so many tables. Replacing it by zeros removes that;
// replacing it by another record moves at most two cells of each table. Both are attained.
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

// SensitivityWithin returns the sensitivity of entries that one record moves by at most the given squared l2
// norm.
func SensitivityWithin(squared int64, entries int) Sensitivity {
	return Sensitivity{L1: int64(math.Ceil(math.Sqrt(float64(entries) * float64(squared)))), L2Squared: squared}
}

// sensitivityOver returns the sensitivity of a change of that squared l2 norm over so many entries.
func sensitivityOver(l2Squared int64, entries int) Sensitivity {
	return Sensitivity{L1: int64(multiply(uint64(l2Squared), uint64(entries)).root()), L2Squared: l2Squared}
}

// sum adds non-negative terms and returns an error on an overflow of int64.
func sum(terms ...int64) (total int64, err error) {
	for _, t := range terms {
		if total += t; total < 0 {
			return 0, errOverflow
		}
	}
	return total, nil
}
