package analysis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// Means is the section of mean: a number for each of the analysis's features.
//
//section:means,by=features of mean: by feature
type Means []Number

func (m Means) check(a Analysis) error {
	if len(m) != len(a.Features) {
		return fmt.Errorf("%d means of %d features", len(m), len(a.Features))
	}
	for i, n := range m {
		if err := n.check(); err != nil {
			return fmt.Errorf("mean %d: %w", i+1, err)
		}
	}
	return nil
}

func (m Means) people() []Number { return m }

// moments is the parties' sum of a moments sketch.
type moments struct {
	axes
	records   int64
	cut       *Cut    // nil if no record can have been cut
	product   float64 // variance of the noise on a product of two entries, in their own units
	estimates *estimate.Summed
	drawnAs   *estimate.Summed // source of the spread of values
	level     estimate.Level   // of each interval
	tell      func(done, total int)
	keep      PartStore // of dense tables; nil: none are written
}

// axes describe the values of records in sums: encoded, around the public centre. They give the
// encoded units and the centre in the column's original units.
type axes struct {
	plan    release.Plan
	centres []int64
}

func (x axes) column(i int) study.Column { return x.plan.Study.Columns[x.plan.Features[i].Column] }

func (x axes) name(i int) Feature {
	return Feature{Column: x.column(i).Title(), Value: x.plan.Features[i].Value, Date: x.column(i).Date}
}

// unit returns one encoded unit in the column's original units.
func (x axes) unit(i int) float64 {
	bits := x.plan.Study.Bits
	return x.column(i).Scale.Step(bits) * float64(bits.One())
}

// origin returns the original value at the public centre.
func (x axes) origin(i int) float64 {
	scale := x.column(i).Scale
	return scale.Origin() + float64(x.centres[i])*scale.Step(x.plan.Study.Bits)
}

// together returns the parties' sum of a sketch, with the plan that all of them share.
func (r *run) together(index int) (axes, sketch.Sketch, error) {
	plan, err := r.planned(r.Contributions[0].Party, index)
	if err != nil {
		return axes{}, sketch.Sketch{}, err
	}
	sum, err := r.summed(plan, index)
	if noRoom := (*room.Error)(nil); errors.As(err, &noRoom) {
		return axes{}, sum, err
	}
	if err != nil {
		return axes{}, sum, &brokenInput{err}
	}
	return axes{plan, r.Study.Centres(index)}, sum, nil
}

// moments reads the parties' moments: a tally for each centre and scale that parties used, and the
// count of cut records.
func (r *run) moments(index int) (*moments, error) {
	plan, err := r.planned(r.Contributions[0].Party, index)
	if err != nil {
		return nil, err
	}
	m := &moments{axes: axes{plan, r.Study.Centres(index)}, keep: r.Keep}
	for _, c := range r.Contributions {
		m.records += c.Records
	}
	var tallies []estimate.Tally
	if r.Study.Masked() {
		_, sum, err := r.together(index)
		if err != nil {
			return nil, err
		}
		one, err := plan.Summed(sum)
		if err != nil {
			return nil, err
		}
		from, err := r.scratch(index)
		if err != nil {
			return nil, err
		}
		t, err := plan.MomentTally(from, one, m.records, len(r.Contributions))
		if err != nil {
			return nil, err
		}
		tallies = append(tallies, t)
	} else if tallies, err = r.plainTallies(plan, index); err != nil {
		return nil, err
	}
	m.cut = cutFromMoments(plan, tallies, m.records, len(r.Contributions))
	if l := plan.Moments.Layout; l.Products {
		for _, t := range tallies {
			m.product += t.Variances[l.Product(0, min(1, l.Columns-1))]
		}
	}
	m.estimates, err = estimate.NewTallied(tallies, plan.TallyColumns())
	return m, err
}

// plainTallies adds up the parties' unmasked moments, one release after the other.
func (r *run) plainTallies(plan release.Plan, index int) (out []estimate.Tally, err error) {
	from, err := r.scratch(index)
	if err != nil {
		return nil, err
	}
	for _, c := range r.Contributions {
		if err := r.tally(&out, plan, c, index, from); err != nil {
			return nil, fmt.Errorf("party %q: %w", r.Study.Parties[c.Party].Name, err)
		}
	}
	return out, nil
}

