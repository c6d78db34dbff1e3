package estimate

import (
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Quantiles are the only numbers of an interval that come from functions whose last digits depend
// on the machine: some have assembly versions of exponentials and logarithms, and on others
// compilers fuse multiplications and additions. Rounded to 33 significant bits, a relative error of
// at most 1.2e-10, they agree everywhere, unless one lies within a last digit of the midpoint
// between two such numbers: about one quantile in 100,000. Everything else here is additions,
// multiplications, divisions and square roots in a fixed order, each product rounded before it is
// added.

// stable rounds to 33 significant bits.
func stable(x float64) float64 {
	const dropped = 20
	bits := math.Float64bits(x)
	return math.Float64frombits((bits + 1<<(dropped-1)) &^ (1<<dropped - 1))
}

// z is the two-sided standard normal quantile.
func (l Level) z() float64 {
	return stable(-distuv.UnitNormal.Quantile(l.tail()))
}

// Quantile is the two-sided standard normal quantile: the half-width of an interval at this level
// for a normal error, in standard errors.
func (l Level) Quantile() float64 { return l.z() }

// chiSquared returns the bounds between which χ² with these degrees of freedom falls at the level,
// with equal tails.
func (l Level) chiSquared(freedom float64) (low, high float64) {
	return stable(2 * mathext.GammaIncRegInv(freedom/2, l.tail())), stable(2 * mathext.GammaIncRegCompInv(freedom/2, l.tail()))
}

// quantileCache caches the last result of chiSquared: all norms of a sketch need the same one, and it takes
// longer than the rest of an interval.
type quantileCache struct{ last atomic.Pointer[chiEnds] }

type chiEnds struct {
	level     Level
	freedom   float64
	low, high float64
}

func (e *quantileCache) chiSquared(l Level, freedom float64) (low, high float64) {
	if e == nil {
		return l.chiSquared(freedom)
	}
	if have := e.last.Load(); have != nil && have.level == l && have.freedom == freedom {
		return have.low, have.high
	}
	low, high = l.chiSquared(freedom)
	e.last.Store(&chiEnds{l, freedom, low, high})
	return low, high
}

// student is the two-sided quantile of Student's t with these degrees of freedom. Above 1e9 it
// equals the normal quantile in all bits that are kept.
func (l Level) student(freedom float64) float64 {
	if freedom > 1e9 {
		return l.z()
	}
	return stable(distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(1 - float64(l.tail())))
}
