package plan

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Format is the format of a plan.
const Format = "cosketch/plan/1"

// Plan is the forecast of a study, as JSON.
type Plan struct {
	Format      string        `json:"cosketch"`
	Study       string        `json:"study"` // id
	Name        string        `json:"name"`
	Party       string        `json:"party,omitempty"` // whose plan it is; empty: all parties
	Parties     []Party       `json:"parties"`
	Overlap     float64       `json:"overlap,omitempty"` // vertical: shared records of two parties over those of the smaller one
	Columns     []Column      `json:"columns"`
	Assumptions []string      `json:"assumptions"`
	Sketches    []Sketch      `json:"sketches"`
	Result      analysis.Size `json:"result"` // approximate size, at the aggregator and at each party
	Cost        Cost          `json:"cost"`
	Warnings    []Warning     `json:"warnings"`
	Instead     []Warning     `json:"instead"` // alternatives with smaller errors that promise or need something else: for the stewards to choose, not a fault of the study
}

// Party is one party's record count.
type Party struct {
	Name    string `json:"name"`
	Records int64  `json:"records"`
}

// Column is the expected distribution of a column, in its own units.
type Column struct {
	Name   string  `json:"name"`
	Mean   float64 `json:"mean"`
	Spread float64 `json:"spread"`
	From   string  `json:"from"` // declared, given, or assumed
}

// Sketch is one sketch of the study.
type Sketch struct {
	Side     sketch.Side `json:"side"`
	Method   string      `json:"method"`
	K        int         `json:"k"`
	Unit     dp.Unit     `json:"unit,omitempty"`
	Epsilon  dp.Epsilon  `json:"epsilon,omitempty"` // of this sketch
	Delta    dp.Delta    `json:"delta,omitempty"`
	Replaced bool        `json:"replaced,omitempty"` // neighbouring data sets differ by replacing one record by another
	Features int         `json:"features"`           // entries of a record's derived vector. From here on: of the party whose plan it is, or the largest of any party
	Bytes    int64       `json:"bytes"`              // approximate size of what one party sends
	RawBytes int64       `json:"raw_bytes"`          // size of the values as fixed-point integers
	Clipped  float64     `json:"clipped"`            // share of the records that are clipped
	Parties  []Part      `json:"parties"`            // these numbers for each party
	Rounding Rounding    `json:"rounding"`           // of the fixed point
	Labels   string      `json:"labels,omitempty"`   // what is sent beside the rows, in words
	Exposure *Exposure   `json:"exposure,omitempty"` // mechanism none: what the sketch reveals
	Analyses []Analysis  `json:"analyses"`
	OptimalK *float64    `json:"optimal_k,omitempty"` // records side, sparse and laplace: the k with the smallest errors of distances
	Identity bool        `json:"identity"`            // records side: not projecting has the smallest errors
}

// Part is one party's part of a sketch.
type Part struct {
	Name     string  `json:"name"`
	Features int     `json:"features"`
	Bytes    int64   `json:"bytes"`
	RawBytes int64   `json:"raw_bytes"`
	Clipped  float64 `json:"clipped"`
}

// Rounding is the cost of the fixed point.
type Rounding struct {
	Bits int     `json:"bits"`
	Bias float64 `json:"bias"` // largest change of a value, over the smallest spread of a column; a correlation changes by no more
}

// Exposure is what a sketch without noise reveals to anyone who knows R.
type Exposure struct {
	Share      float64 `json:"share"` // values released per value held: k/m on the columns side
	RSquared   float64 `json:"r_squared"`
	Alone      float64 `json:"alone"` // share of the records (or columns) that are alone in the sketch
	Acceptable bool    `json:"acceptable"`
	Reason     string  `json:"reason,omitempty"`
	Text       string  `json:"text"`
}

