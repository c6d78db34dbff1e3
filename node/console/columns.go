package console

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// writeColumns prints what is computed from the products of all columns together; false
// for an analysis of another kind.
func writeColumns(w io.Writer, a analysis.Analysis) bool {
	switch {
	case a.PCA != nil:
		writePCA(w, a, *a.PCA)
	case a.Regression != nil:
		writeRegression(w, a, *a.Regression)
	case a.Hierarchy != nil:
		writeHierarchy(w, a, *a.Hierarchy)
	case a.Sums != nil:
		writeSums(w, a, *a.Sums)
	case a.LDA != nil:
		writeLDA(w, a, *a.LDA)
	default:
		return false
	}
	return true
}

// reasons collects why numbers are undefined, each once.
type reasons []string

// text is a number and its interval, as two cells of a table.
func (r *reasons) text(n analysis.Number) (number, between string) {
	if n.Estimate == nil || n.Low == nil || n.High == nil {
		if !slices.Contains(*r, n.Undefined) {
			*r = append(*r, n.Undefined)
		}
		return "undefined", ""
	}
	return interval(*n.Estimate, *n.Low, *n.High)
}

func (r reasons) write(w io.Writer) {
	for _, why := range r {
		Paragraph(w, "  ", "undefined: "+why)
	}
}

// leftOut names columns that have no place in an answer.
func leftOut(w io.Writer, features []analysis.Feature, why string) {
	var names []string
	for i := range features[:min(len(features), mostRows)] {
		names = append(names, featureText(features, i))
	}
	if len(names) > 0 {
		Paragraph(w, "  ", fmt.Sprintf("without %s: %s", strings.Join(names, ", "), why))
	}
}

// faint is why a column is left out of an answer that divides by its variance.
const faint = "its variance does not stand out of its error"

// mostLoadings bounds how many columns of a component are printed.
const mostLoadings = 3

func writePCA(w io.Writer, a analysis.Analysis, p analysis.PCA) {
	var why reasons
	Paragraph(w, "  ", "Principal components of "+p.Of(a.Features)+":")
	apart := true
	t := NewTable(">component", ">eigenvalue", forRecords, ">share", "greatest loadings")
	for i, c := range p.Components[:min(len(p.Components), mostRows)] {
		value, between := why.text(c.Interval)
		if c.Interval.Estimate == nil {
			value = threeDigits(c.Eigenvalue)
		}
		share := ""
		if c.Share.Estimate != nil {
			share = fmt.Sprintf("%.1f %%", 100*math.Max(0, *c.Share.Estimate))
		}
		loadings := ""
		switch {
		case len(c.Loadings) != len(a.Features) || len(c.LoadingIntervals) == 0:
		case c.LoadingIntervals[0].Estimate == nil:
			loadings, apart = "not separated", false
		default:
			loadings = greatestLoadings(a.Features, c.Loadings)
		}
		t.Add(strconv.Itoa(i+1), value, between, share, loadings)
	}
	t.Write(w)
	omitted(w, len(p.Components), "components")
	if !apart {
		Paragraph(w, "  ", "A component that is not separated has its eigenvalue, but which columns make it cannot be told from a neighbour's: its loadings mean nothing.")
	}
	why.write(w)
	leftOut(w, p.LeftOut, faint)
}

// greatestLoadings are the columns that make most of a component.
func greatestLoadings(features []analysis.Feature, loadings []float64) string {
	order := make([]int, len(loadings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := math.Abs(loadings[a]), math.Abs(loadings[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	const room = 46 // of a table's line
	text := ""
	for n, i := range order[:min(len(order), mostLoadings)] {
		bare := features[i]
		bare.Party = "" // a table has no room for it
		next := fmt.Sprintf("%s %+.2f", featureText([]analysis.Feature{bare}, 0), loadings[i])
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

func writeRegression(w io.Writer, a analysis.Analysis, r analysis.Regression) {
	var why reasons
	target := featureText([]analysis.Feature{r.Target}, 0)
	if ridge := r.Ridged(); ridge != "" {
		Paragraph(w, "  ", ridge)
	}
	Paragraph(w, "  ", target+" = the sum of these:")
	people := a.People()
	t := NewTable(heads(people, "times", ">coefficient")...)
	for i, c := range r.Coefficients[:min(len(r.Coefficients), mostRows)] {
		number, between := why.text(c)
		t.Add(cells(people, c, featureText(a.Features, i), number, between)...)
	}
	for _, row := range []struct {
		name string
		of   analysis.Number
	}{{"intercept", r.Intercept}, {"R²", r.RSquared}, {"residual deviation", r.Residual}} {
		number, between := why.text(row.of)
		t.Add(cells(people, row.of, row.name, number, between)...)
	}
	t.Write(w)
	omitted(w, len(r.Coefficients), "coefficients")
	why.write(w)
	leftOut(w, r.Reference, "the values with which the others of their column are compared")
	leftOut(w, r.LeftOut, faint)
}

func writeHierarchy(w io.Writer, a analysis.Analysis, h analysis.Hierarchy) {
	t := NewTable(">step", ">height", ">error", ">columns", "joins")
	n := len(a.Features)
	name := func(i int) string {
		if i < n {
			return featureText(a.Features, i)
		}
		return fmt.Sprintf("step %d", i-n+1)
	}
	unsettled := 0
	for i, m := range h.Merges {
		if m.Close {
			unsettled++
		}
		if i < mostRows {
			joins := name(m.A) + " and " + name(m.B)
			if m.Close {
				joins += " (not settled)"
			}
			t.Add(strconv.Itoa(i+1), threeDigits(m.Height), threeDigits(m.StandardError), strconv.Itoa(m.Size), joins)
		}
	}
	t.Write(w)
	omitted(w, len(h.Merges), "steps")
	if unsettled > 0 {
		Paragraph(w, "  ", fmt.Sprintf("%d of %d steps are not settled: their height is within its error of that of the step above, and which of the two comes first may be chance.", unsettled, len(h.Merges)))
	}
	leftOut(w, h.LeftOut, "no correlation of it is defined")
}

func writeSums(w io.Writer, a analysis.Analysis, s analysis.Sums) {
	var why reasons
	people := a.People()
	means, sums := NewTable(heads(people, "mean of", "over records of", ">estimate")...), NewTable(heads(people, "sum of", "over records of", ">estimate")...)
	for _, r := range s.Rows[:min(len(s.Rows), mostRows)] {
		over := r.Over
		switch {
		case over == "":
			over = "all"
		case r.Feature < len(a.Features) && a.Features[r.Feature].Party == over:
			over = "its party"
		}
		name := featureText(a.Features, r.Feature)
		number, between := why.text(r.Mean)
		means.Add(cells(people, r.Mean, name, over, number, between)...)
		number, between = why.text(r.Sum)
		sums.Add(cells(people, r.Sum, name, over, number, between)...)
	}
	means.Write(w)
	fmt.Fprintln(w)
	sums.Write(w)
	omitted(w, len(s.Rows), "rows")
	why.write(w)
}
