package analysis

import (
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/study"
)

// Format of the document that every party of a study may read.
const ResultFormat = "cosketch/result/1"

// Result is that document, as JSON.
type Result struct {
	Format       string          `json:"cosketch"`
	Study        string          `json:"study"` // id
	Name         string          `json:"name"`
	Completeness string          `json:"completeness"` // full, or partial when a member of the roster is not in it
	Attempt      uint32          `json:"attempt"`
	T2           string          `json:"t2"`
	Partition    study.Partition `json:"partition"`
	Parties      []Party         `json:"parties"`
	Absent       []string        `json:"absent"` // listed parties that are not in it
	Sketches     []Sketch        `json:"sketches"`
	Analyses     []Analysis      `json:"analyses"`
}

// Completeness of a result.
const (
	Full    = "full"
	Partial = "partial"
)

// Party is one contribution.
type Party struct {
	Name    string `json:"name"`
	ID      string `json:"id"`
	Records int64  `json:"records"`
	Release string `json:"release"` // id of the release header
	Bytes   int64  `json:"bytes"`   // of its sketches as shipped
}

// Sketch says how the numbers came about and what was promised for them.
type Sketch struct {
	Side             string   `json:"side"`
	Family           string   `json:"family"`
	K                int      `json:"k"`
	S                int      `json:"s"`
	Bits             int      `json:"bits"`
	Unit             string   `json:"unit"`
	Mechanism        string   `json:"mechanism"`
	Epsilon          float64  `json:"epsilon"`            // of this sketch, per party
	Delta            float64  `json:"delta"`              // at which Epsilon holds
	EpsilonPerParty  float64  `json:"epsilon_per_party"`  // of all of a party's sketches together
	EpsilonPerPerson *float64 `json:"epsilon_per_person"` // of all releases about one person; null without a guarantee
	Statement        string   `json:"statement"`
}

// Analysis is one answered question.
type Analysis struct {
	Kind       study.AnalysisKind `json:"kind"`
	Sketch     int                `json:"sketch"`
	Estimator  study.Estimator    `json:"estimator,omitempty"`
	Assumption string             `json:"assumption,omitempty"`
	Units      string             `json:"units,omitempty"`
	Level      float64            `json:"level,omitempty"`      // at which the intervals hold, as Intervals says
	Intervals  study.Intervals    `json:"intervals,omitempty"`  // each: by itself; all: all of the analysis together
	EachLevel  float64            `json:"each_level,omitempty"` // where Intervals is all: the level for which each was built
	Features   []Feature          `json:"features,omitempty"`
	Pairs      []Pair             `json:"pairs,omitempty"`
	Shifts     []Pair             `json:"shifts,omitempty"` // group-distance: squared distance between the mean records of two parties
	Repaired   *Repaired          `json:"repaired,omitempty"`

	Clusters  int         `json:"clusters,omitempty"`
	Restarts  int         `json:"restarts,omitempty"`
	Sizes     []int       `json:"sizes,omitempty"`
	Inertia   *float64    `json:"inertia,omitempty"` // with the noise in it, in squared encoded units
	Centroids [][]float64 `json:"centroids,omitempty"`
}

// Feature names a row and column of a matrix of pairs. Party is empty where the
// number is about the union.
type Feature struct {
	Party  string `json:"party,omitempty"`
	Column string `json:"column,omitempty"`
	Value  string `json:"value,omitempty"` // of a categorical column
}

// Pair is the estimate for features I and J, I ≤ J.
type Pair struct {
	I         int      `json:"i"`
	J         int      `json:"j"`
	Estimate  *float64 `json:"estimate"` // null when undefined
	Low       *float64 `json:"low"`
	High      *float64 `json:"high"`
	Undefined string   `json:"undefined,omitempty"`
}

func pair(i, j int, e estimate.Estimate) Pair {
	if !e.Defined() {
		return Pair{I: i, J: j, Undefined: e.Undefined}
	}
	return Pair{I: i, J: j, Estimate: &e.Estimate, Low: &e.Low, High: &e.High}
}

// Repaired is a matrix of estimates made positive semidefinite. It stands beside the
// estimates and never replaces them.
type Repaired struct {
	Name      string      `json:"name"`                // covariance_psd or correlation_psd
	Statement string      `json:"statement,omitempty"` // what it is and is not
	Matrix    [][]float64 `json:"matrix"`              // by Features, in the estimates' units; null when undefined
	Moved     float64     `json:"moved"`               // Frobenius norm of its difference from the estimates, in encoded units
	Norm      float64     `json:"norm"`                // Frobenius norm of the estimates, in encoded units
	Negative  int         `json:"negative"`            // eigenvalues below zero that the estimates have
	Least     float64     `json:"least"`               // the least eigenvalue of the estimates, in encoded units
	Undefined string      `json:"undefined,omitempty"`
}

// LabelsFormat is the format of the document for one party alone.
const LabelsFormat = "cosketch/labels/1"

// Labels is that document: for each k-means analysis the cluster of each of the
// party's own records, in the order of its release's rows.
type Labels struct {
	Format string        `json:"cosketch"`
	Study  string        `json:"study"`
	Party  string        `json:"party"`
	Labels []RecordLabel `json:"labels"`
}

// RecordLabel is one analysis's labels.
type RecordLabel struct {
	Analysis int   `json:"analysis"` // index into Result.Analyses
	Sketch   int   `json:"sketch"`
	Clusters []int `json:"clusters"`
}
