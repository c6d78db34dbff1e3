package dataset

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// exactPowers are the powers of ten that float64 represents exactly.
var exactPowers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseNumber reads a finite decimal number with the given decimal mark, or a date.
func parseNumber(cell []byte, mark byte, form DateForm) (float64, *problem) {
	if x, ok := parseShort(cell, mark); ok {
		return x, nil
	}
	if days, ok := parseDate(cell, form); ok {
		return days, nil
	}
	for _, other := range DateForms() {
		if _, ok := parseDate(cell, other); ok {
			return 0, otherDate
		}
	}
	if mark != '.' {
		if bytes.IndexByte(cell, '.') >= 0 {
			return 0, notNumber // not the decimal mark
		}
		cell = bytes.Replace(cell, []byte{mark}, []byte{'.'}, 1)
	}
	return parseDecimal(string(cell))
}

// number reads a finite decimal number, or a date. For any other text, the problem says how to mend
// it if that is known.
func (d *Dialect) number(cell []byte) (float64, *problem) {
	mark := d.Decimal.mark()
	if x, ok := parseShort(cell, mark); ok { // most are
		return x, nil
	}
	x, wrong := parseNumber(cell, mark, d.Date)
	if wrong == nil {
		return x, nil
	}
	if d.Thousands != "" {
		if plain, ok := d.Thousands.ungroup(cell, mark); ok {
			return parseNumber(plain, mark, DateISO)
		}
	}
	if wrong == notNumber && bytes.ContainsAny(cell, "0123456789") {
		if like := dateLike(cell); like != nil {
			return 0, like
		}
		for _, other := range AllThousands() {
			for _, mark := range []byte(".,") {
				// A single point or comma may just as well be a decimal mark.
				if plain, ok := other.ungroup(cell, mark); ok && (other != ThousandsPoint && other != ThousandsComma || len(cell)-len(plain) > 1 || bytes.IndexByte(plain, mark) >= 0) {
					return 0, grouped
				}
			}
		}
	}
	return 0, wrong
}

// ungroup returns a number without its thousands separators. ok is false if it has none, or if they
// do not separate groups of three digits.
func (t Thousands) ungroup(cell []byte, decimal byte) (plain []byte, ok bool) {
	marks := t.marks()
	if len(marks) == 0 || marks[0][0] == decimal {
		return nil, false
	}
	at := 0
	if len(cell) > 0 && (cell[0] == '-' || cell[0] == '+') {
		at = 1
	}
	plain = append(plain, cell[:at]...)
	for group, groups := 0, 0; ; {
		if at < len(cell) && '0' <= cell[at] && cell[at] <= '9' {
			plain = append(plain, cell[at])
			at++
			group++
			continue
		}
		size := 0
		for _, m := range marks {
			if bytes.HasPrefix(cell[at:], []byte(m)) {
				size = len(m)
			}
		}
		if groups > 0 && group != 3 || groups == 0 && (group < 1 || group > 3) {
			return nil, false
		}
		if size == 0 {
			return append(plain, cell[at:]...), groups > 0 && (at == len(cell) || cell[at] == decimal)
		}
		at += size
		groups, group = groups+1, 0
	}
}

// dateLike returns why a text that looks like a date is none; nil if it does not look like one.
func dateLike(cell []byte) *problem {
	m := datePattern.FindSubmatch(cell)
	switch {
	case m == nil || !bytes.Equal(m[2], m[3]):
		return nil
	case len(m[5]) > 0:
		return timeOfDay
	case len(m[4]) <= 2 && len(m[1]) <= 2:
		return shortYear
	}
	return notADay
}

// datePattern matches what looks like a date: first number, separators, last number, time of day.
var datePattern = regexp.MustCompile(`^([0-9]{1,2}|[0-9]{4})([./-])[0-9]{1,2}([./-])([0-9]{4}|[0-9]{1,2})([T ][0-9:.]+Z?)?$`)

