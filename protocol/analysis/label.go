package analysis

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// Labeller applies a published model of sums to a party's own records: it tells the cluster or the
// predicted class of each. It runs where the records are.
type Labeller struct {
	Name    string // of what it tells, like "cluster"
	Sketch  int    // index of the model's sketch
	takes   []int
	centres []int64
	clip    int64
	one     float64
	fine    uint
	scratch []int64
	point   []float64
	say     func(point []float64) int
	classes []string // nil for clusters
}

// NewLabeller takes a k-means by cells, or a discriminant, from a result of the study that Decode
// accepted.
func NewLabeller(s *study.Study, a Analysis) (*Labeller, error) {
	if a.Sketch < 0 || a.Sketch >= len(s.Sketches) || !s.Sketches[a.Sketch].Side.Sums() || a.CellMeans == nil && a.LDA == nil {
		return nil, fmt.Errorf("labelling records: the result has no model of sums to label them by")
	}
	l := &Labeller{Name: clusterColumn, Sketch: a.Sketch, clip: s.IntegerClip(a.Sketch), one: float64(s.Bits.One()), fine: s.Fine()}
	if sk := s.Sketches[a.Sketch]; sk.OwnClip || sk.Standardise {
		l.clip = 0 // each party chose its own length, or the units in which a record has it; the study does not say
	}
	features, centres := s.Features(0, a.Sketch), s.Centres(a.Sketch)
	var names []Feature
	for i, f := range features {
		if c := s.Columns[f.Column]; !c.Label {
			l.takes, l.centres = append(l.takes, i), append(l.centres, centres[i])
			names = append(names, Feature{Column: c.Title(), Value: f.Value})
		}
	}
	l.scratch, l.point = make([]int64, len(l.takes)), make([]float64, len(l.takes))
	var err error
	if a.LDA != nil {
		l.Name, l.classes = predictedColumn, a.LDA.Classes
		l.say, err = a.LDA.model(a.Features, names)
	} else {
		l.say, err = a.CellMeans.model(len(l.takes))
	}
	if err != nil {
		return nil, fmt.Errorf("labelling records: %w", err)
	}
	return l, nil
}

// model returns a function that finds the cluster with the nearest centre.
func (c *CellMeans) model(dim int) (func([]float64) int, error) {
	model := mat.NewDense(max(len(c.Model), 1), dim, nil)
	for i, row := range c.Model {
		if len(row) != dim {
			return nil, fmt.Errorf("cluster %d has %d coordinates, a record %d", i, len(row), dim)
		}
		model.SetRow(i, row)
	}
	return func(point []float64) int { return cluster.Nearest(model, point) }, nil
}

// model returns a function that finds the class with the highest score, or the first of several. A
// record has all names; the scores use some of them.
func (l *LDA) model(of, names []Feature) (func([]float64) int, error) {
	at := make([]int, len(of))
	for i, f := range of {
		if at[i] = slices.Index(names, f); at[i] < 0 {
			return nil, fmt.Errorf("records have no %s", f.text())
		}
	}
	return func(point []float64) int {
		best, most := 0, 0.0
		for c, p := range l.Model {
			score := p.Bias
			for i, w := range p.Weights {
				score += w * point[at[i]]
			}
			if score > most {
				best, most = c+1, score
			}
		}
		return best
	}, nil
}

// Takes returns the sketch's features that label a record, in order: all except the label.
func (l *Labeller) Takes() []int { return l.takes }

// Label returns the cluster, or the index of the class, of a record. The values are encoded at the
// study's ReadBits, in the order of Takes. Label rounds, centres and clips them as for the sketch.
// It panics if there are too few.
func (l *Labeller) Label(values []int64) int {
	for i, c := range l.centres {
		l.scratch[i] = 0
		if values[i] != sketch.Absent {
			l.scratch[i] = sketch.Round(values[i], l.fine) - c
		}
	}
	if l.clip > 0 {
		dp.ClipL2(l.scratch, l.clip)
	}
	for i, v := range l.scratch {
		l.point[i] = float64(v) / l.one
	}
	return l.say(l.point)
}

// Text returns a label as tables show it.
func (l *Labeller) Text(label int) string {
	if l.classes != nil {
		return l.classes[label]
	}
	return strconv.Itoa(label)
}
