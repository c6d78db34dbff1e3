package forecast

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// Member is one of the two columns of a pair, with the other contents of its party's sketch.
type Member struct {
	Column    Column                     // of encoded values
	Origin    float64                    // added to an encoded value in an answer, in encoded units: lower bound or centre over the unit; 0 if the sketch has no ones
	Records   float64                    // required: the party's records; of the union, those of all parties
	Ones      float64                    // weight of the column of ones; 0: none
	Keep      Contribution               // of a record; Whole if nothing is clipped
	Noise     estimate.Noise             // on a coordinate of values and squares, in encoded units; of the union, that of all parties together
	OnesNoise estimate.Noise             // like Noise, of the column of ones
	Unit      float64                    // real size of an encoded unit; 0 means 1
	Own       *estimate.PublishedMoments // expected moments that the party publishes beside its sketch; nil if it does not
}

// Pair is two uncorrelated columns in sketches of k coordinates.
type Pair struct {
	K       int            // required
	X, Y    Member         // required
	Shared  float64        // records that both hold, a random part of each party's
	Union   bool           // X and Y are columns of one sketch, and so is the column of ones
	Squares bool           // squares are sketched too
	Level   estimate.Level // of the interval; 0 means 95 %
}

// Error is the forecast of one answer.
type Error struct {
	StandardError float64 // standard error
	HalfWidth     float64 // half of the width of the interval
	Undefined     string  // why there is no interval; empty if there is one
	z             float64 // standard errors to either side in a normal interval of the level
	unclamped     float64 // standard error without the cut of Within, if larger

	Standings []estimate.Standing // divisors of the answer, each once
}

// quantile returns the z of a level; 0 means the default level.
func quantile(l estimate.Level) float64 {
	if l == 0 {
		l = estimate.DefaultLevel
	}
	return math.Sqrt2 * math.Erfinv(float64(l))
}

// Detects returns the least effect whose interval excludes zero, in the units of Deviation.
func (e Error) Detects() float64 { return e.z * math.Max(e.StandardError, e.unclamped) }

// FailureProbability returns about the probability that there is no answer because a divisor does not stand out
// of its error. It is 1 if no answer is expected.
func (e Error) FailureProbability() float64 {
	if e.Undefined != "" {
		return 1
	}
	kept := 1.0
	for _, s := range e.Standings {
		kept *= 1 - s.Lost(1)
	}
	return 1 - kept
}

// WithNoise returns the error if columns have by times as much noise relative to their values.
func (e Error) WithNoise(by float64) Error {
	e = e.times(by)
	standings := e.Standings
	e.Standings = nil
	for _, s := range standings {
		if !s.Count {
			s.Value /= by
		}
		e.Standings = append(e.Standings, s)
	}
	return e
}

// WithVariance returns the error if columns keep only a part of their variance, so that divisors may
// no longer stand out.
func (e Error) WithVariance(part float64) Error {
	standings := slices.Clone(e.Standings)
	for i := range standings {
		if !standings[i].Count {
			standings[i].Value *= part
		}
	}
	e.Standings = standings
	return e
}

// standing returns the error with the divisors of its answer.
func (e Error) standing(on []estimate.Standing) Error {
	if e.Undefined == "" {
		e.Standings = on
	}
	return e
}

// in returns the error of an estimate of a level in units of a scale.
func in(scale float64, e estimate.Estimate, level estimate.Level) Error {
	if !e.Defined() {
		return Error{Undefined: e.Undefined}
	}
	return Error{StandardError: e.StandardError / scale, HalfWidth: (e.High - e.Low) / 2 / scale, z: quantile(level)}
}

// Indices of the columns in a pair's Gram matrix.
const (
	atX, atXX, atOnesX = 0, 1, 2
	atY, atYY, atOnesY = 3, 4, 5
)

// gram returns the expected Gram matrix of x, x², ones, y, y², ones.
func (p Pair) gram() (*estimate.Gram, error) {
	h := mat.NewSymDense(6, nil)
	noise := make([]estimate.Noise, 6)
	for at := range 6 {
		noise[at] = []estimate.Noise{p.X.Noise, p.X.Noise, p.X.OnesNoise, p.Y.Noise, p.Y.Noise, p.Y.OnesNoise}[at]
		for other := range at + 1 {
			h.SetSym(other, at, p.product(other, at))
		}
	}
	return estimate.Expected(h, p.K, noise)
}

