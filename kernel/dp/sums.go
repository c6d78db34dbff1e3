package dp

import (
	"errors"
	"fmt"
)

// MomentWeights are the integer weights at which a record x enters a moments sketch:
// (Square·x_i², Product·x_i·x_j for i < j, Sum·x_i).
type MomentWeights struct {
	Square, Product, Sum int64
}

// Neighbours says what a record's contribution becomes under unit record.
type Neighbours int

// What neighbouring data sets may differ in.
const (
	Zeroed   Neighbours = iota // the contribution is replaced by zeros
	Replaced                   // or by that of any other record
)

// RecordMoments is the sensitivity of a moments sketch when one record's contribution
// changes, records of d entries having been clipped to l2 norm ≤ clip (ClipL2). With the
// weights a, b and c, where b² ≤ 2a² is required, the contribution is φ(x) = (a·x_i²,
// b·x_i·x_j, c·x_i), and
//
//	|φ(x)|² = a² Σ x_i⁴ + b² Σ_{i<j} x_i²x_j² + c²|x|² ≤ a²|x|⁴ + c²|x|² ≤ a²C⁴ + c²C²,
//
// since |x|⁴ = Σ x_i⁴ + 2 Σ_{i<j} x_i²x_j²: replaced by zeros, attained by every record
// with a single entry ±C. Weights near b = √2·a make it nearly tight for all records of
// length C, which is what √2 off the diagonal does exactly; 5 and 7 lose
// 1 % of the noise's deviation there, and are integers.
//
// Replaced by another record, with t = ⟨x,y⟩ and p = |x|², q = |y|²,
//
//	|φ(x)−φ(y)|² ≤ a²(p² + q² − 2t²) + c²(p + q − 2t),
//
// the first term being a²|xxᵀ − yyᵀ|², by b² ≤ 2a² again. It is concave in t and, whatever
// t is, at most its value at t = −c²/(2a²), which is a²(p²+q²) + c²(p+q) + c⁴/(2a²) and
// grows with p and q: so at most 2a²C⁴ + 2c²C² + c⁴/(2a²). Two orthogonal records of
// length C attain all but the last term of it; twice the length would be 4a²C⁴ + 4c²C².
//
// The l1 norm follows by Cauchy and Schwarz.
func RecordMoments(clip int64, d int, w MomentWeights, n Neighbours) (Sensitivity, error) {
	if w.Square < 1 || w.Product < 1 || w.Sum < 1 || w.Product*w.Product > 2*w.Square*w.Square || d < 1 || clip < 1 {
		return Sensitivity{}, fmt.Errorf("sensitivity of moments of %d columns clipped to %d with weights %+v: want a clip, a column, and weights above 0 with Product² ≤ 2·Square²", d, clip, w)
	}
	fourth, err1 := product(w.Square, w.Square, clip, clip, clip, clip)
	second, err2 := product(w.Sum, w.Sum, clip, clip)
	l2, err3 := sum(fourth, second)
	if n == Replaced && errors.Join(err1, err2, err3) == nil {
		var last int64
		if last, err1 = product(w.Sum, w.Sum, w.Sum, w.Sum); err1 == nil {
			half := 2 * w.Square * w.Square
			l2, err2 = sum(l2, l2, (last+half-1)/half)
		}
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return Sensitivity{}, fmt.Errorf("sensitivity of moments clipped to %d: %w", clip, errOverflow)
	}
	return spread(l2, d*(d+3)/2), nil
}

// RecordCells is the sensitivity of a cells sketch when one record's contribution
// changes, records of d entries having been clipped to l2 norm ≤ clip (ClipL2): a record x
// adds (weight, x) to the row of its cell, so that replaced by zeros it takes
// weight² + clip² in l2 squared away, attained by every record of that length. Replaced
// by another record, it moves two rows so, which makes twice as much, or one row in which
// the weight stays and the entries move by 2·clip at most: 4·clip².
func RecordCells(clip int64, d int, weight int64, n Neighbours) (Sensitivity, error) {
	if clip < 1 || weight < 1 || d < 1 {
		return Sensitivity{}, fmt.Errorf("sensitivity of cells of %d columns clipped to %d with weight %d: want all above 0", d, clip, weight)
	}
	square, err1 := product(clip, clip)
	count, err2 := product(weight, weight)
	l2, err3 := sum(square, count)
	entries := 1 + d
	if n == Replaced && errors.Join(err1, err2, err3) == nil {
		var same int64
		l2, err1 = sum(l2, l2)
		same, err2 = product(4, square)
		l2, entries = max(l2, same), 2*entries
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return Sensitivity{}, fmt.Errorf("sensitivity of cells clipped to %d: %w", clip, errOverflow)
	}
	return spread(l2, entries), nil
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
