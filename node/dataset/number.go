package dataset

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// exactPowers are the powers of ten that float64 holds exactly.
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
			return 0, notNumber // not two marks
		}
		cell = bytes.Replace(cell, []byte{mark}, []byte{'.'}, 1)
	}
	return parseDecimal(string(cell))
}

// parseShort reads numbers without exponent whose digits, as one integer, float64
// holds exactly: one division by an exact power of ten is then correctly rounded
// (Clinger 1990), the same result as strconv's. It reports false for all others,
// be they numbers or not.
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
			return 0, false // a mark alone
		}
		x /= exactPowers[digits-1-point]
	}
	if negative {
		x = -x
	}
	return x, mantissa <= 1<<53
}

// parseDecimal reads a finite decimal number. strconv would also take hexadecimal
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

// parseDate reads a date of the Gregorian calendar, in ISO form or the given one,
// as days since 1970-01-01.
func parseDate(cell []byte, form DateForm) (days float64, ok bool) {
	if len(cell) != 10 {
		return 0, false
	}
	year, month, day := cell[:4], cell[5:7], cell[8:]
	mark := byte('-')
	if cell[4] != '-' || cell[7] != '-' {
		switch form {
		case DateDots:
			day, month, year, mark = cell[:2], cell[3:5], cell[6:], '.'
		case DateSlashes:
			day, month, year, mark = cell[:2], cell[3:5], cell[6:], '/'
		case DateUS:
			month, day, year, mark = cell[:2], cell[3:5], cell[6:], '/'
		default:
			return 0, false
		}
		if cell[2] != mark || cell[5] != mark {
			return 0, false
		}
	}
	y, yOK := number(year)
	m, mOK := number(month)
	d, dOK := number(day)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if !yOK || !mOK || !dOK || t.Year() != y || int(t.Month()) != m || t.Day() != d {
		return 0, false // a day like 30 February, which time.Date moves
	}
	return dayNumber(t), true
}

// number reads digits only.
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
