package figure

import (
	"math"
	"strconv"
)

// Axis maps numbers to pixels along one axis, with ticks at round numbers.
type Axis struct {
	Low, High float64 // numbers at the ends, multiples of Step
	Step      float64 // between ticks
	From, To  float64 // pixels of the ends
}

// NewAxis makes an axis whose ends are round and which holds all numbers that are finite;
// 0 and 1 where there is none.
func NewAxis(from, to float64, numbers ...float64) Axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range numbers {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			low, high = min(low, x), max(high, x)
		}
	}
	switch {
	case low > high:
		low, high = 0, 1
	case low == high:
		size := max(math.Abs(low), 1e-300)
		low, high = low-size/2, high+size/2
	}
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	for (high-low)/step > 6 {
		step *= 2
	}
	for (high-low)/step < 3 {
		step /= 2
	}
	return Axis{Low: step * math.Floor(low/step), High: step * math.Ceil(high/step), Step: step, From: from, To: to}
}

// At is the pixel of a number; what lies beyond an end is put there.
func (a Axis) At(x float64) float64 {
	return Tenth(a.From + (min(max(x, a.Low), a.High)-a.Low)/(a.High-a.Low)*(a.To-a.From))
}

// Tick is a number on an axis.
type Tick struct {
	At   float64
	Text string
}

// Ticks are the numbers to write beside the axis.
func (a Axis) Ticks() []Tick {
	var out []Tick
	for i := 0; ; i++ {
		x := a.Low + float64(i)*a.Step
		if x > a.High+a.Step/1000 || i > 20 {
			return out
		}
		if math.Abs(x) < a.Step/1000 {
			x = 0
		}
		out = append(out, Tick{a.At(x), Short(x)})
	}
}

// Short prints a number for an axis.
func Short(x float64) string {
	text := strconv.FormatFloat(x, 'g', 10, 64)
	if rest, negative := cutMinus(text); negative {
		return "−" + rest
	}
	return text
}

func cutMinus(s string) (string, bool) {
	if len(s) > 0 && s[0] == '-' {
		return s[1:], true
	}
	return s, false
}
