package dataset

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/study"
)

// Description says what a source holds, column by column. It quotes values and numbers computed
// from them: it is for the data's owner on the owner's machine and must never be logged or sent.
type Description struct {
	Records int64
	Columns []ColumnDescription // in the order in which the files first name them
	IDs     *IDDescription      // nil if no id columns were named
	Origins []Origin
	// Problems keep values from being read. They cover all columns that seem to be numbers or
	// dates; with DescribeOptions.Fields, the study's columns instead.
	Problems []Problem
}

// IDDescription counts the records whose ids are repeated or absent.
type IDDescription struct {
	Repeated int64    `json:"repeated"`            // records whose id an earlier one has
	Where    []string `json:"where,omitempty"`     // the first few pairs
	Absent   int64    `json:"without"`             // records with an empty part of their id
	Columns  []string `json:"columns"`             // that make the id
	First    string   `json:"absent_at,omitempty"` // the first record without an id
	LedBy0   int64    `json:"with_leading_zero"`   // records with a part of their id that begins with 0
}

// Kind is what a column seems to hold.
type Kind string

// The kinds of columns. Only the first three are also kinds of a study's columns, where a date is a
// number: days since 1970-01-01.
const (
	KindNumeric     Kind = "numeric"
	KindBinary      Kind = "binary"
	KindCategorical Kind = "categorical"
	KindDate        Kind = "date"
	KindText        Kind = "text"
	KindEmpty       Kind = "empty"
	KindOther       Kind = "other" // of a type that no study can use; see Holds
)

// Serves reports whether a column that seems to be of this kind can serve as a study's column of
// kind asked.
func (k Kind) Serves(asked study.ColumnKind) bool {
	switch asked {
	case study.Numeric:
		return k == KindNumeric || k == KindDate
	case study.Binary:
		return k == KindBinary
	}
	return k == KindCategorical
}

// ColumnDescription is one column's values.
type ColumnDescription struct {
	Name     string `json:"name"`
	Kind     Kind   `json:"kind"`            // a guess
	Holds    string `json:"holds,omitempty"` // what a column of KindOther holds
	Present  int64  `json:"present"`
	Missing  int64  `json:"missing"`
	Distinct int    `json:"distinct"`      // distinct values, as written
	More     bool   `json:"more_distinct"` // there are more than Distinct
	// Doubtful reports that the name of a CSV file's column is empty, a number, a date or one of
	// the column's values, so that the first row may be data.
	Doubtful bool `json:"doubtful_name,omitempty"`

	// Numbers describes numbers and dates, the latter as days since 1970-01-01; nil if there are
	// none.
	Numbers *NumberDescription `json:"numbers,omitempty"`
	// NotNumbers counts the values of a numeric or date column that are neither, Odd is the place
	// of the first, and OtherDates counts those that are dates in a form that the dialect does not
	// name.
	NotNumbers int64  `json:"not_numbers,omitempty"`
	Odd        string `json:"not_number_at,omitempty"`
	OtherDates int64  `json:"other_dates,omitempty"`

	// Common lists the most common values of a binary or categorical column, most common first.
	Common []ValueCount `json:"common,omitempty"`

	// Truths maps the values of a categorical column to 1, 0 or missing, if all of them are words
	// for yes, no or a missing value.
	Truths map[string]string `json:"truths,omitempty"`

	// Against counts the values that a study would not take as they are; nil for columns that
	// DescribeOptions.Fields does not name.
	Against *FitDescription `json:"against,omitempty"`

	absent []string // places of the first few missing values; CSV files only
}

// Lacking returns the problem that values are missing, with why that is one.
func (c ColumnDescription) Lacking(why string) Problem {
	return Problem{Column: c.Name, Count: c.Missing, What: counted(c.Missing, "value is missing, ", "values are missing, ") + why, Where: c.absent}
}

// Constant reports whether all present values are equal.
func (c ColumnDescription) Constant() bool { return c.Distinct == 1 && !c.More }

