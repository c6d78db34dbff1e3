package config

import (
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
)

// How a dataset is read is added to its entry, and nothing else changes.
func TestSetReading(t *testing.T) {
	more := dataset.Reading{
		CSV:   dataset.Dialect{Decimal: dataset.DecimalComma, Thousands: dataset.ThousandsPoint},
		Words: dataset.Replacements{Missing: []string{"k.A.", "-9"}, Values: map[string]map[string]string{"Größe": {"groß": "2", "?": ""}}},
	}
	for name, c := range map[string]struct{ before, after string }{
		"nothing yet": {
			"datasets:\n  # ours\n  a:\n    source: x.csv # here\n",
			"datasets:\n  # ours\n  a:\n    values: {\"Größe\": {\"?\": \"\", \"groß\": 2}}\n    missing: [k.A., \"-9\"]\n    csv: {decimal: comma, thousands: point}\n    source: x.csv # here\n",
		},
		"something": {
			"datasets:\n  a:\n    source: x.csv\n    csv: {date: DD.MM.YYYY, decimal: point} # as exported\n    missing: [\"N]A\"]\n    values: {'a}': {1: 2}, \"Größe\": {\"groß\": 1}}\n    id: [n]\n",
			"datasets:\n  a:\n    source: x.csv\n    csv: {decimal: comma, thousands: point, date: DD.MM.YYYY} # as exported\n    missing: [\"N]A\", k.A., \"-9\"]\n    values: {\"Größe\": {\"?\": \"\", \"groß\": 2}, \"a}\": {\"1\": 2}}\n    id: [n]\n",
		},
		"braces": {
			"datasets: {a: {source: x.csv, missing: [NA]}}\n",
			"datasets: {a: {values: {\"Größe\": {\"?\": \"\", \"groß\": 2}}, csv: {decimal: comma, thousands: point}, source: x.csv, missing: [NA, k.A., \"-9\"]}}\n",
		},
	} {
		path := write(t, c.before)
		if _, err := SetReading(path, "a", more); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, _ := os.ReadFile(path); string(got) != c.after {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.after)
		}
		// Setting it twice writes it once.
		if _, err := SetReading(path, "a", more); err != nil {
			t.Errorf("%s again: %v", name, err)
		}
		if got, _ := os.ReadFile(path); string(got) != c.after {
			t.Errorf("%s again: got\n%s", name, got)
		}
	}
}

// What cannot be edited stays unchanged, and the error says so.
func TestSetReadingRefuses(t *testing.T) {
	for want, before := range map[string]string{
		"cannot be edited by this command": "datasets:\n  a:\n    source: x.csv\n    csv:\n      decimal: comma\n",
		`dataset "a" is not in`:            "datasets: {ab: {source: x.csv}}\n",
		"it can be one of them":            "datasets: {a: {source: x.csv, csv: {thousands: point}}}\n",
	} {
		path := write(t, before)
		_, err := SetReading(path, "a", dataset.Reading{CSV: dataset.Dialect{Decimal: dataset.DecimalPoint}})
		if got, _ := os.ReadFile(path); err == nil || !strings.Contains(err.Error(), want) || string(got) != before {
			t.Errorf("got %v, want %s; the file:\n%s", err, want, got)
		}
	}
}
