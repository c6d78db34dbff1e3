package dp

import (
	"errors"
	"fmt"
	"math/bits"
)

// MomentWeights are the integer weights of the parts of a moments sketch. All entries get the same
// noise, so the weights decide how exact each part is. A part of weight 0 is not in the sketch.
// NewMomentWeights chooses them.
//
// A record x of d entries, cut to length C, in class c of its label, adds
//
//	Square·x_i², Product·x_i·x_j (i < j), Sum·x_i, ClassSum·x_i to class c, ClassCount to
//	class c, Cut and CutSum·x_i where it was cut, Fourth·x_i⁴
//
// and, for each column j of which it has no value, Absent(j), BothAbsent(j, l) where it lacks
// column l too, and SumAbsent(j)·x_i.
type MomentWeights struct {
	Square, Product      int64 // both 0: sums alone
	Sum                  int64
	ClassSum, ClassCount int64 // of the label, which is not in x
	Cut, CutSum          int64 // of the records that were cut: how many, and their sums
	Fourth               int64 // of ⌊x⁴/one³⌋, with x limited to ±one
	AbsentOf             Absence
	Fine                 uint // all sums of x_i (plain, by class, of cut records, and where a column is absent) take x_i in steps of 2^-Fine
}

// Absence gives the weights of absent values. Counting them needs no more noise: a record that
// lacks values is cut to a shorter length (Shorter), and the sensitivity that this frees covers its
// counts.
type Absence struct {
	clip     int64
	fine     uint
	sum      int64 // weight of sums, where there are no products
	products bool
	twice    bool    // a record may be replaced by another
	roots    []int64 // by column: 2^20·√q, q being its share of a record's squared length
	cuts     []int64 // by column: reduction of the squared length if it is absent
}

// MomentParts selects the parts of a moments sketch.
type MomentParts struct {
	Products   bool    // else sums alone
	SumWeight  int64   // with products: weight of sums in units of the clip; 2, 3, 4 or 5
	Label      bool    // counts by class and, with products, sums by class
	Cut        bool    // the number of records that were cut
	CutSums    bool    // and their sums
	Fourth     bool    // sums of fourth powers
	Typical    []int64 // by column: typical squared entry, for absent values; nil: they are not counted
	Neighbours Neighbours
	Fine       uint // how many bits finer the steps of sums are than those of the clip and of products; at most 4
}

// MaxMomentClip is the largest clip of a moments sketch: its fourth power has 56 bits.
const MaxMomentClip = 1 << 14

// MaxSumClip is the largest clip of a moments sketch without products.
const MaxSumClip = 1 << 20

// sqrtFixed20 returns 2^20·√n, rounded down.
func sqrtFixed20(n int64) int64 { return int64(multiply(uint64(n), 1<<40).root()) }

// NewMomentWeights chooses the weights for records cut to length clip: at least 64 and at most
// MaxMomentClip, or MaxSumClip without products.
func NewMomentWeights(clip int64, p MomentParts) (MomentWeights, error) {
	w := MomentWeights{}
	most := int64(MaxMomentClip)
	if !p.Products {
		most = MaxSumClip
	}
	if clip < 64 || clip > most {
		return w, fmt.Errorf("moments of records cut to %d steps: want 64 to %d", clip, most)
	}
	if p.Fine > 4 {
		return w, fmt.Errorf("moments with sums that are %d bits finer: want 0 to 4", p.Fine)
	}
	w.Fine = p.Fine
	if p.Products {
		if p.SumWeight < 2 || p.SumWeight > 5 {
			return w, fmt.Errorf("moments with sums of weight %d: want 2 to 5", p.SumWeight)
		}
		w.Square, w.Product, w.Sum = 5, 7, p.SumWeight*clip>>p.Fine
	} else {
		w.Sum = 1 // in fine steps; the weights of counts are 2^Fine times larger
		if p.CutSums {
			w.Sum = 5
		}
	}
	if p.Label && p.Products {
		w.ClassSum, w.ClassCount = 3*clip>>p.Fine, clip*clip
	} else if p.Label {
		w.ClassCount = w.Sum * (clip / 2) << p.Fine
	}
	if p.Cut {
		if w.Cut = w.Sum * (clip / 4) << p.Fine; p.Products {
			w.Cut = clip * clip
		}
	}
	if p.CutSums {
		if w.CutSum = 2; p.Products {
			w.CutSum = 3 * clip / 2 >> p.Fine
		}
	}
	if p.Fourth {
		if w.Fourth = clip; !p.Products {
			return w, errors.New("moments: fourth powers need products: choose both")
		}
	}
	if p.Typical != nil {
		a := Absence{clip: clip, fine: p.Fine, sum: w.Sum, products: p.Products, twice: p.Neighbours == Replaced}
		var all int64
		for _, t := range p.Typical {
			if all += t; t < 1 || all > 1<<22 {
				return w, fmt.Errorf("moments with absent values: typical squares add up to %d or one is %d: want 1 to 2^22", all, t)
			}
		}
		for _, t := range p.Typical {
			a.roots = append(a.roots, int64(multiply(uint64(t), 1<<40).over(uint128{lo: uint64(all)})))
			a.cuts = append(a.cuts, int64(multiply(uint64(clip*clip), uint64(t)).over(uint128{lo: uint64(2 * all)})))
		}
		for j, q := range a.roots {
			a.roots[j] = int64(uint128{lo: uint64(q)}.root())
		}
		w.AbsentOf = a
	}
	return w, nil
}

