package sum

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// moments returns the row of sums of records and of their products.
func moments() Row {
	return Row{
		Side: sketch.Moments, AtReadBits: true,
		Shape: func(s *study.Study, index int) (rows, cols int64) {
			return 1, s.MomentPrefix(index) + int64(s.MomentLayout(index).Entries())
		},
		Sensitivity: (*study.Study).MomentSensitivity,
		Open:        func(o Options) (Adder, error) { return openMoments(o, false) },
		Measure:     func(o Options) (Lengths, error) { return openMoments(o, true) },
		Largest: func(s *study.Study, index int, clip int64, square float64) float64 {
			w, err := s.MomentWeights(index, clip)
			if err != nil {
				return 0
			}
			one := float64(s.Bits.One())
			return max(float64(w.Square)*square*one*one, float64(w.Sum)*math.Sqrt(square)*one, float64(w.ClassCount))
		},
		Extremes:        axes,
		DisjointEntries: func(*study.Study, int) int { return 0 },
	}
}

// momentAdder separates the label from each record and sums the rest.
type momentAdder struct {
	*sketch.MomentsBuilder
	options Options
	entries []int // features that are entries of the summed records
	label   []int // features of the label
	values  []int64
	classes []int
}

// openMoments opens a builder of moments; with measure, one that only counts lengths.
func openMoments(o Options, measure bool) (*momentAdder, error) {
	s, options := o.Study, o.centred()
	out := &momentAdder{options: o, entries: s.MomentEntries(o.Index)}
	centre := options.Centre
	options.Centre, options.Clip = nil, 0
	for i := range centre {
		if slices.Contains(out.entries, i) {
			options.Centre = append(options.Centre, centre[i])
		} else {
			out.label = append(out.label, i)
		}
	}
	of := sketch.MomentsOptions{
		SumsOptions: options, Layout: s.MomentLayout(o.Index), Clips: o.Clips, One: s.Bits.One(),
		AttributeOf: s.MomentAttributes(o.Index), Move: o.Move, Fine: s.Fine(), Measure: measure,
	}
	clips := o.Clips
	if len(clips) == 0 {
		clips = []int64{0}
	}
	for _, clip := range clips {
		w, err := s.MomentWeights(o.Index, clip)
		if err != nil {
			return nil, err
		}
		of.Weights = append(of.Weights, w)
	}
	var err error
	out.MomentsBuilder, err = sketch.NewMoments(of)
	return out, err
}

// Add takes records with all features.
func (m *momentAdder) Add(x []int64) error {
	if len(m.label) == 0 {
		return m.MomentsBuilder.Add(x, nil)
	}
	s := m.options.Study
	n := len(m.entries) + len(m.label)
	m.values, m.classes = m.values[:0], m.classes[:0]
	label := make([]int64, len(m.label))
	for i := 0; i+n <= len(x); i += n {
		row := x[i : i+n]
		for _, at := range m.entries {
			m.values = append(m.values, row[at])
		}
		for j, at := range m.label {
			label[j] = row[at]
		}
		if label[0] == sketch.Absent {
			m.classes = append(m.classes, s.MomentClasses(m.options.Index)-1)
			continue
		}
		class, err := study.ClassOf(label, s.ReadBits().One())
		if err != nil {
			return fmt.Errorf("record %d of the batch: %w", i/n+1, err)
		}
		m.classes = append(m.classes, int(class))
	}
	return m.MomentsBuilder.Add(m.values, m.classes)
}

// Sketch returns the sums for each clip and, if the party chooses its clip, for each clip the
// number of records that fit it and no smaller one.
func (m *momentAdder) Sketch() sketch.Sketch {
	s := m.MomentsBuilder.Sketch()
	if !m.options.Chosen {
		return s
	}
	rows := LengthRows(len(m.options.Clips), s.Cols)
	counts := make([]int64, rows*s.Cols)
	copy(counts, m.Lengths())
	s.Data, s.Rows = append(s.Data, counts...), s.Rows+rows
	return s
}

// LengthRows returns the number of rows that the counts of lengths take after the sums for each
// clip, with entries columns each. There can be more clips than columns.
func LengthRows(clips, entries int) int { return (clips + entries) / entries }
