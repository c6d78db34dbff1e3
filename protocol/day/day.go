// Package day represents dates of the Gregorian calendar as numbers of days since 1970-01-01, the
// form in which date columns are sketched.
package day

import (
	"fmt"
	"math"
)

// InMonth returns the number of days in a month.
func InMonth(year, month int64) int64 {
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

// FromCivil returns the days since 1970-01-01 of a date of the proleptic Gregorian calendar. It
// counts years from March, so that the leap day comes last.
func FromCivil(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
}

// Civil returns the date of a number of days, from year 0 on.
func Civil(days int64) (year, month, day int64) {
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

// The range of days that Text can write.
var (
	first = float64(FromCivil(1, 1, 1))
	last  = float64(FromCivil(9999, 12, 31))
)

// form is the format of a date; each 0 stands for a digit.
const form = "0000-00-00"

// Written reports whether a text has the form of a date, even if there is no such date, as
// 2001-02-30.
func Written(text string) bool {
	if len(text) != len(form) {
		return false
	}
	for i := range form {
		if digit := text[i] >= '0' && text[i] <= '9'; digit != (form[i] == '0') || !digit && text[i] != form[i] {
			return false
		}
	}
	return true
}

// Parse reads a date like 1990-12-31; ok is false if there is no such date.
func Parse(text string) (days int64, ok bool) {
	if !Written(text) {
		return 0, false
	}
	number := func(from, to int) (n int64) {
		for _, c := range text[from:to] {
			n = 10*n + int64(c-'0')
		}
		return n
	}
	year, month, d := number(0, 4), number(5, 7), number(8, 10)
	if year < 1 || month < 1 || month > 12 || d < 1 || d > InMonth(year, month) {
		return 0, false
	}
	return FromCivil(year, month, d), true
}

// Text returns the date nearest to a number of days, "" if it is outside the years 1 to 9999.
func Text(days float64) string {
	if days = math.Round(days); !(days >= first && days <= last) {
		return ""
	}
	y, m, d := Civil(int64(days))
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d)
}
