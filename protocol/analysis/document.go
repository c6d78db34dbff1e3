package analysis

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/day"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// ResultFormat is the format of the document that every party of a study may read.
const ResultFormat = "cosketch/result/1"

// Result is the document that every party of a study may read, as JSON.
type Result struct {
	Format       string          `json:"cosketch"`                 // cosketch/result/1
	Study        string          `json:"study"`                    // id
	Name         string          `json:"name"`                     // name of the study
	Completeness string          `json:"completeness"`             // full, or partial if a member of the roster is not in it
	FirstOnly    bool            `json:"first_only,omitempty"`     // the second of two rounds lacked a quorum: only what the first round answers
	Attempt      uint32          `json:"attempt"`                  // number of the attempt that gave the seed
	T2           string          `json:"t2"`                       // T2 of the agreement, in hexadecimal
	Partition    study.Partition `json:"partition"`                // vertical or horizontal
	Parties      []Party         `json:"parties" by:"-"`           // parties whose releases are in it
	Absent       []string        `json:"absent" by:"-" of:"party"` // parties of the study that are not in it
	Masked       *MaskedSum      `json:"masked,omitempty"`         // if the sum was masked
	Promise      string          `json:"promise,omitempty"`        // guarantee of all sketches of a party together, if there are several with noise
	Sketches     []Sketch        `json:"sketches" by:"sketch"`     // in the study's order
	Analyses     []Analysis      `json:"analyses" by:"analysis"`   // in the study's order; a further result has only one
}

// Completeness of a result: whether every member of the roster is in it.
const (
	Full    = "full"
	Partial = "partial"
)

// Party is one contribution.
type Party struct {
	Name    string `json:"name"`    // name in the study file
	ID      string `json:"id"`      // peer id
	Records int64  `json:"records"` // number of records in its release
	Release string `json:"release"` // id of the release header
	Bytes   int64  `json:"bytes"`   // size of its sketches as sent
}

// Sketch says how the numbers were made and what was promised for them.
type Sketch struct {
	Side             string   `json:"side"`               // columns, records, moments, cells, codes, counts or look
	Family           string   `json:"family"`             // family of the projection; sums for sides that project nothing: moments, cells, codes, counts and look
	K                int      `json:"k"`                  // k of the projection; for moments the number of features, for cells of directions, for counts of numbers; 0 for codes and look
	S                int      `json:"s"`                  // family sparse only, otherwise 0
	Bits             int      `json:"bits"`               // resolution of the encoded values
	Unit             string   `json:"unit"`               // attribute or record; empty without a guarantee
	Mechanism        string   `json:"mechanism"`          // gaussian, laplace, randomised-response or none
	Epsilon          float64  `json:"epsilon"`            // ε of this sketch, per party
	Delta            float64  `json:"delta"`              // δ at which Epsilon holds
	EpsilonPerParty  float64  `json:"epsilon_per_party"`  // ε of all of a party's sketches together
	EpsilonPerPerson *float64 `json:"epsilon_per_person"` // ε of all releases about one person; null without a guarantee
	Statement        string   `json:"statement"`          // what the numbers above promise, in words
	Labels           string   `json:"labels,omitempty"`   // labels sent with it: plain or randomised
}

// Analysis is one answered question.
type Analysis struct {
	Kind        study.AnalysisKind `json:"kind"`                                  // kind of analysis, as in the study file
	Sketch      int                `json:"sketch"`                                // index of the study's sketch that answers it
	Undefined   string             `json:"undefined,omitempty"`                   // why there is no answer; then everything below is empty
	Caution     string             `json:"caution,omitempty"`                     // to be read before the numbers: what they are not about
	Estimator   study.Estimator    `json:"estimator,omitempty"`                   // estimator of a correlation: E1 or E2
	Assumption  string             `json:"assumption,omitempty"`                  // what the numbers assume beside noise and projection, in words
	Assumptions premise.List       `json:"assumes,omitempty" by:"-" of:"assumes"` // the assumption as codes; absent if it is the usual one of the kind or the estimator
	Units       measure.Unit       `json:"units,omitempty"`                       // units of the numbers, in words
	Level       float64            `json:"level,omitempty"`                       // level of the intervals, in the sense of Intervals
	Intervals   study.Intervals    `json:"intervals,omitempty"`                   // each: every interval holds by itself; all: all of the analysis hold together
	EachLevel   float64            `json:"each_level,omitempty"`                  // level at which each interval was built, if it is not Level
	Features    []Feature          `json:"features,omitempty" by:"i"`             // rows and columns of the matrix of pairs, or what a section is indexed by
	Pairs       []Pair             `json:"pairs,omitempty"`                       // one per pair of features, i ≤ j
	Dense       *Dense             `json:"dense,omitempty"`                       // in place of Pairs, if there are more than MostInline features
	Shifts      []Pair             `json:"shifts,omitempty"`                      // group-distance: squared distances between the mean records of two parties
	Repaired    *Repaired          `json:"repaired,omitempty"`                    // covariance and correlation: the matrix made positive semidefinite
	Cut         *Cut               `json:"cut,omitempty"`                         // how many records were not sketched unchanged, if they were counted
	Joined      *Joined            `json:"joined,omitempty"`                      // how records were joined; records side of a vertical study

	Sections
}

