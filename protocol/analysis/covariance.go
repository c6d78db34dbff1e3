package analysis

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/study"
)

// What a covariance is about, and what may be said of a repaired matrix.
const (
	assumesCovariance = "nothing about which records the parties share: an entry is over the records that its two columns have in common, divided by their number"
	assumesUnion      = "nothing: an entry is over all records of the union, divided by their number"

	notUnbiased   = "Not unbiased: for methods that cannot do without it, not for reading off entries."
	otherMatrices = " Its entries are over different records, and make one matrix only where parties share records at random."
)

// covariance answers the covariances of all pairs of columns, and variances, in
// original units; and beside them the nearest matrix that could be one of
// covariances. That is found in encoded units, in which all columns have a range of
// about one.
func (c *columns) covariance(ctx context.Context, a study.Analysis, out *Analysis) error {
	out.Assumption, out.Units = assumesCovariance, unitsOriginal
	if c.union() {
		out.Assumption = assumesUnion
	}
	vars, located := c.variables(), c.locate(a, out)
	for i, v := range vars {
		if v.group.plan.Clip > 0 {
			located[i].Ones.Records = 0 // clipped records count less than one, in sums as in ones
		}
	}
	encoded, err := everyPair(ctx, len(located), true, func(i, j int) estimate.Estimate {
		return c.gram.Covariance(located[i], located[j], c.level)
	})
	if err != nil {
		return err
	}
	for _, p := range encoded {
		out.Pairs = append(out.Pairs, Pair{p.I, p.J, p.times(c.unit(vars[p.I]) * c.unit(vars[p.J]))})
	}
	r, matrix, err := repair(ctx, "covariance_psd", len(vars), encoded, decompose.Semidefinite)
	if matrix != nil {
		r.Statement = c.statement()
		for i := range vars {
			for j := range vars {
				r.Matrix[i][j] = matrix.At(i, j) * (c.unit(vars[i]) * c.unit(vars[j]))
			}
		}
	}
	out.Repaired = r
	return err
}

// repairCorrelation sets the nearest correlation matrix beside the estimates.
func (c *columns) repairCorrelation(ctx context.Context, out *Analysis) error {
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

// union tells whether the columns are those of the union of the parties' records.
func (c *columns) union() bool { return c.groups[0].party == "" }

func (c *columns) statement() string {
	if c.union() {
		return notUnbiased
	}
	return notUnbiased + otherMatrices
}

// repair makes the matrix of n features positive semidefinite, with an empty Matrix
// of its size to fill; the matrix is nil where it says why there is none. Entries of
// the diagonal that are no pairs are ones.
func repair(ctx context.Context, name string, n int, pairs []Pair,
	nearest func(context.Context, mat.Symmetric) (decompose.Repair, error)) (*Repaired, *mat.SymDense, error) {
	r := &Repaired{Name: name}
	if n > decompose.MaxDim {
		r.Undefined = fmt.Sprintf("%d columns are too many: at most %d are repaired", n, decompose.MaxDim)
		return r, nil, nil
	}
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
	if err != nil {
		return nil, nil, err
	}
	r.Moved, r.Norm, r.Negative, r.Least = found.Moved, found.Norm, found.Negative, found.Least
	r.Matrix = make([][]float64, n)
	for i := range r.Matrix {
		r.Matrix[i] = make([]float64, n)
	}
	return r, found.Matrix, nil
}
