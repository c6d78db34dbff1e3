package day_test

import (
	"testing"
	"time"

	"github.com/cosketch/cosketch/protocol/day"
)

func TestDatesAreThoseOfTheCalendar(t *testing.T) {
	for at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 10000; at = at.AddDate(0, 0, 17) {
		text, want := at.Format(time.DateOnly), at.Unix()/86400
		if got, ok := day.Parse(text); !ok || got != want || day.Text(float64(want)) != text {
			t.Fatalf("%s is %d, %v, and %s; want %d", text, got, ok, day.Text(float64(want)), want)
		}
	}
	if got := day.Text(0.5); got != "1970-01-02" {
		t.Errorf("half a day is %s", got)
	}
	for _, text := range []string{"", "2001-02-29", "2001-13-01", "2001-00-01", "2001-01-00", "0000-01-01", "1-1-1", "2001/01/01", "2001-01-01T", "20010101--"} {
		if got, ok := day.Parse(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
	for _, days := range []float64{-719163, 2932897, 1e300} {
		if text := day.Text(days); text != "" {
			t.Errorf("%v is %s", days, text)
		}
	}
}
