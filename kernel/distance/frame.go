package distance

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// MaxDimension is the greatest number of coordinates for which the bound is proved.
const MaxDimension = 1 << 20

// ChunkRows is the number of points in a unit of work. It does not depend on the number of workers,
// so sums of these units, added up in order, do not either.
const ChunkRows = 4096

// Frame is the coordinate system for float32: centred, so that a common offset costs no digits, and
// scaled so that no coordinate exceeds 1. It is immutable.
type Frame struct {
	centre []float64
	scale  float64 // a power of two
	bound  float64 // g of the package comment
	least  float64 // bound on underflow of float32
}

// centreOf is how many points the centre is the mean of; any centre is valid.
const centreOf = 4096

// NewFrame returns a frame for points of one or several sets with equal numbers of columns. It
// returns an error if a coordinate is not finite, or too large to be squared. Workers share the
// work.
func NewFrame(workers int, sets ...blas64.General) (Frame, error) {
	d := sets[0].Cols
	for _, s := range sets {
		if s.Cols != d {
			return Frame{}, fmt.Errorf("points of %d coordinates in one set and %d in another", d, s.Cols)
		}
	}
	if d < 1 || d > MaxDimension {
		return Frame{}, fmt.Errorf("points of %d coordinates: must be 1 to %d", d, MaxDimension)
	}
	f := Frame{centre: make([]float64, d), bound: (2.5*float64(d) + 16) * 0x1p-24, least: float64(d+1) * 0x1p-140}
	step := max(sets[0].Rows/centreOf, 1)
	var count float64
	for i := 0; i < sets[0].Rows; i += step {
		for j, v := range Row(sets[0], i) {
			f.centre[j] += v
		}
		count++
	}
	for j := range f.centre {
		f.centre[j] /= max(count, 1)
	}
	var largest float64
	for _, s := range sets {
		largest = max(largest, f.reach(workers, s))
	}
	if !(largest <= 0x1p500) {
		return Frame{}, errors.New("a point has a coordinate that is not finite or too large")
	}
	_, exponent := math.Frexp(largest)
	f.scale = math.Ldexp(1, -max(exponent, -500))
	return f, nil
}

// reach is the largest distance of a coordinate from the centre; NaN if there is one.
func (f Frame) reach(workers int, points blas64.General) (largest float64) {
	parts := make([]float64, (points.Rows+ChunkRows-1)/ChunkRows)
	parallel.Share(len(parts), workers, func(_, part int) {
		var most float64
		for i := part * ChunkRows; i < min((part+1)*ChunkRows, points.Rows); i++ {
			for j, v := range Row(points, i) {
				most = max(most, math.Abs(v-f.centre[j]))
			}
		}
		parts[part] = most
	})
	for _, p := range parts {
		largest = max(largest, p)
	}
	return largest
}

func (f Frame) Dimension() int { return len(f.centre) }

// PanelSize is the length of a panel, GroupSize that of a group of rows.
func (f Frame) PanelSize() int { return (f.Dimension() + 1) * Lanes }

func (f Frame) GroupSize() int { return (f.Dimension() + 1) * Rows }

// Role says which side of a comparison carries the squared norms.
type Role int

// One side must be Plain and the other Normed. Scores of Normed lanes are lower bounds (see
// Frame.Limit); those of Normed rows are rounded to nearest.
const (
	Plain Role = iota
	Normed
)

// Panel writes points from..from+Lanes of a set as lanes and returns their squared norms in the
// frame. If the set has fewer, the remaining Normed lanes have score +Inf; the scores of Plain ones
// are meaningless.
func (f Frame) Panel(panel []float32, points blas64.General, from int, role Role) (norms [Lanes]float64) {
	d := f.Dimension()
	for i := range Lanes {
		last := float32(1)
		if from+i >= points.Rows {
			for j := range d {
				panel[j*Lanes+i] = 0
			}
			if role == Normed {
				last = inf32
			}
			panel[d*Lanes+i] = last
			continue
		}
		var norm float64
		for j, v := range Row(points, from+i) {
			w := float32((v - f.centre[j]) * f.scale)
			panel[j*Lanes+i] = w
			norm += float64(float64(w) * float64(w))
		}
		if role == Normed {
			last = down(norm * (1 - f.bound))
		}
		panel[d*Lanes+i], norms[i] = last, norm
	}
	return norms
}

// Group writes points from..from+Rows of a set as rows and returns their squared norms in the
// frame. If the set has fewer, the remaining Normed rows have score +Inf; the scores of Plain ones
// are meaningless.
func (f Frame) Group(rows []float32, points blas64.General, from int, role Role) (norms [Rows]float64) {
	d := f.Dimension()
	for r := range Rows {
		last := float32(1)
		if from+r >= points.Rows {
			for j := range d {
				rows[j*Rows+r] = 0
			}
			if role == Normed {
				last = inf32
			}
			rows[d*Rows+r] = last
			continue
		}
		var norm float64
		for j, v := range Row(points, from+r) {
			w := float32((v - f.centre[j]) * f.scale)
			rows[j*Rows+r] = -2 * w
			norm += float64(float64(w) * float64(w))
		}
		if role == Normed {
			last = float32(norm)
		}
		rows[d*Rows+r], norms[r] = last, norm
	}
	return norms
}

// Limit is the least limit with which Below finds every Normed lane whose Squared distance from a
// Plain row is at most squared. Norm is the row's squared norm.
func (f Frame) Limit(squared, norm float64) float32 {
	if squared > math.MaxFloat64 {
		return math.MaxFloat32
	}
	// Squares below the smallest float64 may be missing from squared.
	scaled := float64((squared+float64(f.Dimension())*0x1p-1070)*f.scale) * f.scale
	return up(scaled - float64(norm*(1-f.bound)) + float64((scaled+norm)*0x1p-40) + f.least)
}

// Slack is the greatest difference of two Normed rows' scores with a Plain lane for which the row
// with the greater score may still be the nearer. Norm is the lane's squared norm; the rows' are at
// most most.
func (f Frame) Slack(norm, most float64) float32 {
	return float32(float64(2.001*f.bound*(norm+most)) + 3*f.least) // more than twice the bound, by more than its rounding error
}

// Original converts a squared distance of the frame to the points' own units.
func (f Frame) Original(squared float64) float64 { return squared / f.scale / f.scale }

func (f Frame) Scaled(squared float64) float32 { return float32(squared * f.scale * f.scale) }

// Squared is the squared distance of two points, coordinate by coordinate, each
// square rounded before it is added: the same bits on every machine.
func Squared(x, y []float64) (sum float64) {
	y = y[:len(x)]
	for i, v := range x {
		d := v - y[i]
		sum += float64(d * d)
	}
	return sum
}

func Row(points blas64.General, i int) []float64 {
	return points.Data[i*points.Stride:][:points.Cols]
}

var inf32 = float32(math.Inf(1))

// down and up round to float32, downwards and upwards.
func down(v float64) float32 {
	w := float32(v)
	if float64(w) > v {
		w = math.Nextafter32(w, -inf32)
	}
	return w
}

func up(v float64) float32 { return -down(-v) }
