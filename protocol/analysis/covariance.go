package analysis

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// Statements about a repaired matrix.
const (
	notUnbiased   = "A repair makes entries biased: use this matrix for methods that need one, not to read off entries."
	otherMatrices = " Its entries are over different records. They make one matrix only where parties share records at random."
)

// covariance answers the covariances of all pairs of columns, and variances, in original units.
// Beside them it gives the nearest positive semidefinite matrix, found in encoded units, in which
// all columns have a range of about one.
func (c *columns) covariance(ctx context.Context, a study.Analysis, out *Analysis) error {
	out.Assumptions, out.Units = premise.List{premise.AnyPairs}, measure.Original
	if c.union() {
		out.Assumptions = premise.List{premise.EntriesOfUnion}
	}
	vars, located := c.variables(), c.locate(a, out)
	drawn, err := c.draw(ctx, vars, located)
	if err != nil {
		return err
	}
	of := func(g *estimate.Gram, i, j int) estimate.Estimate {
		return drawn.covariance(possible(g.Covariance(located[i], located[j], c.level), c.column(vars[i]), c.column(vars[j]), i == j), i, j)
	}
	units := c.units(vars)
	err = c.pairs(ctx, out, shape{themselves: true, people: true}, located, func(g *estimate.Gram, i, j int) estimate.Estimate {
		return of(g, i, j).Times(units[i] * units[j])
	})
	if err != nil {
		return err
	}
	if len(vars) > decompose.MaxDim {
		out.Repaired = tooWide("covariance_psd", len(vars))
		return nil
	}
	encoded, err := everyPair(ctx, len(located), true, func(i, j int) estimate.Estimate { return of(c.gram, i, j) })
	if err != nil {
		return err
	}
	r, matrix, err := repair(ctx, "covariance_psd", len(vars), encoded, decompose.Semidefinite)
	if matrix != nil {
		r.Statement = c.statement()
		r.fill(matrix, units)
	}
	out.Repaired = r
	return err
}

// MostVariance is the largest variance of a column between bounds, in encoded units, in which the
// bounds are 1 apart (Popoviciu).
const MostVariance = 1. / 4

// possible limits a covariance, in encoded units, to possible values. A variance is not negative.
// Between bounds no variance is larger than MostVariance, and no covariance larger than such
// variances allow.
func possible(e estimate.Estimate, x, y study.Column, same bool) estimate.Estimate {
	most := math.Inf(1)
	if _, _, bounded := x.Scale.Bounds(); bounded {
		if _, _, bounded = y.Scale.Bounds(); bounded {
			most = MostVariance
		}
	}
	if same {
		return e.Within(0, most)
	}
	return e.Within(-most, most)
}

// fill copies a matrix, converted to units of the features. If entries overflow float64, there is
// no matrix.
func (r *Repaired) fill(matrix *mat.SymDense, units []float64) {
	for i, row := range r.Matrix {
		for j := range row {
			if row[j] = matrix.At(i, j) * (units[i] * units[j]); math.IsInf(row[j], 0) {
				*r = Repaired{Name: r.Name, Undefined: "its numbers are too large for float64"}
				return
			}
		}
	}
}

// repairCorrelation adds the nearest correlation matrix beside the estimates.
func (c *columns) repairCorrelation(ctx context.Context, out *Analysis) error {
	if out.Dense != nil {
		out.Repaired = tooWide("correlation_psd", len(out.Features))
		return nil
	}
	r, matrix, err := repair(ctx, "correlation_psd", len(out.Features), out.Pairs, decompose.Correlation)
	if matrix != nil {
		r.Statement = c.statement()
		for i := range r.Matrix {
			copy(r.Matrix[i], mat.Row(nil, i, matrix))
		}
	}
	out.Repaired = r
	return err
}

// union reports whether the columns are those of the union of the parties' records.
func (c *columns) union() bool { return c.groups[0].party == "" }

func (c *columns) statement() string {
	if c.union() {
		return notUnbiased
	}
	return notUnbiased + otherMatrices
}

// tooWide returns the section for a matrix of too many features to repair.
func tooWide(name string, n int) *Repaired {
	return &Repaired{Name: name, Undefined: fmt.Sprintf("%d columns are too many: at most %d are repaired", n, decompose.MaxDim)}
}

// repair makes the matrix of n features positive semidefinite. It returns an empty Matrix of its
// size to fill, and the matrix, which is nil if Repaired says why there is none. Its error is that
// of ctx only. Diagonal entries without a pair are ones.
func repair(ctx context.Context, name string, n int, pairs []Pair,
	nearest func(context.Context, mat.Symmetric) (decompose.Repair, error)) (*Repaired, *mat.SymDense, error) {
	if n > decompose.MaxDim {
		return tooWide(name, n), nil, nil
	}
	r := &Repaired{Name: name}
	estimates := mat.NewSymDense(n, nil)
	for i := range n {
		estimates.SetSym(i, i, 1)
	}
	for _, p := range pairs {
		if p.Estimate == nil {
			r.Undefined = "an estimate is undefined, and the matrix needs them all"
			return r, nil, nil
		}
		estimates.SetSym(p.I, p.J, *p.Estimate)
	}
	found, err := nearest(ctx, estimates)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil { // the estimates stay valid
		r.Undefined = err.Error()
		return r, nil, nil
	}
	r.Moved, r.Norm, r.Negative, r.Least = found.Moved, found.Norm, found.Negative, found.Least
	r.Matrix = make([][]float64, n)
	for i := range r.Matrix {
		r.Matrix[i] = make([]float64, n)
	}
	return r, found.Matrix, nil
}

func ofCovariance() kind {
	return kind{
		name: study.Covariance, ways: []way{onMoments((*moments).covariance), onColumns((*columns).covariance)},
		intervals: withThemselves, ofTail: true,
		size: pairsSize(true), most: pairsAtMost, refuse: tooManyPairs(study.Covariance),
	}
}
