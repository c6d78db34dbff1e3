package projection

import (
	"fmt"
	"math"
)

// Family names a distribution of R. Each has a file with its definition.
type Family string

// MaxK is the largest dimension of a projected vector.
const MaxK = 1 << 24

// Spec describes a projection matrix without its seed.
type Spec struct {
	Family Family
	K      int // dimension of a projected vector
	S      int // Sparse: non-zeros per row; 0 for the other families
}

// String names the projection, as in "sparse k=1024 s=1".
func (s Spec) String() string {
	if s.Family == Sparse {
		return fmt.Sprintf("%s k=%d s=%d", s.Family, s.K, s.S)
	}
	return fmt.Sprintf("%s k=%d", s.Family, s.K)
}

// Validate returns an error if the family is unknown, K is outside 1 to MaxK, or S does not fit the
// family.
func (s Spec) Validate() error {
	f, err := s.family()
	if err != nil {
		return err
	}
	if s.K < 1 || s.K > MaxK {
		return fmt.Errorf("projection %s: k must be between 1 and %d", s, MaxK)
	}
	if err := f.check(s); err != nil {
		return fmt.Errorf("projection %s: %w", s, err)
	}
	return nil
}

// Scale returns the real factor that makes integer rows unbiased: E[⟨xR, yR⟩] of the integer rows
// times Scale² is ⟨x, y⟩. It is applied after release. The spec must be valid.
func (s Spec) Scale() float64 {
	if f, err := s.family(); err == nil {
		if u, ok := f.(uneven); ok {
			return u.scale(s)
		}
	}
	return 1 / math.Sqrt(float64(s.RowL2Squared()))
}

// RowL1 returns the exact ℓ1 norm of every integer row: the ℓ1 sensitivity to a change of one entry
// by one unit. The spec must be valid.
//
// The rows of Achlioptas and Gaussian differ in norm; RowL1 then returns the largest possible norm.
// The parties know the rows that were drawn, but their norms are not used: an aggregator plans
// without the seed and must get the same sensitivity. It must also hold for every R, as R counts as
// public.
func (s Spec) RowL1() int64 { return s.norms().l1 }

// RowL2Squared returns the exact squared ℓ2 norm of every integer row, or the largest possible one
// if rows differ: the squared ℓ2 sensitivity to a change of one entry by one unit. The spec must be
// valid.
func (s Spec) RowL2Squared() int64 { return s.norms().l2Squared }

// MaxRowNormRatio returns the largest possible ℓ2 norm of a row of R, divided by the root mean square
// norm. Noise must cover the largest norm. The ratio is 1 if all rows have the same norm, and does
// not depend on K and S.
func (s Spec) MaxRowNormRatio() float64 {
	one := Spec{Family: s.Family, K: 1, S: 1}
	return math.Sqrt(float64(one.RowL2Squared())) * one.Scale()
}

// OrthogonalRows reports whether the rows of d columns on the records side are exactly orthogonal.
// They are for Identity, and for Hadamard if it keeps all of its columns. The projection is then a
// rotation and loses nothing. The spec must be valid.
func (s Spec) OrthogonalRows(d int) bool {
	return s.Family == Identity || s.Family == Hadamard && s.K == HadamardSize(d)
}

// MaxTerms returns how many rows of R, each times an entry of absolute value at most
// largest, can be added before an int64 sum may reach 2^62. On the columns side this limits the
// number of records, on the records side the number of columns. With entries of up to 14 bits it is
// 2^48 for families of signs and zeros, and 2^33 for Gaussian. Package sketch enforces the limit.
// The spec must be valid; a largest below 1 counts as 1.
func (s Spec) MaxTerms(largest int64) int64 {
	return (1<<62 - 1) / max(largest, 1) / s.norms().largest
}

// ServesColumns reports whether the family has rows for records, which New requires.
func (s Spec) ServesColumns() bool {
	f, err := s.family()
	return err == nil && f.about().Columns
}

func (s Spec) norms() norms {
	f, err := s.family()
	if err != nil {
		return norms{l1: 1, l2Squared: 1, largest: 1}
	}
	return f.norms(s)
}