// section is what a kind of analysis adds to a result. Each is declared beside the code that makes
// it. It may also have these methods:
//
//   - names(n named) error returns an error if a name is not a feature or is unknown to the study;
//   - people() []Number returns the numbers that also have an interval for people like these;
//   - covers() string says what the intervals cover, if not noise and projection;
//   - nothing() string says that nothing in the section stands out of the noise; empty if something does.
type section interface {
	check(a Analysis) error // returns an error if a received document is inconsistent
}

// sections lists the sections that an analysis has.
func (a Analysis) sections() (out []section) {
	v := reflect.ValueOf(a.Sections)
	for i := range v.NumField() {
		if kind := v.Field(i).Kind(); kind != reflect.Pointer && kind != reflect.Slice || v.Field(i).IsNil() {
			continue
		}
		if s, ok := v.Field(i).Interface().(section); ok {
			out = append(out, s)
		}
	}
	return out
}

// Feature names a row and column of a matrix of pairs. Party is empty if the number is about the
// union. For a single record it is the record's name, like "north/12".
type Feature struct {
	Party  string `json:"party,omitempty"`  // name of the party
	Column string `json:"column,omitempty"` // name of the column, with its transform
	Value  string `json:"value,omitempty"`  // value of a categorical column
	Date   bool   `json:"date,omitempty"`   // whether values are days since 1970-01-01, shown as dates
}

// Number is an estimate with its interval. All four are null if it is undefined. The interval is
// for these records: it covers projection and noise. Numbers that estimate something of the
// population from which the records were drawn have a second interval, for people like these, which
// also covers sampling error.
type Number struct {
	Estimate       *float64 `json:"estimate"`                  // null if undefined
	StandardError  *float64 `json:"standard_error"`            // standard error of projection and noise together
	Low            *float64 `json:"low"`                       // of the interval for these records
	High           *float64 `json:"high"`                      // of the interval for these records
	PopulationLow  *float64 `json:"population_low,omitempty"`  // of the interval for people like these
	PopulationHigh *float64 `json:"population_high,omitempty"` // of the interval for people like these
	Undefined      string   `json:"undefined,omitempty"`       // why there is no number
	Dates          *Dates   `json:"dates,omitempty"`           // the number as dates, if it is a date
}

// Dates are a number of days since 1970-01-01 and its intervals as dates: the nearest day, and
// intervals widened to whole days. Dates outside the years 1 to 9999 are left out.
type Dates struct {
	Estimate       string `json:"estimate,omitempty"`        // the nearest day
	Low            string `json:"low,omitempty"`             // of the interval for these records
	High           string `json:"high,omitempty"`            // of the interval for these records
	PopulationLow  string `json:"population_low,omitempty"`  // of the interval for people like these
	PopulationHigh string `json:"population_high,omitempty"` // of the interval for people like these
}

// dated adds the dates to a number if f is a column of dates.
func (n Number) dated(f Feature) Number {
	if !f.Date || !n.whole() {
		return n
	}
	n.Dates = &Dates{Estimate: day.Text(*n.Estimate), Low: day.Text(math.Floor(*n.Low)), High: day.Text(math.Ceil(*n.High))}
	if n.PopulationLow != nil && n.PopulationHigh != nil {
		n.Dates.PopulationLow, n.Dates.PopulationHigh = day.Text(math.Floor(*n.PopulationLow)), day.Text(math.Ceil(*n.PopulationHigh))
	}
	return n
}

func number(e estimate.Estimate) Number {
	if !e.Defined() {
		return Number{Undefined: e.Undefined}
	}
	n := Number{Estimate: &e.Estimate, StandardError: &e.StandardError, Low: &e.Low, High: &e.High}
	if p := e.Population; p.Known {
		n.PopulationLow, n.PopulationHigh = &p.Low, &p.High
	}
	return n
}

