package protocol

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/day"
)

// Instant is a time in whole seconds since 1970-01-01T00:00:00Z. State machines get instants with
// their events; none reads a clock.
type Instant int64

// ParseInstant reads the only form allowed in study files: 2026-12-01T17:00:00Z, UTC, whole
// seconds, years 1970 to 9999.
func ParseInstant(text string) (Instant, error) {
	bad := func(why string) (Instant, error) {
		return 0, fmt.Errorf("time %q: %s (write UTC like 2026-12-01T17:00:00Z)", text, why)
	}
	const form = "0000-00-00T00:00:00Z"
	if len(text) != len(form) {
		return bad("want a date and a time of day")
	}
	for i := range form {
		digit := text[i] >= '0' && text[i] <= '9'
		if form[i] == '0' && !digit || form[i] != '0' && text[i] != form[i] {
			return bad(fmt.Sprintf("unexpected %q", text[i]))
		}
	}
	number := func(from, to int) (n int64) {
		for _, c := range text[from:to] {
			n = 10*n + int64(c-'0')
		}
		return n
	}
	year, month, date := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second := number(11, 13), number(14, 16), number(17, 19)
	switch {
	case year < 1970:
		return bad("year before 1970")
	case month < 1 || month > 12:
		return bad("no such month")
	case date < 1 || date > day.InMonth(year, month):
		return bad("no such day")
	case hour > 23 || minute > 59 || second > 59:
		return bad("no such time of day")
	}
	return Instant(day.FromCivil(year, month, date)*86400 + hour*3600 + minute*60 + second), nil
}

// String returns the instant in the form that ParseInstant reads.
func (t Instant) String() string {
	days, rest := int64(t)/86400, int64(t)%86400
	if rest < 0 {
		days, rest = days-1, rest+86400
	}
	y, m, d := day.Civil(days)
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", y, m, d, rest/3600, rest/60%60, rest%60)
}
