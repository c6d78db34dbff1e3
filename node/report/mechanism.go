package report

import (
	"fmt"

	"github.com/cosketch/cosketch/node/audit"
	"github.com/cosketch/cosketch/node/figure"
)

// claimSection sets what trials found beside what is claimed.
func claimSection(a audit.Audited) Section {
	out := Section{
		ID: "claim", Title: "What was found beside the claim", Figures: []figure.Figure{claims(a)},
		Terms: fmt.Sprintf("Found is the least ε that releases of the worst neighbouring made-up data leave possible, but for a probability of %.0e. Such trials can only find fault: a claim that they do not reach is not proved by them.", a.Doubt),
	}
	g := Grid{Caption: "Claimed and found", Columns: []GridColumn{{"party", false}, {"sketch", true}, {"mechanism", false}, {"claimed ε", true}, {"δ", true}, {"found ε", true}, {"in one run", true}, {"could find", true}, {"trials", true}, {"verdict", false}}}
	for _, s := range a.Sketches {
		g.Rows = append(g.Rows, []string{s.Party, fmt.Sprint(s.Sketch), s.Mechanism, brief(s.Claimed), brief(s.Delta), "≥ " + brief(s.Found), "≥ " + brief(s.OneRun.Found), brief(s.Reach), fmt.Sprint(s.Trials), s.Verdict()})
		if l := s.Labels; l != nil {
			g.Rows = append(g.Rows, []string{s.Party, fmt.Sprint(s.Sketch), "its labels", brief(l.Claimed), "0", "≥ " + brief(l.Found), "–", brief(l.Reach), fmt.Sprint(l.Trials), l.Verdict()})
		}
	}
	out.Open = []Grid{g}
	return out
}

// claims draws a row for each sketch: the claim, and what was found below it.
func claims(a audit.Audited) figure.Figure {
	const area, pitch, left = 420.0, 44.0, 8.0
	d := &figure.Drawing{}
	numbers := []float64{0}
	for _, s := range a.Sketches {
		numbers = append(numbers, 1.05*s.Claimed, s.Found, s.OneRun.Found)
	}
	axis := figure.NewAxis(left, left+area, numbers...)
	bottom := 6 + pitch*float64(len(a.Sketches))
	d.Scale(axis, 6, bottom)
	d.Text("soft mid", left+area/2, bottom+34, "ε")
	mark := func(class string, x, y float64, series int, title string) {
		pen := figure.Pen{}
		pen.Mark(x, y, figure.Shape(series))
		d.Path(class, pen.String(), title)
	}
	for i, s := range a.Sketches {
		y := 6 + pitch*(float64(i)+0.68)
		d.Text("name", left, y-13, longName(fmt.Sprintf("%s, sketch %d: %s", s.Party, s.Sketch, s.Mechanism)))
		d.Path("got", fmt.Sprintf("M%g %gH%g", axis.At(0), y, axis.At(s.Found)), fmt.Sprintf("found by %d trials: ε ≥ %s", s.Trials, brief(s.Found)))
		d.Path("rule", fmt.Sprintf("M%g %gv20", axis.At(s.Claimed), y-10), "")
		mark("mark s2", axis.At(s.OneRun.Found), y, 3, fmt.Sprintf("found in one run: ε ≥ %s", brief(s.OneRun.Found)))
		d.Text("soft", left+area+10, y+4, fmt.Sprintf("claimed %s, found ≥ %s", brief(s.Claimed), brief(s.Found)))
	}
	return figure.Figure{
		ID: "claim-epsilon", Title: "ε claimed and found", Drawing: d, Width: left + area + 190, Height: bottom + 42, Least: 0.75,
		Description: fmt.Sprintf("%d sketches, each with its claim and the lower bounds that trials found.", len(a.Sketches)),
		Caption:     "The upright line is the claimed ε, the bar ends at the lower bound that many trials found, the diamond at that of a single release with canaries. A bar beyond its line is a failure.",
	}
}

