package report

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// discriminant draws where the means of classes are, by the document alone: no record is in
// the picture.
func (s *Section) discriminant(id string, a analysis.Analysis) {
	if ridge := a.LDA.Ridged(); ridge != "" {
		s.Notes = append(s.Notes, ridge)
	}
	s.skip("lda_drowned")
	s.leftOut("columns", a.LDA.Drowned)
	if means, ok := discriminantMeans(*a.LDA); ok {
		s.Figures = append(s.Figures, classPlane(id, *a.LDA, means))
	}
}

// classMean is where the mean of a class is by the first two discriminants, in standard
// deviations within a class, and how far it may be off in each direction.
type classMean struct {
	class  int
	at     [2]float64
	within [2]float64
}

// discriminantMeans projects the means of the classes on the two directions in which they
// differ most beside the spread within them (Fisher 1936, Rao 1948): the first eigenvectors
// of W⁻¹B. Of two classes there is one direction, and the second is 0. ok is false where
// fewer than two means are known, or W is no covariance.
//
// The document has the error of each mean's each column, not what these have in common. A
// direction v errs by a standard deviation of at most Σ|v_j|σ_j, whatever that is; and an
// ellipse with √2 times both half-widths as its axes holds the mean at the level of the
// intervals, as no two normal errors of these deviations leave it more often than two that
// are always equal.
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
	apart := mat.NewDense(len(out), n, nil) // means around their mean
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

// directions are the first eigenvectors of W⁻¹B, with W = LLᵀ: L⁻ᵀ times those of L⁻¹BL⁻ᵀ,
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

// classPlane draws them: the mean of each class with its ellipse, and how far records spread
// around it. Of one direction, each class has a line of its own.
func classPlane(id string, l analysis.LDA, means []classMean) figure.Figure {
	flat := len(means) == 2
	var dots analysis.Scatter
	for i, m := range means {
		if flat {
			m.at[1], m.within[1] = 2*float64(len(means)-1-i), 0
			means[i] = m
		}
		for _, side := range []float64{-1, 1} {
			dots.Points = append(dots.Points, analysis.Dot{X: m.at[0] + side*math.Max(1, m.within[0]), Y: m.at[1] + side*math.Max(1, m.within[1])})
		}
	}
	x, y := planeScale(dots)
	unit := x(1) - x(0)
	d := &figure.Drawing{}
	d.Rect("frame", 0.5, 0.5, scatterWidth-1, scatterHeight-1)
	for _, m := range means {
		cx, cy, series := figure.Tenth(x(m.at[0])), figure.Tenth(y(m.at[1])), m.class%figure.Series
		d.Path("zero", circle(cx, cy, figure.Tenth(unit)), "")
		if flat {
			half := figure.Tenth(m.within[0] * unit / math.Sqrt2) // one direction needs no more
			d.Path(fmt.Sprintf("ellipse s%d", series), fmt.Sprintf("M%g %gh%g", figure.Tenth(cx-half), cy, 2*half), "")
		} else {
			d.Ellipse(fmt.Sprintf("ellipse s%d", series), figure.Ellipse{X: cx, Y: cy, RX: figure.Tenth(m.within[0] * unit), RY: figure.Tenth(m.within[1] * unit)})
		}
		mark := figure.Pen{}
		mark.Mark(cx, cy, figure.Shape(m.class))
		d.Path(fmt.Sprintf("mark s%d", series), mark.String(), l.Classes[m.class])
		d.Text("strong", within(cx, scatterWidth)+8, within(cy, scatterHeight)-8, shortened(l.Classes[m.class]))
	}
	axes := "first discriminant →   second ↑"
	if flat {
		axes = "the discriminant →   a line for each class"
	}
	d.Text("soft mid", scatterWidth/2, scatterHeight+20, axes+"   in standard deviations within a class")
	return figure.Figure{
		ID: id + "-classes", Title: "Where the means of the classes of " + l.Column + " are", Drawing: d, Width: scatterWidth, Height: scatterHeight + 30, Least: 0.5,
		Description: fmt.Sprintf("The means of %d classes by their first discriminants, each with its interval and the spread of its records.", len(means)),
		Caption: "Directions are those in which the classes differ most beside the spread within them, taken as they came out. Coloured ellipses, or lines, hold a mean at the level of the intervals for these records " +
			"or more often; thin circles are one standard deviation of a class's records. No record is in the picture.",
	}
}

func circle(x, y, r float64) string {
	return fmt.Sprintf("M%g %ga%g %g 0 1 0 %g 0a%g %g 0 1 0 %g 0z", figure.Tenth(x-r), y, r, r, 2*r, r, r, -2*r)
}
