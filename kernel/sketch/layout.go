package sketch

import "github.com/cosketch/cosketch/kernel/dp"

// MomentLayout gives the position of each part of a moments sketch among its entries: products row
// by row of the upper triangle, sums, then the optional parts. See dp.MomentWeights.
type MomentLayout struct {
	Columns    int  // entries of a record, d
	Products   bool // otherwise sums only
	Classes    int  // number of classes of the label; 0 without a label
	Cut        bool // clipped records are counted
	CutSums    bool // clipped records are summed
	Fourth     bool
	Attributes int // columns whose absent values are counted; 0 for none
}

// MaxMomentEntries bounds the entries of a moments sketch.
const MaxMomentEntries = 1 << 23

// MaxMomentColumns bounds d: the products of this many columns take 2^21 entries.
const MaxMomentColumns = 2046

// Product returns the index of the entry of x_i·x_j.
func (l MomentLayout) Product(i, j int) int {
	if j < i {
		i, j = j, i
	}
	return i*l.Columns - i*(i-1)/2 + j - i
}

func (l MomentLayout) sums() int {
	if l.Products {
		return l.Columns * (l.Columns + 1) / 2
	}
	return 0
}

// Sum returns the index of the sum of x_i.
func (l MomentLayout) Sum(i int) int { return l.sums() + i }

// ClassSum returns the index of the sum of x_i over the records of a class.
func (l MomentLayout) ClassSum(class, i int) int { return l.Sum(l.Columns) + class*l.Columns + i }

func (l MomentLayout) classSums() int {
	if l.Products {
		return l.Classes * l.Columns
	}
	return 0
}

// ClassCount returns the index of the number of records of a class.
func (l MomentLayout) ClassCount(class int) int { return l.Sum(l.Columns) + l.classSums() + class }

// CutCount returns the index of the number of clipped records.
func (l MomentLayout) CutCount() int { return l.ClassCount(l.Classes) }

func (l MomentLayout) cutSums() int {
	if l.Cut {
		return l.CutCount() + 1
	}
	return l.CutCount()
}

// CutSum returns the index of the sum of x_i over the clipped records.
func (l MomentLayout) CutSum(i int) int { return l.cutSums() + i }

func (l MomentLayout) fourths() int {
	if l.CutSums {
		return l.CutSum(l.Columns)
	}
	return l.cutSums()
}

// FourthPower returns the index of the sum of x_i⁴.
func (l MomentLayout) FourthPower(i int) int { return l.fourths() + i }

func (l MomentLayout) absent() int {
	if l.Fourth {
		return l.fourths() + l.Columns
	}
	return l.fourths()
}

// groups returns the number of counts of absent values per column: one for each class.
func (l MomentLayout) groups() int { return max(l.Classes, 1) }

// Absent returns the index of the number of records of a class in which an attribute is absent.
// Without a label, class 0 contains all records.
func (l MomentLayout) Absent(class, attribute int) int {
	return l.absent() + class*l.Attributes + attribute
}

// pairs reports whether the sketch has counts of pairs of absent values, and sums over the records
// with an absent value.
func (l MomentLayout) pairs() bool { return l.Products && l.Attributes > 0 }

// BothAbsent returns the index of the number of records in which both attributes are absent.
func (l MomentLayout) BothAbsent(a, b int) int {
	if b < a {
		a, b = b, a
	}
	return l.Absent(l.groups(), 0) + a*l.Attributes - a*(a+1)/2 + b - a - 1
}

// SumAbsent returns the index of the sum of x_i over the records in which an attribute is absent.
func (l MomentLayout) SumAbsent(i, attribute int) int {
	return l.Absent(l.groups(), 0) + l.Attributes*(l.Attributes-1)/2 + i*l.Attributes + attribute
}

// Entries returns the number of entries.
func (l MomentLayout) Entries() int {
	if l.pairs() {
		return l.SumAbsent(l.Columns, 0)
	}
	return l.Absent(l.groups(), 0)
}

// Affected returns the number of entries that one record can change. A record does not change entries
// of other classes.
func (l MomentLayout) Affected() int {
	one := l
	one.Classes = min(l.Classes, 1)
	return one.Entries()
}

// weigh multiplies sums by their weights, in place.
func (l MomentLayout) weigh(row []int64, w dp.MomentWeights) {
	times := func(from, to int, weight int64) {
		for i := from; i < to; i++ {
			row[i] *= weight
		}
	}
	if l.Products {
		times(0, l.Sum(0), w.Product)
		for i := range l.Columns {
			row[l.Product(i, i)] = row[l.Product(i, i)] / w.Product * w.Square
		}
	}
	times(l.Sum(0), l.ClassSum(0, 0), w.Sum)
	times(l.ClassSum(0, 0), l.ClassCount(0), w.ClassSum)
	times(l.ClassCount(0), l.CutCount(), w.ClassCount)
	times(l.CutCount(), l.cutSums(), w.Cut)
	times(l.cutSums(), l.fourths(), w.CutSum)
	times(l.fourths(), l.absent(), w.Fourth)
	for a := range l.Attributes {
		for class := range l.groups() {
			row[l.Absent(class, a)] *= w.AbsentOf.Absent(a)
		}
		if !l.pairs() {
			continue
		}
		for b := range a {
			row[l.BothAbsent(b, a)] *= w.AbsentOf.BothAbsent(b, a)
		}
		for i := range l.Columns {
			row[l.SumAbsent(i, a)] *= w.AbsentOf.SumAbsent(a)
		}
	}
}

// Factors returns the weights of a sketch's entries.
func (l MomentLayout) Factors(w dp.MomentWeights) []int64 {
	out := make([]int64, l.Entries())
	for i := range out {
		out[i] = 1
	}
	l.weigh(out, w)
	return out
}