// product returns the expected inner product of the columns at two indices.
func (p Pair) product(a, b int) float64 {
	x, y := p.X.Column.moments(), p.Y.Column.moments()
	power := [3]int{1, 2, 0}
	weight := func(at int) float64 {
		switch at {
		case atOnesX:
			return p.X.Ones
		case atOnesY:
			return p.Y.Ones
		}
		return 1
	}
	w := weight(a) * weight(b)
	cut := func(at int) bool { return at != atOnesX && at != atOnesY } // ones are never clipped
	// kept returns the factor by which clipping reduces the product of two columns over one party's
	// records.
	kept := func(c Contribution) float64 {
		switch {
		case cut(a) && cut(b):
			return c.Square
		case cut(a) || cut(b):
			return c.Mean
		}
		return 1
	}
	switch {
	case b < atY:
		return w * p.X.Records * kept(p.X.Keep) * x[power[a]+power[b]]
	case a >= atY:
		return w * p.Y.Records * kept(p.Y.Keep) * y[power[a-atY]+power[b-atY]]
	case p.Union:
		return w * p.Shared * kept(p.X.Keep) * x[power[a]] * y[power[b-atY]]
	}
	if cut(a) {
		w *= p.X.Keep.Mean
	}
	if cut(b) {
		w *= p.Y.Keep.Mean
	}
	return w * p.Shared * x[power[a]] * y[power[b-atY]]
}

// combination returns a member as answers name it: in original units.
func (m Member) combination(value, ones int) estimate.Combination {
	unit := m.unit()
	if m.Origin == 0 || m.Ones == 0 {
		return estimate.Combination{{Column: value, Weight: unit}}
	}
	return estimate.Combination{{Column: value, Weight: unit}, {Column: ones, Weight: unit * m.Origin / m.Ones}}
}

func (m Member) unit() float64 {
	if m.Unit == 0 {
		return 1
	}
	return m.Unit
}

// onesY returns the index of the ones that belong to Y.
func (p Pair) onesY() int {
	if p.Union {
		return atOnesX
	}
	return atOnesY
}

// combinations returns both columns in original units.
func (p Pair) combinations() (x, y estimate.Combination) {
	return p.X.combination(atX, atOnesX), p.Y.combination(atY, p.onesY())
}

// length returns |x| of one party's column in original units, over so many records.
func (m Member) length(records float64) float64 {
	c := m.Column
	if m.Ones > 0 {
		c.Mean += m.Origin
	}
	return m.unit() * math.Sqrt(records*c.moments()[2])
}

// InnerProduct forecasts ⟨x, y⟩ in units of |x||y| over the shared records, so that an
// error of 1 is as large as a product can be.
func (p Pair) InnerProduct() (Error, error) {
	g, err := p.gram()
	if err != nil {
		return Error{}, err
	}
	x, y := p.combinations()
	return in(p.X.length(p.Shared)*p.Y.length(p.Shared), g.InnerProduct(x, y, p.Level), p.Level), nil
}

// Distance forecasts |x − y|², in units of itself.
func (p Pair) Distance() (Error, error) {
	g, err := p.gram()
	if err != nil {
		return Error{}, err
	}
	x, y := p.combinations()
	e := g.SquaredDistance(x, y, p.Level)
	return in(e.Interval.Estimate, e, p.Level), nil
}

// Cosine forecasts the cosine of x and y.
func (p Pair) Cosine() (Error, error) {
	g, err := p.gram()
	if err != nil {
		return Error{}, err
	}
	x, y := p.combinations()
	return in(1, g.Cosine(x, y, p.Level), p.Level), nil
}

// variables returns both columns as correlations name them.
func (p Pair) variables() (x, y estimate.Variable) {
	x = estimate.Variable{Value: atX, Ones: p.X.ones(atOnesX), Squares: atXX, SquaresWeight: 1, Kurtosis: p.X.Column.Kurtosis, Own: p.X.Own}
	y = estimate.Variable{Value: atY, Ones: p.Y.ones(p.onesY()), Squares: atYY, SquaresWeight: 1, Kurtosis: p.Y.Column.Kurtosis, Own: p.Y.Own}
	return x, y
}

