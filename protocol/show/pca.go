package show

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofPCA() kind {
	return kind{name: study.PCA, title: "principal components", own: func(s *section) { show(s.a.PCA, s.components) }}
}

// components shows principal components: a scree plot, and the loadings of the first.
func (s *section) components(p analysis.PCA) {
	const mostPanels = 4
	s.skip("pca", "pca_components", "pca_components_loadings", "pca_components_loading_intervals", "pca_left_out")
	s.heading.Of = p.Of(s.a.Features)
	if len(p.Components) == 0 {
		return
	}
	if first := p.Components[0].Share.Shown(); first.Undefined == "" {
		s.heading.Says = "the first holds a share of " + first.String() + " " + block.ForRecords
	}
	s.figure("scree", scree(p, s.heading.Of))
	listed := 0
	for listed < len(p.Components) && len(p.Components[listed].Loadings) > 0 {
		listed++
	}
	if listed > 0 {
		s.figure("loadings", s.loadings(p, min(listed, mostPanels)))
	}
	s.tables = append(s.tables, s.componentTable(p))
	if listed > 0 {
		s.tables = append(s.tables, s.loadingTable(p, listed))
	}
	s.leftOut(p.LeftOut, faint)
}

func (s *section) componentTable(p analysis.PCA) block.Table {
	t := block.Table{Caption: "Components", Of: len(p.Components), Things: "components"}
	t.Columns = append(append([]block.Column{block.Numbers("component")}, block.Estimates("eigenvalue", false)...), block.Numbers("share"), block.Column{Name: "interval of the share", Number: true, PageOnly: true}, block.Words("greatest loadings"))
	apart := true
	for i, c := range p.Components[:min(len(p.Components), block.MostRows)] {
		cells, share := c.Interval.Shown().Cells(false), block.Cells("", "")
		if c.Interval.Estimate == nil {
			cells[0].Text = block.Digits(c.Eigenvalue, 3)
		}
		if n := c.Share.Shown(); n.Undefined == "" {
			_, between := n.Parts()
			share = block.Cells(block.Percent(math.Max(0, n.Value)), between)
		}
		loadings := ""
		switch {
		case len(c.Loadings) == 0:
		case c.LoadingIntervals[0].Estimate == nil:
			loadings, apart = "not separated", false
		default:
			loadings = greatestLoadings(s.a.Features, c.Loadings)
		}
		t.Rows = append(t.Rows, slices.Concat(block.Cells(fmt.Sprint(i+1)), cells, share, block.Cells(loadings)))
	}
	if !apart {
		s.note("A component that is not separated has its eigenvalue, but which columns make it cannot be told from a neighbour's: its loadings mean nothing.")
	}
	return t
}

// greatestLoadings names the columns with the largest loadings, without their parties, for which a
// table has no room.
func greatestLoadings(features []analysis.Feature, loadings []float64) (text string) {
	const most, room = 3, 46 // number of loadings, and of characters
	order := make([]int, len(loadings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(loadings[b]), math.Abs(loadings[a])) })
	for n, i := range order[:min(len(order), most)] {
		bare := features[i]
		bare.Party = ""
		next := fmt.Sprintf("%s %+.2f", bare.Name(), loadings[i])
		if n > 0 {
			next = text + ", " + next
		}
		if n > 0 && utf8.RuneCountInString(next) > room {
			break
		}
		text = next
	}
	return text
}

// scree draws eigenvalues in order.
func scree(p analysis.PCA, of string) block.Figure {
	curve := block.Curve{Name: "eigenvalue of the estimates, with its interval " + block.ForRecords}
	open := 0
	for i, c := range p.Components {
		n := c.Interval.Shown()
		at := block.PointOf(float64(i+1), n)
		at.Y = c.Eigenvalue
		if n.Undefined != "" {
			at.Title = fmt.Sprintf("component %d: %s, not separated from its neighbours", i+1, minus(block.Brief(c.Eigenvalue)))
			open++
		} else {
			at.Title = fmt.Sprintf("component %d: %s", i+1, minus(n.String()))
		}
		curve.Points = append(curve.Points, at)
	}
	plot := block.Chart{Curves: []block.Curve{curve}, X: block.Dimension{Label: "component", Include: []float64{1}}, Y: block.Dimension{Label: "eigenvalue", Include: []float64{0}}}
	if p.Scaled {
		plot.References = []block.Reference{{Name: "one column's share", At: 1}}
	}
	f := block.Figure{
		Title: "Eigenvalues of the components, by size", Plot: plot,
		Description: fmt.Sprintf("%d eigenvalues of %s; %d have an interval.", len(p.Components), of, len(p.Components)-open),
		Caption:     "A component matters where its eigenvalue stands clear of those after it.",
	}
	if open > 0 {
		f.Caption += fmt.Sprintf(" %d have no interval: they are too near to their neighbours to be told from them.", open)
	}
	return f
}

// loadings draws the loadings of the first components side by side, a row for each feature.
func (s *section) loadings(p analysis.PCA, components int) block.Figure {
	var plot block.Panels
	for _, f := range s.a.Features {
		plot.Rows = append(plot.Rows, f.Name())
	}
	for k, c := range p.Components[:components] {
		panel := block.Panel{Name: fmt.Sprintf("component %d", k+1), Values: c.Loadings}
		for _, n := range c.LoadingIntervals {
			panel.Numbers = append(panel.Numbers, n.Shown())
		}
		plot.Panels = append(plot.Panels, panel)
	}
	return block.Figure{
		Title: "Loadings of the first components", Plot: plot,
		Description: fmt.Sprintf("Loadings of the columns in the first %d components, with intervals.", components),
		Caption:     "Dots are loadings, bars their intervals for these records; a dashed bar contains 0, and a dot without a bar has none, as its component cannot be told from its neighbours. Signs are those by which the largest is positive.",
	}
}

// loadingTable returns the table of loadings, a column for each component.
func (s *section) loadingTable(p analysis.PCA, components int) block.Table {
	const most = 8
	components = min(components, most)
	t := block.Table{
		Caption: fmt.Sprintf("Loadings of the first %d components, %s", components, block.ForRecords), HasFigure: true, Folded: true,
		Columns: []block.Column{block.Words("column")}, Of: len(s.a.Features), Things: "columns",
	}
	for k := range components {
		t.Columns = append(t.Columns, block.Numbers(fmt.Sprintf("component %d", k+1)))
	}
	for i, f := range s.a.Features[:min(len(s.a.Features), block.MostRows)] {
		row := block.Cells(f.Name())
		for _, c := range p.Components[:components] {
			text := fmt.Sprintf("%.2f", c.Loadings[i])
			if n := c.LoadingIntervals[i].Shown(); n.Undefined == "" {
				text = n.String()
			}
			row = append(row, block.Cell{Text: strings.TrimSpace(text)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
