package sum

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// look returns the row of the first round of masked sums. It counts records by length or, in a
// study that shifts and scales numbers first, sums the values and their squares.
func look() Row {
	return Row{
		Side: sketch.Look, AtReadBits: true,
		Shape: func(s *study.Study, _ int) (rows, cols int64) {
			if s.LooksAtValues() {
				return 1, 2 * int64(len(s.ValuesLooked().Entries))
			}
			edges, _ := s.LookEdges()
			return 1, int64(len(edges)) + 1
		},
		Sensitivity: func(s *study.Study, _ int, _ int64) (dp.Sensitivity, error) {
			if s.LooksAtValues() {
				return s.ValuesLooked().Change(), nil
			}
			return s.LengthChange()
		},
		Open: func(o Options) (Adder, error) {
			if o.Study.LooksAtValues() {
				return &values{NewLook(o.Study, o.Study.ValuesLooked(), len(o.Study.Features(0, o.Index)), o.Limit)}, nil
			}
			return openLengths(o)
		},
		Largest: func(s *study.Study, _ int, _ int64, _ float64) float64 {
			if s.LooksAtValues() {
				return float64(s.ValuesLooked().Level)
			}
			return dp.CountWeight
		},
		Extremes: farthest,
		DisjointEntries: func(s *study.Study, _ int) int {
			if s.LooksAtValues() {
				return 0
			}
			edges, _ := s.LookEdges()
			return len(edges) + 1
		},
	}
}

// farthest returns changes between the record at the public centre and those at the ends of all
// columns.
func farthest(s *study.Study, index int) []Change {
	features := s.Features(0, index)
	far := central(s, index, features)
	least := slices.Clone(far)
	for i, f := range features {
		if f.Kind != study.OneHot {
			least[i], far[i] = ends(s.Columns[f.Column], s.Bits)
		}
	}
	if !s.Privacy.Replaced {
		return []Change{{With: far}, {With: least}}
	}
	return []Change{{Without: central(s, index, features), With: far}, {Without: least, With: far}}
}

// lengths counts records by length, with the code that clips them.
type lengths struct {
	*momentAdder
	cols int
}

func openLengths(o Options) (Adder, error) {
	o.Clips, o.Index = o.Study.LookEdges()
	adder, err := openMoments(o, true)
	return &lengths{adder, len(o.Clips) + 1}, err
}

// Clipped returns 0: no record is clipped yet.
func (l *lengths) Clipped() int64 { return 0 }

func (l *lengths) Sketch() sketch.Sketch {
	return sketch.Sketch{Side: sketch.Look, Rows: 1, Cols: l.cols, Data: Weighted(l.Lengths())}
}

// Weighted returns counts of lengths in the units in which noise is added.
func Weighted(counts []int64) []int64 {
	out := make([]int64, len(counts))
	for i, n := range counts {
		out[i] = n * dp.CountWeight
	}
	return out
}

// Look sums values and their squares.
type Look struct {
	study   *study.Study
	of      study.Looking
	inputs  int // entries of a record
	limit   int64
	sums    []int64 // for each entry the sum of its values and that of their squares
	records int64
}

// NewLook returns a look without records.
func NewLook(s *study.Study, of study.Looking, inputs int, limit int64) *Look {
	return &Look{study: s, of: of, inputs: inputs, limit: limit, sums: make([]int64, 2*len(of.Entries))}
}

// Add adds a batch of records as they are read.
func (l *Look) Add(values []int64) error {
	if len(values)%l.inputs != 0 {
		return fmt.Errorf("looking at records: %d entries are not whole records of %d features", len(values), l.inputs)
	}
	fine, level := l.study.Fine(), l.of.Level
	for ; len(values) > 0; values = values[l.inputs:] {
		if l.records++; l.records > l.limit {
			return fmt.Errorf("looking at records: the limit is %d", l.limit)
		}
		for i, e := range l.of.Entries {
			v := values[e.Value]
			if v == sketch.Absent {
				v = e.Absent
			} else {
				v = sketch.Round(v, fine)
			}
			u := v - e.Middle
			if u < -e.Half || u > e.Half {
				return errors.New("looking at records: a value is outside its bounds")
			}
			l.sums[2*i] += level / e.Half * u
			if e.Square {
				l.sums[2*i+1] += (level*u*u + e.Half*e.Half/2) / (e.Half * e.Half)
			}
		}
	}
	return nil
}

func (l *Look) Records() int64 { return l.records }

// Sums returns the sums of each entry's values and of their squares, to which noise is added.
func (l *Look) Sums() []int64 { return l.sums }

// Restore adds the sums of other looks at this many records.
func (l *Look) Restore(sums []int64, records int64) error {
	if len(sums) != len(l.sums) || records < 0 || records > l.limit-l.records {
		return fmt.Errorf("%d sums of %d records, want %d of at most %d", len(sums), records, len(l.sums), l.limit-l.records)
	}
	for i, v := range sums {
		l.sums[i] += v
	}
	l.records += records
	return nil
}

// Moves computes the centre and spread of each of these entries from sums over records, whose noise
// has this standard deviation. A spread has a lower bound that depends on the noise of the
// variance: s² = max(s², 4 SE). Entries that are not scaled have the public spread.
func Moves(s *study.Study, of study.Looking, entries []study.Feature, sums []int64, records int64, deviation float64) (moves []sketch.Standard) {
	for _, f := range entries {
		moves = append(moves, s.PublicStandard(f))
	}
	n := float64(max(records, 1)) * float64(of.Level)
	deviation /= n
	for i, e := range of.Entries {
		half := float64(e.Half)
		least := -1.0
		if e.Middle == 0 && !e.Square { // a category
			least = 0
		}
		mean := math.Min(math.Max(float64(sums[2*i])/n, least), 1)
		moves[e.Entry].Centre = int64(math.Round(16 * (float64(e.Middle) + float64(half*mean))))
		if !s.Scaled(entries[e.Entry]) {
			continue
		}
		variance := float64(sums[2*i+1])/n - float64(mean*mean)
		variance = math.Min(math.Max(variance, 4*deviation), 1)
		moves[e.Entry].Spread = max(int64(math.Round(16*3*half*math.Sqrt(variance))), 1)
	}
	return moves
}

// values is a Look with the methods of an Adder.
type values struct{ *Look }

func (v *values) Clipped() int64 { return 0 }

func (v *values) Sketch() sketch.Sketch {
	return sketch.Sketch{Side: sketch.Look, Rows: 1, Cols: len(v.sums), Data: slices.Clone(v.sums)}
}
