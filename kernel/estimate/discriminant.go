package estimate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Indicator derives a class from a variable: Weight·x + Offset is 1 in the records of the class and
// 0 in all others.
type Indicator struct {
	Variable       int
	Weight, Offset float64
}

// DiscriminantOptions describe a discriminant on Moments that are of one set of records, centred
// and not scaled.
type DiscriminantOptions struct {
	Classes []Indicator // required: at least two; each record is in one
	On      []int       // required: the explaining variables, each once and no indicator
	Raise   bool        // allows a larger ridge if variables are collinear within their error
	Ridge   float64     // fraction of its total variance by which each variable's variance within classes is raised; 0 for none
	// Units and Origins are as those of RegressionOptions.
	Units, Origins []float64
	Level          Level
}

// Discriminant is the linear discriminant of Fisher 1936 and, for several classes, Rao 1948: the
// linear scores that are best if values are normal within each class, with one covariance.
type Discriminant struct {
	Classes []int         // the classes whose share stands out of its error ([StandsOut]), as indices into the options' classes; the others are left out
	On      []int         // the variables whose variance stands out of its error, in total and within classes with the ridge, in their order; the others are dropped
	Shares  []Estimate    // of the records, by class
	Means   [][]Estimate  // by class and variable, in original units
	Within  *mat.SymDense // the pooled covariance within classes, in units of the variables
	// Weights are by class except the first, and by variable: how much a score rises above that of
	// the first class, per original unit.
	Weights [][]Estimate
	// Planes are the scores of all classes except the first, relative to the first's, in units of
	// the variables.
	Planes    []Score
	Apart     []ClassPair // each pair of classes
	Condition Estimate    // the least eigenvalue of the correlations within classes, raised by the ridge
	Ridge     float64     // the ridge used
}

// Score is Weights·x + Bias.
type Score struct {
	Weights []float64
	Bias    float64
}

// ClassPair is the separation of classes I and J, indices into Discriminant.Classes.
type ClassPair struct {
	I, J     int
	Distance Estimate // squared distance of the means in units of the spread within classes (Mahalanobis), raised by the ridge
	// Accuracy is the fraction of the two classes' records that the best score classifies
	// correctly, if values are normal within classes with one covariance.
	Accuracy Estimate
}

// Discriminant computes the scores from the covariances alone. Let π_c be the mean of the indicator
// of class c, and C_c its covariances with the other variables. Then the means of the class are μ +
// C_c/π_c, and the covariance within classes is
//
//	S = C − Σ_c (C_c C_cᵀ − Cov(C_c))/π_c
//
// where the last term subtracts what errors add to squares. A score's weights are w = S⁻¹δ, δ being
// the difference of two means. The squared distance of the means is δᵀw. With g = dδ − dS w the
// errors of these are S⁻¹g and wᵀ(dδ + g). On average the distance is too large by tr(S⁻¹ Cov(g)).
// That is subtracted from the distance, but not from the upper end of its interval: nearly singular
// matrices pass as identified if they look least singular, and their distances are too small.
// Intervals are about the records' own scores, those of the exact moments.
//
// With a ridge S is raised by ridge·diag C in all of this, C being the covariances of all records,
// which the noise is on. Distances, and accuracies computed from them, are then smaller than with S
// alone.
func (m *Moments) Discriminant(o DiscriminantOptions) (*Discriminant, string) {
	if why := o.Level.refuse(); why != "" {
		return nil, why
	}
	d := &discriminant{m: m, o: o, z: o.Level.z()}
	if why := d.classes(); why != "" {
		return nil, why
	}
	if why := d.columns(); why != "" {
		return nil, why
	}
	if why := d.within(); why != "" {
		return nil, why
	}
	return d.discriminant(), ""
}

// discriminant is the state of one call of Discriminant, in the units in which variables were
// summed.
type discriminant struct {
	m         *Moments
	o         DiscriminantOptions
	z         float64
	kept      []int // classes
	shares    []float64
	between   [][]float64 // C_c by kept class, over all variables
	matrix    *mat.SymDense
	values    []float64 // of S
	vectors   [][]float64
	inverse   *mat.Dense // of S, raised by the ridge
	doubts    doubts
	condition Estimate
}

// classes keeps the classes that stand out.
func (d *discriminant) classes() string {
	for c, of := range d.o.Classes {
		share := float64(of.Weight*d.m.means[of.Variable]) + of.Offset
		if !plainDivisor(share, d.m.variance(d.share(c))).stands() {
			continue
		}
		d.kept, d.shares = append(d.kept, c), append(d.shares, share)
		d.between = append(d.between, d.m.times(d.indicator(c)))
	}
	d.explain(d.o.On)
	if len(d.kept) < 2 {
		return fmt.Sprintf("%d of %d classes stand out of the noise: at least two are needed", len(d.kept), len(d.o.Classes))
	}
	return ""
}

