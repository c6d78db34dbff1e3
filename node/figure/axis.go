package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/day"
)

// Axis maps numbers to pixels along one axis, with ticks at round numbers.
type Axis struct {
	Low, High float64 // numbers at the ends
	Step      float64 // distance of ticks; the ends are multiples of it
	From, To  float64 // pixel positions of the ends
	Log       bool    // logarithmic: both ends are positive, Step is unused
	Dates     bool    // numbers are days since 1970-01-01
}

// NewAxis returns an axis with round ends that holds all finite numbers; from 0 to 1 if there are
// none.
func NewAxis(from, to float64, numbers ...float64) Axis {
	const least, most = 1e-300, 1e300 // beyond these, steps would be 0 or infinite
	low, high := span(math.Inf(-1), numbers)
	if low > high {
		low, high = 0, 1
	}
	low, high = min(max(low, -most), most), min(max(high, -most), most)
	if high-low < least {
		size := max(math.Abs(low), least)
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

// NewLogAxis returns a logarithmic axis that holds all positive finite numbers, with ends at 1, 2
// or 5 times a power of ten; from 1 to 10 if there are none.
func NewLogAxis(from, to float64, numbers ...float64) Axis {
	low, high := span(0, numbers)
	if low > high {
		low, high = 1, 10
	}
	a := Axis{From: from, To: to, Log: true}
	for _, x := range decade(low) {
		if x <= low*(1+1e-9) {
			a.Low = x
		}
	}
	for _, x := range decade(high) {
		if a.High = x; x >= high*(1-1e-9) && x > a.Low {
			break
		}
	}
	return a
}

// span returns the range of the finite numbers above a bound; low > high if there are none.
func span(above float64, numbers []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, x := range numbers {
		if x > above && !math.IsInf(x, 1) {
			low, high = min(low, x), max(high, x)
		}
	}
	return low, high
}

// decade returns 1, 2 and 5 times the powers of ten around a number.
func decade(x float64) (out []float64) {
	exponent := int(math.Floor(math.Log10(x)))
	for e := exponent - 1; e <= exponent+1; e++ {
		for _, m := range []float64{1, 2, 5} {
			out = append(out, m*math.Pow10(e))
		}
	}
	return out
}

// At returns the pixel position of a number, clamped to the ends of the axis.
func (a Axis) At(x float64) float64 {
	x = min(max(x, a.Low), a.High)
	part := (x - a.Low) / (a.High - a.Low)
	if a.Log {
		part = math.Log(x/a.Low) / math.Log(a.High/a.Low)
	}
	return Tenth(a.From + part*(a.To-a.From))
}

// Tick is a labelled position on an axis.
type Tick struct {
	At   float64
	Text string
}

// Ticks returns the ticks of the axis.
func (a Axis) Ticks() []Tick {
	if a.Log {
		return a.powers()
	}
	if out := a.years(); len(out) > 1 {
		return out
	}
	text := Short
	if a.Dates {
		text = block.Day
	}
	var out []Tick
	for i := 0; ; i++ {
		x := a.Low + float64(i)*a.Step
		if x > a.High+a.Step/1000 || i > 20 {
			return out
		}
		if math.Abs(x) < a.Step/1000 {
			x = 0
		}
		out = append(out, Tick{a.At(x), text(x)})
	}
}

// years returns ticks at the beginnings of years; a date axis should use them if there are at least
// two.
func (a Axis) years() (out []Tick) {
	if !a.Dates || day.Text(a.Low) == "" || day.Text(a.High) == "" {
		return nil
	}
	const most = 7
	first, _, _ := day.Civil(int64(a.Low))
	last, _, _ := day.Civil(int64(a.High))
	for _, step := range []int64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000} {
		if out = nil; (last-first)/step < most {
			for y := (first + step - 1) / step * step; y <= last; y += step {
				if x := float64(day.FromCivil(y, 1, 1)); x >= a.Low {
					out = append(out, Tick{a.At(x), strconv.FormatInt(y, 10)})
				}
			}
			return out
		}
	}
	return out
}

// powers returns the ticks of a logarithmic axis: 1, 2 and 5 times powers of ten over up to three
// decades, otherwise powers of ten, and only every n-th over many decades.
func (a Axis) powers() (out []Tick) {
	from, to := int(math.Floor(math.Log10(a.Low)+1e-9)), int(math.Ceil(math.Log10(a.High)-1e-9))
	multiples, stride := []float64{1}, (to-from)/8+1
	if to-from <= 3 {
		multiples = []float64{1, 2, 5}
	}
	for e := from; e <= to; e += stride {
		for _, m := range multiples {
			if x := m * math.Pow10(e); x >= a.Low*(1-1e-9) && x <= a.High*(1+1e-9) {
				out = append(out, Tick{a.At(x), power(x, e)})
			}
		}
	}
	return out
}

// power formats a number of a logarithmic axis.
func power(x float64, exponent int) string {
	if -4 <= exponent && exponent <= 4 {
		return Short(x)
	}
	raised := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	text := "10" + raised.Replace(strconv.Itoa(exponent))
	if m := math.Round(x / math.Pow10(exponent)); m != 1 {
		text = fmt.Sprintf("%g·%s", m, text)
	}
	return text
}

// Short formats a number for an axis.
func Short(x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'g', 10, 64), "-", "−", 1)
}
