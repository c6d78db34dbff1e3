package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/block"
)

// Report is what was found about a study: by attacking a release of a party's own data, by testing
// the mechanism, or by both. It holds no value and no record id. But its quantiles and fractions
// are computed from the party's data, so only that party should see it.
type Report struct {
	Attacked *AttackReport // nil: no attack was made
	Audited  *AuditReport  // nil: the mechanism was not tested
	Bare     bool          // the study asks for sketches without noise: there is no promise to test
}

// Headline is the verdict in one line.
func (r Report) Headline() string {
	var verdict []string
	if r.Audited != nil {
		verdict = append(verdict, map[string]string{
			"PASS":         "PASS: nothing speaks against what the study claims.",
			"FAIL":         "FAIL: a release gives away more than the study claims. Do not release.",
			"INCONCLUSIVE": "INCONCLUSIVE: nothing speaks against what the study claims, but so few trials would have let half of the noise pass.",
		}[r.Audited.Verdict()])
	}
	if r.Attacked != nil {
		verdict = append(verdict, r.Attacked.Summary())
	}
	return strings.Join(verdict, " ")
}

// Blocks shows the findings.
func (r Report) Blocks() (out []block.Block) {
	if r.Bare {
		out = append(out, block.Text{Tone: block.Warn, Lead: "No privacy guarantee", Text: "The study asks for sketches without noise. The numbers below are all that stands between your records and whoever knows the projection."})
	}
	if r.Audited != nil && !r.Audited.Passed {
		out = append(out, block.Text{Tone: block.Warn, Lead: "Do not release", Text: "Trials told apart what the claim says cannot be told apart. Report this, with what stands below."})
	}
	if r.Attacked != nil {
		out = append(out, r.Attacked.blocks()...)
	}
	if r.Audited != nil {
		out = append(out, r.Audited.blocks()...)
	}
	read := "No data were read, the ledger was not touched, and nothing has left."
	if r.Attacked != nil {
		read = "The ledger was not touched, and nothing has left. This holds no record, no value and no record id; it says how well your data can be guessed, and is for you alone."
	}
	return append(out, block.Heading{ID: "left", Text: "What has left"}, block.Text{Text: read})
}

func (a AttackReport) blocks() []block.Block {
	out := []block.Block{
		block.Text{Text: fmt.Sprintf("This is what somebody who knows the random matrix recovers from a release of dataset %q. The aggregator knows it with the help of one other party. A release of %d records was made as the study asks for it, and thrown away; %d of the records, drawn at random, were attacked.",
			a.Dataset, a.Records, a.Sample)},
		block.Text{Text: "These are attacks that are known, not all that there may be. What is promised is this: " + a.Promise},
	}
	for _, s := range slices.Concat(a.Sketches, a.Together) {
		out = append(out, s.blocks(len(a.Sketches))...)
	}
	return out
}

// blocks shows what attacks recovered, from one sketch of the party's data or from all of a side.
func (s AttackedSketch) blocks(of int) []block.Block {
	h := block.Heading{ID: fmt.Sprintf("s%d", s.Sketch), Text: "What attacks recover"}
	switch {
	case s.Sketch == 0:
		h.ID, h.Of = "together-"+s.Side, fmt.Sprintf("all sketches of the %s side", s.Side)
	case of > 1:
		h.Of = fmt.Sprintf("sketch %d", s.Sketch)
	}
	out := []block.Block{h}
	for _, flag := range s.Flags {
		out = append(out, block.Text{Tone: block.Warn, Lead: "Flag", Text: flag + "."})
	}
	out = append(out, block.Text{Tone: block.Soft, Text: s.Title() + "."})
	if len(s.Attacks) == 0 {
		return append(out, block.Text{Tone: block.Soft, Text: "No attack fits this sketch."})
	}
	out = append(out, recovered(h.ID, s.Attacks))
	best := strongest(s.Attacks)
	if best != nil {
		out = append(out, errorCurves(h.ID, *best), columnShares(h.ID, *best))
	}
	t := block.Table{Caption: "What each attack recovers", Columns: []block.Column{block.Words("attack"), block.Numbers("recovered"), block.Numbers("guessing"), block.Words("of")}}
	for _, one := range s.Attacks {
		t.Rows = append(t.Rows, block.Cells(one.Name, block.Percent(one.Value), block.Percent(one.Baseline), one.Measure))
	}
	out = append(out, t, knowledge(s.Attacks))
	if best != nil {
		out = append(out, columnTable(*best), errorTable(*best))
	}
	return out
}

