package show

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofLDA() kind {
	return kind{name: study.LDA, title: "linear discriminants", own: func(s *section) { show(s.a.LDA, s.discriminant) }}
}

// discriminant shows the classes, how far apart they are, and what distinguishes them. The picture
// comes from the document only: it shows no record.
func (s *section) discriminant(l analysis.LDA) {
	s.skip("lda", "lda_classes", "lda_left_out", "lda_drowned", "lda_reference", "lda_shares", "lda_apart", "lda_means", "lda_means_dates")
	s.heading.Of = l.Column
	s.heading.Says = fmt.Sprintf("%d classes are told apart by %d of %d columns", len(l.Classes), len(s.a.Features), len(s.a.Features)+len(l.HiddenByNoise))
	if means, ok := discriminantMeans(l); ok {
		s.figure("classes", classPlane(l, means))
	}
	s.note("Each party can predict the classes of its own records; nobody has counted how many predictions are right.")
	if ridge := l.Ridged(); ridge != "" {
		s.notes = append(s.notes, ridge)
	}
	s.compared(l.Reference)
	if len(l.LeftOut) > 0 {
		s.note("Left out, as their shares do not stand out of the noise: the classes %s.", strings.Join(l.LeftOut, ", "))
	}
	s.leftOut(l.HiddenByNoise, faint)
	var shares []block.ForestRow
	for c, n := range l.Shares {
		shares = append(shares, block.ForestRow{Name: l.Classes[c], Number: n.Shown()})
	}
	t := estimates("class", "share of records", shares)
	t.Caption, t.Things = "Classes", "classes"
	apart := block.Table{
		Caption: "How far classes are apart", Of: len(l.Apart), Things: "pairs of classes",
		Columns: slices.Concat([]block.Column{block.Words("classes")}, block.Estimates("squared distance", false), block.Estimates("accuracy, if normal", false)),
	}
	for _, p := range l.Apart[:min(len(l.Apart), block.MostRows)] {
		apart.Rows = append(apart.Rows, slices.Concat(block.Cells(l.Classes[p.I]+" and "+l.Classes[p.J]), p.Distance.Shown().Cells(false), p.Accuracy.Shown().Cells(false)))
	}
	s.tables = append(s.tables, t, apart, s.classMeans(l))
	s.scores(l)
}

// classMeans shows the means of the classes; dates, which have no size to draw, only in the table.
func (s *section) classMeans(l analysis.LDA) block.Table {
	var rows []block.ForestRow
	for c, means := range l.Means {
		for i, n := range means {
			rows = append(rows, block.ForestRow{Name: l.Classes[c] + ", " + s.a.Features[i].Name(), Number: n.Shown()})
		}
	}
	drawn := slices.DeleteFunc(slices.Clone(rows), func(r block.ForestRow) bool { return r.Date })
	if len(drawn) > 1 {
		s.forest("lda-means", "Means of the classes", block.Forest{Rows: drawn, Common: ofOneSize(drawn)})
	}
	t := estimates("class and column", "mean", rows)
	t.Caption, t.Things = "Means of the classes, in original units", "means"
	return t
}

// scores shows what distinguishes the first few classes from the very first one.
func (s *section) scores(l analysis.LDA) {
	const most = 3
	for c, weights := range l.Weights[:min(len(l.Weights), most)] {
		t := block.Table{
			Caption: fmt.Sprintf("The score of %s over %s", l.Classes[c+1], l.Classes[0]), Of: len(weights), Things: "columns",
			Columns: append([]block.Column{block.Words("column"), block.Numbers("mean in " + l.Classes[0]), block.Numbers("in " + l.Classes[c+1])}, block.Estimates("weight in the score", false)...),
		}
		for i, n := range weights[:min(len(weights), block.MostRows)] {
			first, _ := l.Means[0][i].Shown().Parts()
			mean, _ := l.Means[c+1][i].Shown().Parts()
			t.Rows = append(t.Rows, slices.Concat(block.Cells(s.a.Features[i].Name(), first, mean), n.Shown().Cells(false)))
		}
		s.tables = append(s.tables, t)
	}
	if more := len(l.Weights) - most; more > 0 {
		s.note("The scores of the first %d of %d classes are shown; the result's files have all.", most, len(l.Weights))
	}
}

// classMean is the position of a class's mean on the first two discriminants, in standard
// deviations within a class, and its error in each direction.
type classMean struct {
	class  int
	at     [2]float64
	within [2]float64
}