// parseShort reads numbers without exponent whose digits, taken as one integer, float64 represents
// exactly. One division by an exact power of ten is then correctly rounded (Clinger 1990), as
// strconv's result is. It reports false for all other texts, numbers or not.
func parseShort(cell []byte, mark byte) (float64, bool) {
	i, negative := 0, false
	if len(cell) > 0 && (cell[0] == '-' || cell[0] == '+') {
		i, negative = 1, cell[0] == '-'
	}
	digits, point := len(cell)-i, -1
	if digits == 0 || digits > 19 { // 19 digits do not overflow
		return 0, false
	}
	var mantissa uint64
	for j, b := range cell[i:] {
		switch d := b - '0'; {
		case d <= 9:
			mantissa = mantissa*10 + uint64(d)
		case b == mark && point < 0:
			point = j
		default:
			return 0, false
		}
	}
	x := float64(mantissa)
	if point >= 0 {
		if digits == 1 {
			return 0, false // only a mark
		}
		x /= exactPowers[digits-1-point]
	}
	if negative {
		x = -x
	}
	return x, mantissa <= 1<<53
}

// parseDecimal reads a finite decimal number. It refuses what strconv also accepts: hexadecimal
// numbers, underscores and words for infinity.
func parseDecimal(cell string) (float64, *problem) {
	for i := range len(cell) {
		switch ch := cell[i]; {
		case ch >= '0' && ch <= '9', ch == '.', ch == '-', ch == '+', ch == 'e', ch == 'E':
		default:
			if _, err := strconv.ParseFloat(cell, 64); err == nil && !strings.ContainsAny(cell, "0123456789") {
				return 0, notFinite
			}
			return 0, notNumber
		}
	}
	x, err := strconv.ParseFloat(cell, 64)
	switch {
	case math.IsInf(x, 0):
		return 0, notFinite // out of float64's range
	case err != nil:
		return 0, notNumber
	}
	return x, nil
}

// parseDate reads a date of the Gregorian calendar, in ISO form or the given one, as days since
// 1970-01-01. In other forms than ISO, days and months may have one digit, and midnight may follow,
// because exports write both.
func parseDate(cell []byte, form DateForm) (days float64, ok bool) {
	if len(cell) > 10 {
		if cell = trimMidnight(cell); cell == nil {
			return 0, false
		}
	}
	if len(cell) < 8 || len(cell) > 10 {
		return 0, false
	}
	var year, month, day []byte
	if len(cell) == 10 && cell[4] == '-' && cell[7] == '-' {
		year, month, day = cell[:4], cell[5:7], cell[8:]
	} else {
		mark := byte('/')
		switch form {
		case DateDots:
			mark = '.'
		case DateSlashes, DateUS:
		default:
			return 0, false
		}
		first, rest, _ := bytes.Cut(cell, []byte{mark})
		second, last, found := bytes.Cut(rest, []byte{mark})
		if !found || len(first) < 1 || len(first) > 2 || len(second) < 1 || len(second) > 2 || len(last) != 4 {
			return 0, false
		}
		year, month, day = last, second, first
		if form == DateUS {
			month, day = first, second
		}
	}
	y, yOK := number(year)
	m, mOK := number(month)
	d, dOK := number(day)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if !yOK || !mOK || !dOK || t.Year() != y || int(t.Month()) != m || t.Day() != d {
		return 0, false // such as 30 February, which time.Date moves
	}
	return dayNumber(t), true
}

// trimMidnight returns a date without its time of day; nil if that is not midnight.
func trimMidnight(cell []byte) []byte {
	i := bytes.IndexAny(cell, " T")
	if i < 0 {
		return nil
	}
	clock, fraction, _ := strings.Cut(string(cell[i+1:]), ".")
	if (clock != "00:00" && clock != "00:00:00") || strings.Trim(fraction, "0") != "" {
		return nil
	}
	return cell[:i]
}

// number reads an unsigned integer; digits only.
func number(digits []byte) (n int, ok bool) {
	for _, b := range digits {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = n*10 + int(b-'0')
	}
	return n, true
}

// dayNumber returns the days from 1970-01-01 to the date that t shows in its zone.
func dayNumber(t time.Time) float64 {
	year, month, day := t.Date()
	return float64(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}
