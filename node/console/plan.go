package console

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
)

// PlanFlags are the public numbers that a plan is made from, beside the study.
type PlanFlags struct {
	Records string  `placeholder:"N|NAME=N,…" help:"Records at each party, at single ones by name. Default: what a party's own data have, then what the study file says, and else 10000."`
	Overlap float64 `placeholder:"SHARE" help:"Vertical studies: how many of the smaller party's records two parties share, as a share of 1. Default: 0.9."`
	Spread  string  `placeholder:"COLUMN=SD,…" help:"Standard deviations of columns, in their own units (of log(NAME) for a column with transform: log), where you know them better than the study file says."`
}

// Make plans a study for a party, or for study.Everyone. What is wrong with the flags is
// a Usage error.
func (f PlanFlags) Make(s *study.Study, party int) (plan.Plan, error) {
	o := plan.Options{Study: s, Party: party, Overlap: f.Overlap, Spreads: map[string]float64{}}
	var err error
	if o.Records, err = Records(f.Records); err != nil {
		return plan.Plan{}, err
	}
	err = each(f.Spread, func(name, value string) error {
		spread, err := strconv.ParseFloat(value, 64)
		if name == "" || err != nil {
			return fmt.Errorf("--spread: want COLUMN=SD, like age=21, not %q", strings.TrimPrefix(name+"="+value, "="))
		}
		o.Spreads[name] = spread
		return nil
	})
	if err != nil {
		return plan.Plan{}, WithCode(Usage, err)
	}
	p, err := plan.Make(o)
	if err != nil {
		return plan.Plan{}, WithCode(Usage, err)
	}
	return p, nil
}

// Records reads N|NAME=N,…: numbers of records by party, with "" for all others. What is
// wrong is a Usage error.
func Records(list string) (map[string]int64, error) {
	out := map[string]int64{}
	err := each(list, func(name, value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("--records: %q is not a whole number", value)
		}
		if _, twice := out[name]; twice {
			return fmt.Errorf("--records: %q appears twice", name)
		}
		out[name] = n
		return nil
	})
	if err != nil {
		return nil, WithCode(Usage, err)
	}
	return out, nil
}

// each calls do for every item of a list NAME=VALUE,…; without "=" the name is empty.
func each(list string, do func(name, value string) error) error {
	if list == "" {
		return nil
	}
	for item := range strings.SplitSeq(list, ",") {
		name, value := "", item
		if at := strings.LastIndexByte(item, '='); at >= 0 {
			name, value = item[:at], item[at+1:]
		}
		if err := do(strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
			return err
		}
	}
	return nil
}

// WritePlan prints a plan for people: whether the study is of use, then what each sketch
// and analysis rests on, what could be chosen instead, and what was assumed.
func WritePlan(w io.Writer, p plan.Plan) {
	NewVerdict(p).write(w)
	present.Paragraph(w, "", ResultSize(p.Result))
	for i, s := range p.Sketches {
		writePlannedSketch(w, i, s, p.Party)
	}
	writeChanges(w, "WARNING, ", p.Warnings)
	writeChanges(w, "INSTEAD: ", p.Instead)
	fmt.Fprintln(w, "\nASSUMED")
	for _, text := range p.Assumptions {
		present.Item(w, "  ", text+".")
	}
}

func writeChanges(w io.Writer, begin string, all []plan.Warning) {
	for _, one := range all {
		fmt.Fprintln(w)
		present.Paragraph(w, "", begin+one.Text+".")
		if len(one.Change) > 0 {
			fmt.Fprintln(w, "  In the study file:")
			for _, line := range one.Change {
				fmt.Fprintln(w, "    "+line)
			}
		}
	}
}

// ResultSize says what a result takes.
func ResultSize(s analysis.Size) string {
	text := fmt.Sprintf("The result takes about %s at the aggregator and at each party", block.Bytes(s.Document+s.Tables))
	if s.Tables > 0 {
		text += fmt.Sprintf(": %s of tables, and a document of %s", block.Bytes(s.Tables), block.Bytes(s.Document))
	}
	return text + "."
}