// knowledge lists what attackers know besides the release.
func knowledge(attacks []AttackedResult) block.List {
	details, order := map[string]string{}, []string(nil)
	for _, one := range attacks {
		if _, said := details[one.Name]; !said {
			order, details[one.Name] = append(order, one.Name), fmt.Sprintf("%s: knows %s.", one.Name, one.Knows)
		}
		if one.Detail != "" {
			first := []rune(one.Detail)
			details[one.Name] += " " + strings.ToUpper(string(first[0])) + string(first[1:]) + "."
		}
	}
	var out block.List
	for _, name := range order {
		out.Items = append(out.Items, details[name])
	}
	return out
}

// strongest returns the attack that recovers most of the values' variance, or nil if none guesses
// values.
func strongest(attacks []AttackedResult) (best *AttackedResult) {
	for i, one := range attacks {
		if len(one.Errors) > 0 && (best == nil || one.Value > best.Value) {
			best = &attacks[i]
		}
	}
	return best
}

// recovered shows a bar for what each attack recovers, and a mark for guessing.
func recovered(id string, attacks []AttackedResult) block.Figure {
	plot := block.Bars{Percent: true}
	for _, one := range attacks {
		text := block.Percent(one.Value) + ", guessing " + block.Percent(one.Baseline)
		plot.Rows = append(plot.Rows, block.Bar{Name: one.Name + ": " + one.Measure, Text: text, Value: 100 * one.Value, Rule: 100 * one.Baseline, Title: one.Name + ", " + one.Measure + ": " + text})
	}
	return block.Figure{
		ID: id + "-recovered", Title: "What attacks recover, beside guessing", Plot: plot,
		Description: fmt.Sprintf("%d bars, each with a line where guessing is; the table below has every number.", len(attacks)),
		Caption:     "Bars are what an attack recovers, in per cent; the upright line is what guessing without the release gets. A bar that ends at its line gives nothing away.",
	}
}

// errorCurves shows the errors of guessed values.
func errorCurves(id string, a AttackedResult) block.Figure {
	with, without := block.Curve{Name: "with the release, by " + a.Name, Look: block.Smooth}, block.Curve{Name: "by each column's mean", Look: block.Smooth}
	for _, e := range a.Errors {
		with.Points = append(with.Points, block.Point{X: e.Recovered, Y: 100 * e.Share})
		without.Points = append(without.Points, block.Point{X: e.Guessed, Y: 100 * e.Share})
	}
	return block.Figure{
		ID: id + "-errors", Title: "How far guesses of single values are off",
		Description: "The distribution of the errors of the strongest attack and of guessing without the release.",
		Caption:     "The further the first curve is to the left of the second, the more the release gives away. Where they lie on each other, it gives nothing.",
		Plot: block.Chart{
			Height: 240, Curves: []block.Curve{with, without},
			X: block.Dimension{Label: "error, as a part of the column's range"}, Y: block.Dimension{Label: "values that are guessed at least so well, %", Include: []float64{0, 100}},
		},
	}
}

// clearestColumns returns the columns, most recovered first.
func clearestColumns(a AttackedResult) []AttackedColumn {
	columns := slices.Clone(a.Columns)
	slices.SortStableFunc(columns, func(a, b AttackedColumn) int { return cmp.Compare(b.Value, a.Value) })
	return columns
}

func columnShares(id string, a AttackedResult) block.Figure {
	const most = 40 // columns in a figure
	all := clearestColumns(a)
	shown := all[:min(len(all), most)]
	bars, names := block.Curve{Look: block.Upright}, []string{}
	for i, c := range shown {
		bars.Points = append(bars.Points, block.Point{X: float64(i), Y: 100 * max(c.Value, 0), Title: c.Name + ": " + block.Percent(max(c.Value, 0))})
		names = append(names, c.Name)
	}
	f := block.Figure{
		ID: id + "-columns", Title: "How much of each column is recovered",
		Description: fmt.Sprintf("A bar for each of %d columns, the most exposed first.", len(shown)),
		Caption:     "By " + a.Name + ". Nothing of a column at 0 is told beyond its mean.",
		Plot: block.Chart{
			Height: 180, Width: max(160, min(680, 26*float64(len(shown)))), Names: names, Curves: []block.Curve{bars},
			Y: block.Dimension{Label: "share of the column's variance, %", Include: []float64{0, 100}},
		},
	}
	if len(shown) < len(all) {
		f.Caption += fmt.Sprintf(" Shows the %d most exposed of %d columns.", len(shown), len(all))
	}
	return f
}

