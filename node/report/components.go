package report

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Sizes of the picture of loadings, in pixels.
const (
	loadingPanel = 170.0
	loadingGap   = 14.0
	loadingPitch = 20.0
	loadingTop   = 24.0
	mostPanels   = 4
	mostLoadings = 40
)

// components draws principal components: a scree plot, and the loadings of the first.
func (s *Section) components(id string, a analysis.Analysis) {
	p := *a.PCA
	s.skip("pca", "pca_components", "pca_components_loadings", "pca_components_loading_intervals", "pca_left_out")
	of := p.Of(a.Features)
	s.Title = "Principal components of " + of
	first := p.Components[0].Share
	if first.Estimate != nil {
		s.Summary = "the first holds a share of " + numberText(first) + " " + analysis.ForRecords
	}
	s.Figures = append(s.Figures, scree(id, p, of))
	listed := 0
	for listed < len(p.Components) && len(p.Components[listed].Loadings) > 0 {
		listed++
	}
	if listed > 0 {
		s.Figures = append(s.Figures, loadings(id, a, min(listed, mostPanels)))
	}
	table := Grid{Caption: "Components", Columns: []GridColumn{{"component", true}, {"eigenvalue", true}, {"interval, " + analysis.ForRecords, true}, {"share, " + analysis.ForRecords, true}}}
	for i, c := range p.Components[:min(len(p.Components), mostRows)] {
		between := "not separated"
		if c.Interval.Estimate != nil {
			_, between, _ = strings.Cut(numberText(c.Interval), " ")
		}
		table.Rows = append(table.Rows, []string{fmt.Sprint(i + 1), minus(brief(c.Eigenvalue)), between, numberText(c.Share)})
	}
	table.Omitted = len(p.Components) - len(table.Rows)
	s.table(table)
	if listed > 0 {
		s.Folded = append(s.Folded, loadingGrid(a, listed))
	}
	s.leftOut("columns", p.LeftOut)
}

// leftOut names features without a part in the answer.
func (s *Section) leftOut(what string, features []analysis.Feature) {
	var names []string
	for _, f := range features {
		names = append(names, f.Name())
	}
	if len(names) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("Left out, as their variance does not stand out of its error: the %s %s.", what, strings.Join(names, ", ")))
	}
}

// scree draws eigenvalues in their order.
func scree(id string, p analysis.PCA, of string) figure.Figure {
	curve := figure.Curve{Name: "eigenvalue of the estimates, with its interval for these records"}
	open := 0
	for i, c := range p.Components {
		at := numberPoint(float64(i+1), c.Interval)
		at.Y = c.Eigenvalue
		if c.Interval.Estimate == nil {
			at.Title = fmt.Sprintf("component %d: %s, not separated from its neighbours", i+1, minus(brief(c.Eigenvalue)))
			open++
		} else {
			at.Title = fmt.Sprintf("component %d: %s", i+1, numberText(c.Interval))
		}
		curve.Points = append(curve.Points, at)
	}
	chart := figure.Chart{
		ID: id + "-scree", Title: "Eigenvalues of the components, by size", Curves: []figure.Curve{curve},
		X: figure.Dimension{Label: "component", Include: []float64{1}}, Y: figure.Dimension{Label: "eigenvalue", Include: []float64{0}},
		Description: fmt.Sprintf("%d eigenvalues of %s; %d have an interval.", len(p.Components), of, len(p.Components)-open),
		Caption:     "A component matters where its eigenvalue stands clear of those after it.",
	}
	if open > 0 {
		chart.Caption += fmt.Sprintf(" %d have no interval: they are too near to their neighbours to be told from them.", open)
	}
	if p.Scaled {
		chart.References = []figure.Reference{{Name: "one column's share", At: 1}}
	}
	return chart.Figure()
}

// numberPoint is a number over X, with its interval.
func numberPoint(x float64, n analysis.Number) figure.Point {
	at := figure.Point{X: x}
	if n.Estimate != nil {
		at.Y, at.Low, at.High = *n.Estimate, *n.Low, *n.High
	}
	return at
}

// loadings draws those of the first components side by side, a row for each feature.
func loadings(id string, a analysis.Analysis, components int) figure.Figure {
	rows, most := min(len(a.Features), mostLoadings), 0
	for _, f := range a.Features[:rows] {
		most = max(most, len([]rune(shortened(f.Name()))))
	}
	left := 10 + 6.4*float64(most)
	d := &figure.Drawing{}
	bottom := loadingTop + loadingPitch*float64(rows)
	for i, f := range a.Features[:rows] {
		d.Text("label end", left-8, loadingTop+loadingPitch*(float64(i)+0.5)+4, shortened(f.Name()))
	}
	for k := range components {
		from := left + float64(k)*(loadingPanel+loadingGap)
		axis := figure.Axis{Low: -1, High: 1, Step: 1, From: from + 8, To: from + loadingPanel - 8}
		d.Scale(axis, loadingTop, bottom)
		d.Path("zero", fmt.Sprintf("M%g %gV%g", axis.At(0), loadingTop, bottom), "")
		d.Text("party", from+loadingPanel/2, loadingTop-9, fmt.Sprintf("component %d", k+1))
		for i, n := range a.PCA.Components[k].LoadingIntervals[:rows] {
			y := loadingTop + loadingPitch*(float64(i)+0.5)
			loading(d, axis, y, a.PCA.Components[k].Loadings[i], n, a.Features[i].Name())
		}
	}
	f := figure.Figure{
		ID: id + "-loadings", Title: "Loadings of the first components", Drawing: d, Least: 0.6,
		Width: left + float64(components)*(loadingPanel+loadingGap), Height: bottom + 24,
		Description: fmt.Sprintf("What each of %d columns has in the first %d components, with intervals.", rows, components),
		Caption:     "Dots are loadings, bars their intervals for these records; a dashed bar contains 0, and a dot without a bar has none, as its component cannot be told from its neighbours. Signs are those by which the largest is positive.",
	}
	if rows < len(a.Features) {
		f.Caption += fmt.Sprintf(" Drawn are %d of %d columns; the table has more.", rows, len(a.Features))
	}
	return f
}

// loading draws one dot and its interval.
func loading(d *figure.Drawing, axis figure.Axis, y, value float64, n analysis.Number, name string) {
	if n.Estimate != nil {
		class := "bar"
		if contains0(n) {
			class = "bar open"
		}
		d.Path(class, fmt.Sprintf("M%g %gH%g", axis.At(*n.Low), y, axis.At(*n.High)), name+": "+numberText(n))
	}
	d.Path("dot", fmt.Sprintf("M%g %gh0", axis.At(value), y), "")
}

// loadingGrid is the table of loadings, a column for each component.
func loadingGrid(a analysis.Analysis, components int) Grid {
	components = min(components, 8)
	g := Grid{Caption: fmt.Sprintf("Loadings of the first %d components, for these records", components), Columns: []GridColumn{{"column", false}}}
	for k := range components {
		g.Columns = append(g.Columns, GridColumn{fmt.Sprintf("component %d", k+1), true})
	}
	for i, f := range a.Features[:min(len(a.Features), mostRows)] {
		row := []string{f.Name()}
		for _, c := range a.PCA.Components[:components] {
			text := fmt.Sprintf("%.2f", c.Loadings[i])
			if c.LoadingIntervals[i].Estimate != nil {
				text = numberText(c.LoadingIntervals[i])
			}
			row = append(row, minus(text))
		}
		g.Rows = append(g.Rows, row)
	}
	g.Omitted = len(a.Features) - len(g.Rows)
	return g
}
