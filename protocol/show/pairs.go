package show

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofDistance() kind { return kind{name: study.Distance, sizes: true} }

func ofGroupDistance() kind { return kind{name: study.GroupDistance, sizes: true} }

func ofIntersection() kind { return kind{name: study.Intersection, sizes: true} }

// mostHeat limits the features of a heat map; with more, cells could not be distinguished.
const mostHeat = 60

// pairs shows the numbers of pairs: a heat map if they have the scale of correlations, and
// intervals.
func (s *section) pairs() {
	a := s.a
	s.skip("features") // their names are shown beside their numbers
	switch {
	case a.Dense != nil:
		s.dense(a)
	case len(a.Pairs) > 0:
		s.everyPair(a)
	}
	if len(a.Shifts) > 0 {
		s.forest("shift", "Squared distances between mean records", block.Forest{Rows: rowsOfPairs(a, a.Shifts), Common: true, Unit: "squared distance between the mean records of two parties"})
		s.tables = append(s.tables, pairTable("Squared distances between the parties' mean records", a, a.Shifts))
	}
}

func (s *section) everyPair(a analysis.Analysis) {
	s.heading.Says = a.SignificantPairs()
	columns := a.Features[0].Column != ""
	scaled := a.Kind == study.Correlation || a.Kind == study.Cosine
	if scaled && len(a.Features) > 1 && len(a.Features) <= mostHeat {
		s.figure("heat", heat(a, nil))
	}
	shown, what := a.Across(), " across parties"
	if len(shown) == 0 || a.Features[0].Party == "" {
		what = ""
	}
	if len(shown) == 0 {
		shown = a.Pairs
	}
	said := "records"
	switch {
	case scaled:
		said = string(a.Kind)
	case columns:
		said = ""
	case a.Units != "":
		said = "in " + a.Units.Name() + " units"
		shown, what = a.Pairs, ""
	}
	if scaled || columns || len(shown) > 0 {
		s.forest("pairs", title(a.Kind)+what, block.Forest{Rows: rowsOfPairs(a, shown), Of: len(shown), Common: scaled || !columns, Unit: said})
	}
	s.tables = append(s.tables, pairTable(title(a.Kind)+" of every pair", a, a.Pairs))
}

// dense shows the clearest numbers of a dense table, the only ones in its document.
func (s *section) dense(a analysis.Analysis) {
	g := a.Dense.Gist
	s.heading.Says = analysis.Differing(g.Clear, g.Compared, " of different "+a.Compared())
	if g.Undefined > 0 {
		s.heading.Says += fmt.Sprintf("; %d are undefined", g.Undefined)
	}
	if len(g.Clearest) > 0 {
		caption := title(a.Kind) + " of the clearest pairs"
		s.forest("pairs", caption, block.Forest{Rows: rowsOfPairs(a, g.Clearest), Common: a.Units == ""})
		s.tables = append(s.tables, pairTable(caption, a, g.Clearest))
	}
	s.note("All %d pairs are in %s beside the document: result STUDY -o DIR writes them as an array, with --format csv or parquet as a table.", a.Dense.Pairs, block.Bytes(a.Dense.Bytes()))
	s.skip("dense", "dense_fields", "dense_undefined", "dense_parts", "dense_gist_clearest")
}

// records says how records are named.
func (s *section) records(d analysis.RecordDistances) {
	text := "Records are named by their party and their row in its release, from 0."
	if len(s.a.Features) > len(d.Records) {
		text = "Records are named by their party and their row in its release, from 0; a party's name alone stands for the mean of its records."
	}
	s.notes = append(s.notes, text)
}

// numberOf returns the number of a pair as it is shown.
func numberOf(a analysis.Analysis, p analysis.Pair) block.Number {
	n := p.Shown()
	n.Unanswered = a.Unanswered(p.Number)
	return n
}

// heat draws pairs with the features in an order, or by party.
func heat(a analysis.Analysis, order []int) block.Figure {
	var plot block.Heat
	for _, f := range a.Features {
		name := f
		name.Party = ""
		plot.Labels = append(plot.Labels, block.Label{Group: f.Party, Name: name.Name()})
	}
	plot.Order = order
	for _, p := range a.Pairs {
		plot.Pairs = append(plot.Pairs, block.HeatPair{I: p.I, J: p.J, Number: numberOf(a, p)})
	}
	n := len(a.Features)
	if order != nil {
		n = len(order)
	}
	return block.Figure{
		Title: title(a.Kind) + " of every pair of columns", Plot: plot,
		Description: fmt.Sprintf("%d columns by %d, from −1 (blue) over 0 (white) to 1 (orange). %s. The table below holds every number.", n, n, a.SignificantPairs()),
		Caption: "Intervals in the map are " + about(a) + ". A colour fades as its interval widens; a cell is hatched where the interval contains 0, so that this study cannot tell it from 0. " +
			"The table has every interval.",
	}
}

// rowsOfPairs returns the clearest pairs.
func rowsOfPairs(a analysis.Analysis, pairs []analysis.Pair) (out []block.ForestRow) {
	for _, p := range first(a.Clearest(pairs)) {
		name := a.Features[p.I].Name()
		if p.I != p.J {
			name += ", " + a.Features[p.J].Name()
		}
		out = append(out, block.ForestRow{Name: name, Number: numberOf(a, p)})
	}
	return out
}

func first(pairs []analysis.Pair) []analysis.Pair { return pairs[:min(len(pairs), block.MostRows)] }

// pairTable shows pairs, the clearest first.
func pairTable(caption string, a analysis.Analysis, pairs []analysis.Pair) block.Table {
	people := slices.ContainsFunc(pairs, func(p analysis.Pair) bool { return p.Shown().People })
	t := block.Table{Caption: caption, HasFigure: true, Of: len(pairs), Things: "pairs, the clearest first"}
	t.Columns = append(append([]block.Column{block.Words("of"), block.Words("and")}, block.Estimates("estimate", people)...), block.Column{Name: "standard error", Number: true, PageOnly: true})
	for _, p := range first(a.Clearest(pairs)) {
		other, deviation := "itself", ""
		if p.I != p.J {
			other = a.Features[p.J].Name()
		}
		if p.StandardError != nil {
			deviation = block.Digits(*p.StandardError, 2)
		}
		t.Rows = append(t.Rows, slices.Concat(block.Cells(a.Features[p.I].Name(), other), numberOf(a, p).Cells(people), block.Cells(deviation)))
	}
	return t
}