// discriminantMeans projects the means of the classes on the two directions in which they differ
// most relative to the spread within them (Fisher 1936, Rao 1948): the first eigenvectors of W⁻¹B.
// For two classes there is one direction, and the second coordinate is 0. ok is false if fewer than
// two means are known, or if W is not a covariance matrix.
//
// The document has the error of each column of each mean, but not their correlations. Whatever
// these are, the standard error along a direction v is at most Σ|v_j|σ_j. An ellipse with √2 times
// both half-widths as its axes holds the mean at the level of the intervals: no two normal errors
// with these standard deviations leave it more often than two that are always equal.
func discriminantMeans(l analysis.LDA) (out []classMean, ok bool) {
	n := len(l.Within)
	var shares []float64
	for c, row := range l.Means {
		known := l.Shares[c].Estimate != nil
		for _, x := range row {
			known = known && x.Estimate != nil
		}
		if known {
			out, shares = append(out, classMean{class: c}), append(shares, math.Max(*l.Shares[c].Estimate, 0))
		}
	}
	if len(out) < 2 || n == 0 {
		return nil, false
	}
	within := mat.NewSymDense(n, nil)
	for i, row := range l.Within {
		for j := i; j < n; j++ {
			within.SetSym(i, j, row[j])
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(within) {
		return nil, false
	}
	var lower mat.TriDense
	factor.LTo(&lower)
	apart := mat.NewDense(len(out), n, nil) // means, centred on their weighted mean
	var total float64
	for i := range out {
		total += shares[i]
	}
	for j := range n {
		var middle float64
		for i, m := range out {
			middle += shares[i] / total * *l.Means[m.class][j].Estimate
		}
		for i, m := range out {
			apart.Set(i, j, *l.Means[m.class][j].Estimate-middle)
		}
	}
	vectors, ok := directions(apart, shares, &lower)
	if !ok {
		return nil, false
	}
	for i := range out {
		for axis, v := range vectors {
			for j, weight := range v {
				x := l.Means[out[i].class][j]
				out[i].at[axis] += weight * apart.At(i, j)
				out[i].within[axis] += math.Abs(weight) * math.Max(*x.High-*x.Estimate, *x.Estimate-*x.Low)
			}
			out[i].within[axis] *= math.Sqrt2
		}
	}
	return out, true
}

// directions returns the first eigenvectors of W⁻¹B, with W = LLᵀ: L⁻ᵀ times those of L⁻¹BL⁻ᵀ,
// which are the right singular vectors of the whitened means.
func directions(apart *mat.Dense, shares []float64, lower *mat.TriDense) (out [][]float64, ok bool) {
	var white mat.Dense
	if err := white.Solve(lower, apart.T()); err != nil {
		return nil, false
	}
	classes := len(shares)
	for i := range classes {
		for j := range white.RawMatrix().Rows {
			white.Set(j, i, white.At(j, i)*math.Sqrt(shares[i]))
		}
	}
	var svd mat.SVD
	if !svd.Factorize(&white, mat.SVDThin) {
		return nil, false
	}
	var left, back mat.Dense
	svd.UTo(&left)
	if err := back.Solve(lower.T(), &left); err != nil {
		return nil, false
	}
	_, most := back.Dims()
	for axis := range min(2, classes-1, most) {
		out = append(out, mat.Col(nil, axis, &back))
	}
	return out, true
}

// classPlane shows the mean of each class with its ellipse, and how far records spread around it.
// If there is one direction, each class has a line of its own, and intervals need no more.
func classPlane(l analysis.LDA, means []classMean) block.Figure {
	plot := block.Plane{Flat: len(means) == 2, Axes: "first discriminant →   second ↑"}
	if plot.Flat {
		plot.Axes = "the discriminant →   a line for each class"
	}
	plot.Axes += "   in standard deviations within a class"
	for i, m := range means {
		if plot.Flat {
			m.at[1], m.within[1] = 2*float64(len(means)-1-i), 0
		}
		plot.Means = append(plot.Means, block.PlaneMean{Name: l.Classes[m.class], Series: m.class, At: m.at, Within: m.within})
	}
	return block.Figure{
		Title: "Where the means of the classes of " + l.Column + " are", Plot: plot,
		Description: fmt.Sprintf("The means of %d classes by their first discriminants, each with its interval and the spread of its records.", len(means)),
		Caption: "Directions are those in which the classes differ most beside the spread within them, taken as they came out. Coloured ellipses, or lines, hold a mean at the level of the intervals for these records " +
			"or more often; thin circles are one standard deviation of a class's records. No record is in the picture.",
	}
}
