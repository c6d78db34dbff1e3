package show

import (
	"math"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// classesAt returns a discriminant of classes with these means of two columns and this covariance.
func classesAt(within [][]float64, half float64, means ...[2]float64) analysis.Analysis {
	l := &analysis.LDA{Column: "ward <1>", Within: within, Condition: number(1, 0.1)}
	for c, m := range means {
		l.Classes = append(l.Classes, string(rune('a'+c)))
		l.Shares = append(l.Shares, number(1/float64(len(means)), 0.01))
		l.Means = append(l.Means, []analysis.Number{number(m[0], half), number(m[1], half)})
	}
	for range means[1:] {
		row := make([]analysis.Number, 2)
		for i := range row {
			row[i] = number(0, 1)
		}
		l.Weights, l.Model = append(l.Weights, row), append(l.Model, analysis.Plane{Weights: []float64{0, 0}})
	}
	return analysis.Analysis{Kind: study.LDA, Level: 0.95, Features: []analysis.Feature{{Column: "x"}, {Column: "y"}}, Sections: analysis.Sections{LDA: l}}
}

// Distances in the picture are Mahalanobis distances, whatever the covariance within classes.
func TestDiscriminantsKeepDistances(t *testing.T) {
	within := [][]float64{{4, 1.5}, {1.5, 1}}
	a := classesAt(within, 0.2, [2]float64{10, 3}, [2]float64{14, 3}, [2]float64{11, 6})
	means, ok := discriminantMeans(*a.LDA)
	if !ok || len(means) != 3 {
		t.Fatalf("%v, %v", means, ok)
	}
	det := within[0][0]*within[1][1] - within[0][1]*within[1][0]
	for i, x := range means {
		for j, y := range means {
			dx := *a.LDA.Means[i][0].Estimate - *a.LDA.Means[j][0].Estimate
			dy := *a.LDA.Means[i][1].Estimate - *a.LDA.Means[j][1].Estimate
			want := (within[1][1]*dx*dx - 2*within[0][1]*dx*dy + within[0][0]*dy*dy) / det
			if got := math.Pow(x.at[0]-y.at[0], 2) + math.Pow(x.at[1]-y.at[1], 2); math.Abs(got-want) > 1e-9*(1+want) {
				t.Errorf("classes %d and %d are %g apart, want %g", i, j, got, want)
			}
		}
	}
	// In each direction a mean that is off by a half-width in both columns stays inside.
	if w := means[0].within; !(w[0] > 0 && w[1] > 0) {
		t.Errorf("half axes %v", w)
	}
	straight, _ := discriminantMeans(*classesAt([][]float64{{1, 0}, {0, 1}}, 0.2, [2]float64{0, 0}, [2]float64{5, 0}).LDA)
	if got := straight[0].within[0]; math.Abs(got-0.2*math.Sqrt2) > 1e-9 || straight[0].at[1] != 0 {
		t.Errorf("two classes along one column: %+v, want a half-width of %g", straight, 0.2*math.Sqrt2)
	}
}

func TestDiscriminantFigure(t *testing.T) {
	drawn := func(a analysis.Analysis) bool {
		for _, b := range Analysis("a0", a, nil) {
			if f, ok := b.(block.Figure); ok && f.ID == "a0-classes" {
				return true
			}
		}
		return false
	}
	for _, means := range [][][2]float64{{{0, 0}, {3, 1}}, {{0, 0}, {3, 1}, {1, 4}}} {
		if a := classesAt([][]float64{{1, 0}, {0, 1}}, 0.2, means...); !drawn(a) {
			t.Errorf("%d classes have no figure of their own (%v)", len(means), a.Sound())
		}
	}
	// Without a valid covariance, or with only one known mean, there is no such picture.
	lost := classesAt([][]float64{{1, 0}, {0, 1}}, 0.2, [2]float64{0, 0}, [2]float64{3, 1})
	lost.LDA.Means[1][0] = analysis.Number{Undefined: "lost"}
	for _, a := range []analysis.Analysis{classesAt([][]float64{{1, 2}, {2, 1}}, 0.2, [2]float64{0, 0}, [2]float64{3, 1}), lost} {
		if a.Sound() != nil || drawn(a) {
			t.Errorf("a picture is drawn of what is not known (%v)", a.Sound())
		}
	}
}