func forWhom(p plan.Plan) string {
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

// planned names an analysis of a plan.
func planned(a plan.Analysis) string {
	if a.Estimator != "" {
		return string(a.Kind) + " (" + string(a.Estimator) + ")"
	}
	return string(a.Kind)
}

// most names the party that has the most of something, where a plan is of all parties and they
// differ.
func most(s plan.Sketch, party string, of func(plan.Part) float64) string {
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

func writePlannedSketch(w io.Writer, i int, s plan.Sketch, party string) {
	fmt.Fprintln(w)
	promise := "no promise"
	if s.Unit != "" {
		promise = fmt.Sprintf("%v a party, unit %s", dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}, s.Unit)
		if s.Replaced {
			promise += ", neighbours replaced"
		}
	}
	method := fmt.Sprintf("%s, k = %d", s.Method, s.K)
	switch s.Side {
	case sketch.Moments:
		method = s.Method
	case sketch.Cells:
		method = fmt.Sprintf("%s, L = %d", s.Method, s.K)
	}
	present.Paragraph(w, "", fmt.Sprintf("SKETCH %d: %s side, %s; %s", i+1, s.Side, method, promise))
	text := fmt.Sprintf("About %s leave, made of %s of values, %d for each record.", block.Bytes(s.Bytes), block.Bytes(s.RawBytes), s.Features)
	if name := most(s, party, func(p plan.Part) float64 { return float64(p.Bytes) }); name != "" {
		text = fmt.Sprintf("About %s leave %s, and less other parties; made of up to %s of values, up to %d for each record.", block.Bytes(s.Bytes), name, block.Bytes(s.RawBytes), s.Features)
	}
	if s.Rounding.Bias > 0 {
		text += fmt.Sprintf(" Rounding to %d bits moves values by at most %.1g of their column's spread%s.", s.Rounding.Bits, s.Rounding.Bias, beside(s))
	}
	if s.Unit == dp.Record {
		text += fmt.Sprintf(" About %.2g %% of the records are clipped", 100*s.Clipped)
		if name := most(s, party, func(p plan.Part) float64 { return p.Clipped }); name != "" {
			text += " at " + name + ", the most of any party"
		}
		text += "."
	}
	present.Paragraph(w, "  ", text)
	if s.Labels != "" {
		present.Paragraph(w, "  ", "The last column holds "+s.Labels+".")
	}
	if e := s.Exposure; e != nil {
		present.Paragraph(w, "  ", "WITHOUT NOISE it gives away: "+e.Text+".")
		present.Paragraph(w, "  ", fmt.Sprintf("Released values per value held: %.3g; R² of the best linear guess: %.3g; alone in their coordinate: %.2g %%.", e.Share, e.RSquared, 100*e.Alone))
	}
	if s.OptimalK != nil {
		present.Paragraph(w, "  ", fmt.Sprintf("With this noise, distances err least at k = %.3g.", *s.OptimalK))
	}
	if s.Identity && !unprojected(s) {
		present.Paragraph(w, "  ", fmt.Sprintf("Do not project (family: identity): with %d features a record, projecting only adds error.", s.Features))
	}
	for _, a := range s.Analyses {
		writePlannedAnalysis(w, a)
	}
}

// unprojected reports whether the study keeps records as they are.
func unprojected(s plan.Sketch) bool {
	return slices.ContainsFunc(s.Analyses, func(a plan.Analysis) bool { return a.Chosen.Family == projection.Identity })
}

// beside says that rounding costs nothing, where it does not.
func beside(s plan.Sketch) string {
	for _, a := range s.Analyses {
		if s.Rounding.Bias > 0.1*a.Chosen.StandardError {
			return ""
		}
	}
	return ", which is nothing beside the errors below"
}

func writePlannedAnalysis(w io.Writer, a plan.Analysis) {
	fmt.Fprintln(w)
	if len(a.Options) == 0 && a.Chosen.Method == "" {
		present.Paragraph(w, "  ", planned(a)+": "+a.Verdict)
		return
	}
	title := planned(a)
	if a.Measure != string(a.Kind) {
		title += ", in " + a.Measure
	}
	if len(a.Pair) == 2 {
		title += fmt.Sprintf(", of %s and %s, which err most (%s for the pair that errs least)",
			a.Pair[0].Name(), a.Pair[1].Name(), short(a.Best))
	}
	if a.Together > 0 {
		title += fmt.Sprintf("; all %d intervals together hold at 95 %%, each at %.5g %%", a.Together, 100*a.EachLevel)
	}
	if len(a.Options) == 0 { // sums: nothing could be chosen instead
		present.Paragraph(w, "  ", fmt.Sprintf("%s: standard error %s, 95 %% interval %s", title, standard(a.Chosen), half(a.Chosen)))
		return
	}
	present.Paragraph(w, "  ", title)
	t := present.NewTable("method", ">k", ">std. error", ">95 % interval", ">bytes", "usable", "")
	add := func(name string, c plan.Choice) {
		t.Add(name, strconv.Itoa(c.K), standard(c), half(c), block.Bytes(c.Bytes), usableFrom(a, c), c.Note)
	}
	add("as the study has it", a.Chosen)
	for _, o := range a.Options {
		add(o.Method, o)
	}
	t.Write(w)
}

// short prints a number with two significant digits.
func short(x float64) string {
	if x >= 100 && x < 1e6 {
		unit := math.Pow10(int(math.Log10(x)) - 1)
		return strconv.FormatFloat(math.Round(x/unit)*unit, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

func standard(c plan.Choice) string {
	return ends(c, func(e plan.End) float64 { return e.StandardError })
}

func half(c plan.Choice) string {
	text := ends(c, func(e plan.End) float64 { return e.HalfWidth })
	if text == "none" {
		return text
	}
	return "± " + text
}

// ends shows a number from the best end to the worst, or none where there is no answer.
func ends(c plan.Choice, of func(plan.End) float64) string {
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

// usableFrom is the least effect that stands out, or whether a distance can be told.
func usableFrom(a plan.Analysis, c plan.Choice) string {
	switch {
	case !c.Usable:
		return "no"
	case a.Kind == study.Distance || a.Kind == study.GroupDistance || plan.ByTypicalRecords(a.Kind):
		return "yes"
	}
	return "from " + short(c.AtWorst.Detects)
}