// explain makes these the only explaining variables.
func (d *discriminant) explain(on []int) {
	d.o.On = on
	for _, between := range d.between {
		for i := range between {
			if !slices.Contains(on, i) {
				between[i] = 0
			}
		}
	}
}

// columns drops the variables whose variance does not stand out of its error: in total, or within
// the classes, raised by the ridge.
func (d *discriminant) columns() string {
	var on []int
	for _, i := range d.o.On {
		if d.divisor(i).stands() && d.m.divisor(i).stands() {
			on = append(on, i)
		}
	}
	if len(on) == 0 {
		return "the variance of no column within classes stands out of its error"
	}
	d.explain(on)
	return ""
}

// divisor is the variance of a variable within classes, raised by the ridge, as the divisor of
// scores.
func (d *discriminant) divisor(i int) divisor {
	e := unit(len(d.m.vars), i)
	return plainDivisor(d.covariance(i, i)+float64(d.o.Ridge*d.m.matrix.At(i, i)), d.m.variance(d.raisedSpread(e, e)))
}

// covariance is the covariance of two variables within classes.
func (d *discriminant) covariance(i, j int) float64 {
	v := d.m.matrix.At(i, j)
	for at, c := range d.kept {
		e := d.indicator(c)
		own := d.m.joint(d.m.gradient(unit(len(e), i), e), d.m.gradient(unit(len(e), j), e))
		v -= (float64(d.between[at][i]*d.between[at][j]) - own) / d.shares[at]
	}
	return v
}

// indicator is the indicator of a class of the options, over all variables.
func (d *discriminant) indicator(class int) []float64 {
	of := d.o.Classes[class]
	return times(of.Weight, unit(len(d.m.vars), of.Variable))
}

// share is the slope of a class's share.
func (d *discriminant) share(class int) gradient { return d.mean(d.indicator(class)) }

// mean is the slope of the mean of a combination of variables.
func (d *discriminant) mean(of []float64) gradient {
	return gradient{parts: []gradientPart{{d.m.byParty(of)[0].times(1 / d.m.shared[0][0]), d.m.one(0)}}}
}

// within computes S, and the inverse of S with the ridge. It returns the reason if that is singular
// within its error. If the ridge may be raised it is first doubled, up to doublings times, until it
// is not.
func (d *discriminant) within() string {
	p := len(d.o.On)
	d.matrix = mat.NewSymDense(p, nil)
	for a, i := range d.o.On {
		for b, j := range d.o.On[:a+1] {
			d.matrix.SetSym(b, a, d.covariance(i, j))
		}
	}
	raised, least, deviation, err := d.raise()
	for range doublings {
		if err != nil || !d.o.Raise || d.m.law.exact(d.m) || !d.collinear(least, deviation) {
			break
		}
		d.o.Ridge = math.Max(leastRidge, 2*d.o.Ridge)
		raised, least, deviation, err = d.raise()
	}
	if err != nil {
		return err.Error()
	}
	half := float64(d.z * deviation)
	d.condition = newEstimate(least, least-half, least+half, 0, float64(p)).withVariance(deviation * deviation)
	if d.collinear(least, deviation) {
		return notIdentified(least, deviation)
	}
	e, err := symmetric(raised)
	if err != nil {
		return err.Error()
	}
	d.values, d.vectors = e.Values, e.Vectors
	if d.inverse, err = inverse(raised); err != nil {
		return err.Error()
	}
	var variances []divisor
	for _, i := range d.o.On {
		variances = append(variances, d.divisor(i))
	}
	d.doubts = doubtsOf(variances, d.inverse, 1, d.o.Level)
	return ""
}

// Limits on raising a ridge: how often it is doubled, and the least ridge to start from.
const (
	doublings  = 12
	leastRidge = 0.01
)

// raise is S with the ridge, and the least eigenvalue of its correlations with its standard error.
func (d *discriminant) raise() (raised *mat.SymDense, least, deviation float64, err error) {
	p := len(d.o.On)
	raised = mat.NewSymDense(p, nil)
	raised.CopySym(d.matrix)
	all := make([]int, p)
	for a, i := range d.o.On {
		all[a] = a
		raised.SetSym(a, a, d.matrix.At(a, a)+float64(d.o.Ridge*d.m.matrix.At(i, i)))
	}
	least, v, err := leastEigenvalue(raised, all)
	if err != nil {
		return nil, 0, 0, err
	}
	u := make([]float64, p)
	for a := range u {
		u[a] = v[a] / math.Sqrt(raised.At(a, a))
	}
	return raised, least, math.Sqrt(d.m.variance(d.raisedSpread(d.over(u), d.over(u)))), nil
}

