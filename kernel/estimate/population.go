package estimate

import "math"

// Span is the two ends of an interval. If Known is false there is none.
type Span struct {
	Low, High float64
	Known     bool
}

// times is the span times t, which must be above 0, plus shift.
func (s Span) times(t, shift float64) Span {
	if s.Known {
		s.Low, s.High = float64(t*s.Low)+shift, float64(t*s.High)+shift
	}
	return s
}

// Sample treats records as independent random draws from a population, and gives estimates their
// second interval ([Estimate.Population]). The first interval is about these records: it covers
// noise and projection. The second is about the population, and adds the sampling error.
//
// Both errors are independent, so their variances add up. An interval need not be symmetric: at
// each end the squares of the distances from the estimate add up (Zou and Donner 2008). The
// sampling variance is taken at the estimate. For N records it is
//
//	mean                 s²/N
//	share                p(1−p)/N
//	covariance           s_i² s_j² (μ₂₂ − ρ²)/N
//	variance             s⁴ (κ − 1)/N
//	correlation          (μ₂₂(1 + ρ²/2) + ρ²(κ_i + κ_j)/4 − ρ(μ₃₁ + μ₁₃))/N, on Fisher's scale
//
// with the moments μ of standardised values. For two numeric columns these are those of an
// elliptical distribution with kurtosis κ, the mean of both: μ₂₂ = κ(1+2ρ²)/3 and μ₃₁ = μ₁₃ = κρ.
// The correlation's variance then is (1−ρ²)²κ/3N, and the covariance's (s_i²s_j²(1+2ρ²)κ/3 − c²)/N,
// of which the variance's is a special case. For two binary columns all moments follow from their
// shares and ρ, without assumptions. Beside a numeric column a binary one counts as one of kurtosis
// 3, as no elliptical distribution has its kurtosis. Muirhead 1982, section 5.1, has the general
// and the elliptical form.
//
// The quantile is Student's with N − 1 degrees of freedom, at least one.
type Sample struct {
	records, quantile float64
}

// NewSample is a sample of that many records, which may be an estimate. With one record or fewer,
// or an invalid level, it gives no second intervals.
func NewSample(records float64, level Level) Sample {
	if !(records > 1) || math.IsInf(records, 0) || level.refuse() != "" {
		return Sample{}
	}
	return Sample{records, level.student(math.Max(1, records-1))}
}

// Values describes the distribution of a column's values, as far as sampling errors depend on it.
// The zero value has no spread.
type Values struct {
	variance float64
	kurtosis Kurtosis
	binary   bool
	share    float64
}

// Numeric is a numeric column with an estimated variance. A variance below zero, from noise, counts
// as zero.
func Numeric(variance float64, kurtosis Kurtosis) Values {
	return Values{variance: math.Max(0, variance), kurtosis: kurtosis}
}

// Binary is a column of two values that are step apart. Share is the fraction of records with the
// larger one.
func Binary(share, step float64) Values {
	p := clamp(share, 0, 1)
	return Values{variance: float64(float64(p*(1-p))*step) * step, binary: true, share: p}
}

// Times is the column in other units: its values times t.
func (v Values) Times(t float64) Values {
	v.variance = float64(v.variance*t) * t
	return v
}

// Kurtosis is E(x−μ)⁴/σ⁴ with its standard error, 0 if it is exact. The zero value means 3, for
// bell-shaped values.
type Kurtosis struct{ Value, Error float64 }

// assumed is the kurtosis to use: an uncertain one is shrunk towards 3, as by a normal prior around
// 3 with standard deviation 2.
func (k Kurtosis) assumed() float64 {
	if k.Value == 0 {
		return 3
	}
	half := k.Error / 2
	return math.Max(1, 3+(k.Value-3)/(1+float64(half*half)))
}

// fourth returns the fourth standardised moment.
func (v Values) fourth() float64 {
	if !v.binary {
		return v.kurtosis.assumed()
	}
	if q := float64(v.share * (1 - v.share)); q > 0 {
		return math.Max(1, 1/q-3)
	}
	return 3
}

// fourths are the fourth moments of two standardised columns: x⁴, y⁴, x²y², x³y and xy³.
type fourths struct{ xxxx, yyyy, xxyy, xxxy, xyyy float64 }

