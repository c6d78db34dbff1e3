package errortable

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// truth computes the true answers from the pooled data.
type truth struct {
	Played
	holds   map[string][]bool // by party: whether it has each pooled row
	columns map[string]column
}

// column is one column of the pooled data, original and changed by the study's terms.
type column struct {
	raw     []float64 // NaN if missing
	bounded []float64 // moved to the bounds; the public centre if missing
	terms   []float64 // bounded and, if the study uses moments, clipped
	origin  float64   // the value that the fixed point encodes as 0
	step    float64
	encode  func(x float64) float64 // from the scale of answers to the units of the sketch
}

func newTruth(p Played) (*truth, error) {
	t := &truth{Played: p, holds: map[string][]bool{}, columns: map[string]column{}}
	for _, part := range p.Data.Parties {
		held := make([]bool, len(p.Data.Pooled.Rows))
		for _, i := range part.Rows {
			held[i] = true
		}
		t.holds[part.Name] = held
	}
	for _, c := range p.Study.Columns {
		if c.Kind == study.Categorical {
			return nil, fmt.Errorf("column %q: the testnet knows no truth about categorical columns", c.Name)
		}
		values, err := p.Data.Pooled.Values(c.Name)
		if err != nil {
			return nil, err
		}
		out := column{raw: make([]float64, len(values)), bounded: make([]float64, len(values))}
		scale, bits := c.Scale, p.Study.ReadBits() // the resolution at which parties read values
		if p.Study.Unlimited() {
			scale = scale.Unlimited()
		}
		decode := func(v int64) float64 { return scale.Origin() + float64(float64(v)*scale.Step(bits)) }
		for i, x := range values {
			if math.IsNaN(x) {
				out.raw[i], out.bounded[i] = math.NaN(), decode(scale.Missing(bits))
				continue
			}
			v, _ := scale.Encode(x, bits)
			if out.raw[i], out.bounded[i] = scale.Transform().Apply(x), decode(v); math.IsInf(out.raw[i], -1) {
				out.raw[i] = math.NaN() // without a logarithm there is no truth before the terms
			}
		}
		out.terms = slices.Clone(out.bounded)
		out.origin, out.step = scale.Origin(), scale.Step(p.Study.Bits)
		out.encode = func(x float64) float64 {
			return math.Round((x-out.origin)/out.step) / float64(p.Study.Bits.One())
		}
		t.columns[c.Title()] = out
	}
	if index, ok := p.Study.Moments(); ok {
		t.clip(index)
	}
	return t, nil
}

// clip clips records as a moments sketch does: around the public centre, to a length, without the
// label. If the parties choose their own lengths, the records are left unchanged.
func (t *truth) clip(index int) {
	clips := t.Study.Clips(index)
	if len(clips) != 1 {
		return
	}
	limit := float64(clips[0])
	centres, features := t.Study.Centres(index), t.Study.Features(0, index)
	type entry struct {
		column
		centre float64
	}
	var cut []entry
	for _, j := range t.Study.MomentEntries(index) {
		cut = append(cut, entry{t.columns[t.Study.Columns[features[j].Column].Title()], float64(centres[j])})
	}
	for i := range t.Data.Pooled.Rows {
		var length float64
		for _, e := range cut {
			x := e.steps(i) - e.centre
			length += float64(x * x)
		}
		if length = math.Sqrt(length); length <= limit {
			continue
		}
		for _, e := range cut {
			x := (e.steps(i) - e.centre) * limit / length
			e.terms[i] = e.origin + float64((e.centre+x)*e.step)
		}
	}
}

// steps returns a bounded value in steps of the fixed point.
func (c column) steps(i int) float64 { return (c.bounded[i] - c.origin) / c.step }

// rows returns the pooled rows that all of these parties have. Without parties, it returns the rows
// that at least one party has.
func (t *truth) rows(parties ...string) []int {
	var out []int
	for i := range t.Data.Pooled.Rows {
		all, some := true, false
		for name, held := range t.holds {
			some = some || held[i]
			if slices.Contains(parties, name) {
				all = all && held[i]
			}
		}
		if all && some {
			out = append(out, i)
		}
	}
	return out
}

