package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Sizes of dendrograms, in pixels.
const (
	dendrogramArea  = 480.0
	dendrogramPitch = 20.0
	dendrogramTop   = 6.0
	mostLeaves      = 100
)

// hierarchy draws a clustering of columns, and on request the correlations in its order.
func (s *Section) hierarchy(id string, a analysis.Analysis, beside []analysis.Analysis) {
	h := *a.Hierarchy
	s.skip("hierarchy", "hierarchy_merges", "hierarchy_leaves", "hierarchy_left_out")
	s.Title = "Hierarchy of columns"
	open := 0
	for _, m := range h.Merges {
		if m.Close {
			open++
		}
	}
	s.Summary = fmt.Sprintf("%d of %d merges are settled", len(h.Merges)-open, len(h.Merges))
	if len(a.Features) <= mostLeaves {
		s.Figures = append(s.Figures, dendrogram(id, a, open))
	}
	if heat, ok := ordered(id, a, beside); ok {
		s.Asked = append(s.Asked, heat)
	}
	g := Grid{Caption: "Merges, from the lowest to the highest", Columns: []GridColumn{{"merge", true}, {"of", false}, {"and", false}, {"height", true}, {"standard error", true}, {"columns", true}, {"settled", false}}}
	name := func(at int) string {
		if at < len(a.Features) {
			return a.Features[at].Name()
		}
		return fmt.Sprintf("merge %d", at-len(a.Features)+1)
	}
	for i, m := range h.Merges[:min(len(h.Merges), mostRows)] {
		settled := "yes"
		if m.Close {
			settled = "no"
		}
		g.Rows = append(g.Rows, []string{fmt.Sprint(i + 1), name(m.A), name(m.B), fmt.Sprintf("%.3f", m.Height), fmt.Sprintf("≤ %.2g", m.StandardError), fmt.Sprint(m.Size), settled})
	}
	g.Omitted = len(h.Merges) - len(g.Rows)
	s.table(g)
	s.leftOut("columns", h.LeftOut)
}

// dendrogram draws the tree from its leaves at the left. A merge that another one could
// have come before is dashed, with an open mark.
func dendrogram(id string, a analysis.Analysis, open int) figure.Figure {
	h, n, most := *a.Hierarchy, len(a.Features), 0
	for _, f := range a.Features {
		most = max(most, len([]rune(longName(f.Name()))))
	}
	left := 12 + 6.4*float64(most)
	d := &figure.Drawing{}
	bottom := dendrogramTop + dendrogramPitch*float64(n)
	heights := []float64{0}
	for _, m := range h.Merges {
		heights = append(heights, m.Height)
	}
	axis := figure.NewAxis(left, left+dendrogramArea, heights...)
	d.Scale(axis, dendrogramTop, bottom)
	d.Text("soft mid", left+dendrogramArea/2, bottom+34, "distance: "+distanceName(h.Distance))
	// Where each cluster begins: leaves in their order, then merges.
	x, y := make([]float64, n+len(h.Merges)), make([]float64, n+len(h.Merges))
	for place, leaf := range h.Leaves {
		x[leaf], y[leaf] = axis.At(0), figure.Tenth(dendrogramTop+dendrogramPitch*(float64(place)+0.5))
		d.Text("label end", left-8, y[leaf]+4, longName(a.Features[leaf].Name()))
	}
	for i, m := range h.Merges {
		at := n + i
		x[at], y[at] = axis.At(m.Height), figure.Tenth((y[m.A]+y[m.B])/2)
		class, words := "branch", "settled"
		if m.Close {
			class, words = "branch open", "not settled"
		}
		d.Path(class, fmt.Sprintf("M%g %gH%gV%gH%g", x[m.A], y[m.A], x[at], y[m.B], x[m.B]),
			fmt.Sprintf("merge %d of %d columns at %.3f, standard error at most %.2g: %s", i+1, m.Size, m.Height, m.StandardError, words))
	}
	for i, m := range h.Merges {
		if m.Close {
			mark := figure.Pen{}
			mark.Mark(x[n+i], y[n+i], figure.Shape(0))
			d.Path("hollow", mark.String(), "")
		}
	}
	return figure.Figure{
		ID: id + "-dendrogram", Title: "Which columns go together", Drawing: d, Width: left + dendrogramArea + 14, Height: bottom + 44, Least: 0.7,
		Description: fmt.Sprintf("A tree of %d columns by %s linkage; %d of %d merges are not settled. The table has every merge.", n, h.Linkage, open, len(h.Merges)),
		Caption: fmt.Sprintf("The further left two columns meet, the nearer they are (%s linkage). A dashed merge with a ring is not settled: it is within its error of the one above. Point at a merge for its height.",
			h.Linkage),
	}
}

func distanceName(of study.ColumnDistance) string {
	if of == study.Absolute {
		return "1 − |ρ|"
	}
	return "√(2 − 2ρ)"
}

// ordered is the heat map of the result's correlations, with columns in the order of a
// hierarchy of the same ones.
func ordered(id string, a analysis.Analysis, beside []analysis.Analysis) (figure.Figure, bool) {
	for _, other := range beside {
		if other.Kind != study.Correlation || other.Undefined != "" || len(other.Features) < 2 || len(other.Features) > mostHeat {
			continue
		}
		var order []int
		for _, leaf := range a.Hierarchy.Leaves {
			if at := slices.Index(other.Features, a.Features[leaf]); at >= 0 {
				order = append(order, at)
			}
		}
		if len(order) < len(other.Features) {
			continue
		}
		heat := heatMapIn(id+"-heat", other, order)
		heat.Title = "Correlations with the columns in this order"
		return heat, true
	}
	return figure.Figure{}, false
}

// minus writes a number's sign as typographers do.
func minus(text string) string { return strings.ReplaceAll(text, "-", "−") }
