package forecast

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Method is one entry of the menu: a mechanism and a projection without its k.
type Method struct {
	Mechanism dp.Mechanism
	Family    projection.Family
	S         int // Sparse: non-zeros in a row; 0 for the other families
}

// String names the method, as in "sparse s=1, laplace".
func (m Method) String() string {
	switch {
	case m.Mechanism == dp.RandomisedResponse && m.Family == projection.Identity:
		return string(dp.RandomisedResponse)
	case m.Family == projection.Sparse:
		return fmt.Sprintf("%s s=%d, %s", m.Family, m.S, noiseName(m.Mechanism))
	}
	return fmt.Sprintf("%s, %s", m.Family, noiseName(m.Mechanism))
}

func noiseName(m dp.Mechanism) string {
	if m == dp.None {
		return "no noise"
	}
	return string(m)
}

// Menu lists the methods of a side that give a unit's guarantee, or those without noise if the unit
// is empty. If binary, all columns are binary, and randomised response is listed under unit
// attribute.
func Menu(side sketch.Side, unit dp.Unit, binary bool) []Method {
	records := side == sketch.Records
	if unit == "" {
		out := []Method{{dp.None, projection.Rademacher, 0}, {dp.None, projection.Sparse, 1}}
		if records {
			out = append(out, Method{dp.None, projection.Hadamard, 0})
		}
		return out
	}
	out := []Method{
		{dp.Laplace, projection.Sparse, 1}, {dp.Laplace, projection.Sparse, 2}, {dp.Laplace, projection.Sparse, 4},
		{dp.Laplace, projection.Rademacher, 0},
		{dp.Gaussian, projection.Sparse, 1}, {dp.Gaussian, projection.Rademacher, 0},
	}
	response := unit == dp.Attribute && binary
	if !records {
		if response {
			out = append(out, Method{dp.RandomisedResponse, projection.Sparse, 1}, Method{dp.RandomisedResponse, projection.Rademacher, 0})
		}
		return out
	}
	out = append(out, Method{dp.Gaussian, projection.Hadamard, 0}, Method{dp.Laplace, projection.Identity, 0}, Method{dp.Gaussian, projection.Identity, 0})
	if response {
		out = append(out, Method{dp.RandomisedResponse, projection.Identity, 0})
	}
	return out
}

// Spec returns the method's projection with k coordinates.
func (m Method) Spec(k int) projection.Spec {
	return projection.Spec{Family: m.Family, K: k, S: m.S}
}

// Range returns the least k of a method, of which all others are multiples, and the greatest up to
// most, for records of d features.
func (m Method) Range(d, most int) (step, greatest int) {
	switch m.Family {
	case projection.Identity:
		return d, d
	case projection.Hadamard:
		most = min(most, projection.HadamardSize(d))
	case projection.Sparse:
		step := max(m.S, 1)
		return step, max(most/step, 1) * step
	}
	return 1, max(most, 1)
}

// NoiseGrows reports whether the noise on a scaled coordinate grows with k: Laplace
// noise covers the l1 norm of a row of R, which is √k for a scaled row of signs.
func (m Method) NoiseGrows() bool {
	return m.Mechanism == dp.Laplace && m.Family != projection.Sparse && m.Family != projection.Identity
}

// One is the fixed-point integer for 1 that Attribute and Calibrate assume, as they know no study:
// the finest.
const One = 1 << 14

// Flips returns the randomisation of bits under unit attribute, with One as the integer for 1.
func Flips(g dp.Guarantee) (dp.Flips, error) {
	f, err := dp.RandomiseBits(g, One)
	if err != nil {
		return dp.Flips{}, fmt.Errorf("forecasting %s: %w", dp.RandomisedResponse, err)
	}
	return f, nil
}

// Calibrate returns the noise of a records-side sketch under unit attribute, for values in [0, 1]
// with One as the integer for 1: what dp calibrates for a change of the whole range.
func (m Method) Calibrate(k, d int, g dp.Guarantee) (dp.Noise, error) {
	spec := m.Spec(k)
	if err := spec.Validate(); err != nil {
		return dp.Noise{}, fmt.Errorf("forecasting %s: %w", m, err)
	}
	row := dp.RowNorms{L1: spec.RowL1(), L2Squared: spec.RowL2Squared()}
	sensitivity, err := dp.AttributeRecords(row, []int64{One}, spec.OrthogonalRows(d))
	if err != nil {
		return dp.Noise{}, fmt.Errorf("forecasting %s: %w", m, err)
	}
	noise, err := dp.Calibrate(g, sensitivity)
	if err != nil {
		return dp.Noise{}, fmt.Errorf("forecasting %s: %w", m, err)
	}
	return noise, nil
}

// Attribute returns the law of that sketch, in units of 1. Under randomised response nothing is
// projected, and the law is that of the flipped bits.
func (m Method) Attribute(k, d int, g dp.Guarantee) (Law, error) {
	if m.Mechanism == dp.RandomisedResponse {
		f, err := Flips(g)
		return Law{Projection: m.Spec(d), Features: d, Noise: NoiseOfBits(f), Bits: true}, err
	}
	noise, err := m.Calibrate(k, d, g)
	if err != nil {
		return Law{}, err
	}
	spec := m.Spec(k)
	return Law{Projection: spec, Features: d, Noise: NoiseOf(noise, spec.Scale()/One)}, nil
}

// Search returns the multiple of step, up to most, with the least error. It assumes that the error
// falls and then rises with k, as A/k + B + Ck does. most is at least step.
func Search(step, most int, at func(k int) (float64, error)) (k int, least float64, err error) {
	lo, hi := 1, most/step
	for lo < hi {
		middle := lo + (hi-lo)/2
		a, err := at(middle * step)
		if err != nil {
			return 0, 0, err
		}
		b, err := at((middle + 1) * step)
		if err != nil {
			return 0, 0, err
		}
		if a <= b {
			hi = middle
		} else {
			lo = middle + 1
		}
	}
	least, err = at(lo * step)
	return lo * step, least, err
}
