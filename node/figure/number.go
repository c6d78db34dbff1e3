package figure

import (
	"math"
	"strconv"
	"strings"
)

// Rounded numbers keep the digits that their interval leaves meaningful: two of its
// width. An estimate and both ends are rounded to the same place.

// lastPlace is the power of ten to which an estimate with this interval is rounded;
// ok is false where the interval has no width to go by.
func lastPlace(low, high float64) (place int, ok bool) {
	width := high - low
	if !(width > 0) || math.IsInf(width, 0) {
		return 0, false
	}
	return int(math.Floor(math.Log10(width))) - 1, true
}

// mostDigits bounds how many digits of one number are printed.
const mostDigits = 9

// rounded prints x rounded to a power of ten.
func rounded(x float64, place int) string {
	magnitude := place // of the first digit
	if x != 0 {
		magnitude = max(place, int(math.Floor(math.Log10(math.Abs(x)))))
	}
	if digits := magnitude - place + 1; digits > mostDigits || magnitude >= 12 || magnitude < -6 {
		return strconv.FormatFloat(x, 'e', min(digits, mostDigits)-1, 64)
	}
	if place > 0 {
		unit := math.Pow10(place)
		x, place = math.Round(x/unit)*unit, 0
	}
	text := strconv.FormatFloat(x, 'f', -place, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-") // no negative zero
	}
	return text
}

// Interval prints an estimate and its interval, both rounded to the interval's
// width.
func Interval(estimate, low, high float64) (number, between string) {
	print := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	if place, ok := lastPlace(low, high); ok {
		print = func(x float64) string { return rounded(x, place) }
	}
	return print(estimate), "[" + print(low) + ", " + print(high) + "]"
}