// of returns the parties of the features.
func of(features ...analysis.Feature) (out []string) {
	for _, f := range features {
		if f.Party != "" && !slices.Contains(out, f.Party) {
			out = append(out, f.Party)
		}
	}
	return out
}

// pair is two columns over rows: x and y for records with both values, termsX and termsY for all
// records after the terms.
type pair struct{ x, y, termsX, termsY []float64 }

func (t *truth) pair(a, b analysis.Feature) pair {
	x, y := t.columns[a.Column], t.columns[b.Column]
	var out pair
	for _, i := range t.rows(of(a, b)...) {
		out.termsX, out.termsY = append(out.termsX, x.terms[i]), append(out.termsY, y.terms[i])
		if !math.IsNaN(x.raw[i]) && !math.IsNaN(y.raw[i]) {
			out.x, out.y = append(out.x, x.raw[i]), append(out.y, y.raw[i])
		}
	}
	return out
}

// numbers compares an analysis whose answers have intervals.
func (t *truth) numbers(a analysis.Analysis, forecast *Forecast) ([]Numbers, error) {
	if a.Regression != nil {
		return t.regression(a)
	}
	if a.LDA != nil {
		return t.discriminant(a)
	}
	one := tally{n: Numbers{Kind: a.Kind, Level: a.Level, Forecast: forecast}}
	for i, m := range a.Means {
		f := a.Features[i]
		p := t.pair(f, f)
		one.n.Measure = "spreads"
		if err := one.add(f.Name(), m, stat.Mean(p.x, nil), stat.Mean(p.termsX, nil), stat.StdDev(p.x, nil)); err != nil {
			return nil, err
		}
	}
	for _, answer := range a.Pairs {
		f, g := a.Features[answer.I], a.Features[answer.J]
		if f.Party != "" && f.Party == g.Party {
			continue // the party knows it without a study
		}
		name := f.Name() + ", " + g.Name()
		if a.Kind == study.Intersection {
			shared := float64(len(t.rows(f.Party, g.Party)))
			one.n.Measure = "share"
			if err := one.add(name, answer.Number, shared, shared, shared); err != nil {
				return nil, err
			}
			continue
		}
		p := t.pair(f, g)
		var is, terms, unit float64
		switch a.Kind {
		case study.Correlation:
			is, terms, unit = stat.Correlation(p.x, p.y, nil), stat.Correlation(p.termsX, p.termsY, nil), 1
		case study.Covariance:
			is, terms, unit = stat.Covariance(p.x, p.y, nil), stat.Covariance(p.termsX, p.termsY, nil), stat.StdDev(p.x, nil)*stat.StdDev(p.y, nil)
			one.n.Measure = "spreads²"
		default:
			return nil, fmt.Errorf("the testnet knows no truth for %q", a.Kind)
		}
		if err := one.add(name, answer.Number, is, terms, unit); err != nil {
			return nil, err
		}
	}
	if one.n.Answers == 0 {
		return nil, fmt.Errorf("the testnet knows no truth for %q", a.Kind)
	}
	return []Numbers{one.close()}, nil
}