// tally adds one contribution's tally to the common one, or appends it if it has its own centre and
// scale. It frees the room it needed in passing.
func (r *run) tally(out *[]estimate.Tally, plan release.Plan, c Contribution, index int, lasting room.Allocator) (err error) {
	passing := lasting
	if lasting != nil {
		part := r.Scratch.Part()
		passing = part
		defer func() { err = errors.Join(err, part.Close()) }()
	}
	read, err := c.whole(passing, index)
	if err != nil {
		return &brokenInput{err}
	}
	one, err := plan.Summed(read)
	if err != nil {
		return err
	}
	if len(*out) == 0 || one.Moves != nil {
		passing = lasting
	}
	t, err := plan.MomentTally(passing, one, c.Records, 1)
	if err != nil {
		return err
	}
	if len(*out) == 0 || t.Units != nil {
		*out = append(*out, t)
		return nil
	}
	sum := &(*out)[0]
	sum.Records += t.Records
	sum.Clips = append(sum.Clips, t.Clips...)
	for i, v := range t.Values {
		sum.Values[i] += v
		sum.Variances[i] += t.Variances[i]
	}
	return nil
}

// rests returns what numbers from moments assume, beside the kind's own assumptions.
func (m *moments) rests(kind study.AnalysisKind, own ...premise.Code) premise.List {
	row, rests := kindOf(kind), premise.List(own)
	switch {
	case m.cut == nil:
	case row.givesBack || !m.cut.Shortened && row.ofTail:
		rests = append(rests, premise.FallOff)
	case m.cut.Shortened:
		rests = append(rests, premise.CutAsked)
	default:
		rests = append(rests, premise.FewCut)
	}
	s := m.plan.Study
	if s.Records.Missing == study.MissingCentre {
		rests = append(rests, premise.MissingIsCentre)
	}
	if !s.Unlimited() && slices.ContainsFunc(m.plan.Features, func(f study.Feature) bool {
		_, _, centred := s.Columns[f.Column].Scale.CentreSpread()
		return centred
	}) {
		rests = append(rests, premise.Limited)
	}
	if s.Records.Missing == study.MissingCount {
		rests = append(rests, premise.MomentsThere)
	} else {
		rests = append(rests, premise.MomentsOfUnion)
	}
	if m.cut != nil && m.cut.Shortened && !row.givesBack {
		rests = append(rests, premise.CutFirst)
	}
	return rests
}

// spread returns the source of the spread of values: moments with products, if the study has them.
func (r *run) spread(m *moments) (*estimate.Summed, error) {
	if m.plan.Moments.Layout.Products {
		return m.estimates, nil
	}
	at := slices.IndexFunc(r.Study.Sketches, func(sk study.Sketch) bool { return sk.Side == sketch.Moments && sk.Moments.Sums > 0 })
	if at < 0 {
		return m.estimates, nil
	}
	other, err := r.moments(at)
	if err != nil {
		return nil, err
	}
	return other.estimates, nil
}

// mean answers the mean of every feature, in original units.
func (m *moments) mean(_ context.Context, _ study.Analysis, out *Analysis) error {
	out.Units = measure.Original
	drawn := m.drawAs(m.drawnAs)
	for i := range out.Features {
		out.Means = append(out.Means, number(drawn.mean(m.estimates.Mean(i, m.level), i, 0).Times(m.unit(i)).Plus(m.origin(i))).dated(m.name(i)))
	}
	return nil
}

// covariance answers all pairs, and variances, in original units. Beside them it gives the nearest
// positive semidefinite matrix, found in encoded units.
func (m *moments) covariance(ctx context.Context, _ study.Analysis, out *Analysis) error {
	out.Units = measure.Original
	drawn := m.draw()
	if m.keep != nil && len(out.Features) > MostInline {
		out.Repaired = tooWide("covariance_psd", len(out.Features))
		return writePairs(ctx, m.keep, out, shape{themselves: true, people: true}, nil, func(_ *estimate.Gram, i, j int) estimate.Estimate {
			return drawn.covariance(m.estimates.Covariance(i, j, m.level), i, j).Times(m.unit(i) * m.unit(j))
		})
	}
	var encoded []Pair
	for i := range out.Features {
		for j := i; j < len(out.Features); j++ {
			e := drawn.covariance(possible(m.estimates.Covariance(i, j, m.level), m.column(i), m.column(j), i == j), i, j)
			encoded = append(encoded, pair(i, j, e))
			out.Pairs = append(out.Pairs, pair(i, j, e.Times(m.unit(i)*m.unit(j))))
		}
	}
	r, matrix, err := repair(ctx, "covariance_psd", len(out.Features), encoded, decompose.Semidefinite)
	if matrix != nil {
		r.Statement = notUnbiased
		var units []float64
		for i := range out.Features {
			units = append(units, m.unit(i))
		}
		r.fill(matrix, units)
	}
	out.Repaired = r
	return err
}