func (m Member) ones(at int) estimate.Ones {
	return estimate.Ones{Column: at, Weight: m.Ones, Records: int(m.Records)}
}

// CorrelationE1 forecasts the correlation by estimator E1.
func (p Pair) CorrelationE1() (Error, error) {
	g, err := p.gram()
	if err != nil {
		return Error{}, err
	}
	x, y := p.variables()
	return in(1, g.CorrelationE1(x, y, p.Level), p.Level).standing(g.StandingsE1(x, y)), nil
}

// CorrelationE2 forecasts the correlation by estimator E2.
func (p Pair) CorrelationE2() (Error, error) {
	g, err := p.gram()
	if err != nil {
		return Error{}, err
	}
	x, y := p.variables()
	return in(1, g.CorrelationE2(x, y, p.Level), p.Level).standing(g.Standings(x, y)), nil
}

// Intersection forecasts the number of shared records, in units of Shared.
func (p Pair) Intersection() (Error, error) {
	g, err := p.gram()
	if err != nil {
		return Error{}, err
	}
	return in(p.Shared, g.Intersection(p.X.ones(atOnesX), p.Y.ones(atOnesY), p.Level), p.Level), nil
}

// SharedStanding returns the standing of the number of records that the two parties share.
func (p Pair) SharedStanding() ([]estimate.Standing, error) {
	g, err := p.gram()
	if err != nil {
		return nil, err
	}
	return g.Shared(p.X.ones(atOnesX), p.Y.ones(p.onesY())), nil
}

// Covariance forecasts the covariance in units of the product of both spreads, so that
// an error of 1 is as large as a covariance can be.
func (p Pair) Covariance() (Error, error) {
	g, err := p.gram()
	if err != nil {
		return Error{}, err
	}
	x, y := p.variables()
	return in(p.X.Column.Spread*p.Y.Column.Spread, g.Covariance(x, y, p.Level), p.Level).standing(g.Shared(x.Ones, y.Ones)), nil
}

// Mean forecasts the mean of X over the records that Y's party shares, in units of X's
// spread. Y's column is not used.
func (p Pair) Mean() (Error, error) {
	g, err := p.gram()
	if err != nil {
		return Error{}, err
	}
	x, y := p.variables()
	return in(p.X.Column.Spread, g.Mean(x, y.Ones, p.Level), p.Level).standing(g.Shared(x.Ones, y.Ones)), nil
}

// Variance forecasts the variance of X, in units of itself.
func (p Pair) Variance() (Error, error) {
	g, err := p.gram()
	if err != nil {
		return Error{}, err
	}
	x, _ := p.variables()
	out := in(p.X.Column.Spread*p.X.Column.Spread, g.Covariance(x, x, p.Level), p.Level)
	out.StandardError = math.Sqrt(math.Max(0, out.StandardError*out.StandardError-p.bits()))
	return out, nil
}

// bits returns how much smaller the squared error of the variance of randomised bits is than
// intervals say, which ignore third moments. Around its mean m, a bit that was flipped with noise
// of variance v has squares whose noise has a variance of (1−2m)²v, and not v + 4vm(1−m); the
// difference is 8vm(1−m). It is in units of the squared variance m(1−m).
func (p Pair) bits() float64 {
	if p.X.Noise.Sources == 0 {
		return 0
	}
	v := p.X.Noise.Variance * float64(p.K) / p.X.Noise.Sources
	return 8 * v / (p.X.Records * p.X.Column.Spread * p.X.Column.Spread)
}

// Clamped returns the error of a number with this value once it is cut to the range from lo to hi,
// which contains it, all in the units of Deviation. Detects ignores the cut.
func (e Error) Clamped(value, lo, hi float64) Error {
	s := e.StandardError
	if e.Undefined != "" || !(s > 0) {
		return e
	}
	e.unclamped = math.Max(e.unclamped, s)
	part := func(end float64) float64 { // of E min(Z, end)² for Z > 0
		if math.IsInf(end, 1) {
			return 0.5
		}
		beyond := math.Erfc(end/math.Sqrt2) / 2
		return end*end*beyond + 0.5 - beyond - end*math.Exp(-end*end/2)/math.Sqrt(2*math.Pi)
	}
	e.StandardError = s * math.Sqrt(part(math.Max(0, value-lo)/s)+part(math.Max(0, hi-value)/s))
	return e
}
