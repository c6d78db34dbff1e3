package block

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol/day"
)

// Words that say what intervals are for.
const (
	ForRecords = "for these records"
	ForPeople  = "for people like these"
)

// Number is an estimate with its interval for these records and, if there is one, the wider one for
// people like these.
type Number struct {
	Value, Low, High      float64
	People                bool // whether the wider interval exists
	PeopleLow, PeopleHigh float64
	Undefined             string // why there is no number; empty: there is one
	Unanswered            bool   // its interval covers every possible value
	OpenLow, OpenHigh     bool   // whether its intervals are unbounded on that side
	Date                  bool   // in days since 1970-01-01, shown as dates
}

// interval formats the number and one of its intervals.
func (n Number) interval(low, high float64) (number, between string) {
	number, from, to := digitsOf(n.Value, low, high)
	if n.Date {
		number, from, to = Day(n.Value), Day(math.Floor(low)), Day(math.Ceil(high))
	}
	from, to = "["+from, to+"]"
	if n.OpenLow {
		from = "(…"
	}
	if n.OpenHigh {
		to = "…)"
	}
	return number, from + ", " + to
}

// Day formats a number of days since 1970-01-01 as a date, or as a number if no such date exists.
func Day(x float64) string {
	if text := day.Text(x); text != "" {
		return text
	}
	return Brief(x)
}

// Outer returns the ends of the widest interval.
func (n Number) Outer() (low, high float64) {
	if n.People {
		return n.PeopleLow, n.PeopleHigh
	}
	return n.Low, n.High
}

// ExcludesZero reports whether the number clearly differs from 0: its widest interval excludes 0.
func (n Number) ExcludesZero() bool {
	low, high := n.Outer()
	return n.Undefined == "" && (low > 0 || high < 0)
}

// Parts formats the number and its interval for these records, or says that there is none.
func (n Number) Parts() (number, between string) {
	if n.Undefined != "" {
		return "undefined", ""
	}
	if number, between = n.interval(n.Low, n.High); n.Unanswered {
		number = "no answer"
	}
	return number, between
}

// String formats both in a line.
func (n Number) String() string {
	number, between := n.Parts()
	return strings.TrimSpace(number + " " + between)
}

// PeopleInterval formats the interval for people like these; empty if there is none.
func (n Number) PeopleInterval() string {
	if n.Undefined != "" || !n.People {
		return ""
	}
	_, between := n.interval(n.PeopleLow, n.PeopleHigh)
	return between
}

// Long formats the number with all of its intervals, and what each is for.
func (n Number) Long() string {
	text := n.String()
	if wider := n.PeopleInterval(); wider != "" {
		text += " " + ForRecords + ", " + wider + " " + ForPeople
	}
	return text
}

// Cells returns the number and its intervals as cells of Estimates: two, or three if some numbers
// of the table have a second interval.
func (n Number) Cells(people bool) []Cell {
	number, between := n.Parts()
	out := []Cell{{Text: number, Undefined: n.Undefined}, {Text: between}}
	if people {
		out = append(out, Cell{Text: n.PeopleInterval()})
	}
	return out
}

// Estimates returns the columns for numbers of that name and their intervals.
func Estimates(name string, people bool) []Column {
	out := []Column{Numbers(name), Numbers(ForRecords)}
	if people {
		out = append(out, Numbers(ForPeople))
	}
	return out
}

// Bytes formats a size with three digits.
func Bytes(n int64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if x := float64(n) / unit.size; x >= 1 {
			place := math.Pow10(3 - min(len(strconv.Itoa(int(x))), 3)) // 100 below ten, 1 from a hundred
			return strconv.FormatFloat(math.Round(x*place)/place, 'f', -1, 64) + " " + unit.name
		}
	}
	return Counted(n, "byte", "bytes")
}

// Counted formats a number of things.
func Counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// longest is the length of the longest bar, in characters.
const longest = 40

// BarText draws a count relative to the largest one, in eighths of a character. A count above 0 is
// always visible.
func BarText(n, most int64) string {
	eighths := int(math.Round(8 * longest * float64(n) / float64(max(most, 1))))
	if n > 0 {
		eighths = max(eighths, 1)
	}
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return text
}

// Brief formats a number with at most four significant digits.
func Brief(x float64) string { return Digits(x, 4) }

// Digits formats a number with at most so many significant digits.
func Digits(x float64, digits int) string { return strconv.FormatFloat(x, 'g', digits, 64) }

// Percent formats a share of 1 as a percentage.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Share formats a part of a whole as a percentage.
func Share(part, whole int) string { return Percent(float64(part) / float64(max(whole, 1))) }

// Count formats an estimate of a count, which may be below zero.
func Count(x float64) string {
	return strconv.FormatFloat(math.Round(x)+0, 'f', 0, 64) // + 0 removes the sign of negative zero
}

// Rounded numbers keep the digits that their interval leaves meaningful: two of its width. An
// estimate and both ends are rounded to the same place.

// lastPlace returns the power of ten to which an estimate with this interval is rounded; ok is
// false if the interval has no positive, finite width.
func lastPlace(low, high float64) (place int, ok bool) {
	width := high - low
	if !(width > 0) || math.IsInf(width, 0) {
		return 0, false
	}
	return int(math.Floor(math.Log10(width))) - 1, true
}

// mostDigits limits the printed digits of one number.
const mostDigits = 9

// rounded formats x rounded to a power of ten.
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

// Interval formats an estimate and its interval, both rounded to the interval's width.
func Interval(estimate, low, high float64) (number, between string) {
	return Number{Value: estimate, Low: low, High: high}.interval(low, high)
}

func digitsOf(estimate, low, high float64) (number, from, to string) {
	print := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	if place, ok := lastPlace(low, high); ok {
		print = func(x float64) string { return rounded(x, place) }
	}
	return print(estimate), print(low), print(high)
}