// Analysis is one question's forecast.
type Analysis struct {
	Kind      study.AnalysisKind `json:"kind"`
	Estimator study.Estimator    `json:"estimator,omitempty"`
	Measure   string             `json:"measure"`        // unit of the standard errors
	Pair      []analysis.Feature `json:"pair,omitempty"` // the pair with the largest error, which the numbers are about
	Chosen    Choice             `json:"chosen"`
	Best      float64            `json:"best_pair"` // standard error of the pair with the smallest error
	Options   []Choice           `json:"options"`   // the menu, each at its best k
	Outcome   Outcome            `json:"outcome"`   // the verdict as a code
	Verdict   string             `json:"verdict"`
	Supposes  []SpreadAssumption `json:"supposes,omitempty"`   // assumptions of the worse end about columns of unknown spread
	Together  int                `json:"together,omitempty"`   // intervals: all; number of intervals that hold together at 95 %
	EachLevel float64            `json:"each_level,omitempty"` // level of each of them
	Needs     *Needs             `json:"needs,omitempty"`      // what would make it usable
	OfBounds  float64            `json:"of_bounds,omitempty"`  // means of columns with known bounds only: half the interval over the distance of the bounds, whatever the spread
}

// SpreadAssumption is what a forecast assumes of columns of unknown spread: one of the two numbers.
type SpreadAssumption struct {
	Columns []string `json:"columns"`
	Rate    float64  `json:"rate,omitempty"`     // of binary columns: the smallest share of either value
	OfRange float64  `json:"of_range,omitempty"` // of others: the smallest spread, over the distance of their bounds
}

// Choice is one method with a k.
type Choice struct {
	Method         string            `json:"method"`
	Mechanism      dp.Mechanism      `json:"mechanism"`
	Delta          dp.Delta          `json:"delta,omitempty"`
	Family         projection.Family `json:"family"`
	K              int               `json:"k"`
	S              int               `json:"s,omitempty"`
	StandardError  float64           `json:"standard_error"`
	HalfWidth      float64           `json:"half_width"`          // half of the interval
	Detects        float64           `json:"detects"`             // smallest effect whose interval excludes zero
	AtBest         End               `json:"at_best"`             // the same numbers for the most favourable data considered
	AtWorst        End               `json:"at_worst"`            // and for the least favourable, on which the verdict is based
	Lost           float64           `json:"lost"`                // probability, at worst, that the answer is undefined
	UnknownSpreads []string          `json:"hinges_on,omitempty"` // columns of unknown spread that decide whether it is usable
	Cut            string            `json:"cut,omitempty"`       // effect of the clip, if larger than the noise can hide
	Bytes          int64             `json:"bytes"`
	Usable         bool              `json:"usable"`
	Undefined      string            `json:"undefined,omitempty"`
	Note           string            `json:"note,omitempty"`
	off            float64           // error by which choices are ranked
	selectable     bool              // may be recommended: promises no less, and is supported by this version
}

// End is a forecast at one end of the possible data.
type End struct {
	StandardError float64 `json:"standard_error"`
	HalfWidth     float64 `json:"half_width"`
	Detects       float64 `json:"detects"`
	Undefined     string  `json:"undefined,omitempty"`
}

func endOf(e forecast.Error) End {
	return End{StandardError: e.StandardError, HalfWidth: e.HalfWidth, Detects: e.Detects(), Undefined: e.Undefined}
}

// Usable returns the number of analyses with useful answers, and the number of analyses planned.
func (p Plan) Usable() (usable, all int) {
	for _, s := range p.Sketches {
		for _, a := range s.Analyses {
			if all++; a.Chosen.Usable {
				usable++
			}
		}
	}
	return usable, all
}

// Needs is what would make an unusable answer usable: one or the other.
type Needs struct {
	Method   string  `json:"method,omitempty"` // of the options
	K        int     `json:"k,omitempty"`
	Epsilon  float64 `json:"epsilon,omitempty"`   // at least; 0: no ε suffices
	Records  int64   `json:"records,omitempty"`   // at each party, at least; 0: no number suffices
	EpsilonK int     `json:"epsilon_k,omitempty"` // with this k; 0: the study's
	RecordsK int     `json:"records_k,omitempty"`
}

// Warning is something to consider, with the lines of the study file to change.
type Warning struct {
	Text   string   `json:"text"`
	Change []string `json:"change,omitempty"`
}