// beside returns the moments of two columns with a correlation, and the correlation clamped to the
// range that the columns allow.
func (v Values) beside(w Values, rho float64) (fourths, float64) {
	if v.binary && w.binary {
		return binaries(v, w, rho)
	}
	rho = clamp(rho, -1, 1)
	kurtosis := 0.0
	for _, of := range []Values{v, w} {
		if of.binary {
			kurtosis += 3.0 / 2
		} else {
			kurtosis += float64(of.fourth() / 2)
		}
	}
	third := float64(kurtosis * rho)
	return fourths{kurtosis, kurtosis, kurtosis * (1 + float64(2*float64(rho*rho))) / 3, third, third}, rho
}

// binaries are the moments of two binary columns. With t = (1−2p)/√(p(1−p)) a standardised binary
// column has x² = 1 + t x.
func binaries(v, w Values, rho float64) (fourths, float64) {
	p, q := v.share, w.share
	spread := math.Sqrt(float64(p*(1-p))) * math.Sqrt(float64(q*(1-q)))
	if !(spread > 0) {
		return fourths{1, 1, 1, 0, 0}, 0
	}
	product := float64(p * q)
	rho = clamp(rho, (math.Max(0, p+q-1)-product)/spread, (math.Min(p, q)-product)/spread)
	x, y := v.fourth(), w.fourth()
	skews := float64((1-2*p)*(1-2*q)) / spread
	return fourths{x, y, math.Max(0, 1+float64(skews*rho)), float64(rho * x), float64(rho * y)}, rho
}

// Mean adds the sampling error to the estimate of a mean, or of a share.
func (s Sample) Mean(e Estimate, of Values) Estimate {
	return s.adding(e, of.variance/(s.records-1)) // the variance was divided by N
}

// Sum adds it to the estimate of a sum: the sum over another sample of as many records.
func (s Sample) Sum(e Estimate, of Values) Estimate {
	return s.adding(e, float64(of.variance*s.records)*(s.records/(s.records-1)))
}

// Variance adds it to the estimate of a variance. For a numeric column the estimate is used, not
// the variance of Values.
func (s Sample) Variance(e Estimate, of Values) Estimate {
	variance := of.variance
	if !of.binary {
		variance = math.Max(0, e.Interval.Estimate)
	}
	return s.adding(e, float64(variance*variance)*(of.fourth()-1)/s.records)
}

// Covariance adds it to the estimate of the covariance of two different columns.
func (s Sample) Covariance(e Estimate, x, y Values) Estimate {
	scale := math.Sqrt(x.variance) * math.Sqrt(y.variance)
	if !(scale > 0) {
		return s.adding(e, 0)
	}
	m, rho := x.beside(y, e.Interval.Estimate/scale)
	return s.adding(e, float64(float64(scale*scale)*math.Max(0, m.xxyy-float64(rho*rho)))/s.records)
}

// Correlation adds it to the estimate of the correlation of two different columns over the same
// records.
func (s Sample) Correlation(e Estimate, x, y Values) Estimate {
	return s.correlation(e, x, y, 1, 1, 0)
}

// CorrelationE2 adds it to [Gram.CorrelationE2], whose standard deviations are over all records of
// each party, n_x and n_y, and the covariance over the N that both share:
//
//	(μ₂₂ − ρ²)/N + ρ²/4 ((κ_x−1)/n_x + (κ_y−1)/n_y + 2N(μ₂₂−1)/(n_x n_y)) − ρ((μ₃₁−ρ)/n_x + (μ₁₃−ρ)/n_y)
//
// The part that is already in the first interval, for standard deviations over other records than
// the shared ones, is not added again. For bell-shaped values (1 − ρ²N/n_x)(1 − ρ²N/n_y)/N is left.
func (s Sample) CorrelationE2(e Estimate, a, b Variable, x, y Values) Estimate {
	had, share := 0.0, [2]float64{1, 1}
	for i, v := range []Variable{a, b} {
		if n := float64(v.Ones.Records); n > 0 {
			had += sampling(v, n, s.records)
			share[i] = clamp(s.records/n, 0, 1)
		}
	}
	return s.correlation(e, x, y, share[0], share[1], had)
}

