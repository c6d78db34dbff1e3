package plan

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Format of a plan.
const Format = "cosketch/plan/1"

// Plan is the forecast of a study, as JSON.
type Plan struct {
	Format      string        `json:"cosketch"`
	Study       string        `json:"study"` // id
	Name        string        `json:"name"`
	Party       string        `json:"party,omitempty"` // whose plan it is; empty: of all parties
	Parties     []Party       `json:"parties"`
	Overlap     float64       `json:"overlap,omitempty"` // vertical: shared records of two parties over those of the smaller one
	Columns     []Column      `json:"columns"`
	Assumptions []string      `json:"assumptions"`
	Sketches    []Sketch      `json:"sketches"`
	Result      analysis.Size `json:"result"` // about what it takes, at the aggregator and at each party
	Cost        Cost          `json:"cost"`
	Warnings    []Warning     `json:"warnings"`
	Instead     []Warning     `json:"instead"` // what errs less, and promises or needs something else: for the stewards to choose, and no fault of the study
}

// Party is one party's record count.
type Party struct {
	Name    string `json:"name"`
	Records int64  `json:"records"`
}

// Column is how a column is expected to be spread, in its own units.
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
	Replaced bool        `json:"replaced,omitempty"` // a record may be replaced by another
	Features int         `json:"features"`           // entries of a record's derived vector; this and what follows of the party whose plan it is, or the most of any party
	Bytes    int64       `json:"bytes"`              // about what leaves one party
	RawBytes int64       `json:"raw_bytes"`          // the values that it is made of, as fixed-point integers
	Clipped  float64     `json:"clipped"`            // share of the records that are clipped
	Parties  []Part      `json:"parties"`            // the same, of each party
	Rounding Rounding    `json:"rounding"`           // of the fixed point
	Labels   string      `json:"labels,omitempty"`   // what travels beside the rows, in words
	Exposure *Exposure   `json:"exposure,omitempty"` // mechanism none: what the sketch gives away
	Analyses []Analysis  `json:"analyses"`
	OptimalK *float64    `json:"optimal_k,omitempty"` // records side, sparse and laplace: the k at which distances err least
	Identity bool        `json:"identity"`            // records side: not to project at all errs less
}

// Part is what one party has of a sketch.
type Part struct {
	Name     string  `json:"name"`
	Features int     `json:"features"`
	Bytes    int64   `json:"bytes"`
	RawBytes int64   `json:"raw_bytes"`
	Clipped  float64 `json:"clipped"`
}

// Rounding is what the fixed point costs.
type Rounding struct {
	Bits int     `json:"bits"`
	Bias float64 `json:"bias"` // most that it moves a value, over the least spread of a column; a correlation moves by no more
}

// Exposure is what a sketch without noise gives away to whoever knows R.
type Exposure struct {
	Share      float64 `json:"share"` // values released per value held: k/m on the columns side
	RSquared   float64 `json:"r_squared"`
	Alone      float64 `json:"alone"` // share of the records (or columns) that stand in the sketch alone
	Acceptable bool    `json:"acceptable"`
	Reason     string  `json:"reason,omitempty"`
	Text       string  `json:"text"`
}

// Analysis is one question's forecast.
type Analysis struct {
	Kind      study.AnalysisKind `json:"kind"`
	Estimator study.Estimator    `json:"estimator,omitempty"`
	Measure   string             `json:"measure"`        // what standard errors are in
	Pair      []analysis.Feature `json:"pair,omitempty"` // the pair that errs most: the numbers are about it
	Chosen    Choice             `json:"chosen"`
	Best      float64            `json:"best_pair"` // standard error of the pair that errs least
	Options   []Choice           `json:"options"`   // the menu, each at its best k
	Outcome   Outcome            `json:"outcome"`   // the verdict as a code
	Verdict   string             `json:"verdict"`
	Supposes  []Supposed         `json:"supposes,omitempty"`   // what the worse end takes of columns whose spread nobody told
	Together  int                `json:"together,omitempty"`   // intervals: all; how many hold together at 95 %
	EachLevel float64            `json:"each_level,omitempty"` // and the level of each
	Needs     *Needs             `json:"needs,omitempty"`      // what would make it usable
	OfBounds  float64            `json:"of_bounds,omitempty"`  // means of columns of which bounds alone are told: half of the interval over the distance of these, whatever the spread
}

// Supposed is with which columns a forecast reckons, of which no spread is told: one of the two numbers.
type Supposed struct {
	Columns []string `json:"columns"`
	Rate    float64  `json:"rate,omitempty"`     // of binary ones: the least share of either value
	OfRange float64  `json:"of_range,omitempty"` // of others: the least spread, over the distance of their bounds
}

// Choice is one method with a k.
type Choice struct {
	Method        string            `json:"method"`
	Mechanism     dp.Mechanism      `json:"mechanism"`
	Delta         dp.Delta          `json:"delta,omitempty"`
	Family        projection.Family `json:"family"`
	K             int               `json:"k"`
	S             int               `json:"s,omitempty"`
	StandardError float64           `json:"standard_error"`
	HalfWidth     float64           `json:"half_width"`          // of the interval
	Detects       float64           `json:"detects"`             // least effect whose interval leaves zero out
	AtBest        End               `json:"at_best"`             // the same for the kindest data that are reckoned with
	AtWorst       End               `json:"at_worst"`            // and for the worst, which the verdict is by
	Lost          float64           `json:"lost"`                // probability, at worst, that the answer is undefined
	Hinges        []string          `json:"hinges_on,omitempty"` // columns whose spread decides whether it is usable, and is not told
	Cut           string            `json:"cut,omitempty"`       // what the clip does to it, where that is more than the noise bears
	Bytes         int64             `json:"bytes"`
	Usable        bool              `json:"usable"`
	Undefined     string            `json:"undefined,omitempty"`
	Note          string            `json:"note,omitempty"`
	off           float64           // what choices are ranked by
	selectable    bool              // may be recommended: promises no less, and this version has it
}

// End is a forecast at one end of what the data may be like.
type End struct {
	StandardError float64 `json:"standard_error"`
	HalfWidth     float64 `json:"half_width"`
	Detects       float64 `json:"detects"`
	Undefined     string  `json:"undefined,omitempty"`
}

func endOf(e forecast.Error) End {
	return End{StandardError: e.Deviation, HalfWidth: e.HalfWidth, Detects: e.Detects(), Undefined: e.Undefined}
}

// Usable counts the analyses of which an answer can be of use, among all that are planned.
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

// Needs is what makes a question answerable that is not, one or the other.
type Needs struct {
	Method   string  `json:"method,omitempty"` // of the options
	K        int     `json:"k,omitempty"`
	Epsilon  float64 `json:"epsilon,omitempty"`   // at least; 0: none helps
	Records  int64   `json:"records,omitempty"`   // at each party, at least; 0: none helps
	EpsilonK int     `json:"epsilon_k,omitempty"` // with this k; 0: the study's
	RecordsK int     `json:"records_k,omitempty"`
}

// Warning is something to think about, with the lines of the study file to change.
type Warning struct {
	Text   string   `json:"text"`
	Change []string `json:"change,omitempty"`
}