// Columns returns the number of columns whose absent values are counted.
func (a Absence) Columns() int { return len(a.roots) }

// Pairs reports whether pairs of absent values, and sums where a value is absent, are counted.
func (a Absence) Pairs() bool { return a.products && len(a.roots) > 0 }

// mulFixed20 returns a·2^-20·b, rounded down, for a < 2^31 and b ≤ 2^32.
func mulFixed20(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(hi<<44 | lo>>20)
}

// Absent returns the weight of a record that lacks column j: with products ⌊√(7q)·C²⌋, else
// ⌊√(q/2)·C⌋ times 2^Fine and the weight of sums.
func (a Absence) Absent(j int) int64 {
	if a.products {
		return mulFixed20(mulFixed20(a.clip*a.clip, sqrtFixed20(7)), a.roots[j])
	}
	return a.sum * mulFixed20(mulFixed20(a.clip, int64(uint128{lo: 1 << 39}.root())), a.roots[j]) << a.fine
}

// BothAbsent returns the weight of a record that lacks both columns: √(14·q_j·q_l)·C², rounded
// down.
func (a Absence) BothAbsent(j, l int) int64 {
	j, l = min(j, l), max(j, l) // the order matters for rounding
	return mulFixed20(mulFixed20(mulFixed20(a.clip*a.clip, sqrtFixed20(14)), a.roots[j]), a.roots[l])
}

// SumAbsent returns the weight of an entry of a record that lacks column j: √(12·q)·C, or √(6·q)·C
// if a record may be replaced by another, over 2^Fine and rounded down.
func (a Absence) SumAbsent(j int) int64 {
	n := int64(12)
	if a.twice {
		n = 6
	}
	return mulFixed20(mulFixed20(a.clip, sqrtFixed20(n)), a.roots[j]) >> a.fine
}

// ClipReduction returns ⌊q·C²/2⌋, by which the absence of column j reduces the squared length to which a
// record is cut.
func (a Absence) ClipReduction(j int) int64 { return a.cuts[j] }

// covered reports whether the reductions for absent values cover their counts (see RecordMoments). It
// takes the squares and the linear parts in units of the clip's square.
func (a Absence) covered(c *checked, squares, linear int64) bool {
	n := int64(1 << 10)
	for _, cut := range a.cuts {
		n = min(n, cut)
	}
	one, r := 2*(n+1), n+2 // r/one is t
	square := c.times(a.clip, a.clip)
	costs := c.plus(c.times(squares, r, r), c.times(linear, r, one), c.times(14, square, one, one), c.times(12, square, r, one))
	return costs <= c.times(c.plus(squares, linear), one, one)
}