// correlation adds the sampling error to a correlation. The shared records are the fractions f and
// g of those that the standard deviations are over. Had is the part of the variance of ρ̂/ρ that
// the interval already has.
func (s Sample) correlation(e Estimate, x, y Values, f, g, had float64) Estimate {
	if !e.Defined() || s.records == 0 {
		return e
	}
	m, rho := x.beside(y, e.Interval.Estimate)
	square := float64(rho * rho)
	deviations := float64((m.xxxx-1)*f) + float64((m.yyyy-1)*g) + float64(float64(2*float64(m.xxyy-1)*f)*g)
	variance := m.xxyy - square + float64(float64(square*deviations)/4) - float64(rho*(float64((m.xxxy-rho)*f)+float64((m.xyyy-rho)*g)))
	variance = variance/s.records - float64(square*had)
	half := float64(s.quantile * math.Sqrt(math.Max(0, variance)))
	at := clamp(e.Interval.Estimate, e.Low, e.High)
	low, high := fisher(e.Low, -half), fisher(e.High, half)
	return s.within(e, at-length(at-e.Low, e.Low-low), at+length(e.High-at, high-e.High))
}

// fisher moves a correlation by d on Fisher's scale, d being given on the correlation's own scale:
// tanh(atanh r + d/(1−r²)). The hyperbolic tangent is its Padé approximant, which only uses
// arithmetic and so is the same on every machine. It is right to 4e-4 up to 1, and above that a
// little wide.
func fisher(r, d float64) float64 {
	if left := 1 - float64(r*r); left > 0 {
		d /= left
		square := float64(d * d)
		t := clamp(float64(d*(15+square))/(15+float64(6*square)), -1, 1)
		return (r + t) / (1 + float64(r*t))
	}
	return r
}

// adding adds the sampling variance to that of each end.
func (s Sample) adding(e Estimate, variance float64) Estimate {
	if !e.Defined() || s.records == 0 {
		return e
	}
	half := float64(s.quantile * math.Sqrt(math.Max(0, variance)))
	at := clamp(e.Interval.Estimate, e.Low, e.High)
	return s.within(e, at-length(at-e.Low, half), at+length(e.High-at, half))
}

// within sets the ends of the second interval. It stays in the range of the quantity and contains
// the first interval.
func (s Sample) within(e Estimate, low, high float64) Estimate {
	low = math.Min(e.Low, math.Max(low, e.least))
	high = math.Max(e.High, math.Min(high, e.most))
	for _, v := range []float64{low, high} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return e
		}
	}
	e.Population = Span{low, high, true}
	return e
}

// length is √(a² + b²), without overflow.
func length(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	if a < b {
		a, b = b, a
	}
	if a == 0 {
		return 0
	}
	t := b / a
	return float64(a * math.Sqrt(1+float64(t*t)))
}

// drawn is the number of records in the sample: if parties hold different records, of those that
// all hold. It is 0 for moments that are not centred, which are products and not of a sample.
func (m *Moments) drawn() (records float64) {
	switch {
	case !m.centred:
		return 0
	case len(m.shared) > 1:
		return m.sets.common
	case m.ones[0].Records > 0:
		return float64(m.ones[0].Records)
	}
	return m.shared[0][0]
}

// sampled sets the second intervals of the coefficients and the intercept, in the units in which
// variables were sketched. With the residual variance v = (1−R²)s_y² a coefficient of N records and
// p columns has the variance v [S⁻¹]_jj/(N−p−1), and the intercept v/N + v x̄ᵀS⁻¹x̄/(N−p−1).
// Residuals are assumed to have the same variance everywhere. A ridge is included in the inverse;
// the variance is then at least that of the ridge regression's coefficient.
func (f *fit) sampled(out *Regression) {
	records, p := f.m.drawn(), float64(len(f.o.On))
	s := NewSample(records-p, f.o.Level)
	if s.records == 0 {
		return
	}
	rest := f.m.matrix.At(f.o.Target, f.o.Target)
	if f.noisyTarget { // it may be as large as its error allows
		own := unit(len(f.m.vars), f.o.Target)
		rest = math.Max(0, rest) + float64(f.o.Level.z()*math.Sqrt(f.m.variance(f.m.gradient(own, own))))
	}
	if e := out.Residual; e.Defined() {
		rest = math.Min(rest, float64(e.Interval.Estimate*e.Interval.Estimate))
	}
	each := rest / (s.records - 1)
	var middle float64
	for a, i := range f.o.On {
		out.Coefficients[a] = s.adding(out.Coefficients[a], float64(each*f.inverse.At(a, a)))
		for b, j := range f.o.On {
			middle += float64(float64(f.mean(i)*f.mean(j)) * f.inverse.At(a, b))
		}
	}
	out.Intercept = s.adding(out.Intercept, rest/records+float64(each*math.Max(0, middle)))
}
