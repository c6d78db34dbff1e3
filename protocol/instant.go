package protocol

import "fmt"

// Instant is a moment in whole seconds since 1970-01-01T00:00:00Z. Machines are
// handed instants with their events; none of them reads a clock.
type Instant int64

// ParseInstant reads the one form that study files use: 2026-12-01T17:00:00Z,
// UTC, whole seconds, years 1970 to 9999.
func ParseInstant(text string) (Instant, error) {
	bad := func(why string) (Instant, error) {
		return 0, fmt.Errorf("parsing time %q: %s (write UTC like 2026-12-01T17:00:00Z)", text, why)
	}
	const form = "0000-00-00T00:00:00Z"
	if len(text) != len(form) {
		return bad("wrong length")
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
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second := number(11, 13), number(14, 16), number(17, 19)
	switch {
	case year < 1970:
		return bad("year before 1970")
	case month < 1 || month > 12:
		return bad("no such month")
	case day < 1 || day > daysIn(year, month):
		return bad("no such day")
	case hour > 23 || minute > 59 || second > 59:
		return bad("no such time of day")
	}
	return Instant(daysFromCivil(year, month, day)*86400 + hour*3600 + minute*60 + second), nil
}

// String returns the form that ParseInstant reads.
func (t Instant) String() string {
	day, rest := int64(t)/86400, int64(t)%86400
	if rest < 0 {
		day, rest = day-1, rest+86400
	}
	y, m, d := civilFromDays(day)
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", y, m, d, rest/3600, rest/60%60, rest%60)
}

func daysIn(year, month int64) int64 {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysFromCivil counts days since 1970-01-01 in the proleptic Gregorian calendar,
// with years that begin in March so that the leap day comes last.
func daysFromCivil(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
}

func civilFromDays(days int64) (year, month, day int64) {
	days += 719468
	era := days / 146097
	dayOfEra := days - era*146097
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36524 - dayOfEra/146096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	m := (5*dayOfYear + 2) / 153
	year, month, day = yearOfEra+era*400, m+3, dayOfYear-(153*m+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}
