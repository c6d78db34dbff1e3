// Package outcome holds what the testnet learns from a study: every estimate
// beside the truth that only the testnet can see, what left the parties and
// what it cost. It computes the truth, measures the distance to it, and judges.
package outcome

import (
	"math"
	"time"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// Study is the outcome of one scenario.
type Study struct {
	Scenario scenario.Scenario
	Result   analysis.Result
	Exposure string             // what the sketches give away; empty when they carry noise
	Ledgers  map[string][]Spent // by party name: what its ledger holds of the dataset after this study
	RawBytes int64              // all parties' data files
	Elapsed  time.Duration

	Matrices []Matrix  // one for each analysis with intervals
	Clusters *Clusters // nil without k-means
}

// Spent is one dataset's line of a party's budget.
type Spent struct {
	Dataset   string
	Unit      string
	Epsilon   float64
	Delta     float64
	Unbounded bool // a release without noise is among them
	Releases  int
}

// ShippedBytes is the size of all releases.
func (s Study) ShippedBytes() int64 {
	var sum int64
	for _, p := range s.Result.Parties {
		sum += p.Bytes
	}
	return sum
}

// Matrix is one analysis of pairs: estimates with intervals, and the truth.
type Matrix struct {
	Kind      study.AnalysisKind
	Estimator study.Estimator // empty but for correlation
	Level     float64         // of the intervals
	Features  []Feature       // in the order of the result, grouped by party
	Pairs     []Pair
}

// Feature is one row of a Matrix.
type Feature struct {
	Party  int // index into scenario.PartyNames
	Column string
}

// Pair is one estimate. Estimate, Low and High are NaN when Undefined says why.
type Pair struct {
	I, J                int // indices into Features
	Cross               bool
	Estimate, Low, High float64
	Truth               float64
	Undefined           string
}

// Covered says whether the interval contains the truth.
func (p Pair) Covered() bool { return p.Low <= p.Truth && p.Truth <= p.High }

// Cross returns the pairs of different parties: what the study is for. Pairs
// within a party are known to it without any study.
func (m Matrix) Cross() []Pair {
	var pairs []Pair
	for _, p := range m.Pairs {
		if p.Cross {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// RMSE is the root mean square error of the defined cross-party estimates, in
// the unit of the estimates; NaN when there are none.
func (m Matrix) RMSE() float64 {
	var sum, n float64
	for _, p := range m.Cross() {
		if p.Undefined == "" {
			sum += (p.Estimate - p.Truth) * (p.Estimate - p.Truth)
			n++
		}
	}
	return math.Sqrt(sum / n)
}

// Coverage counts the cross-party pairs whose interval contains the truth. An
// undefined pair has no interval and does not count as covered.
func (m Matrix) Coverage() (covered, pairs int) {
	for _, p := range m.Cross() {
		if p.Covered() {
			covered++
		}
		pairs++
	}
	return covered, pairs
}