func columnTable(a AttackedResult) block.Table {
	all := clearestColumns(a)
	t := block.Table{
		Caption: "How much of each column is recovered by " + a.Name, Columns: []block.Column{block.Words("column"), block.Numbers("share of its variance")},
		HasFigure: true, Folded: true, Of: len(all), Things: "columns",
	}
	for _, c := range all[:min(len(all), block.MostRows)] {
		t.Rows = append(t.Rows, block.Cells(c.Name, block.Percent(max(c.Value, 0))))
	}
	return t
}

func errorTable(a AttackedResult) block.Table {
	t := block.Table{
		Caption: "Errors of guesses of single values, as parts of the columns' ranges", HasFigure: true, Folded: true,
		Columns: []block.Column{block.Numbers("values"), block.Numbers("error at most, by " + a.Name), block.Numbers("by each column's mean")},
	}
	for _, e := range a.Errors {
		t.Rows = append(t.Rows, block.Cells(block.Percent(e.Share), block.Brief(e.Recovered), block.Brief(e.Guessed)))
	}
	return t
}

// blocks compares what trials found with the claim.
func (a AuditReport) blocks() []block.Block {
	t := block.Table{Caption: "Claimed and found", Columns: []block.Column{
		block.Words("party"), block.Numbers("sketch"), block.Words("mechanism"), block.Numbers("claimed ε"), block.Numbers("δ"), block.Numbers("found ε"), block.Numbers("at most"), block.Numbers("trials"), block.Words("verdict"),
	}}
	for _, s := range a.Sketches {
		t.Rows = append(t.Rows, block.Cells(s.Party, fmt.Sprint(s.Sketch), s.Mechanism, block.Brief(s.Claimed), block.Brief(s.Delta), "≥ "+block.Brief(s.Found), block.Brief(s.Reach), fmt.Sprint(s.Trials), s.Verdict()))
		if l := s.Labels; l != nil {
			t.Rows = append(t.Rows, block.Cells(s.Party, fmt.Sprint(s.Sketch), "its labels", block.Brief(l.Claimed), "0", "≥ "+block.Brief(l.Found), block.Brief(l.Reach), fmt.Sprint(l.Trials), l.Verdict()))
		}
	}
	out := []block.Block{
		block.Heading{ID: "claim", Text: "What was found beside the claim"},
		block.Text{Tone: block.Soft, Text: fmt.Sprintf("Found is the least ε that releases of the worst neighbouring made-up data leave possible, but for a probability of %.0e. At most is what so many trials could find: a claim above it cannot fail. Trials can only find fault: a claim that they do not reach is not proved by them.", a.Doubt)},
		claims(a), t,
	}
	for i, s := range a.Sketches {
		out = append(out, s.blocks(fmt.Sprintf("m%d", i), len(a.Sketches))...)
	}
	return out
}

// claims has a row for each sketch: the claim, and the lower bound found.
func claims(a AuditReport) block.Figure {
	plot := block.Bars{Axis: "ε"}
	for _, s := range a.Sketches {
		plot.Rows = append(plot.Rows, block.Bar{
			Name: fmt.Sprintf("%s, sketch %d: %s", s.Party, s.Sketch, s.Mechanism), Text: fmt.Sprintf("claimed %s, found ≥ %s", block.Brief(s.Claimed), block.Brief(s.Found)),
			Value: s.Found, Rule: s.Claimed, Title: fmt.Sprintf("found by %d trials: ε ≥ %s", s.Trials, block.Brief(s.Found)),
			Mark: s.OneRun.Found, MarkTitle: fmt.Sprintf("found in one run: ε ≥ %s", block.Brief(s.OneRun.Found)),
		})
	}
	return block.Figure{
		ID: "claim-epsilon", Title: "ε claimed and found", Plot: plot,
		Description: fmt.Sprintf("%d sketches, each with its claim and the lower bounds that trials found.", len(a.Sketches)),
		Caption:     "The upright line is the claimed ε, the bar ends at the lower bound that many trials found, the diamond at that of a single release with canaries. A bar beyond its line is a failure.",
	}
}