// regression compares coefficients, each in spreads of the target per spread of its column, and the
// explained share. The truth is over the records that the parties of all these columns have, except
// records with missing values.
func (t *truth) regression(a analysis.Analysis) ([]Numbers, error) {
	r := a.Regression
	all := append(slices.Clone(a.Features), r.Target)
	rows := t.rows(of(all...)...)
	raw, terms := make([][]float64, len(all)), make([][]float64, len(all))
	for _, i := range rows {
		whole := true
		for _, f := range all {
			whole = whole && !math.IsNaN(t.columns[f.Column].raw[i])
		}
		for j, f := range all {
			terms[j] = append(terms[j], t.columns[f.Column].terms[i])
			if whole {
				raw[j] = append(raw[j], t.columns[f.Column].raw[i])
			}
		}
	}
	is, explained, err := leastSquares(raw, r.Ridge)
	if err != nil {
		return nil, err
	}
	termsIs, termsExplained, err := leastSquares(terms, r.Ridge)
	if err != nil {
		return nil, err
	}
	coefficients := tally{n: Numbers{Kind: a.Kind, Of: "coefficients", Measure: "spreads", Level: a.Level}}
	target := stat.StdDev(raw[len(raw)-1], nil)
	for j, c := range r.Coefficients {
		if err := coefficients.add(r.Target.Name()+" on "+a.Features[j].Name(), c, is[j], termsIs[j], target/stat.StdDev(raw[j], nil)); err != nil {
			return nil, err
		}
	}
	share := tally{n: Numbers{Kind: a.Kind, Of: "R²", Level: a.Level}}
	if err := share.add("R²", r.RSquared, explained, termsExplained, 1); err != nil {
		return nil, err
	}
	return []Numbers{coefficients.close(), share.close()}, nil
}

// discriminant compares the shares of the classes, and the means of the columns in each class in
// spreads of the column.
func (t *truth) discriminant(a analysis.Analysis) ([]Numbers, error) {
	label, rows := t.columns[a.LDA.Column], t.rows()
	shares := tally{n: Numbers{Kind: a.Kind, Of: "shares of classes", Measure: "share", Level: a.Level}}
	means := tally{n: Numbers{Kind: a.Kind, Of: "means of classes", Measure: "spreads", Level: a.Level}}
	for c, class := range a.LDA.Classes {
		number, err := strconv.ParseFloat(class, 64)
		if err != nil {
			return nil, fmt.Errorf("the testnet knows no truth about the class %q of %s", class, a.LDA.Column)
		}
		var members []int
		for _, i := range rows {
			if label.raw[i] == number {
				members = append(members, i)
			}
		}
		share := float64(len(members)) / float64(len(rows))
		if err := shares.add(class, a.LDA.Shares[c], share, share, 1); err != nil {
			return nil, err
		}
		for j, f := range a.Features {
			of := t.columns[f.Column]
			is, termsIs := mean(of.raw, members), mean(of.terms, members)
			if err := means.add(f.Name()+" of "+class, a.LDA.Means[c][j], is, termsIs, spread(of.raw, rows)); err != nil {
				return nil, err
			}
		}
	}
	return []Numbers{shares.close(), means.close()}, nil
}

// at returns the values of these rows that are not missing.
func at(values []float64, rows []int) (out []float64) {
	for _, i := range rows {
		if !math.IsNaN(values[i]) {
			out = append(out, values[i])
		}
	}
	return out
}

func mean(values []float64, rows []int) float64 { return stat.Mean(at(values, rows), nil) }

func spread(values []float64, rows []int) float64 { return stat.StdDev(at(values, rows), nil) }

// leastSquares regresses the last column on the others, with an intercept and a penalty of ridge
// times each column's variance.
func leastSquares(columns [][]float64, ridge float64) (coefficients []float64, explained float64, err error) {
	d := len(columns) - 1
	covariance := func(i, j int) float64 { return stat.Covariance(columns[i], columns[j], nil) }
	gram, right := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			c := covariance(i, j)
			if i == j {
				c *= 1 + ridge
			}
			gram.SetSym(i, j, c)
		}
		right.SetVec(i, covariance(i, d))
	}
	var solved mat.VecDense
	if err := solved.SolveVec(gram, right); err != nil {
		return nil, 0, fmt.Errorf("the regression on the pooled data: %w", err)
	}
	fitted := mat.Dot(&solved, right)
	var product mat.VecDense
	product.MulVec(gram, &solved)
	left := covariance(d, d) - 2*fitted + mat.Dot(&solved, &product)
	return solved.RawVector().Data, 1 - left/covariance(d, d), nil
}
