package dataset

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// checkNumber compares the parser with the standard library's.
func checkNumber(t interface{ Fatalf(string, ...any) }, text string) {
	want, wrong := parseDecimal(text)
	if short, ok := parseShort([]byte(text), '.'); ok && (wrong != nil || math.Float64bits(short) != math.Float64bits(want)) {
		t.Fatalf("%q: short way gives %v, strconv %v, %v", text, short, want, wrong)
	}
	if _, date := parseDate([]byte(text), DateISO); date {
		return
	}
	for mark, cell := range map[byte]string{'.': text, ',': strings.ReplaceAll(text, ".", ",")} {
		if mark == ',' && strings.Contains(text, ",") {
			continue
		}
		want, wrong := want, wrong
		if dateElsewhere(cell) {
			wrong = otherDate // not a number either, but with another hint
		}
		got, problem := parseNumber([]byte(cell), mark, DateISO)
		if problem != wrong || problem == nil && math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q with the mark %q: got %v, %v, want %v, %v", cell, mark, got, problem, want, wrong)
		}
	}
}

// dateElsewhere reports whether the cell is a date in a form that is not ISO's.
func dateElsewhere(cell string) bool {
	return slices.ContainsFunc(DateForms(), func(form DateForm) bool {
		_, ok := parseDate([]byte(cell), form)
		return ok
	})
}

func TestNumberAgrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		checkNumber(rt, rapid.StringMatching(`[+-]?[0-9]{0,21}\.?[0-9]{0,21}(e[+-]?[0-9]{1,3})?`).Draw(rt, "text"))
		x := rapid.Float64().Draw(rt, "x")
		for _, form := range []byte("feg") {
			checkNumber(rt, strconv.FormatFloat(x, form, rapid.IntRange(-1, 20).Draw(rt, "digits"), 64))
		}
	})
	for _, text := range []string{"", ".", "-", "+.", "-.5", "5.", "0", "-0", "9007199254740993", "9007199254740992", "0.1", "1..2", "0x1", "1_0", "nan", "Inf", "1e999", "01/10/0000", "31.12.1999"} {
		checkNumber(t, text)
	}
}

func FuzzNumber(f *testing.F) {
	f.Add("-1234.5678")
	f.Add("1e-5")
	f.Fuzz(func(t *testing.T, text string) { checkNumber(t, text) })
}

func TestTwoMarks(t *testing.T) {
	for _, text := range []string{"1.234,5", "1,234.5", "1.5", "1,2,3"} {
		if x, wrong := parseNumber([]byte(text), ',', DateISO); wrong == nil {
			t.Errorf("%q with a decimal comma is %v", text, x)
		}
	}
	if x, wrong := parseNumber([]byte("1,5"), '.', DateISO); wrong == nil {
		t.Errorf("decimal comma taken for a point: %v", x)
	}
}

func TestDates(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		days := rapid.IntRange(-719528, 2932896).Draw(rt, "days") // years 0 to 9999
		day := time.Date(1970, 1, 1+days, 0, 0, 0, 0, time.UTC)
		for form, layout := range map[DateForm]string{DateISO: "2006-01-02", DateDots: "02.01.2006", DateSlashes: "02/01/2006", DateUS: "01/02/2006"} {
			got, ok := parseDate([]byte(day.Format(layout)), form)
			if !ok || got != float64(days) {
				rt.Fatalf("%s: got %v, %v, want %d", day.Format(layout), got, ok, days)
			}
			// ISO is understood beside every form; other forms only if named.
			if got, ok := parseDate([]byte(day.Format("2006-01-02")), form); !ok || got != float64(days) {
				rt.Fatalf("%s beside %s: %v, %v", day.Format("2006-01-02"), form, got, ok)
			}
			if form != DateISO {
				if got, ok := parseDate([]byte(day.Format(layout)), DateISO); ok {
					rt.Fatalf("%s read as %v without its form", day.Format(layout), got)
				}
			}
		}
	})
	for _, text := range []string{"2023-02-29", "2023-13-01", "2023-00-10", "2023-01-00", "2023-1-1", "20230101", "2023/01/01", "-023-01-01", "2023-01-0x"} {
		if days, ok := parseDate([]byte(text), DateISO); ok {
			t.Errorf("%q is day %v", text, days)
		}
	}
}
