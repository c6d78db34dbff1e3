package source

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// Effect is what a study's bounds, clips and rule for missing values would do to a party's data. It
// is exact, so only the party may see it: it is neither stored nor sent.
type Effect struct {
	Missing  study.Missing  `json:"missing"` // the study's rule
	Columns  []ColumnEffect `json:"columns"`
	Cuts     []SketchEffect `json:"cuts"`     // of the sketches that clip whole records
	Warnings []string       `json:"warnings"` // the biggest problem first
}

// ColumnEffect counts a column's values, including those of records that are left out.
type ColumnEffect struct {
	Name    string `json:"name"`
	Clipped int64  `json:"clipped"` // moved to the nearer bound, or to three spreads from the centre
	Missing int64  `json:"missing"`
	// NoLogarithm counts the values among Clipped that are 0 or less under transform log.
	NoLogarithm int64 `json:"no_logarithm,omitempty"`
	// Beyond counts values more than three spreads from the centre that are not moved, because
	// their records are clipped as a whole.
	Beyond int64 `json:"beyond,omitempty"`
	// Offset is the distance of the processed values' mean from the declared centre, in declared
	// spreads; null if the study declares none.
	Offset *float64 `json:"offset"`
	// Spread is the standard deviation of the processed values, divided by the one that the study
	// suggests; null if it does not affect answers.
	Spread *float64 `json:"spread"`
}

// SketchEffect counts the records that a sketch would clip.
type SketchEffect struct {
	Sketch int     `json:"sketch"` // from 1
	Side   string  `json:"side"`
	Clip   float64 `json:"clip"`   // in units in which a bound, or three spreads, have length 1
	Own    bool    `json:"own"`    // chosen by this party's program
	Cut    *int64  `json:"cut"`    // longer records; null if only a rehearsal can tell
	Of     int64   `json:"of"`     // all records
	Mended bool    `json:"mended"` // the estimates of means recover half of the possible loss
	// Sensible is the fraction of clipped records below which answers do not show it. It is null if
	// no rule is known, or if the program balances clipping against the noise itself.
	Sensible *float64 `json:"sensible"`
}

// survey computes an Effect while data are read.
type survey struct {
	study   *study.Study
	src     *Dataset
	lengths []*release.Lengths // by sketch; nil if none are counted
	columns []columnSurvey
	values  []int64
}

// columnSurvey sums a column's values around its public centre; for categories it sums nothing.
type columnSurvey struct {
	entry        int // index in a row; -1: a categorical column
	centre       int64
	present      int64 // including substitutes for missing values
	sum, squares float64
	beyond       int64
}