// all returns the indices of all features.
func (m *moments) all() (out []int) {
	for i := range m.plan.Features {
		out = append(out, i)
	}
	return out
}

// of returns the column of a feature, and its name.
func (m *moments) of(i int) (study.Column, Feature) { return m.column(i), m.name(i) }

// pca answers with principal components: of correlations, or in original units.
func (m *moments) pca(ctx context.Context, a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.PCAOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	section := &PCA{Scaled: o.Scale, Centred: true}
	vars := m.all()
	if len(vars) > decompose.MaxEigen {
		return unanswerable("%d columns are too many: at most %d have principal components", len(vars), decompose.MaxEigen)
	}
	found, why := m.estimates.Moments(vars)
	if o.Scale && why == "" {
		if constant := found.Constant(); len(constant) > 0 {
			for _, i := range constant {
				section.LeftOut = append(section.LeftOut, m.name(i))
			}
			vars = slices.DeleteFunc(vars, func(i int) bool { return slices.Contains(constant, i) })
			if len(vars) == 0 {
				return unanswerable("the variance of no column stands out of its error")
			}
			found, why = m.estimates.Moments(vars)
		}
	}
	if why == "" && o.Scale {
		found, why = found.Scaled()
	}
	if why != "" {
		return unanswerable("%s", why)
	}
	out.Features = nil
	var units []float64
	for _, i := range vars {
		out.Features, units = append(out.Features, m.name(i)), append(units, m.unit(i))
	}
	if !o.Scale {
		out.Units, found = measure.Original, found.In(units)
	}
	return section.find(ctx, found, a, out, m.tell)
}

// regression answers with coefficients in original units.
func (m *moments) regression(_ context.Context, a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.RegressionOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	section := &Regression{Identified: estimate.MinConditionZ}
	out.Units, out.Features = measure.Original, nil
	vars, target := explaining(o, section, len(m.plan.Features), m.of)
	found, why := m.estimates.Moments(vars)
	if why != "" {
		return unanswerable("%s", why)
	}
	options := estimate.RegressionOptions{Target: target}
	for at, i := range vars {
		options.Units, options.Origins = append(options.Units, m.unit(i)), append(options.Origins, m.origin(i))
		if at != target {
			options.On = append(options.On, at)
		}
	}
	options.Ridge, options.Raise = m.ridge(o.Ridge, options.On, vars), o.Ridge.Auto
	section.Target = m.name(vars[target])
	return section.find(found, options, a, out, func(at int) Feature { return m.name(vars[at]) })
}

// ridge returns the ridge that a study asks for, for the explaining features. A ridge that is
// chosen by the noise may later be raised, if columns have less variance than expected.
func (m *moments) ridge(of study.Ridge, on, features []int) float64 {
	explaining := make([]int, len(on))
	for i, at := range on {
		explaining[i] = features[at]
	}
	return m.plan.Ridge(of, m.product, m.records, explaining)
}

func (m *moments) correlation(ctx context.Context, _ study.Analysis, out *Analysis) error {
	drawn := m.draw()
	if m.keep != nil && len(out.Features) > MostInline {
		out.Repaired = tooWide("correlation_psd", len(out.Features))
		return writePairs(ctx, m.keep, out, shape{people: true}, nil, func(_ *estimate.Gram, i, j int) estimate.Estimate {
			return drawn.correlation(m.estimates.Correlation(i, j, m.level), i, j)
		})
	}
	for i := range out.Features {
		for j := i + 1; j < len(out.Features); j++ {
			out.Pairs = append(out.Pairs, pair(i, j, drawn.correlation(m.estimates.Correlation(i, j, m.level), i, j)))
		}
	}
	r, matrix, err := repair(ctx, "correlation_psd", len(out.Features), out.Pairs, decompose.Correlation)
	if matrix != nil {
		r.Statement = notUnbiased
		for i := range r.Matrix {
			copy(r.Matrix[i], mat.Row(nil, i, matrix))
		}
	}
	out.Repaired = r
	return err
}

func ofMean() kind {
	return kind{
		name: study.Mean, ways: []way{onMoments((*moments).mean)},
		shortened: " and were shortened: half of what means may have lost is added back", givesBack: true,
		intervals: func(values, _ int) int { return values },
		size:      func(t *taken) Size { return numbers(t.values) },
	}
}
