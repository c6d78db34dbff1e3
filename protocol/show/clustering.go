package show

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofClustering() kind {
	return kind{name: study.Clustering, own: func(s *section) { show(s.a.Hierarchy, s.hierarchy) }}
}

// mostLeaves limits the columns of a tree that is drawn.
const mostLeaves = 100

// hierarchy shows a clustering of columns, and on request the correlations in its order.
func (s *section) hierarchy(h analysis.Hierarchy) {
	s.skip("hierarchy", "hierarchy_merges", "hierarchy_leaves", "hierarchy_left_out")
	s.heading.Text = "Hierarchy of columns"
	features, open := s.a.Features, 0
	for _, m := range h.Merges {
		if m.Close {
			open++
		}
	}
	s.heading.Says = fmt.Sprintf("%d of %d merges are settled", len(h.Merges)-open, len(h.Merges))
	if len(features) <= mostLeaves {
		s.figure("dendrogram", dendrogram(features, h, open))
	}
	if f, ok := s.ordered(h); ok {
		s.figure("heat", f)
	}
	if open > 0 {
		s.note("A merge that is not settled has a height within its error of that of the merge above: which of the two comes first may be chance.")
	}
	s.leftOut(h.LeftOut, "no correlation of them is defined")
	t := block.Table{Caption: "Merges, from the lowest to the highest", Of: len(h.Merges), Things: "merges", Columns: []block.Column{
		block.Numbers("merge"), block.Words("of"), block.Words("and"), block.Numbers("height"), block.Numbers("standard error"), block.Numbers("columns"), block.Words("settled"),
	}}
	name := func(at int) string {
		if at < len(features) {
			return features[at].Name()
		}
		return fmt.Sprintf("merge %d", at-len(features)+1)
	}
	for i, m := range h.Merges[:min(len(h.Merges), block.MostRows)] {
		settled := "yes"
		if m.Close {
			settled = "no"
		}
		t.Rows = append(t.Rows, block.Cells(fmt.Sprint(i+1), name(m.A), name(m.B), block.Digits(m.Height, 3), "≤ "+block.Digits(m.StandardError, 2), fmt.Sprint(m.Size), settled))
	}
	s.tables = append(s.tables, t)
}

// dendrogram draws the tree with its leaves at the left. A merge is dashed, with an open mark, if
// another one could have come first.
func dendrogram(features []analysis.Feature, h analysis.Hierarchy, open int) block.Figure {
	plot := block.Tree{Order: h.Leaves, Axis: "distance: √(2 − 2ρ)"}
	if h.Distance == study.Absolute {
		plot.Axis = "distance: 1 − |ρ|"
	}
	for _, f := range features {
		plot.Leaves = append(plot.Leaves, f.Name())
	}
	for _, m := range h.Merges {
		plot.Joins = append(plot.Joins, block.Join{A: m.A, B: m.B, Height: m.Height, Error: m.StandardError, Size: m.Size, Open: m.Close})
	}
	return block.Figure{
		Title: "Which columns go together", Plot: plot,
		Description: fmt.Sprintf("A tree of %d columns by %s linkage; %d of %d merges are not settled. The table has every merge.", len(features), h.Linkage, open, len(h.Merges)),
		Caption: fmt.Sprintf("The further left two columns meet, the nearer they are (%s linkage). A dashed merge with a ring is not settled: it is within its error of the one above. Point at a merge for its height.",
			h.Linkage),
	}
}

// ordered returns the heat map of the result's correlations, with columns in the order of a
// hierarchy of the same columns.
func (s *section) ordered(h analysis.Hierarchy) (block.Figure, bool) {
	for _, other := range s.beside {
		if other.Kind != study.Correlation || other.Undefined != "" || len(other.Features) < 2 || len(other.Features) > mostHeat {
			continue
		}
		var order []int
		for _, leaf := range h.Leaves {
			if at := slices.Index(other.Features, s.a.Features[leaf]); at >= 0 {
				order = append(order, at)
			}
		}
		if len(order) < len(other.Features) || other.Sound() != nil {
			continue
		}
		f := heat(other, order)
		f.Title, f.Asked = "Correlations with the columns in this order", true
		return f, true
	}
	return block.Figure{}, false
}
