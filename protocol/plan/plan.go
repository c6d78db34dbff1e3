package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Make forecasts a study.
func Make(o Options) (Plan, error) {
	if err := o.check(); err != nil {
		return Plan{}, fmt.Errorf("planning: %w", err)
	}
	s := o.Study
	out := Plan{
		Format: Format, Study: s.ID.String(), Name: s.Name, Columns: o.describe(),
		Assumptions: o.assumptions(), Sketches: []Sketch{}, Result: analysis.SizeOf(s), Warnings: []Warning{}, Instead: []Warning{},
	}
	if err := analysis.Deliverable(s); err != nil {
		out.Warnings = append(out.Warnings, Warning{Text: err.Error()})
	}
	for i, p := range s.Parties {
		out.Parties = append(out.Parties, Party{Name: p.Name, Records: o.records(i)})
	}
	if o.Party != study.Everyone {
		out.Party = s.Parties[o.Party].Name
	}
	if s.Partition == study.Vertical {
		out.Overlap = o.overlap()
	}
	for i := range s.Sketches {
		sk, warnings, err := newCell(o, i).describe()
		if err != nil {
			return Plan{}, fmt.Errorf("planning sketch %d: %w", i+1, err)
		}
		out.Sketches = append(out.Sketches, sk)
		out.Warnings = append(out.Warnings, warnings...)
	}
	var err error
	if out.Cost, err = o.cost(out.Sketches); err != nil {
		return Plan{}, fmt.Errorf("planning what it takes: %w", err)
	}
	together, err := revealed(o, out.Sketches)
	if err != nil {
		return Plan{}, fmt.Errorf("planning what is released without noise: %w", err)
	}
	out.Warnings = slices.Concat(out.Warnings, o.beyond(), together)
	masked, err := maskedInstead(o, out.Sketches)
	if err != nil {
		return Plan{}, fmt.Errorf("planning a masked sum: %w", err)
	}
	out.Instead = append(out.Instead, masked...)
	return out, nil
}

// describe forecasts one sketch and the analyses that it answers.
func (c *cell) describe() (Sketch, []Warning, error) {
	s, own := c.Study, c.sketch()
	parts, err := c.parts()
	if err != nil {
		return Sketch{}, nil, err
	}
	out := Sketch{
		Side: own.Side, Method: c.called(), K: own.Projection.K, Unit: s.Privacy.Unit,
		Replaced: s.Privacy.Replaced, Rounding: c.rounding(), Parties: parts, Analyses: []Analysis{},
	}
	shown := parts
	if c.Party != study.Everyone {
		shown = parts[c.Party : c.Party+1]
	}
	for _, p := range shown {
		out.Features, out.Bytes, out.RawBytes = max(out.Features, p.Features), max(out.Bytes, p.Bytes), max(out.RawBytes, p.RawBytes)
		out.Clipped = max(out.Clipped, p.Clipped)
	}
	if err := c.promise(&out); err != nil {
		return Sketch{}, nil, err
	}
	var asked []asking
	for _, a := range s.Analyses {
		if at, ok := s.SketchFor(a); !ok || at != c.index {
			continue
		}
		answer, hardest, err := c.answer(a)
		if err != nil {
			return Sketch{}, nil, fmt.Errorf("%s: %w", a.Kind, err)
		}
		out.Analyses = append(out.Analyses, answer)
		if len(answer.Options) > 0 {
			asked = append(asked, asking{hardest, answer})
		}
	}
	if own.Side == sketch.Records {
		if err := c.project(&out); err != nil {
			return Sketch{}, nil, err
		}
	}
	better, err := c.recommend(asked)
	warnings := slices.Concat(c.warn(out), better, c.sumsInstead(asked))
	if warn := additiveOf(own.Side).warn; warn != nil {
		warnings = append(warnings, warn(c)...)
	}
	return out, warnings, err
}

// called returns the sketch's method for people.
func (c *cell) called() string {
	out := c.method.String()
	if m := c.Study.Privacy.Mechanism; !c.projects() {
		out = "sums"
		if m != dp.None {
			out += ", " + string(m)
		}
	}
	if c.Study.Masked() {
		out += ", masked"
	}
	return out
}

