package estimate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// RegressionOptions describe a regression on Moments that are centred and not scaled.
type RegressionOptions struct {
	Target int   // required: the variable to explain
	On     []int // required: the explaining variables, each once and not the target
	// Ridge is the fraction by which each explaining variable's variance is raised, so it does not
	// depend on units; 0 for least squares.
	Ridge float64
	// Raise allows a larger ridge if variables are otherwise collinear within their error.
	Raise bool
	// Units and Origins convert to original units: variable i is Units[i]·x + Origins[i]; nil for
	// the units as sketched. Units are above 0.
	Units, Origins []float64
	Level          Level
}

// Regression is the regression of one variable on others with an intercept, in original units.
type Regression struct {
	On           []int      // the explaining variables whose variance stands out of its error ([StandsOut]), in their order; the others are dropped
	Coefficients []Estimate // in the order of On
	Intercept    Estimate
	R2           Estimate // fraction of the target's variance that is explained; undefined if that variance does not stand out of its error
	Residual     Estimate // standard deviation of the residual; undefined if R2 is
	Freedom      float64  // degrees of freedom of the intervals: k minus the number of coefficients, intercept included; infinite for sums
	Condition    Estimate // the least eigenvalue of the correlations of the explaining variables
	Ridge        float64  // the ridge used
}

// MinConditionZ is how many of its standard errors the least eigenvalue of the correlations of the
// explaining variables must be above zero, if there is noise or parties hold different records.
// Otherwise a sketch is as singular as the data.
//
// If noise is as large as the variance in some direction, the debiased matrix may be nearly
// singular by chance. Intervals still cover enough, as their errors use the rows of the inverse,
// which grow with it. Coverage of coefficients is .95 to 1 without any rule, .95 to .98 with two
// standard errors, .94 to .99 with three. With four to six it is .83 to .96, as a higher threshold
// selects matrices that look better than they are. The rule only prevents intervals too wide to be
// useful, and two are enough for that.
const MinConditionZ = 2

// Regression computes the coefficients β = (C_xx + ridge·diag C_xx)⁻¹ c_xy. They are undefined if
// they are not identified. Explaining variables whose variance does not stand out of its error are
// dropped.
//
// With a row u of that inverse and r the residual, as vectors over the variables, the error of a
// coefficient is uᵀ dC r, less ridge times Σ u_i β_i dC_ii. Without noise and with equal record
// sets a sketch of k Gaussian coordinates is itself a sample of k from the regression. Its
// intervals are then exact: with Student's t, and k minus the number of coefficients for k. They
// are used throughout, and with noise they are those of the general rule. R² is one less the ratio
// of two squared norms, with Fieller's interval, and is corrected for what k coordinates explain by
// chance.
//
// Coefficients are divided only by variances of the explaining variables. For sums with noise the
// errors do not depend on the target's variance either, so coefficients are defined even if that
// variance does not stand out of its error.
func (m *Moments) Regression(o RegressionOptions) (*Regression, string) {
	f, why := m.fit(o)
	if why != "" {
		return nil, why
	}
	return f.regression(), ""
}

// fit is one regression, in the units in which variables were sketched.
type fit struct {
	m           *Moments
	o           RegressionOptions
	inverse     *mat.Dense // of C_xx, raised by ridge
	beta        []float64
	residual    []float64  // over all variables: 1 for the target, −β for the others
	slopes      []gradient // of β
	freedom     float64
	t           float64 // quantile of Student's t
	widen       float64 // factor on variances, for the fitted coefficients
	condition   Estimate
	doubts      doubts
	noisyTarget bool // the target's variance does not stand out of its error
}

const noTarget = "the target: " + noVariance

// Unprojected reports whether these are moments of sums with noise, whose errors depend on no
// variance.
func (m *Moments) Unprojected() bool { return m.gram == nil && !m.law.exact(m) }