// collinear reports whether the least eigenvalue of correlations does not stand out of its error.
func (d *discriminant) collinear(least, deviation float64) bool {
	return least < negligible || !d.m.law.exact(d.m) && !(least >= float64(MinConditionZ*deviation))
}

// over turns a vector of the explaining variables into one over all variables.
func (d *discriminant) over(x []float64) []float64 {
	out := make([]float64, len(d.m.vars))
	for a, i := range d.o.On {
		out[i] = x[a]
	}
	return out
}

// on turns a vector over all variables into one of the explaining ones.
func (d *discriminant) on(x []float64) []float64 {
	out := make([]float64, len(d.o.On))
	for a, i := range d.o.On {
		out[a] = x[i]
	}
	return out
}

// taken is Σ_c (C_cᵀx)/π_c times the indicator of c.
func (d *discriminant) taken(x []float64) []float64 {
	out := make([]float64, len(x))
	for at, c := range d.kept {
		t := inner2(x, d.between[at]) / d.shares[at]
		for i, v := range d.indicator(c) {
			out[i] += float64(t * v)
		}
	}
	return out
}

// spread is the slope of xᵀ S y, x and y being over all variables.
func (d *discriminant) spread(x, y []float64) gradient {
	rest := append([]float64(nil), y...)
	for i, v := range d.taken(y) {
		rest[i] -= v
	}
	s := d.m.gradient(x, rest)
	if t := d.taken(x); inner2(t, t) > 0 {
		s = s.plus(-1, d.m.gradient(t, y))
	}
	for at, c := range d.kept {
		if t := float64(inner2(x, d.between[at])*inner2(y, d.between[at])) / d.shares[at] / d.shares[at]; t != 0 {
			s = s.plus(t, d.share(c))
		}
	}
	return s
}

// raisedSpread is the slope of xᵀ(S + ridge·diag C)y.
func (d *discriminant) raisedSpread(x, y []float64) gradient {
	s := d.spread(x, y)
	if d.o.Ridge == 0 {
		return s
	}
	share := make([]float64, len(x))
	for _, i := range d.o.On {
		share[i] = float64(float64(d.o.Ridge*x[i])*y[i]) * d.m.matrix.At(i, i)
	}
	return s.plusVariances(d.m, share)
}

// shift is the slope of xᵀδ, δ being the means of kept class i minus those of j.
func (d *discriminant) shift(x []float64, i, j int) (s gradient) {
	for n, at := range []int{i, j} {
		t := 1 - 2*float64(n)
		s = s.plus(t/d.shares[at], d.m.gradient(x, d.indicator(d.kept[at])))
		s = s.plus(-t*inner2(x, d.between[at])/d.shares[at]/d.shares[at], d.share(d.kept[at]))
	}
	return s
}

// contrast is δ and w of two kept classes, over all variables.
func (d *discriminant) contrast(i, j int) (delta, weights []float64) {
	delta = make([]float64, len(d.m.vars))
	for _, v := range d.o.On {
		delta[v] = d.between[i][v]/d.shares[i] - d.between[j][v]/d.shares[j]
	}
	return delta, d.over(product(d.inverse, d.on(delta)))
}

func (d *discriminant) discriminant() *Discriminant {
	out := &Discriminant{Classes: d.kept, On: d.o.On, Within: d.matrix, Condition: d.condition, Ridge: d.o.Ridge}
	for at, c := range d.kept {
		variance := d.m.variance(d.share(c))
		half := float64(d.z * math.Sqrt(variance))
		share := newEstimate(d.shares[at], d.shares[at]-half, d.shares[at]+half, 0, 1).withVariance(variance)
		share = plainDivisor(d.shares[at], variance).widen(share, d.o.Level)
		share.High = math.Min(share.High, 1)
		out.Shares = append(out.Shares, share)
		var means []Estimate
		for _, i := range d.o.On {
			means = append(means, d.original(d.classMean(at, i), i))
		}
		out.Means = append(out.Means, means)
		if at == 0 {
			continue
		}
		_, w := d.contrast(at, 0)
		weights := d.doubts.bend(d.plainWeights(at, 0))
		bias := stable(math.Log(d.shares[at] / d.shares[0]))
		for a, i := range d.o.On {
			weights[a] = weights[a].Times(1 / d.unit(i))
			shifts := d.between[at][i]/d.shares[at] + d.between[0][i]/d.shares[0]
			bias -= float64(w[i] * (d.m.means[i] + float64(shifts/2)))
		}
		out.Weights, out.Planes = append(out.Weights, weights), append(out.Planes, Score{Weights: d.on(w), Bias: bias})
	}
	for i := range d.kept {
		for j := i + 1; j < len(d.kept); j++ {
			out.Apart = append(out.Apart, d.apart(i, j))
		}
	}
	return out
}