// NumberDescription describes the distribution of numbers.
type NumberDescription struct {
	Least     float64   `json:"least"`
	Greatest  float64   `json:"greatest"`
	Quantiles []float64 `json:"quantiles"` // at QuantileLevels
	// Histogram counts the sampled numbers in bins of equal width, the first of which begins at
	// Low.
	Low       float64 `json:"histogram_low"`
	Width     float64 `json:"histogram_width"`
	Histogram []int64 `json:"histogram"`
	// Sampled is how many numbers the quantiles and the histogram were computed from: all, or a
	// sample that does not depend on their values.
	Sampled int   `json:"sampled"`
	Count   int64 `json:"count"`
}

// QuantileLevels returns the levels of NumberDescription.Quantiles.
func QuantileLevels() []float64 { return []float64{0.05, 0.25, 0.5, 0.75, 0.95} }

// ValueCount is a value and how many records have it.
type ValueCount struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// FitDescription counts the values that do not fit a study's column.
type FitDescription struct {
	Below   int64  `json:"below"`   // numbers that would be clipped at the lower end
	Above   int64  `json:"above"`   // numbers that would be clipped at the upper end
	Refused int64  `json:"refused"` // values that would end the reading with an error
	First   string `json:"refused_at,omitempty"`
}

// DescribeOptions tunes Describe. The zero value is ready to use.
type DescribeOptions struct {
	// ID lists columns that together identify a record, to look for repeated ids. Default: no
	// check.
	ID []string
	// Normalize is applied to each id column. Default: none.
	Normalize []study.Normalization
	// Fields are a study's columns. Values are counted against their public bounds and lists.
	// Default: none. Bits is required with them.
	Fields []Field
	Bits   fixedpoint.Bits
	// ReadOptions says how the source is read; batches and workers are ignored.
	ReadOptions Options
}

// Describe reads a whole source without a schema, in memory that does not grow with the number of
// records. Errors about the data are of type *Error and quote no value.
func Describe(ctx context.Context, source Source, options DescribeOptions) (Description, error) {
	options.ReadOptions = options.ReadOptions.withDefaults()
	s, err := newSurvey(options)
	if err != nil {
		return Description{}, err
	}
	if err := s.read(ctx, source); err != nil {
		return Description{}, errors.Join(err, s.seen.Close())
	}
	out, err := s.describe(source)
	return out, errors.Join(err, s.seen.Close())
}

// survey builds a Description.
type survey struct {
	options DescribeOptions
	plan    *plan // for the id columns only
	fields  map[string]column
	columns []*tally
	seen    *ids
	id      *block // holds one record's id
	absent  int64
	first   string // place of the first record without an id
	places  []place
	records int64
	origins []Origin
	words   Replacements
	ledBy0  int64

	rowProblems []Problem
}

func newSurvey(o DescribeOptions) (*survey, error) {
	s := &survey{options: o, fields: map[string]column{}, seen: newIDs(o.ReadOptions.SpillDir, o.ReadOptions.HeldIDs)}
	schema := Schema{Normalize: o.Normalize, MaxRecords: math.MaxInt64}
	for _, name := range o.ID {
		schema.ID = append(schema.ID, cleanName(name))
	}
	for _, f := range o.Fields {
		f, err := f.prepared()
		if err != nil {
			return nil, fmt.Errorf("describing data: %w", err)
		}
		s.fields[f.Header] = newColumn(f, Replacements{})
	}
	s.plan = newPlan(schema, Replacements{}, o.ReadOptions)
	rand.Read(s.plan.idKey[:]) // never fails
	s.id = newBlock(s.plan)
	return s, nil
}