func (m *Moments) fit(o RegressionOptions) (*fit, string) {
	drowned := m.constant(o.Target)
	if drowned && !m.Unprojected() {
		return nil, noTarget
	}
	o.On = slices.DeleteFunc(slices.Clone(o.On), m.constant)
	p := len(o.On)
	if p == 0 {
		return nil, "the variance of no explaining column stands out of its error"
	}
	f := &fit{m: m, o: o, noisyTarget: drowned, freedom: m.law.freedom(m) - float64(p+1), widen: 1}
	if why := o.Level.refuse(); why != "" {
		return nil, why
	}
	if f.freedom < 1 {
		return nil, fmt.Sprintf("k = %g is too small for %d coefficients and an intercept", m.law.freedom(m), p)
	}
	f.t = o.Level.student(f.freedom)
	if !math.IsInf(f.freedom, 1) {
		f.widen = m.law.freedom(m) / f.freedom
	}
	if why := f.identify(); why != "" {
		return nil, why
	}
	if err := f.solve(); err != nil {
		return nil, err.Error()
	}
	for a := range p {
		u := f.row(a)
		s := m.gradient(u, f.residual)
		if f.o.Ridge > 0 {
			share := make([]float64, len(m.vars))
			for b, i := range o.On {
				share[i] = -float64(float64(f.o.Ridge*u[i])*f.beta[b]) * m.matrix.At(i, i)
			}
			s = s.plusVariances(m, share)
		}
		f.slopes = append(f.slopes, s)
	}
	var variances []divisor
	for _, i := range o.On {
		variances = append(variances, m.divisor(i))
	}
	f.doubts = doubtsOf(variances, f.inverse, 1+f.o.Ridge, o.Level)
	return f, ""
}

// identify returns the reason if the explaining variables are collinear within their error, else
// "". It raises the ridge if it may.
func (f *fit) identify() string {
	least, v, err := leastEigenvalue(f.m.matrix, f.o.On)
	if err != nil {
		return err.Error()
	}
	u := make([]float64, len(f.m.vars))
	for a, i := range f.o.On {
		u[i] = v[a] / math.Sqrt(f.m.matrix.At(i, i))
	}
	deviation := math.Sqrt(f.m.variance(f.m.gradient(u, u)))
	half := float64(f.o.Level.z() * deviation)
	f.condition = newEstimate(least, least-half, least+half, 0, float64(len(u))).withVariance(deviation * deviation)
	raised := least + f.o.Ridge
	if enough := float64((MinConditionZ + 1) * deviation); f.o.Raise && !f.m.law.exact(f.m) && raised < enough {
		f.o.Ridge += enough - raised
		raised = enough
	}
	if raised < negligible || !f.m.law.exact(f.m) && !(raised >= float64(MinConditionZ*deviation)) {
		return notIdentified(least, deviation)
	}
	return ""
}

func notIdentified(least, deviation float64) string {
	return fmt.Sprintf("not identified: the explaining columns are collinear within their error (the least eigenvalue of their correlations is %.3g, with standard error %.3g; it has to be at least %d times that)",
		least, deviation, MinConditionZ)
}

// leastEigenvalue is the least eigenvalue of the correlations of some variables, with its
// eigenvector.
func leastEigenvalue(c *mat.SymDense, of []int) (float64, []float64, error) {
	r := mat.NewSymDense(len(of), nil)
	for a, i := range of {
		for b, j := range of[:a] {
			r.SetSym(b, a, c.At(i, j)/math.Sqrt(c.At(i, i))/math.Sqrt(c.At(j, j)))
		}
		r.SetSym(a, a, 1)
	}
	e, err := symmetric(r)
	if err != nil {
		return 0, nil, err
	}
	last := len(of) - 1
	return e.Values[last], e.Vectors[last], nil
}

