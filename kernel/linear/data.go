package linear

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/room"
)

// Data are n labelled points of dimension d. They are neither changed nor kept.
type Data struct {
	Points  *mat.Dense     // n × d, finite
	Labels  []int          // n labels, from 0 to Classes-1
	Classes int            // at least 2
	Noise   Randomised     // how the labels were randomised; default: not at all
	Room    room.Allocator // for the space that training needs for each point, and matrices. Default: memory
	Memory  int64          // bytes of the points that are held to read them out of order. It does not change the result. Default: all

	space *scratch // shared by all models that are trained; nil: each has its own
}

// Randomised says that labels went through k-ary randomised response.
type Randomised struct {
	Other float64 // p, the probability of each other class; below 1/Classes
}

// span is the probability of the true class minus that of any other: 1-Kp.
func (r Randomised) span(classes int) float64 { return 1 - float64(classes)*r.Other }

// DataError is the reason why there is nothing to learn from the data. Another study, or more
// records, would help.
type DataError struct{ Problem string }

func (e *DataError) Error() string { return e.Problem }

func dataErrorf(format string, args ...any) error { return &DataError{fmt.Sprintf(format, args...)} }

// check returns an error if nothing can be learnt from the data.
func (d Data) check() error {
	if d.Points == nil || d.Points.IsEmpty() {
		return dataErrorf("there are no features")
	}
	n, _ := d.Points.Dims()
	switch {
	case len(d.Labels) != n:
		return fmt.Errorf("%d labels of %d points", len(d.Labels), n)
	case d.Classes < 2:
		return fmt.Errorf("%d classes: at least 2 are needed", d.Classes)
	case !(d.Noise.Other >= 0 && d.Noise.span(d.Classes) > 0):
		return fmt.Errorf("probability %g of each other class: must be at least 0 and below 1/%d", d.Noise.Other, d.Classes)
	}
	for i, label := range d.Labels {
		if label < 0 || label >= d.Classes {
			return fmt.Errorf("label %d of point %d, of %d classes", label, i, d.Classes)
		}
		for _, v := range d.Points.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("point %d is not finite", i)
			}
		}
	}
	present := 0
	for _, count := range d.counts() {
		if count > 0 {
			present++
		}
	}
	if present < 2 {
		return dataErrorf("all records have the same label")
	}
	return nil
}

// counts returns how many points have each label.
func (d Data) counts() []int {
	out := make([]int, d.Classes)
	for _, label := range d.Labels {
		out[label]++
	}
	return out
}

// task is to separate one class from all others, on some of the points.
type task struct {
	Data
	rows  []int // of Points
	class int   // the positive one
}

// tasks returns one task per class; for two classes a single one, of the second against the first.
func (d Data) tasks(rows []int) []task {
	if d.Classes == 2 {
		return []task{{d, rows, 1}}
	}
	out := make([]task, d.Classes)
	for class := range out {
		out[class] = task{d, rows, class}
	}
	return out
}

// sign is 1 for the i-th of the rows if it is positive, else -1.
func (t task) sign(i int) float64 {
	if t.Labels[t.rows[i]] == t.class {
		return 1
	}
	return -1
}

// target is an unbiased estimate of the true label's sign.
func (t task) target(i int) float64 {
	observed := 0.0
	if t.Labels[t.rows[i]] == t.class {
		observed = 1
	}
	return 2*(observed-t.Noise.Other)/t.Noise.span(t.Classes) - 1
}

// weight is the weight of a positive or a negative label in a loss; 1 unless labels were
// randomised.
func (t task) weight(sign float64) float64 {
	return 1 + sign*float64(t.Classes-2)*t.Noise.Other
}

func (t task) point(i int) []float64 { return t.Points.RawRowView(t.rows[i]) }

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

func dot(x, y []float64) float64 { return blas64.Dot(vector(x), vector(y)) }

// add adds a times x to y.
func add(y []float64, a float64, x []float64) { blas64.Axpy(a, vector(x), vector(y)) }