// read reads all inputs.
func (s *survey) read(ctx context.Context, source Source) error {
	s.words = source.Words
	switch {
	case source.Elsewhere != "":
		return source.NotHere()
	case source.Stream != nil:
		return &Error{File: source.Stream.Name, Message: "a stream cannot be described", Hint: "give a file"}
	}
	if source.SQL != nil {
		s.places = []place{{source.SQL.String(), false}}
		q, err := openSQL(ctx, source.SQL, s.plan)
		if err != nil {
			return err
		}
		return s.readQuery(ctx, q)
	}
	if source.Command != nil {
		s.places = []place{{source.Command.String(), true}}
		return s.readCSV(ctx, source.String(), 0, func(o Options) (input, error) { return openOutput(ctx, source.Command, s.plan, source.CSV, o) })
	}
	files, err := source.files()
	if err != nil {
		return err
	}
	for _, p := range files {
		s.places = append(s.places, place{p.name, p.lines()})
	}
	for i, p := range files {
		switch {
		case p.parquet():
			err = s.readParquet(ctx, p, i)
		case p.workbook():
			var q *query
			if q, err = openWorkbook(p, i, source, s.plan, s.options.ReadOptions); err == nil {
				err = s.readQuery(ctx, q)
			}
		default:
			err = s.readCSV(ctx, p.name, i, func(o Options) (input, error) { return openCSV(p, i, s.plan, source.CSV, o) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin returns the tallies of an input's columns, in their order. Columns of several inputs are
// identified by name. If an input repeats a name, its n-th column of that name is identified with
// the n-th of another input.
func (s *survey) begin(names []string, written bool) []*tally {
	out := make([]*tally, len(names))
	earlier := map[string]int{}
	for i, name := range names {
		nth := earlier[name]
		earlier[name]++
		for _, t := range s.columns {
			if t.name == name && t.nth == nth {
				out[i] = t
			}
		}
		if out[i] == nil {
			out[i] = newTally(name, nth, len(names))
			out[i].written = written
			if !slices.Contains(s.plan.schema.ID, name) {
				out[i].words = s.words.of(name)
			}
			if f, ok := s.fields[name]; ok && nth == 0 {
				out[i].field, out[i].bits = &f, s.options.Bits
			}
			s.columns = append(s.columns, out[i])
		}
	}
	return out
}

// end is called after an input's records. Columns that the input lacks count as missing.
func (s *survey) end(origin *Origin) {
	for _, t := range s.columns {
		t.missing = s.records - t.present
	}
	s.origins = append(s.origins, *origin)
}

// addID notes the current record's id from its parts.
func (s *survey) addID(parts func(i int) []byte, at position) (int, *problem) {
	if len(s.plan.schema.ID) == 0 {
		return 0, nil
	}
	s.id.reset()
	led := false
	for i := range s.plan.schema.ID {
		part := parts(i)
		led = led || len(part) > 1 && part[0] == '0'
		switch wrong := s.id.addIDPart(i, part); wrong {
		case nil:
		case noID:
			if s.absent++; s.absent == 1 {
				s.first = s.where(at)
			}
			return 0, nil
		default:
			return i, wrong
		}
	}
	if led {
		s.ledBy0++
	}
	s.id.endID(at)
	return 0, nil
}

// where names a record's place for people.
func (s *survey) where(at position) string {
	from := s.places[at.file()]
	what := "row"
	if from.text {
		what = "line"
	}
	if len(s.places) == 1 {
		return fmt.Sprintf("%s %d", what, at.line())
	}
	return fmt.Sprintf("%s:%d", from.name, at.line())
}

// describe is called after all records.
func (s *survey) describe(source Source) (Description, error) {
	if s.records == 0 && len(s.rowProblems) == 0 {
		message := "no records"
		if s.places[0].text {
			message = "no records, only a header"
		}
		return Description{}, &Error{File: source.String(), Message: message}
	}
	out := Description{Records: s.records, Origins: s.origins, Problems: s.problems()}
	for _, t := range s.columns {
		out.Columns = append(out.Columns, t.describe(s.where))
	}
	if len(s.plan.schema.ID) == 0 {
		return out, nil
	}
	found, err := s.seen.repeats()
	if err != nil {
		return Description{}, err
	}
	out.IDs = &IDDescription{Columns: s.plan.schema.ID, Repeated: found.count, Absent: s.absent, First: s.first, LedBy0: s.ledBy0}
	for _, r := range found.first {
		out.IDs.Where = append(out.IDs.Where, fmt.Sprintf("%s and %s", s.where(r.earlier), s.where(r.later)))
	}
	return out, nil
}