// parts returns each party's part of the sketch.
func (c *cell) parts() (out []Part, err error) {
	for party, p := range c.Study.Parties {
		at := *c
		at.Options.Party = party
		part := Part{Name: p.Name, Features: len(c.Study.Features(party, c.index)), RawBytes: at.rawBytes(), Clipped: c.keep(party).Clipped}
		if part.Bytes, err = at.bytes(); err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

// leastRecords returns the smallest number of records of any party.
func (c *cell) leastRecords() int64 {
	least := c.Options.records(0)
	for party := range c.Study.Parties {
		least = min(least, c.Options.records(party))
	}
	return least
}

// promise fills in what the sketch promises, or what it reveals.
func (c *cell) promise(out *Sketch) error {
	plan, err := c.plan(c.viewer())
	if err != nil {
		return err
	}
	if plan.Labels != nil {
		out.Labels = plan.Labels.String()
	}
	if c.Study.Privacy.Mechanism != dp.None {
		part, err := c.Study.Part(c.index)
		out.Epsilon, out.Delta = part.Stated().Epsilon(), part.Stated().Delta()
		return err
	}
	e, err := c.Study.Reveals(c.viewer(), c.index, int(min(c.Options.records(c.viewer()), math.MaxInt32)))
	if err != nil {
		return err
	}
	out.Exposure = &Exposure{Share: e.Share, RSquared: e.RSquared, Alone: e.Alone, Text: e.String()}
	out.Exposure.Acceptable, out.Exposure.Reason = e.Acceptable()
	return nil
}

// revealed warns if sketches without noise reveal too much together, although each alone is
// acceptable.
func revealed(o Options, sketches []Sketch) ([]Warning, error) {
	if o.Study.Privacy.Mechanism != dp.None || slices.ContainsFunc(sketches, func(s Sketch) bool { return s.Exposure == nil || !s.Exposure.Acceptable }) {
		return nil, nil // the sketch's own warning says it
	}
	viewer := newCell(o, 0).viewer()
	all, err := o.Study.RevealsTogether(viewer, int(min(o.records(viewer), math.MaxInt32)), 0)
	if err != nil {
		return nil, err
	}
	if ok, reason := all.Acceptable(); !ok {
		return []Warning{{Text: "without noise, " + reason + overruled}}, nil
	}
	return nil, nil
}

// rounding returns the cost of the fixed point. A value changes by at most half a step g, which is
// g/(2s) of a column's spread s. A correlation changes by at most about as much if values lie on a
// lattice, and by g²/(12s²) otherwise.
func (c *cell) rounding() Rounding {
	least := math.Inf(1)
	for party := range c.Study.Parties {
		for _, f := range c.Study.Features(party, c.index) {
			if f.Kind == study.Value && c.Study.Columns[f.Column].Kind != study.Binary { // bits are exact
				least = math.Min(least, c.encoded(f).Spread)
			}
		}
	}
	return Rounding{Bits: int(c.Study.Bits), Bias: 1 / float64(c.Study.Bits.One()) / (2 * least)}
}

// project determines whether records should be projected at all. They should not if keeping them
// unchanged has the smallest error of the study's choices. That is so if a record has no more
// features than the best k.
func (c *cell) project(out *Sketch) error {
	if c.Study.Privacy.Mechanism == dp.None {
		return nil
	}
	bits := c.method.Mechanism == dp.RandomisedResponse
	if c.sketch().Projection.Family != projection.Identity && c.sketch().Clip == 0 && !c.method.NoiseGrows() && !bits {
		law, z, err := c.law()
		if err != nil {
			return err
		}
		k := law.OptimalK(z)
		out.OptimalK = &k
	}
	for _, a := range out.Analyses {
		at := slices.IndexFunc(a.Options, func(o Choice) bool { return o.selectable })
		out.Identity = at >= 0 && a.Options[at].Family == projection.Identity
	}
	return nil
}

// answer forecasts one analysis by its hardest question: for the study as it stands, and under the
// menu.
func (c *cell) answer(a study.Analysis) (out Analysis, hardest question, err error) {
	of := c.of(a.Kind)
	out = Analysis{Kind: a.Kind, Estimator: a.Estimator(), Measure: of.measure, Options: []Choice{}}
	if of.outright != nil {
		if made, err := of.outright(c, a); made != nil || err != nil {
			return *cmp.Or(made, &out), question{}, err
		}
	}
	if !c.known(a) {
		return c.unplanned(a), question{}, nil
	}
	questions := c.questions(a)
	if len(questions) == 0 {
		out.Outcome = NoPair
		out.Verdict = out.Outcome.says("the study has no pair of columns to compare")
		return out, question{}, nil
	}
	if hardest, err = c.judgedBy(a, questions, &out); err != nil {
		return out, hardest, err
	}
	if c.projects() {
		if out.Options, err = c.options(hardest); err != nil {
			return out, hardest, err
		}
	}
	if !out.Chosen.Usable {
		out.Needs = c.needs(hardest, out.Options)
	}
	c.conclude(a, &out)
	return out, hardest, nil
}

// judgedBy forecasts an analysis by the question with the largest error at the worse end.
func (c *cell) judgedBy(a study.Analysis, questions []question, out *Analysis) (question, error) {
	hardest, _, _, err := c.atEnd(worst).hardest(questions)
	if err != nil {
		return hardest, err
	}
	_, _, least, err := c.hardest(questions)
	if err != nil {
		return hardest, err
	}
	out.Pair, out.Best = c.names(hardest), least.StandardError
	if a.Intervals == study.IntervalsAll {
		out.Together, out.EachLevel = c.intervals(a), float64(c.level(a))
	}
	if out.Chosen, err = c.choice(hardest); err != nil {
		return hardest, err
	}
	out.Supposes = c.supposed(a)
	if c.of(a.Kind).ofBounds && hardest.x.feature.Column >= 0 && out.Chosen.Undefined == "" {
		if column := c.Study.Columns[hardest.x.feature.Column]; column.Kind == study.Numeric && c.spreadUnknown(column) {
			out.OfBounds = out.Chosen.HalfWidth * c.encoded(hardest.x.feature).Spread
		}
	}
	return hardest, nil
}

// choice describes the cell's own method by the forecast of a question.
func (c *cell) choice(q question) (Choice, error) {
	bytes, err := c.bytes()
	if err != nil {
		return Choice{}, err
	}
	j, err := c.judge(q)
	if err != nil {
		return Choice{}, err
	}
	of, e, p := c.of(q.analysis.Kind), j.typical, c.sketch().Projection
	out := Choice{
		Method: c.method.String(), Mechanism: c.method.Mechanism, Family: p.Family, K: p.K, S: p.S,
		StandardError: e.StandardError, HalfWidth: e.HalfWidth, Detects: e.Detects(), Bytes: bytes,
		AtBest: endOf(j.best), AtWorst: endOf(j.worst), Lost: j.worst.FailureProbability(),
		Usable: j.cut == nil && of.good(j.worst), Undefined: e.Undefined, off: of.off(e),
	}
	if j.cut != nil {
		out.Cut = j.cut.String()
	}
	if untold := c.hinges(q); !out.Usable && j.cut == nil && len(untold) > 0 && of.good(j.best) {
		out.UnknownSpreads = untold
	}
	if c.method.Mechanism == dp.Gaussian {
		out.Delta = c.Study.Privacy.Delta
	}
	return out, nil
}

// assumedDelta is the δ of Gaussian methods if the study has none.
const assumedDelta = 1e-6

// options forecasts a question under every method of the menu, each at its best k, sorted from the
// best.
func (c *cell) options(q question) ([]Choice, error) {
	var out []Choice
	for _, m := range forecast.Menu(c.sketch().Side, c.Study.Privacy.Unit, c.binary()) {
		delta := dp.Delta(0)
		if m.Mechanism == dp.Gaussian {
			if delta = c.Study.Privacy.Delta; delta == 0 {
				delta = assumedDelta
			}
		}
		best := func(k int) *cell { return c.with(m, k, delta) }
		k, _ := c.search(m, func(k int) float64 { return best(k).off(q) })
		if _, err := best(k).forecast(q); err != nil {
			continue // the ε is too small to draw its noise, or flipped bits would say nothing
		}
		choice, err := best(k).choice(q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		choice.selectable, choice.Note = c.selectable(m)
		out = append(out, choice)
	}
	slices.SortStableFunc(out, func(a, b Choice) int { return cmp.Compare(a.off, b.off) })
	return out, nil
}

// off returns the error of a question's answer. It is infinite if there is no answer or if no such
// release can be calibrated.
func (c *cell) off(q question) float64 {
	e, err := c.forecast(q)
	if err != nil {
		return math.Inf(1)
	}
	return c.of(q.analysis.Kind).off(e)
}

// binary reports whether all values of the sketch are bits, and it has no squares of them.
func (c *cell) binary() bool {
	for party := range c.Study.Parties {
		for _, f := range c.Study.Features(party, c.index) {
			if f.Kind != study.Ones && (f.Kind != study.Value || c.Study.Columns[f.Column].Kind != study.Binary) {
				return false
			}
		}
	}
	return true
}

// selectable reports whether the study could use a method instead of its own and promise no less.
// If not, it says why.
func (c *cell) selectable(m forecast.Method) (bool, string) {
	p := c.Study.Privacy
	budget := dp.Budget{Epsilon: p.Epsilon}
	switch {
	case c.Study.Masked() && m.Mechanism != p.Mechanism:
		return false, "not for masked sums"
	case p.Mechanism == dp.None:
		return true, ""
	case m.Mechanism == dp.Gaussian && p.Mechanism != dp.Gaussian:
		return false, fmt.Sprintf("less: δ = %g", assumedDelta)
	case m.Mechanism == dp.Gaussian:
		budget.Delta = p.Delta
	}
	if _, err := dp.Promise(m.Mechanism, budget); err != nil {
		return false, "not in this version"
	}
	if m.Mechanism != p.Mechanism && len(c.Study.Sketches) > 1 {
		return false, "for all sketches only"
	}
	if m.Mechanism == dp.RandomisedResponse && c.Study.Records.Missing != study.MissingRefuse {
		return false, "takes missing: refuse"
	}
	return true, ""
}

var errNoRange = errors.New("nothing in range is enough")

// needs searches what would make a question usable. That is another method or k, if one of the
// options suffices. Otherwise it is the smallest ε and the smallest number of records at each
// party, at the best k for these.
func (c *cell) needs(q question, options []Choice) *Needs {
	out := &Needs{}
	if at := slices.IndexFunc(options, func(o Choice) bool { return o.selectable && o.Usable }); at >= 0 {
		out.Method, out.K = options[at].Method, options[at].K
		return out
	}
	projects := c.sketch().Projection.Family != projection.Identity && c.projects()
	suits := func(at *cell) (k int, ok bool) {
		if at.good(q) {
			return 0, true
		}
		if !projects {
			return 0, false
		}
		k, _ = at.search(at.method, func(k int) float64 { return at.with(at.method, k, at.Study.Privacy.Delta).off(q) })
		return k, at.with(at.method, k, at.Study.Privacy.Delta).good(q)
	}
	enough := func(at *cell) bool {
		_, ok := suits(at)
		return ok
	}
	if c.Study.Privacy.Mechanism != dp.None {
		factor, err := leastFactor(1e3/float64(c.Study.Privacy.Epsilon), func(f float64) bool {
			return enough(c.at(c.Study.Privacy.Epsilon * dp.Epsilon(f)))
		})
		if err == nil {
			out.Epsilon = roundUp(float64(c.Study.Privacy.Epsilon) * factor)
			out.EpsilonK, _ = suits(c.at(dp.Epsilon(out.Epsilon)))
		}
	}
	if !c.of(q.analysis.Kind).single {
		records := float64(c.leastRecords())
		factor, err := leastFactor(maxRecords/records, func(f float64) bool { return enough(c.times(f)) })
		if err == nil {
			out.Records = int64(roundUp(records * factor))
			out.RecordsK, _ = suits(c.times(float64(out.Records) / records))
		}
	}
	return out
}

// leastFactor searches the smallest factor from 1 to most that is enough, to 0.1 %.
func leastFactor(most float64, enough func(float64) bool) (float64, error) {
	if most <= 1 || !enough(most) {
		return 0, errNoRange
	}
	lo, hi := 0.0, math.Log(most)
	for hi-lo > 1e-3 {
		if middle := (lo + hi) / 2; enough(math.Exp(middle)) {
			hi = middle
		} else {
			lo = middle
		}
	}
	return math.Exp(hi), nil
}

// roundUp rounds up to two significant digits.
func roundUp(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return x
	}
	unit := math.Pow10(int(math.Floor(math.Log10(x))) - 1)
	return math.Ceil(x/unit-1e-9) * unit
}