// plainWeights are the weights of kept class i over j, with intervals that take the variances as
// observed.
func (d *discriminant) plainWeights(i, j int) (out []Estimate) {
	_, w := d.contrast(i, j)
	for a, v := range d.o.On {
		row := d.over(d.inverse.RawRowView(a))
		variance := d.m.variance(d.shift(row, i, j).plus(-1, d.raisedSpread(row, w)))
		half := float64(d.z * math.Sqrt(math.Max(0, variance)))
		out = append(out, newEstimate(w[v], w[v]-half, w[v]+half, math.Inf(-1), math.Inf(1)).withVariance(variance))
	}
	return out
}

// classMean is the mean of a variable over the records of a class: the mean of its product with the
// indicator over the class's share, with Fieller's interval.
func (d *discriminant) classMean(at, i int) Estimate {
	m, c := d.m, d.kept[at]
	e, share := unit(len(m.vars), i), d.share(c)
	numerator := m.gradient(e, d.indicator(c)).plus(d.shares[at], d.mean(e)).plus(m.means[i], share)
	t := d.shares[at] * d.shares[at]
	return fieller{
		ratio: m.means[i] + d.between[at][i]/d.shares[at],
		nn:    m.variance(numerator) / t, nm: m.joint(numerator, share) / t, mm: m.variance(share) / t,
	}.over(plainDivisor(d.shares[at], m.variance(share)).shrink(d.o.Level), d.o.Level, math.Inf(-1), math.Inf(1))
}

func (d *discriminant) unit(i int) float64 {
	if d.o.Units == nil {
		return 1
	}
	return d.o.Units[i]
}

func (d *discriminant) original(e Estimate, i int) Estimate {
	if e = e.Times(d.unit(i)); d.o.Origins != nil {
		e = e.Plus(d.o.Origins[i])
	}
	return e
}

// apart is the distance of two kept classes, with the accuracy.
func (d *discriminant) apart(i, j int) ClassPair {
	m := d.m
	delta, w := d.contrast(i, j)
	errs := func(x []float64) gradient { return d.shift(x, i, j).plus(-1, d.raisedSpread(x, w)) }
	at, push, variance := inner2(delta, w), 0.0, m.variance(errs(w).plus(1, d.shift(w, i, j)))
	for l, v := range d.vectors {
		t := m.variance(errs(d.over(v))) / d.values[l]
		push += t
		variance += float64(2 * float64(t*t))
	}
	half := float64(d.z * math.Sqrt(variance))
	more := 0.0
	if len(d.doubts) > 0 {
		more = d.doubts.explained(d.plainWeights(i, j))
	}
	out := ClassPair{I: i, J: j, Distance: newEstimate(math.Max(0, at-push), at-push-half, at+half+more, 0, math.Inf(1)).withVariance(variance)}
	if !out.Distance.Defined() {
		out.Accuracy = out.Distance
		return out
	}
	both := d.shares[i] + d.shares[j]
	prior := d.shares[i] / both
	priorError := m.variance(gradient{}.plus(d.shares[j]/both/both, d.share(d.kept[i])).plus(-d.shares[i]/both/both, d.share(d.kept[j])))
	best, turn := accuracy(out.Distance.Interval.Estimate, prior)
	low, _ := accuracy(out.Distance.Low, prior)
	high, _ := accuracy(out.Distance.High, prior)
	// Each error moves the accuracy by itself; they are combined as in Zou and Donner 2008.
	moved := float64(d.z*turn) * math.Sqrt(priorError)
	out.Accuracy = newEstimate(best, best-math.Sqrt(float64((best-low)*(best-low))+float64(moved*moved)),
		best+math.Sqrt(float64((high-best)*(high-best))+float64(moved*moved)), 0, 1)
	out.Accuracy.StandardError = (out.Accuracy.High - out.Accuracy.Low) / 2 / d.z
	return out
}

// accuracy is that of the best score for two normal classes with one covariance, at a squared
// distance. Slope is its derivative by the share of the first class.
func accuracy(distance, prior float64) (share, slope float64) {
	delta := math.Sqrt(distance)
	if delta == 0 {
		return math.Max(prior, 1-prior), math.Copysign(1, prior-.5)
	}
	half, shift := float64(delta/2), stable(math.Log(prior/(1-prior)))/delta
	first, second := normal(half+shift), normal(half-shift)
	return float64(prior*first) + float64((1-prior)*second), first - second
}

// normal is Φ.
func normal(x float64) float64 { return stable(math.Erfc(-x/math.Sqrt2) / 2) }