// RecordMoments returns the sensitivity of a moments sketch when one record's contribution changes.
// Records have been cut to l2 norm ≤ clip (ClipL2), or shorter if values are absent
// (Absence.ClipReduction). Columns is the number of entries of a record, entries the number of entries of
// the sketch that one record can move.
//
// Replaced by zeros. With the weights a, b and c of squares, products and sums, b² ≤ 2a²,
//
//	a² Σ x_i⁴ + b² Σ_{i<j} x_i²x_j² + c²|x|² ≤ a²|x|⁴ + c²|x|² ≤ a²C⁴ + c²C²,
//
// since |x|⁴ = Σ x_i⁴ + 2 Σ_{i<j} x_i²x_j²: attained by a record with a single entry ±C. Weights
// near b = √2·a make it nearly tight for all records of length C; 5 and 7 are integers and lose 1 %
// of the noise's standard deviation there. A record is in one class and moves only that class's
// sums and count. A record that is cut moves its sums a second time. That is as if the weight of
// sums were √(c² + c'²), for a record and for two of which one or both are cut. Fourth powers of
// entries limited to ±1 are no larger than the entries, in units of one, so their squares add up to
// at most C².
//
// Let a record lack values, y being the sum of their columns' q, and t = 1 − y/2, so that |x|² ≤
// tC². In units of C⁴ it moves the squares and products by a²t², the linear parts, whose squared
// weights add up to L·C², by L·t, and the counts of absent values by at most 7y + 7y² + 12yt, as
// Σ_{j<l} q_j q_l ≤ y²/2. The sum is convex in y, and so at most its value at y = 0, or at y = 1,
// which is no larger where 3a²/4 + L/2 ≥ 20. The reduction for an absence is at least n steps and
// is rounded down, so that t is really up to 1 − y/2·n/(n+1): with r, its value at y = 1, the
// condition is a²r² + L·r + 14 + 12r ≤ a² + L. Without products the counts of absent values are no
// longer than the reduction for their absence, also rounded.
//
// Replaced by another record, with t = ⟨x,y⟩, p = |x|² and q = |y|²,
//
//	a²(p² + q² − 2t²) + L(p + q − 2t) ≤ 2a²C⁴ + 2LC² + L²/(2a²)
//
// for the products and the linear parts that both records move: it is concave in t, greatest at t =
// −L/(2a²), and grows with p and q. If sums are of finer steps than products, the two use different
// t: an entry is rounded by half a step, and a record that this makes longer is cut. Two records of
// d entries are then at most 2√d + 1 further apart, and the two t differ by at most δ = 2C(2√d +
// 1), which adds 2Lδ. Records of two classes move the class parts of both classes and share only
// the plain sums. Counts and fourth powers are not negative, so their difference is no longer than
// both together. Absent values are counted with less (see SumAbsent), so that the argument above
// holds for each record.
//
// The l1 norm follows by Cauchy and Schwarz.
func RecordMoments(clip int64, columns, entries int, w MomentWeights, n Neighbours) (Sensitivity, error) {
	wrong := func(what string) (Sensitivity, error) {
		return Sensitivity{}, fmt.Errorf("sensitivity of moments of records cut to %d: %s", clip, what)
	}
	c := &checked{}
	square := c.times(clip, clip)
	linear := c.plus(c.times(w.Sum<<w.Fine, w.Sum<<w.Fine), c.times(w.CutSum<<w.Fine, w.CutSum<<w.Fine))
	classes := c.times(w.ClassSum<<w.Fine, w.ClassSum<<w.Fine)
	switch {
	case clip < 1 || columns < 1 || entries < 1 || w.Sum < 1:
		return wrong("want a clip, columns, entries and sums")
	case c.times(w.Product, w.Product) > 2*c.times(w.Square, w.Square):
		return wrong("Product² must be at most 2·Square²")
	case w.AbsentOf.Columns() > 0 && w.AbsentOf.clip != clip:
		return wrong("the weights of absent values are of another clip")
	case w.AbsentOf.Pairs() && !w.AbsentOf.covered(c, c.times(w.Square, w.Square, square), c.plus(linear, classes)):
		return wrong("the weights and steps leave no room for absent values of so many columns: use fewer columns or more bits")
	case w.AbsentOf.Columns() > 0 && !w.AbsentOf.Pairs() && w.Sum != w.AbsentOf.sum:
		return wrong("the weights of absent values are of another weight of sums")
	}
	counts := c.times(w.ClassCount, w.ClassCount)
	fourth := c.times(w.Fourth, w.Fourth, square)
	cut := c.times(w.Cut, w.Cut)
	products := c.times(w.Square, w.Square, square, square)
	l2 := c.plus(products, c.times(linear, square), c.times(classes, square), counts, cut, fourth)
	if n == Replaced {
		pair := func(l int64) int64 { // of the products and linear parts that both records move
			if w.Square == 0 {
				return c.times(4, l, square)
			}
			half, rounded := 2*w.Square*w.Square, int64(0)
			if w.Fine > 0 {
				rounded = c.times(2, l, 2*clip, 2*CeilSqrt(int64(columns))+1)
			}
			return c.plus(c.times(2, products), c.times(2, l, square), c.ratio(l, half), rounded)
		}
		same := pair(c.plus(linear, classes))
		other := c.plus(pair(linear), c.times(2, classes, square), c.times(2, counts))
		l2 = c.plus(max(same, other), cut, c.times(2, fourth))
		entries *= 2
	}
	if c.overflow {
		return Sensitivity{}, fmt.Errorf("sensitivity of moments of records cut to %d: %w", clip, errOverflow)
	}
	return sensitivityOver(l2, entries), nil
}

// checked adds and multiplies non-negative numbers and remembers an overflow of int64.
type checked struct{ overflow bool }

func (c *checked) times(factors ...int64) int64 {
	v, err := product(factors...)
	c.overflow = c.overflow || err != nil
	return v
}

func (c *checked) plus(terms ...int64) int64 {
	v, err := sum(terms...)
	c.overflow = c.overflow || err != nil
	return v
}

// ratio returns l²/half, rounded up.
func (c *checked) ratio(l, half int64) int64 {
	q := multiply(uint64(l), uint64(l)).plus(uint128{lo: uint64(half - 1)})
	if q.hi >= uint64(half) {
		c.overflow = true
		return 0
	}
	return int64(q.over(uint128{lo: uint64(half)}))
}