// NewSurvey begins a survey. With lengths it counts the records that sketches would clip.
func (r *Source) NewSurvey(src *Dataset, lengths bool) (*survey, error) {
	v := &survey{study: r.Study, src: src, lengths: make([]*release.Lengths, len(src.Plans))}
	entry := 0
	for _, f := range src.Schema.Fields {
		c := columnSurvey{entry: -1}
		if f.Kind != study.Categorical {
			c = columnSurvey{entry: entry, centre: f.Scale.Missing(src.Schema.Bits)}
		}
		v.columns = append(v.columns, c)
		entry += f.Entries()
	}
	for i, plan := range src.Plans {
		var err error
		if !lengths {
			continue
		}
		if v.lengths[i], err = plan.NewLengths(max(r.Workers, 1)); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Add adds a batch.
func (v *survey) Add(b dataset.Batch) error {
	entries, one := v.src.Schema.Entries(), v.src.Schema.Bits.One()
	for j := range v.columns {
		c := &v.columns[j]
		for at := c.entry; c.entry >= 0 && at < len(b.Values); at += entries {
			x := b.Values[at]
			if x == sketch.Absent {
				continue
			}
			if x > one || x < -one {
				c.beyond++
			}
			u := float64(x - c.centre)
			c.present++
			c.sum += u
			c.squares += u * u
		}
	}
	for i, l := range v.lengths {
		if l == nil {
			continue
		}
		v.values = b.Pick(v.values[:0], v.src.Picks[i])
		if err := l.Add(len(b.IDs), v.values); err != nil {
			return fmt.Errorf("sketch %d: %w", i+1, err)
		}
	}
	return nil
}

// warning is a sentence and its severity: the integer part ranks kinds of problems.
type warning struct {
	size float64
	text string
}

// Effect ends a survey. cut has, for each sketch, the records that a rehearsal clipped; nil: use
// lengths.
func (v *survey) Effect(s dataset.Summary, cut []SketchEffect) Effect {
	out := Effect{Missing: v.study.Records.Missing, Columns: []ColumnEffect{}, Cuts: cut, Warnings: []string{}}
	if cut == nil {
		out.Cuts = v.cuts(s.Records)
	}
	var all []warning
	for _, e := range out.Cuts {
		if e.problem() {
			share := float64(*e.Cut) / float64(e.Of)
			all = append(all, warning{3 + share, e.warning()})
		}
	}
	if total := s.Records + s.Skipped; s.Skipped > 0 && float64(s.Skipped) >= manyMissing*float64(total) {
		all = append(all, warning{1 + float64(s.Skipped)/float64(total), fmt.Sprintf("%s are left out for a missing value: answers are about the others.", partOf(s.Skipped, total, "records"))})
	}
	for j, f := range s.Fields {
		e, more := v.column(j, f, s)
		out.Columns, all = append(out.Columns, e), append(all, more...)
	}
	slices.SortStableFunc(all, func(a, b warning) int { return cmp.Compare(b.size, a.size) })
	for _, w := range all {
		out.Warnings = append(out.Warnings, w.text)
	}
	return out
}

func (v *survey) cuts(records int64) []SketchEffect {
	out := []SketchEffect{}
	for i, plan := range v.src.Plans {
		if plan.Clip == 0 || plan.Awaits() {
			continue
		}
		clip, cut := plan.Clip, (*int64)(nil)
		if l := v.lengths[i]; l != nil {
			var longer int64
			clip, longer = l.Cut()
			cut = &longer
		}
		out = append(out, EffectOf(plan, clip, cut, records))
	}
	return out
}

// EffectOf describes a sketch that clips records. The number of records of other parties is unknown
// and assumed to be the same.
func EffectOf(plan release.Plan, clip int64, cut *int64, records int64) SketchEffect {
	s := plan.Study
	out := SketchEffect{
		Sketch: plan.Index + 1, Side: string(plan.Sketch().Side), Clip: float64(clip) / float64(s.Bits.One()), Own: plan.Sketch().OwnClip, Cut: cut, Of: records,
	}
	switch {
	case plan.Sketch().Side == sketch.Records:
		out.Clip = plan.Sketch().Clip
	case plan.Moments != nil:
		out.Mended = plan.Moments.Layout.CutSums
	}
	switch parties, all := len(s.Parties), float64(records)*float64(len(s.Parties)); {
	case records == 0 || out.Own:
	case plan.Moments != nil:
		out.Sensible = finiteFloat(plan.Noticeable(parties, all))
	case plan.Sketch().Side == sketch.Cells:
		out.Sensible = finiteFloat(plan.SensibleCells(parties, all, s.Clusters(plan.Index)))
	}
	return out
}

func finiteFloat(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// Thresholds of warnings.
const (
	// manyCut is a fraction of clipped records that no suitable clip exceeds: a clip a quarter
	// longer than a typical record cuts a fifth of normal data.
	manyCut     = 0.25
	manyMoved   = 0.01 // fraction of a column's values
	manyMissing = 0.01 // fraction of a column's values, or of records

	farOff   = 1.     // spreads between the mean and the declared centre
	wideBy   = 2.     // times the declared spread
	narrowBy = 1. / 3 // times the spread that a study suggests
)

func (e SketchEffect) problem() bool {
	if e.Cut == nil || *e.Cut == 0 {
		return false
	}
	most := manyCut
	if e.Sensible != nil {
		most = *e.Sensible
	}
	return float64(*e.Cut) > most*float64(e.Of)
}

func (e SketchEffect) warning() string {
	what := "correlations and covariances would be of shortened data."
	switch side := sketch.Side(e.Side); {
	case side == sketch.Moments && e.Mended:
		what = "means would get back half of what they may lose, and all else would be of shortened data."
	case side == sketch.Moments:
		what = "means and covariances would be of shortened data."
	case side == sketch.Cells:
		what = "means of clusters would be of shortened data."
	case side == sketch.Records:
		what = "distances would be of shortened data."
	}
	text := fmt.Sprintf("%s are longer than the clip of sketch %d: %s", partOf(*e.Cut, e.Of, "your records"), e.Sketch, what)
	if e.Sensible != nil && *e.Sensible < 1 {
		text += fmt.Sprintf(" Up to %s would not show beside the noise.", percent(*e.Sensible))
	}
	return text
}

// String describes it for the data's owner.
func (e SketchEffect) String() string {
	text := fmt.Sprintf("Sketch %d, %s: ", e.Sketch, e.Side)
	switch {
	case e.Cut == nil:
		return text + "records are cut after they were projected, so only a rehearsal (party advanced sketch STUDY --dry-run) counts them."
	case e.Own:
		text += "your program would choose a clip of about " + block.Digits(e.Clip, 3) + "; "
	default:
		text += "the clip is " + block.Digits(e.Clip, 3) + "; "
	}
	if *e.Cut == 0 {
		return text + "no record is longer."
	}
	return text + fmt.Sprintf("%d of %d records (%s) are longer and would be cut to it.", *e.Cut, e.Of, percent(float64(*e.Cut)/float64(e.Of)))
}

// column ends the survey of a column.
func (v *survey) column(j int, f dataset.FieldSummary, s dataset.Summary) (ColumnEffect, []warning) {
	c, field, bits := v.columns[j], v.src.Schema.Fields[j], v.src.Schema.Bits
	out := ColumnEffect{Name: f.Name, Clipped: f.Clamped, Missing: f.Missing, NoLogarithm: f.NoLogarithm, Beyond: max(c.beyond-(f.Clamped-f.NoLogarithm), 0)}
	var all []warning
	tell := func(size float64, format string, args ...any) {
		all = append(all, warning{size, fmt.Sprintf("%q: ", f.Name) + fmt.Sprintf(format, args...)})
	}
	total := s.Records + s.Skipped
	if share := float64(f.Clamped) / float64(max(total, 1)); share >= manyMoved {
		to := "are outside the public bounds and count as the nearer bound"
		if _, _, ok := field.Scale.CentreSpread(); ok {
			to = "are more than three spreads from the centre and count as three spreads away"
			if v.study.Unlimited() {
				to = "are too far from the centre, or have no logarithm, and are moved towards it"
			}
		}
		tell(1+share, "%s %s.", partOf(f.Clamped, total, "values"), to)
	}
	if share := float64(f.Missing) / float64(max(total, 1)); share >= manyMissing && v.study.Records.Missing == study.MissingCentre {
		as := "as none of the column's categories"
		if field.Kind != study.Categorical {
			middle := field.Scale.Origin() + float64(field.Scale.Missing(bits))*field.Scale.Step(bits)
			as = "as " + block.Brief(field.Scale.Transform().Invert(middle)) + ", the public centre"
		}
		tell(1+share, "%s are missing and count %s.", partOf(f.Missing, total, "values"), as)
	}
	if f.Missing == total && total > 0 && v.study.Records.Missing == study.MissingCount {
		tell(2, "%s are missing, so this column tells nothing.", partOf(f.Missing, total, "values"))
	}
	n := float64(c.present)
	if v.study.Records.Missing == study.MissingCentre {
		n -= float64(f.Missing) // each was added as 0
	}
	if c.entry < 0 || n < 2 {
		return out, all
	}
	one := float64(bits.One())
	mean := c.sum / n
	deviation := math.Sqrt(math.Max(c.squares/n-mean*mean, 0))
	_, _, spread := field.Scale.CentreSpread()
	rate, binary := field.Scale.Rate()
	switch {
	case spread:
		out.Offset = finiteFloat(3 * mean / one)
	case binary:
		out.Offset = finiteFloat(mean / one / math.Sqrt(rate*(1-rate)))
	}
	if field.Kind == study.Numeric && !v.standardised(j) {
		if typical := v.typical(j); typical > 0 {
			out.Spread = finiteFloat(deviation / one / typical)
		}
	}
	better := v.better(j, mean, deviation)
	if float64(f.Clamped) >= manyMoved*float64(total) {
		better = "A centre that fits cannot be told from values that were moved: party data show says what is in the data."
	}
	switch {
	case out.Offset != nil && math.Abs(*out.Offset) > farOff && spread:
		tell(2+math.Abs(*out.Offset)/1000, "the mean of your data is %s. %s %s", beside(*out.Offset), v.harm(), better)
	case out.Offset != nil && math.Abs(*out.Offset) > farOff:
		tell(2+math.Abs(*out.Offset)/1000, "the share of ones is %s standard deviations from the declared one. Answers would be better with the true share.", twoDigits(math.Abs(*out.Offset)))
	case deviation == 0 && field.Kind == study.Binary:
		tell(.5, "%s", allTheSame)
	case out.Spread == nil:
	case spread && *out.Spread > wideBy:
		tell(1.5, "the values vary %s times as much as the declared spread. %s %s", twoDigits(*out.Spread), v.harm(), better)
	case *out.Spread < narrowBy && deviation == 0:
		tell(.5, "%s", allTheSame)
	case *out.Spread < narrowBy && v.study.Privacy.Mechanism != dp.None && spread:
		tell(.5, "the values vary only %.2g times as much as the declared spread, so answers err more than they need to. %s", *out.Spread, better)
	case *out.Spread < narrowBy && v.study.Privacy.Mechanism != dp.None:
		tell(.5, "the values vary only %.2g times as much as is usual within bounds. Narrower bounds, or a centre and spread, give better answers.", *out.Spread)
	}
	return out, all
}

const allTheSame = "all values count as the same number, so this column tells nothing."

// harm describes the effect of values far from the declared centre.
func (v *survey) harm() string {
	if slices.ContainsFunc(v.src.Plans, func(p release.Plan) bool { return p.Clip > 0 }) {
		return "This makes records longer, and more of them are cut."
	}
	return "More values are moved to three spreads from the centre."
}

// beside says where a mean is relative to the declared centre.
func beside(offset float64) string {
	side := "above"
	if offset < 0 {
		side = "below"
	}
	return fmt.Sprintf("%s spreads %s the declared centre", twoDigits(math.Abs(offset)), side)
}

// better suggests a centre and spread. mean and deviation are relative to the declared centre, in
// encoded units.
func (v *survey) better(j int, mean, deviation float64) string {
	scale, bits := v.src.Schema.Fields[j].Scale, v.src.Schema.Bits
	step := scale.Step(bits)
	centre := scale.Origin() + (mean+float64(v.columns[j].centre))*step
	text := "A centre of about " + twoDigits(scale.Transform().Invert(centre))
	if scale.Transform().IsZero() && deviation > 0 {
		text += " and a spread of about " + twoDigits(deviation*step)
	}
	return text + " would fit. These figures are computed from your data: give the operator published ones instead."
}

// twoDigits rounds a number to two digits, without an exponent below a million.
func twoDigits(x float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	if err != nil {
		rounded = x
	}
	return strconv.FormatFloat(rounded, 'g', -1, 64)
}

// plansWith calls visit for each plan that uses a column, with its feature there.
func (v *survey) plansWith(j int, visit func(release.Plan, study.Feature)) {
	for i, plan := range v.src.Plans {
		for k, f := range plan.Inputs() {
			if v.src.Picks[i][k] == v.columns[j].entry && k < plan.Values {
				visit(plan, f)
			}
		}
	}
}

// standardised reports whether every sketch of a column scales it by its own spread.
func (v *survey) standardised(j int) bool {
	_, _, bounded := v.src.Schema.Fields[j].Scale.Bounds()
	all := true
	v.plansWith(j, func(p release.Plan, _ study.Feature) { all = all && scales(p) })
	return bounded && all
}

// scales reports whether a sketch scales columns by their own spread, or measures that spread.
func scales(p release.Plan) bool { return p.Sketch().Standardise || p.Sketch().Side == sketch.Look }

// typical is the standard deviation that the study suggests for a column, in units of a bound or
// three spreads; 0 if no sketch has it.
func (v *survey) typical(j int) (most float64) {
	v.plansWith(j, func(p release.Plan, f study.Feature) {
		if !scales(p) {
			most = max(most, p.TypicalSpread(f))
		}
	})
	return most
}

// partOf describes n of all.
func partOf(n, all int64, what string) string {
	if n == all {
		return fmt.Sprintf("all %d %s", n, strings.Replace(what, "your ", "of your ", 1))
	}
	return fmt.Sprintf("about %s of %s (%d of %d)", percent(float64(n)/float64(all)), what, n, all)
}

// percent formats a fraction to two digits; one below 1 is never shown as 100 %.
func percent(share float64) string {
	switch {
	case share >= 0.995 && share < 1:
		return "99 %"
	case share >= 0.095:
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return block.Digits(100*share, 2) + " %"
}
