package analysis

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// What numbers from moments are about.
const (
	assumesMoments        = "nothing: a number is over all records of the union, divided by their number"
	assumesClippedMoments = "nothing: a number is over all records of the union, divided by their number, each record cut to the study's clip"
)

// Means is the section of mean: a number for each of the analysis's features.
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

// moments is the parties' sum of a moments sketch.
type moments struct {
	axes
	estimates *estimate.Summed
	level     estimate.Level // of each interval
}

// axes are the values of records in sums: encoded, around the public centre, in which
// units, and where that is in the column's original ones.
type axes struct {
	plan    release.Plan
	centres []int64
}

func (x axes) column(i int) study.Column { return x.plan.Study.Columns[x.plan.Features[i].Column] }

func (x axes) name(i int) Feature {
	return Feature{Column: x.column(i).Name, Value: x.plan.Features[i].Value}
}

// unit is how much of the column's original unit one encoded unit is.
func (x axes) unit(i int) float64 {
	bits := x.plan.Study.Bits
	return x.column(i).Scale.Step(bits) * float64(bits.One())
}

// origin is the original value at the public centre.
func (x axes) origin(i int) float64 {
	scale := x.column(i).Scale
	return scale.Origin() + float64(x.centres[i])*scale.Step(x.plan.Study.Bits)
}

// together is the parties' sum of a sketch, with the plan that all of them have.
func (r *run) together(index int) (axes, sketch.Sketch, error) {
	var parts []sketch.Sketch
	for _, c := range r.Contributions {
		parts = append(parts, c.Sketches[index])
	}
	plan, err := r.planned(r.Contributions[0].Party, index)
	if err != nil {
		return axes{}, sketch.Sketch{}, err
	}
	sum, err := r.added(plan, parts)
	return axes{plan, r.Study.Centres(index)}, sum, err
}

func (r *run) moments(index int) (*moments, error) {
	x, sum, err := r.together(index)
	if err != nil {
		return nil, err
	}
	d := len(x.plan.Features)
	weights, unit := r.Study.MomentWeights(index), x.plan.Unit()
	square, product, first := unit*unit/float64(weights.Square), unit*unit/float64(weights.Product), unit/float64(weights.Sum)
	of := estimate.SummedOf{Sums: make([]float64, d), Noise: x.plan.MomentNoise(len(r.Contributions))}
	for _, c := range r.Contributions {
		of.Records += c.Records
	}
	second, at := mat.NewSymDense(d, nil), 0
	for i := range d {
		for j := i; j < d; j++ {
			scale := product
			if i == j {
				scale = square
			}
			second.SetSym(i, j, float64(sum.Data[at])*scale)
			at++
		}
	}
	for i := range d {
		of.Sums[i] = float64(sum.Data[at+i]) * first
	}
	of.Second = second
	m := &moments{axes: x}
	m.estimates, err = estimate.NewSummed(of)
	return m, err
}

// ofMoments answers what needs the means and second moments of the union.
func (r *run) ofMoments(ctx context.Context, sk int, a study.Analysis, tell func(done, total int)) (Analysis, error) {
	m, err := r.moments(sk)
	if err != nil {
		return Analysis{}, err
	}
	out := Analysis{Kind: a.Kind, Sketch: sk, Assumption: assumesMoments}
	if m.plan.Clip > 0 {
		out.Assumption = assumesClippedMoments
	}
	for i := range m.plan.Features {
		out.Features = append(out.Features, m.name(i))
	}
	m.level = out.promise(a, Intervals(a.Kind, len(out.Features), 1))
	switch a.Kind {
	case study.Mean:
		out.Units = unitsOriginal
		for i := range out.Features {
			out.Means = append(out.Means, number(m.estimates.Mean(i, m.level).Times(m.unit(i)).Plus(m.origin(i))))
		}
		return out, nil
	case study.Covariance:
		return out, m.covariance(ctx, &out)
	case study.Correlation:
		return out, m.correlation(ctx, &out)
	case study.PCA:
		return out, m.pca(ctx, a, &out, tell)
	case study.Regression:
		return out, m.regression(a, &out)
	case study.LDA:
		return out, m.lda(a, &out)
	}
	return Analysis{}, fmt.Errorf("moments do not answer %s", a.Kind)
}

// covariance answers all pairs, and variances, in original units, and beside them the
// nearest matrix that could be one of covariances, found in encoded units.
func (m *moments) covariance(ctx context.Context, out *Analysis) error {
	out.Units = unitsOriginal
	var encoded []Pair
	for i := range out.Features {
		for j := i; j < len(out.Features); j++ {
			e := m.estimates.Covariance(i, j, m.level)
			encoded = append(encoded, pair(i, j, e))
			out.Pairs = append(out.Pairs, pair(i, j, e.Times(m.unit(i)*m.unit(j))))
		}
	}
	r, matrix, err := repair(ctx, "covariance_psd", len(out.Features), encoded, decompose.Semidefinite)
	if matrix != nil {
		r.Statement = notUnbiased
		for i := range r.Matrix {
			for j := range r.Matrix {
				r.Matrix[i][j] = matrix.At(i, j) * (m.unit(i) * m.unit(j))
			}
		}
	}
	out.Repaired = r
	return err
}

// all names all features, by their places.
func (m *moments) all() (out []int) {
	for i := range m.plan.Features {
		out = append(out, i)
	}
	return out
}

// of is the column of a feature, and its name.
func (m *moments) of(i int) (study.Column, Feature) { return m.column(i), m.name(i) }

// pca answers with principal components: of correlations, or in original units.
func (m *moments) pca(ctx context.Context, a study.Analysis, out *Analysis, tell func(done, total int)) error {
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
		out.Units, found = unitsOriginal, found.In(units)
	}
	return section.find(ctx, found, a, out, tell)
}

// regression answers with coefficients in original units.
func (m *moments) regression(a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.RegressionOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	section := &Regression{Ridge: o.Ridge, Identified: estimate.Identified}
	out.Units, out.Features = unitsOriginal, nil
	vars, target := explaining(o, section, len(m.plan.Features), m.of)
	found, why := m.estimates.Moments(vars)
	if why != "" {
		return unanswerable("%s", why)
	}
	if constant := found.Constant(); len(constant) > 0 {
		return unanswerable("the variance of %s does not stand out of its error, and no line through it is defined", m.name(vars[constant[0]]).text())
	}
	options := estimate.RegressionOptions{Target: target, Ridge: o.Ridge}
	for at, i := range vars {
		options.Units, options.Origins = append(options.Units, m.unit(i)), append(options.Origins, m.origin(i))
		if at != target {
			options.On, out.Features = append(options.On, at), append(out.Features, m.name(i))
		}
	}
	section.Target = m.name(vars[target])
	return section.find(found, options, a, out)
}

func (m *moments) correlation(ctx context.Context, out *Analysis) error {
	for i := range out.Features {
		for j := i + 1; j < len(out.Features); j++ {
			out.Pairs = append(out.Pairs, pair(i, j, m.estimates.Correlation(i, j, m.level)))
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