// solve computes β from the inverse, whose rows the errors need as well.
func (f *fit) solve() (err error) {
	o, c, p := f.o, f.m.matrix, len(f.o.On)
	raised := mat.NewSymDense(p, nil)
	for a, i := range o.On {
		for b, j := range o.On[:a+1] {
			raised.SetSym(b, a, c.At(j, i))
		}
		raised.SetSym(a, a, c.At(i, i)*(1+o.Ridge))
	}
	if f.inverse, err = inverse(raised); err != nil {
		return err
	}
	f.beta, f.residual = make([]float64, p), make([]float64, len(f.m.vars))
	f.residual[o.Target] = 1
	for a := range p {
		for b, j := range o.On {
			f.beta[a] += float64(f.inverse.At(a, b) * c.At(j, o.Target))
		}
		f.residual[o.On[a]] = -f.beta[a]
	}
	return nil
}

// row is row a of the inverse, over all variables.
func (f *fit) row(a int) []float64 {
	u := make([]float64, len(f.m.vars))
	for b, j := range f.o.On {
		u[j] = f.inverse.At(a, b)
	}
	return u
}

func (f *fit) unit(i int) float64 {
	if f.o.Units == nil {
		return 1
	}
	return f.o.Units[i]
}

// mean is the mean of a variable in its sketched units, from its original zero.
func (f *fit) mean(i int) float64 {
	if f.o.Origins == nil {
		return f.m.means[i]
	}
	return f.m.means[i] + f.o.Origins[i]/f.unit(i)
}

func (f *fit) regression() *Regression {
	out := &Regression{On: f.o.On, Freedom: f.freedom, Condition: f.condition, Ridge: f.o.Ridge}
	y := f.o.Target
	var plain []Estimate
	for a := range f.o.On {
		plain = append(plain, f.around(f.beta[a], f.m.variance(f.slopes[a])))
	}
	intercept := f.intercept()
	out.Coefficients, out.Intercept = f.doubts.bend(plain), f.doubts.bendCombination(intercept, plain, func(a int) float64 { return -f.mean(f.o.On[a]) })
	out.Residual, out.R2 = f.fitness(f.doubts.explained(plain))
	f.sampled(out)
	for a, i := range f.o.On {
		out.Coefficients[a] = out.Coefficients[a].Times(f.unit(y) / f.unit(i))
	}
	out.Intercept, out.Residual = out.Intercept.Times(f.unit(y)), out.Residual.Times(f.unit(y))
	return out
}

// around is an estimate with an interval from Student's t.
func (f *fit) around(at, variance float64) Estimate {
	variance *= f.widen
	half := float64(f.t * math.Sqrt(math.Max(0, variance)))
	return newEstimate(at, at-half, at+half, math.Inf(-1), math.Inf(1)).withVariance(variance)
}

// intercept is mean_y − Σ β mean_x. The error of the residual's mean is Σ_p Err(r_p, 1_p)/N_pp.
func (f *fit) intercept() Estimate {
	at, s := f.mean(f.o.Target), gradient{}
	for p, r := range f.m.byParty(f.residual) {
		if r.a != nil {
			s.parts = append(s.parts, gradientPart{r.times(1 / f.m.shared[p][p]), f.m.one(p)})
			s = s.plus(1/f.m.shared[p][p], f.m.loose(p, f.residual))
		}
	}
	for a, i := range f.o.On {
		at -= float64(f.beta[a] * f.mean(i))
		s = s.plus(-f.mean(i), f.slopes[a])
	}
	return f.around(at, f.m.variance(s)+f.sampledMeans())
}

// loose is a part of the slope of a party's mean of a combination of variables, times its number of
// records: that of the error of the column of ones with itself.
func (m *Moments) loose(p int, u []float64) gradient {
	if m.gram == nil || m.own[p].loose == 0 {
		return gradient{}
	}
	var mean float64
	for i, v := range u {
		if m.party[i] == p {
			mean += float64(v * m.means[i])
		}
	}
	return gradient{parts: []gradientPart{{m.one(p).times(mean * m.own[p].loose), m.one(p)}}}
}

// sampledMeans is the variance of the difference between means over a party's own records and those
// over the records that all share.
func (f *fit) sampledMeans() (sum float64) {
	sets := f.m.sets
	if sets.same {
		return 0
	}
	parts := make([][]float64, len(f.m.shared))
	for p := range parts {
		parts[p] = make([]float64, len(f.residual))
		for i, v := range f.residual {
			if f.m.party[i] == p {
				parts[p][i] = v
			}
		}
	}
	for p, u := range parts {
		for q, v := range parts {
			sum += float64(sets.factor(p, p, q, q) * inner2(u, f.m.times(v)))
		}
	}
	return math.Max(0, sum)
}