// blocks shows how one sketch's noise and sensitivity were recomputed.
func (s AuditedSketch) blocks(id string, of int) []block.Block {
	h := block.Heading{ID: id, Text: "The noise", Of: fmt.Sprintf("sketch %d", s.Sketch)}
	if of > 1 {
		h.Of += " of " + s.Party
	}
	if n := s.Noise; n != nil {
		h.Says = "it follows its law"
		if n.Chance < 1e-6 {
			h.Says = "it does not follow its law"
		}
	}
	out := []block.Block{h, block.Text{Tone: block.Soft, Text: fmt.Sprintf("Of the %s side, unit %s.", s.Side, s.Unit)}, block.Text{Tone: block.Soft, Text: s.Statement}}
	if s.Noise != nil {
		out = append(out, noiseHistogram(id, *s.Noise))
	}
	out = append(out, block.Text{Tone: block.Soft, Text: fmt.Sprintf("One release of %d canaries, each put in by a fair coin: %d of %d guesses are right, so ε ≥ %s (but for a probability of %g).",
		s.OneRun.Canaries, s.OneRun.Right, s.OneRun.Guessed, block.Brief(s.OneRun.Found), s.OneRun.Doubt)})
	if !s.Conclusive {
		out = append(out, block.Text{Tone: block.Soft, Text: "Note: so few trials would have let half of the noise pass: run more by --trials."})
	}
	for _, remark := range s.Remarks {
		out = append(out, block.Text{Tone: block.Soft, Text: "Note: " + remark + "."})
	}
	out = append(out, s.parameters())
	if s.Noise != nil {
		out = append(out, noiseTable(*s.Noise))
	}
	return out
}

// parameters compares stated and recomputed parameters.
func (s AuditedSketch) parameters() block.Table {
	t := block.Table{Caption: "Parameters, stated and recomputed", Columns: []block.Column{block.Words("what"), block.Numbers("stated"), block.Numbers("recomputed")}}
	add := func(cells ...string) { t.Rows = append(t.Rows, block.Cells(cells...)) }
	if s.Declared != nil {
		add("largest change of the exact sketch, sum of sizes (l1)", fmt.Sprint(s.Declared[0]), fmt.Sprint(s.Realised[0]))
		add("largest change of the exact sketch, sum of squares", fmt.Sprint(s.Declared[1]), fmt.Sprint(s.Realised[1]))
	} else {
		add("ε of the flips as drawn", block.Brief(s.Claimed), block.Brief(s.Drawn))
	}
	if n := s.Noise; n != nil {
		add(fmt.Sprintf("variance of the noise over the stated one, %d draws", n.Draws), "1", fmt.Sprintf("%.4f", n.Variance))
		add("probability of noise at least so uneven, under its law", "–", block.Brief(n.Chance))
	}
	return t
}

func noiseTable(n AuditedNoise) block.Table {
	t := block.Table{Caption: "Noise as drawn and as its law has it", HasFigure: true, Folded: true, Columns: []block.Column{block.Numbers("from"), block.Numbers("to below"), block.Numbers("drawn"), block.Numbers("expected")}}
	for _, b := range n.Histogram {
		t.Rows = append(t.Rows, block.Cells(fmt.Sprint(b.From), fmt.Sprint(b.To), fmt.Sprint(b.Drawn), fmt.Sprintf("%.1f", b.Expected)))
	}
	return t
}

// noiseHistogram compares drawn noise with its distribution.
func noiseHistogram(id string, n AuditedNoise) block.Figure {
	drawn, law := block.Curve{Name: "drawn", Look: block.Upright}, block.Curve{Name: "expected under its law", Look: block.Smooth}
	for _, b := range n.Histogram {
		x := (float64(b.From) + float64(b.To-1)) / 2
		drawn.Points = append(drawn.Points, block.Point{X: x, Y: float64(b.Drawn), Title: strings.ReplaceAll(fmt.Sprintf("%d up to %d: %d drawn, %.1f expected", b.From, b.To-1, b.Drawn, b.Expected), "-", "−")})
		law.Points = append(law.Points, block.Point{X: x, Y: b.Expected})
	}
	return block.Figure{
		ID: id + "-noise", Title: "The noise as it is drawn, beside its law",
		Description: fmt.Sprintf("%d draws in %d bins; their variance is %.4f of what is stated.", n.Draws, len(n.Histogram), n.Variance),
		Caption:     "The first and the last bar hold all draws beyond them. Noise that is too narrow would stand above the line in the middle and below it at the sides.",
		Plot: block.Chart{
			Height: 220, Curves: []block.Curve{drawn, law},
			X: block.Dimension{Label: "noise on one entry, in units of the sketch"}, Y: block.Dimension{Label: "draws"},
		},
	}
}
