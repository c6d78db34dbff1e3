package errortable

import (
	"fmt"
	"io"
	"math"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/block"
)

// Write prints the verdicts and then the figures, for a terminal.
func (t Table) Write(w io.Writer) {
	for _, v := range t.Verdicts() {
		present.Paragraph(w, "  ", fmt.Sprintf("%s, %s: %s.", v.Kind, v.Grade, trimmed(v.Said)))
	}
	if len(t.Numbers) > 0 {
		fmt.Fprintln(w)
		t.numbers(w)
	}
	if len(t.Groups)+len(t.Classes) > 0 {
		fmt.Fprintln(w)
		t.groups(w)
	}
}

func trimmed(s string) string {
	if n := len(s) - 1; n >= 0 && s[n] == '.' {
		return s[:n]
	}
	return s
}

func (t Table) numbers(w io.Writer) {
	table := present.NewTable("kind", ">answers", ">RMSE", ">of it terms", ">size", ">covered", ">of terms", ">forecast", "in")
	for _, n := range t.Numbers {
		defined := n.Answers - n.Undefined
		row := []string{string(n.Kind)}
		if n.Of != "" {
			row[0] += ", " + n.Of
		}
		row = append(row, fmt.Sprint(n.Answers))
		if defined == 0 {
			table.Add(append(row, "", "", "", "", "", forecastText(n.Forecast), n.Measure)...)
			continue
		}
		table.Add(append(row, digits(n.RMSE), digits(n.Terms), digits(n.Size), ratio(n.Covered, defined), ratio(n.ByTerms, defined),
			forecastText(n.Forecast), n.Measure)...)
	}
	table.Write(w)
	for _, n := range t.Numbers {
		if n.Answers > n.Undefined && n.Of != "R²" {
			e := n.Worst
			present.Paragraph(w, "  ", fmt.Sprintf("Farthest %s: %s, %s [%s, %s] where the data have %s.",
				n.Kind, e.Name, e.Digits(e.Estimate), e.Digits(e.Low), e.Digits(e.High), e.Digits(e.Truth)))
		}
	}
}

// groups prints clusters and classifiers.
func (t Table) groups(w io.Writer) {
	table := present.NewTable("kind", "beside", ">the study", ">largest class", ">pooled data")
	for _, g := range t.Groups {
		table.Add(string(g.Kind), fmt.Sprintf("%d pooled clusters", g.Clusters), block.Percent(g.Pooled.Share), block.Percent(g.Pooled.Baseline), "")
		if g.Known != nil {
			table.Add("", g.Column, block.Percent(g.Known.Share), block.Percent(g.Known.Baseline), block.Percent(g.Ceiling))
		}
	}
	for _, c := range t.Classes {
		table.Add(string(c.Kind), c.Column, block.Percent(c.Accuracy), block.Percent(c.Baseline), block.Percent(c.Pooled))
	}
	table.Write(w)
}

// forecastText formats the range of the standard errors that the plan expected.
func forecastText(f *Forecast) string {
	switch {
	case f == nil || f.Hardest == 0:
		return "–"
	case digits(f.Easiest) == digits(f.Hardest) || f.Easiest == 0:
		return digits(f.Hardest)
	}
	return digits(f.Easiest) + "–" + digits(f.Hardest)
}

func ratio(part, all int) string { return fmt.Sprintf("%d/%d", part, all) }

func digits(x float64) string {
	if x >= 100 || x <= -100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// Digits formats a number of the answer with enough digits to distinguish the ends of its interval.
func (e Example) Digits(x float64) string {
	if width := e.High - e.Low; width > 0 && width < math.Abs(x)/10 {
		return fmt.Sprintf("%.*f", max(0, 1-int(math.Floor(math.Log10(width)))), x)
	}
	return digits(x)
}