// fitness is the residual's standard deviation, and R². More is how much more of the target's
// variance the explaining variables may explain than is observed.
func (f *fit) fitness(more float64) (residual, r2 Estimate) {
	if f.noisyTarget {
		return undefined(noTarget), undefined(noTarget)
	}
	m, y := f.m, f.o.Target
	r, e := f.residual, unit(len(m.vars), y)
	left, own := m.gradient(r, r), m.gradient(e, e)
	if f.o.Ridge > 0 { // only for least squares is the residual's variance stationary in β
		against := m.times(r)
		for a, i := range f.o.On {
			left = left.plus(-2*against[i], f.slopes[a])
		}
	}
	rest, total := inner2(r, m.times(r)), m.matrix.At(y, y)
	noise := inner2(r, product(m.rawMatrix(), r)) - rest
	taken, spread := f.chance()
	// The fit reduces the residual by what it explains by chance.
	s := squared{estimate: rest, push: -taken, noise: noise, variance: m.variance(left) + spread, k: f.freedom}
	squaredResidual := s.estimateAt(f.o.Level)
	if !squaredResidual.Defined() {
		return squaredResidual, squaredResidual
	}
	rest += taken
	target := f.m.divisor(y)
	less := float64(target.value * (1 - target.shrink(f.o.Level))) // how much too large both variances may be
	low, high := math.Sqrt(math.Max(0, squaredResidual.Low-more-less)), math.Sqrt(squaredResidual.High)
	at := math.Sqrt(math.Max(0, rest))
	deviation := squaredResidual.StandardError / 2 / math.Max(at, (low+high)/4)
	residual = newEstimate(math.Max(at, 0), low, high, 0, math.Inf(1)).withVariance(deviation * deviation)

	// 1 − R² = rest/total: all shares for which rest − share·total is within z standard errors.
	z2 := float64(f.t * f.t)
	nn, nm, mm := m.variance(left)+spread, m.joint(left, own), m.variance(own)
	share := rest / total
	nn, nm, mm = nn/total/total, nm/total/total, mm/total/total
	a := 1 - float64(z2*mm)
	variance := nn - float64(2*float64(share*nm)) + float64(float64(share*share)*mm)
	if a <= 0 {
		return residual, newEstimate(clamp(1-share, 0, 1), 0, 1, 0, 1).withVariance(variance)
	}
	lo, hi := between(a, share-float64(z2*nm), float64(share*share)-float64(z2*nn))
	if more > 0 || less > 0 { // more explained, of a smaller variance
		half := float64(f.t * math.Sqrt(math.Max(0, nn-float64(2*nm)+mm)))
		lo = math.Min(lo, 1-(1-share+half+more/total)/(1-less/total))
	}
	return residual, newEstimate(clamp(1-share, 0, 1), 1-hi, 1-lo, 0, 1).withVariance(variance)
}

// chance is what errors of coefficients explain of the target by chance, βᵀ C_xx β for these
// errors, and the variance of that.
func (f *fit) chance() (mean, variance float64) {
	p := len(f.o.On)
	errors, c := mat.NewDense(p, p, nil), mat.NewDense(p, p, nil)
	for a, i := range f.o.On {
		for b, j := range f.o.On {
			c.Set(a, b, f.m.matrix.At(i, j))
			if b <= a {
				v := float64(f.widen * f.m.joint(f.slopes[a], f.slopes[b]))
				errors.Set(a, b, v)
				errors.Set(b, a, v)
			}
		}
	}
	shares := multiply(errors, c)
	for a := range p {
		mean += shares.At(a, a)
		for b := range p {
			variance += float64(2 * float64(shares.At(a, b)*shares.At(b, a)))
		}
	}
	return mean, variance
}
