package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// Headline says how many analyses are usable, and for whom.
func (p Plan) Headline() string {
	usable, all := p.Usable()
	return fmt.Sprintf("%s (study %.8s), planned for %s: %d of %d analyses are usable as the study stands.", p.Name, p.Study, p.forWhom(), usable, all)
}

// Verdicts returns the verdicts of all analyses.
func (p Plan) Verdicts() (out block.List) {
	for _, s := range p.Sketches {
		for _, a := range s.Analyses {
			out.Items = append(out.Items, a.Name()+": "+a.Verdict+".")
		}
	}
	return out
}

// Assumed returns the assumptions.
func (p Plan) Assumed() (out block.List) {
	for _, text := range p.Assumptions {
		out.Items = append(out.Items, text+".")
	}
	return out
}

// Blocks returns a plan for people: whether the study is of use, then what each sketch and analysis
// is based on, what could be chosen instead, and what was assumed.
func (p Plan) Blocks() []block.Block {
	out := []block.Block{block.Text{Text: p.Headline()}, p.Verdicts(), block.Text{Text: p.Result.Says() + " " + p.Cost.Says()}}
	for i, s := range p.Sketches {
		out = append(out, s.blocks(i, p.Party)...)
	}
	out = append(out, changes("Warning", p.Warnings)...)
	out = append(out, changes("Instead", p.Instead)...)
	return append(out, block.Heading{ID: "assumed", Text: "Assumed"}, p.Assumed())
}

func changes(what string, all []Warning) (out []block.Block) {
	for i, one := range all {
		out = append(out, block.Heading{ID: fmt.Sprintf("%s-%d", what, i+1), Text: what, Says: one.Text + "."})
		if len(one.Change) > 0 {
			out = append(out, block.Text{Text: "In the study file:"}, block.Command{Lines: one.Change})
		}
	}
	return out
}

// forWhom says for which parties a plan is, and with how many records.
func (p Plan) forWhom() string {
	records := func(n int64) string { return fmt.Sprintf("%d records", n) }
	for _, q := range p.Parties {
		if q.Name == p.Party {
			return p.Party + " with " + records(q.Records)
		}
	}
	least, most := int64(math.MaxInt64), int64(0)
	for _, q := range p.Parties {
		least, most = min(least, q.Records), max(most, q.Records)
	}
	if least == most {
		return fmt.Sprintf("%d parties with %s each", len(p.Parties), records(least))
	}
	return fmt.Sprintf("%d parties with %d to %s", len(p.Parties), least, records(most))
}

// Name returns the name of the analysis in a plan, like "correlation (E2)".
func (a Analysis) Name() string {
	if a.Estimator != "" {
		return string(a.Kind) + " (" + string(a.Estimator) + ")"
	}
	return string(a.Kind)
}

// most names the party with the most of something, if a plan is for all parties and they differ.
func most(s Sketch, party string, of func(Part) float64) string {
	if party != "" || len(s.Parties) == 0 {
		return ""
	}
	least, at := of(s.Parties[0]), 0
	for i, p := range s.Parties {
		if least = min(least, of(p)); of(p) > of(s.Parties[at]) {
			at = i
		}
	}
	if least == of(s.Parties[at]) {
		return ""
	}
	return s.Parties[at].Name
}

// blocks returns what a sketch and its analyses are based on.
func (s Sketch) blocks(i int, party string) []block.Block {
	promise := "no promise"
	if s.Unit != "" {
		promise = fmt.Sprintf("%v a party, unit %s", dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}, s.Unit)
		if s.Replaced {
			promise += ", neighbours replaced"
		}
	}
	method := fmt.Sprintf("%s, k = %d", s.Method, s.K)
	if s.Side.Sums() {
		method = s.Method
		if shown := additiveOf(s.Side).shown; shown != nil {
			method += shown(s)
		}
	}
	out := []block.Block{study.SketchHeading(i, s.Side, method+"; "+promise)}
	say := func(format string, args ...any) { out = append(out, block.Text{Text: fmt.Sprintf(format, args...)}) }
	text := fmt.Sprintf("About %s leave, made of %s of values, %d for each record.", block.Bytes(s.Bytes), block.Bytes(s.RawBytes), s.Features)
	if name := most(s, party, func(p Part) float64 { return float64(p.Bytes) }); name != "" {
		text = fmt.Sprintf("About %s leave %s, and less other parties; made of up to %s of values, up to %d for each record.", block.Bytes(s.Bytes), name, block.Bytes(s.RawBytes), s.Features)
	}
	if s.Rounding.Bias > 0 {
		text += fmt.Sprintf(" Rounding to %d bits moves values by at most %.1g of their column's spread%s.", s.Rounding.Bits, s.Rounding.Bias, beside(s))
	}
	if s.Unit == dp.Record {
		text += fmt.Sprintf(" About %.2g %% of the records are clipped", 100*s.Clipped)
		if name := most(s, party, func(p Part) float64 { return p.Clipped }); name != "" {
			text += " at " + name + ", the most of any party"
		}
		text += "."
	}
	say("%s", text)
	if s.Labels != "" {
		say("The last column holds %s.", s.Labels)
	}
	if e := s.Exposure; e != nil {
		say("WITHOUT NOISE it gives away: %s.", e.Text)
		say("Released values per value held: %.3g; R² of the best linear guess: %.3g; alone in their coordinate: %.2g %%.", e.Share, e.RSquared, 100*e.Alone)
	}
	if s.OptimalK != nil {
		say("With this noise, distances err least at k = %.3g.", *s.OptimalK)
	}
	if s.Identity && !unprojected(s) {
		say("Do not project (family: identity): with %d features a record, projecting only adds error.", s.Features)
	}
	for _, a := range s.Analyses {
		out = append(out, a.block(s.Side))
	}
	return out
}