// check returns an error if a number is incomplete.
func (n Number) check() error {
	all := n.Estimate != nil && n.StandardError != nil && n.Low != nil && n.High != nil
	none := n.Estimate == nil && n.StandardError == nil && n.Low == nil && n.High == nil
	if !all && !none || none && n.Undefined == "" {
		return errors.New("a number has neither an interval nor a reason")
	}
	if low, high := n.PopulationLow, n.PopulationHigh; low != nil || high != nil {
		if none || low == nil || high == nil || !(*low <= *n.Low) || !(*n.High <= *high) {
			return errors.New("the interval for people like these does not hold the one for these records")
		}
	}
	return nil
}

// Pair is the number for features I and J, I ≤ J.
type Pair struct {
	I int `json:"i"` // index of one feature
	J int `json:"j"` // index of the other feature, I or more
	Number
}

func pair(i, j int, e estimate.Estimate) Pair { return Pair{I: i, J: j, Number: number(e)} }

// Repaired is a matrix of estimates made positive semidefinite. It is given beside the estimates
// and does not replace them.
type Repaired struct {
	Name      string      `json:"name"`                                     // covariance_psd or correlation_psd
	Statement string      `json:"statement,omitempty"`                      // what it is and is not
	Matrix    [][]float64 `json:"matrix" by:"features,features" of:"entry"` // by Features, in the estimates' units; null if undefined
	Moved     float64     `json:"moved"`                                    // Frobenius norm of the change from the estimates, in encoded units
	Norm      float64     `json:"norm"`                                     // Frobenius norm of the estimates, in encoded units
	Negative  int         `json:"negative"`                                 // number of negative eigenvalues of the estimates
	Least     float64     `json:"least"`                                    // smallest eigenvalue of the estimates, in encoded units
	Undefined string      `json:"undefined,omitempty"`                      // why there is no matrix
}

// LabelsFormat is the format of the document for a single party.
const LabelsFormat = "cosketch/labels/1"

// Labels is the document for a single party: what the analyses say of each of the party's own
// records, in the order of its release's rows.
type Labels struct {
	Format  string      `json:"cosketch"` // cosketch/labels/1
	Study   string      `json:"study"`    // id
	Party   string      `json:"party"`    // name of the party whose records these are
	Columns []RowColumn `json:"columns"`  // what the analyses say of the rows
}

// RowColumn is one statement of an analysis about the rows, with one value per row. It has exactly
// one of the lists, or Texts and Own.
type RowColumn struct {
	Analysis int       `json:"analysis"`           // index into Result.Analyses
	Sketch   int       `json:"sketch"`             // index of the study's sketch that it is about
	Name     string    `json:"name"`               // name of the column in the party's table, like "cluster"
	Integers []int     `json:"integers,omitempty"` // one per row
	Numbers  []float64 `json:"numbers,omitempty"`  // one per row
	Texts    []string  `json:"texts,omitempty"`    // one per row
	Absent   []int     `json:"absent,omitempty"`   // rows about which nothing can be said, ascending: records that other parties lack
	Own      []int     `json:"own,omitempty"`      // if a value is another of the party's own records, its row; otherwise -1, and Texts has the value

	coded coded // in place of Texts, if these are on the disk
}

// Rows returns the number of values in the column.
func (c RowColumn) Rows() int {
	return max(len(c.Integers), len(c.Numbers), len(c.Texts), len(c.coded.of))
}

// Text returns the value of a row as a table shows it. It is empty if the value is another of the
// party's own rows.
func (c RowColumn) Text(row int) string {
	_, absent := slices.BinarySearch(c.Absent, row)
	switch {
	case absent:
		return ""
	case row < len(c.Integers):
		return strconv.Itoa(c.Integers[row])
	case row < len(c.Numbers):
		return strconv.FormatFloat(c.Numbers[row], 'g', 6, 64)
	case row < len(c.Texts):
		return c.Texts[row]
	case row < len(c.coded.of):
		return c.coded.text(row)
	}
	return ""
}

// check returns an error if the column is inconsistent.
func (c RowColumn) check() error { return c.checkOf(int64(len(c.Own))) }

// checkOf is check, given the number of rows in the party's release.
func (c RowColumn) checkOf(released int64) error {
	lists := 0
	for _, n := range []int{len(c.Integers), len(c.Numbers), len(c.Texts)} {
		if n > 0 {
			lists++
		}
	}
	if lists > 1 || len(c.Own) > 0 && len(c.Own) != len(c.Texts) {
		return fmt.Errorf("column %.40q has several values a row", c.Name)
	}
	for _, row := range c.Own {
		if row < -1 || int64(row) >= released {
			return fmt.Errorf("column %.40q names row %d of %d", c.Name, row, released)
		}
	}
	return nil
}
