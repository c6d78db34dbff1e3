package analysis

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// PCA is the section of principal components of the analysis's features.
//
//section:pca of pca
type PCA struct {
	Scaled     bool        `json:"scaled"`                    // whether components are of correlations
	Centred    bool        `json:"centred"`                   // whether components are of covariances or correlations; otherwise of products
	Components []Component `json:"components" by:"component"` // from the largest eigenvalue
	LeftOut    []Feature   `json:"left_out,omitempty" by:"-"` // columns whose variance does not stand out of its error
}

// Component is one principal component.
type Component struct {
	Eigenvalue       float64   `json:"eigenvalue"`                                    // eigenvalue of the estimates; noise may make it negative
	Interval         Number    `json:"interval"`                                      // eigenvalue of this rank with its interval; undefined if errors drive it too far from others
	Share            Number    `json:"share"`                                         // share of the sum of all eigenvalues
	Loadings         []float64 `json:"loadings,omitempty" by:"features" of:"loading"` // by feature; the one of largest magnitude is positive
	LoadingIntervals []Number  `json:"loading_intervals,omitempty" by:"features"`     // loadings with their intervals; undefined if the component is not separated from its neighbours
}

// Of says what the components are of, and of which columns if some were left out: the first
// eigenvalue of 4 of 24 columns answers a different question than that of all.
func (p PCA) Of(features []Feature) string {
	of := "products of columns"
	switch {
	case p.Scaled:
		of = "correlations"
	case p.Centred:
		of = "covariances"
	}
	if len(p.LeftOut) == 0 {
		return of
	}
	names, more := features, ""
	if len(names) > mostNamed {
		names, more = names[:mostNamed], fmt.Sprintf(" and %d others", len(names)-mostNamed)
	}
	var texts []string
	for _, f := range names {
		texts = append(texts, f.Name())
	}
	return fmt.Sprintf("%s of %d of %d columns, %s%s", of, len(features), len(features)+len(p.LeftOut), strings.Join(texts, ", "), more)
}

// mostNamed limits how many columns a headline names.
const mostNamed = 6

func (p *PCA) nothing() string {
	if len(p.Components) == 0 || slices.ContainsFunc(p.Components, Component.separated) {
		return ""
	}
	return fmt.Sprintf("0 of %d components can be told from their neighbours", len(p.Components))
}

func (p *PCA) check(a Analysis) error {
	if len(p.Components) != len(a.Features) {
		return fmt.Errorf("%d components of %d features", len(p.Components), len(a.Features))
	}
	for i, c := range p.Components {
		for _, n := range slices.Concat([]Number{c.Interval, c.Share}, c.LoadingIntervals) {
			if err := n.check(); err != nil {
				return fmt.Errorf("component %d: %w", i+1, err)
			}
		}
		if n := len(c.Loadings); n != len(c.LoadingIntervals) || n != 0 && n != len(a.Features) {
			return fmt.Errorf("component %d: %d loadings with %d intervals for %d features", i+1, n, len(c.LoadingIntervals), len(a.Features))
		}
	}
	return nil
}

// pca answers with principal components: of correlations, or in original units.
func (c *columns) pca(ctx context.Context, a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.PCAOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	section := &PCA{Scaled: o.Scale, Centred: o.Centre}
	out.Assumptions = c.rests(o.Centre)
	vars := c.variables()
	if len(vars) > decompose.MaxEigen {
		return unanswerable("%d columns are too many: at most %d have principal components", len(vars), decompose.MaxEigen)
	}
	if err := c.reach(ctx, vars); err != nil {
		return err
	}
	m, vars, err := c.moments(vars, o.Centre, o.Scale, &section.LeftOut)
	if err != nil {
		return err
	}
	switch {
	case o.Scale:
		scaled, why := m.Scaled()
		if why != "" {
			return unanswerable("%s", why)
		}
		m = scaled
	case o.Centre:
		out.Units = measure.Original
		m = m.In(c.units(vars))
	default:
		if out.Units = measure.Encoded; c.study.Centred(out.Sketch) {
			out.Units = measure.Centred
		}
	}
	for _, v := range vars {
		out.Features = append(out.Features, c.name(v))
	}
	return section.find(ctx, m, a, out, c.tell)
}

// find computes the components of m, whose variables are the analysis's features.
func (p *PCA) find(ctx context.Context, m *estimate.Moments, a study.Analysis, out *Analysis, tell func(done, total int)) error {
	o, _ := a.Options.(study.PCAOptions)
	n := len(out.Features)
	listed := min(o.Components, n)
	level := out.promise(a, 2*n+listed*n)
	found, err := m.Components(ctx, estimate.ComponentsOptions{Loadings: listed, Level: level, Done: tell})
	if err != nil {
		return err
	}
	for i, f := range found {
		component := Component{Eigenvalue: f.Value, Interval: number(f.Interval), Share: number(f.Share)}
		if i < listed {
			component.Loadings = f.Vector
			for _, l := range f.Loadings {
				component.LoadingIntervals = append(component.LoadingIntervals, number(l))
			}
		}
		p.Components = append(p.Components, component)
	}
	out.PCA = p
	return nil
}

// rests returns what a single matrix of all columns assumes.
func (c *columns) rests(centred bool) premise.List {
	switch {
	case c.union():
		return premise.List{premise.Together}
	case centred:
		return premise.List{premise.RandomOverlap}
	}
	return premise.List{premise.NoOverlap}
}

// units returns one encoded unit of each variable in its original units.
func (c *columns) units(vars []variable) (out []float64) {
	for _, v := range vars {
		out = append(out, c.unit(v))
	}
	return out
}

// moments returns the moments of some variables. If scaled, variables whose variance does not stand
// out of its error are left out and listed.
func (c *columns) moments(vars []variable, centred, scaled bool, leftOut *[]Feature) (*estimate.Moments, []variable, error) {
	m, why := c.gram.Moments(c.located(vars), centred)
	if why != "" {
		return nil, nil, unanswerable("%s", why)
	}
	if !scaled {
		return m, vars, nil
	}
	constant := m.Constant()
	if len(constant) == 0 {
		return m, vars, nil
	}
	var kept []variable
	for i, v := range vars {
		if slices.Contains(constant, i) {
			*leftOut = append(*leftOut, c.name(v))
		} else {
			kept = append(kept, v)
		}
	}
	if len(kept) == 0 {
		return nil, nil, unanswerable("the variance of no column stands out of its error")
	}
	if m, why = c.gram.Moments(c.located(kept), centred); why != "" {
		return nil, nil, unanswerable("%s", why)
	}
	return m, kept, nil
}

func ofPCA() kind {
	return kind{
		name: study.PCA, ways: []way{onMoments((*moments).pca), onColumns((*columns).pca)},
		size: func(t *taken) Size {
			out := numbers(2 * t.values)
			if o, ok := t.asked.Options.(study.PCAOptions); ok {
				out.Document += min(int64(o.Components), t.values) * t.values * (numberBytes + entryBytes)
			}
			return out
		},
		most: func(t *taken) int64 {
			o, _ := t.asked.Options.(study.PCAOptions)
			return mostNumbers(min(int64(o.Components), t.values)+1, t.values+4)
		},
		refuse:   cubic(study.PCA, "decomposed", decompose.MaxEigen, 8),
		matrices: 8,
		asked:    study.PCAOptions{Components: MostInline},
	}
}