// mechanismSection shows how one sketch's noise and sensitivity were recomputed.
func mechanismSection(id string, s audit.AuditedSketch, of int) Section {
	out := Section{ID: id, Title: "The noise of sketch " + fmt.Sprint(s.Sketch), Terms: s.Statement}
	if of > 1 {
		out.Title += " of " + s.Party
	}
	if n := s.Noise; n != nil {
		out.Figures = append(out.Figures, noiseHistogram(id, *n))
		out.Summary = "it follows its law"
		if n.Chance < 1e-6 {
			out.Summary = "it does not follow its law"
		}
	}
	g := Grid{Caption: "Parameters, stated and recomputed", Columns: []GridColumn{{"what", false}, {"stated", true}, {"recomputed", true}}}
	if s.Declared != nil {
		g.Rows = append(g.Rows,
			[]string{"largest change of the exact sketch, sum of sizes (l1)", fmt.Sprint(s.Declared[0]), fmt.Sprint(s.Realised[0])},
			[]string{"largest change of the exact sketch, sum of squares", fmt.Sprint(s.Declared[1]), fmt.Sprint(s.Realised[1])})
	} else {
		g.Rows = append(g.Rows, []string{"ε of the flips as drawn", brief(s.Claimed), brief(s.Drawn)})
	}
	if n := s.Noise; n != nil {
		g.Rows = append(g.Rows, []string{fmt.Sprintf("variance of the noise, in units of what is stated, over %d draws", n.Draws), "1", fmt.Sprintf("%.4f", n.Variance)},
			[]string{"probability of noise at least so uneven, under its law", "–", brief(n.Chance)})
	}
	g.Rows = append(g.Rows, []string{fmt.Sprintf("canaries in one release: right of %d guesses", s.OneRun.Guessed), "–", fmt.Sprint(s.OneRun.Right)})
	out.Open = []Grid{g}
	if n := s.Noise; n != nil {
		h := Grid{Caption: "Noise as drawn and as its law has it", Columns: []GridColumn{{"from", true}, {"to below", true}, {"drawn", true}, {"expected", true}}}
		for _, b := range n.Histogram {
			h.Rows = append(h.Rows, []string{minus(fmt.Sprint(b.From)), minus(fmt.Sprint(b.To)), fmt.Sprint(b.Drawn), fmt.Sprintf("%.1f", b.Expected)})
		}
		out.Folded = []Grid{h}
	}
	for _, remark := range s.Remarks {
		out.Notes = append(out.Notes, "Note: "+remark+".")
	}
	return out
}

// noiseHistogram draws noise beside its law.
func noiseHistogram(id string, n audit.AuditedNoise) figure.Figure {
	drawn, law := figure.Curve{Name: "drawn", Look: figure.Bars}, figure.Curve{Name: "expected under its law", Look: figure.Smooth}
	for _, b := range n.Histogram {
		x := (float64(b.From) + float64(b.To-1)) / 2
		drawn.Points = append(drawn.Points, figure.Point{X: x, Y: float64(b.Drawn), Title: minus(fmt.Sprintf("%d up to %d: %d drawn, %.1f expected", b.From, b.To-1, b.Drawn, b.Expected))})
		law.Points = append(law.Points, figure.Point{X: x, Y: b.Expected})
	}
	return figure.Chart{
		ID: id + "-noise", Title: "The noise as it is drawn, beside its law", Height: 220, Curves: []figure.Curve{drawn, law},
		X: figure.Dimension{Label: "noise on one entry, in units of the sketch"}, Y: figure.Dimension{Label: "draws"},
		Description: fmt.Sprintf("%d draws in %d bins; their variance is %.4f of what is stated.", n.Draws, len(n.Histogram), n.Variance),
		Caption:     "The first and the last bar hold all draws beyond them. Noise that is too narrow would stand above the line in the middle and below it at the sides.",
	}.Figure()
}