// unprojected reports whether the study keeps records unprojected.
func unprojected(s Sketch) bool {
	return slices.ContainsFunc(s.Analyses, func(a Analysis) bool { return a.Chosen.Family == projection.Identity })
}

// beside says that rounding costs nothing, if that is so.
func beside(s Sketch) string {
	for _, a := range s.Analyses {
		if s.Rounding.Bias > 0.1*a.Chosen.StandardError {
			return ""
		}
	}
	return ", which is nothing beside the errors below"
}

// block returns what could be chosen for an analysis, or what is known of it.
func (a Analysis) block(side sketch.Side) block.Block {
	of := cmp.Or(forecasterOf(forecasters(), a.Kind, side), &forecaster{})
	if !a.Outcome.Forecast() {
		return block.Text{Text: a.Name() + ": " + a.Verdict}
	}
	title := a.Name()
	if a.Measure != string(a.Kind) {
		title += ", in " + a.Measure
	}
	if len(a.Pair) == 2 {
		title += fmt.Sprintf(", of %s and %s, the pair with the largest error (%s for the pair with the smallest)",
			a.Pair[0].Name(), a.Pair[1].Name(), short(a.Best))
	}
	if a.Together > 0 {
		title += fmt.Sprintf("; all %d intervals together hold at 95 %%, each at %.5g %%", a.Together, 100*a.EachLevel)
	}
	if len(a.Options) == 0 { // sums: nothing could be chosen instead
		return block.Text{Text: fmt.Sprintf("%s: standard error %s, 95 %% interval %s", title, standard(a.Chosen), half(a.Chosen))}
	}
	t := block.Table{Caption: title, Columns: []block.Column{
		block.Words("method"), block.Numbers("k"), block.Numbers("std. error"), block.Numbers("95 % interval"), block.Numbers("bytes"), block.Words("usable"), block.Words(""),
	}}
	add := func(name string, c Choice) {
		t.Rows = append(t.Rows, block.Cells(name, strconv.Itoa(c.K), standard(c), half(c), block.Bytes(c.Bytes), of.usableFrom(c), c.Note))
	}
	add("as the study has it", a.Chosen)
	for _, o := range a.Options {
		add(o.Method, o)
	}
	return t
}

// short formats a number with two significant digits.
func short(x float64) string {
	if x >= 100 && x < 1e6 {
		unit := math.Pow10(int(math.Log10(x)) - 1)
		return strconv.FormatFloat(math.Round(x/unit)*unit, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

func standard(c Choice) string {
	return ends(c, func(e End) float64 { return e.StandardError })
}

func half(c Choice) string {
	text := ends(c, func(e End) float64 { return e.HalfWidth })
	if text == "none" {
		return text
	}
	return "± " + text
}

// ends formats a number from the best end to the worst, or nothing if there is no answer.
func ends(c Choice, of func(End) float64) string {
	if c.AtBest.Undefined != "" {
		return "none"
	}
	a, b := short(of(c.AtBest)), "none"
	if c.AtWorst.Undefined == "" {
		b = short(of(c.AtWorst))
	}
	if a == b {
		return a
	}
	return a + " to " + b
}

// usableFrom returns the smallest effect that stands out, or whether distances can be told.
func (f *forecaster) usableFrom(c Choice) string {
	switch {
	case !c.Usable:
		return "no"
	case f.relative:
		return "yes"
	}
	return "from " + short(c.AtWorst.Detects)
}
