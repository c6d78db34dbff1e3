package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/audit"
	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol"
)

// AuditPage is what a page about an audit is made of.
type AuditPage struct {
	Name, Study string           // of the study: name and id
	Attacked    *audit.Attacked  // nil: no data were attacked
	Audited     *audit.Audited   // nil: the mechanism promises nothing that could be tried
	Made        protocol.Instant // when the page is made
	Version     string           // of the program
}

// Audit writes the page. It holds no value and no id of a record, but quantiles of errors
// and shares, which are about the party's data: it is for the party's own eyes.
func Audit(w io.Writer, p AuditPage) error { return write(w, "audit.html.tmpl", newAuditView(p)) }

// auditView is what the template reads.
type auditView struct {
	AuditPage
	Headline string
	Failed   bool // trials found more than what is claimed
	Bare     bool // nothing is promised
	Flags    []string
	Sections []Section
}

func newAuditView(p AuditPage) auditView {
	v := auditView{AuditPage: p, Bare: p.Audited == nil, Failed: p.Audited != nil && !p.Audited.Passed}
	var verdict []string
	switch {
	case v.Failed:
		verdict = append(verdict, "FAIL: a release gives away more than the study claims. Do not release.")
	case !v.Bare && p.Audited.Verdict() == "INCONCLUSIVE":
		verdict = append(verdict, "INCONCLUSIVE: nothing speaks against what the study claims, but so few trials would have let half of the noise pass.")
	case !v.Bare:
		verdict = append(verdict, "PASS: nothing speaks against what the study claims.")
	}
	if p.Attacked != nil {
		verdict = append(verdict, p.Attacked.Summary())
		v.Flags = p.Attacked.Flags()
		for _, s := range p.Attacked.Sketches {
			v.Sections = append(v.Sections, attackedSection(s, len(p.Attacked.Sketches)))
		}
		for _, s := range p.Attacked.Together {
			v.Sections = append(v.Sections, togetherSection(s))
		}
	}
	if p.Audited != nil {
		v.Sections = append(v.Sections, claimSection(*p.Audited))
		for i, s := range p.Audited.Sketches {
			v.Sections = append(v.Sections, mechanismSection(fmt.Sprintf("m%d", i), s, len(p.Audited.Sketches)))
		}
	}
	v.Headline = strings.Join(verdict, " ")
	return v
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// attackedSection draws what attacks on one sketch of the party's data recovered.
func attackedSection(s audit.AttackedSketch, of int) Section {
	return attacks(s, Section{ID: fmt.Sprintf("s%d", s.Sketch), Title: "What attacks recover" + ofSketch(s.Sketch, of), Terms: s.Title() + "."})
}

// togetherSection draws what attacks on all sketches of a side recovered.
func togetherSection(s audit.AttackedSketch) Section {
	return attacks(s, Section{ID: "together-" + s.Side, Title: fmt.Sprintf("What attacks recover of all sketches of the %s side", s.Side), Terms: s.Title() + "."})
}

// attacks fills in what attacks recovered.
func attacks(s audit.AttackedSketch, out Section) Section {
	id := out.ID
	if len(s.Attacks) == 0 {
		out.Notes = []string{"No attack fits this sketch."}
		return out
	}
	out.Figures = append(out.Figures, recovered(id, s.Attacks))
	if best := strongest(s.Attacks); best != nil {
		out.Figures = append(out.Figures, errorCurves(id, *best), columnShares(id, *best))
		out.Folded = append(out.Folded, columnGrid(*best), errorGrid(*best))
	}
	g := Grid{Caption: "What each attack recovers", Columns: []GridColumn{{"attack", false}, {"recovered", true}, {"guessing", true}, {"of", false}}}
	knows := Grid{Caption: "What each attacker knows beside the release", Columns: []GridColumn{{"attack", false}, {"knows", false}, {"detail", false}}}
	for _, one := range s.Attacks {
		g.Rows = append(g.Rows, []string{one.Name, percent(one.Value), percent(one.Baseline), one.Measure})
		if at := slices.IndexFunc(knows.Rows, func(row []string) bool { return row[0] == one.Name }); at < 0 {
			knows.Rows = append(knows.Rows, []string{one.Name, one.Knows, one.Detail})
		} else if one.Detail != "" {
			knows.Rows[at][2] += "; " + one.Detail
		}
	}
	out.Open = []Grid{g, knows}
	return out
}

// ofSketch tells sketches apart where there are several.
func ofSketch(sketch, of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprintf(" of sketch %d", sketch)
}

// strongest is the attack that recovers most of the values' variance; nil where none guesses
// values.
func strongest(attacks []audit.AttackedResult) (best *audit.AttackedResult) {
	for i, one := range attacks {
		if len(one.Errors) > 0 && (best == nil || one.Value > best.Value) {
			best = &attacks[i]
		}
	}
	return best
}

// Sizes of the picture of attacks, in pixels.
const (
	recoveredArea  = 420.0
	recoveredPitch = 36.0
)

// recovered draws a bar for what each attack recovers, and where guessing is.
func recovered(id string, attacks []audit.AttackedResult) figure.Figure {
	d := &figure.Drawing{}
	bottom := recoveredPitch*float64(len(attacks)) + 4
	axis := figure.Axis{Low: 0, High: 100, Step: 25, From: 8, To: 8 + recoveredArea}
	d.Scale(axis, 4, bottom)
	for i, one := range attacks {
		y := recoveredPitch*float64(i) + 30
		d.Text("name", 8, y-10, longName(one.Name+": "+one.Measure))
		text := percent(one.Value) + ", guessing " + percent(one.Baseline)
		if one.Value > 0 {
			d.Path("got", fmt.Sprintf("M%g %gH%g", axis.From, y, axis.At(100*one.Value)), one.Name+", "+one.Measure+": "+text)
		}
		d.Path("rule", fmt.Sprintf("M%g %gv14", axis.At(100*one.Baseline), y-7), "")
		d.Text("soft", axis.To+10, y+4, text)
	}
	return figure.Figure{
		ID: id + "-recovered", Title: "What attacks recover, beside guessing", Drawing: d, Width: recoveredArea + 190, Height: bottom + 24, Least: 0.75,
		Description: fmt.Sprintf("%d bars, each with a line where guessing is; the table below has every number.", len(attacks)),
		Caption:     "Bars are what an attack recovers, in per cent; the upright line is what guessing without the release gets. A bar that ends at its line gives nothing away.",
	}
}

// errorCurves draws how far guesses of values are off.
func errorCurves(id string, a audit.AttackedResult) figure.Figure {
	with, without := figure.Curve{Name: "with the release, by " + a.Name, Look: figure.Smooth}, figure.Curve{Name: "by each column's mean", Look: figure.Smooth}
	for _, e := range a.Errors {
		with.Points = append(with.Points, figure.Point{X: e.Recovered, Y: 100 * e.Share})
		without.Points = append(without.Points, figure.Point{X: e.Guessed, Y: 100 * e.Share})
	}
	return figure.Chart{
		ID: id + "-errors", Title: "How far guesses of single values are off", Height: 240, Curves: []figure.Curve{with, without},
		X: figure.Dimension{Label: "error, as a part of the column's range"}, Y: figure.Dimension{Label: "values that are guessed at least so well, %", Include: []float64{0, 100}},
		Description: "The distribution of the errors of the strongest attack and of guessing without the release.",
		Caption:     "The further the first curve is to the left of the second, the more the release gives away. Where they lie on each other, it gives nothing.",
	}.Figure()
}

// mostColumns bounds the columns of a picture.
const mostColumns = 40

// clearestColumns are those of which most was recovered, first.
func clearestColumns(a audit.AttackedResult) []audit.AttackedColumn {
	columns := slices.Clone(a.Columns)
	slices.SortStableFunc(columns, func(a, b audit.AttackedColumn) int {
		switch {
		case a.Value > b.Value:
			return -1
		case a.Value < b.Value:
			return 1
		}
		return 0
	})
	return columns
}

func columnShares(id string, a audit.AttackedResult) figure.Figure {
	all := clearestColumns(a)
	shown := all[:min(len(all), mostColumns)]
	bars, names := figure.Curve{Look: figure.Bars}, []string{}
	for i, c := range shown {
		bars.Points = append(bars.Points, figure.Point{X: float64(i), Y: 100 * max(c.Value, 0), Title: c.Name + ": " + percent(max(c.Value, 0))})
		names = append(names, shortened(c.Name))
	}
	chart := figure.Chart{
		ID: id + "-columns", Title: "How much of each column is recovered", Height: 180, Width: max(160, min(680, 26*float64(len(shown)))), Names: names, Curves: []figure.Curve{bars},
		Y:           figure.Dimension{Label: "share of the column's variance, %", Include: []float64{0, 100}},
		Description: fmt.Sprintf("A bar for each of %d columns, the most exposed first.", len(shown)),
		Caption:     "By " + a.Name + ". Nothing of a column at 0 is told beyond its mean.",
	}
	if len(shown) < len(all) {
		chart.Caption += fmt.Sprintf(" Drawn are the %d most exposed of %d columns.", len(shown), len(all))
	}
	return chart.Figure()
}

func columnGrid(a audit.AttackedResult) Grid {
	g := Grid{Caption: "How much of each column is recovered by " + a.Name, Columns: []GridColumn{{"column", false}, {"share of its variance", true}}}
	all := clearestColumns(a)
	for _, c := range all[:min(len(all), mostRows)] {
		g.Rows = append(g.Rows, []string{c.Name, percent(max(c.Value, 0))})
	}
	g.Omitted = len(all) - len(g.Rows)
	return g
}

func errorGrid(a audit.AttackedResult) Grid {
	g := Grid{Caption: "Errors of guesses of single values, as parts of the columns' ranges", Columns: []GridColumn{{"values", true}, {"error at most, by " + a.Name, true}, {"by each column's mean", true}}}
	for _, e := range a.Errors {
		g.Rows = append(g.Rows, []string{percent(e.Share), brief(e.Recovered), brief(e.Guessed)})
	}
	return g
}
