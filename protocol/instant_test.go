package protocol

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const secondsOfDay = 24 * 60 * 60

// Every second from 1970 to 9999 is written as package time writes it, and read back.
func TestInstantRoundTrip(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, seconds int64) {
		want := time.Unix(seconds, 0).UTC().Format(time.RFC3339)
		if got := Instant(seconds).String(); got != want {
			t.Fatalf("%d is %s, want %s", seconds, got, want)
		}
		if got, err := ParseInstant(want); err != nil || got != Instant(seconds) {
			t.Fatalf("%s is %d (%v), want %d", want, got, err, seconds)
		}
	}
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.Int64Range(0, last).Draw(t, "seconds"))
	})
	// All days of a full cycle of leap years, at their last second.
	for d := range int64(400 * 366) {
		check(t, d*secondsOfDay+secondsOfDay-1)
	}
	check(t, 0)
	check(t, last)
}

// Package time determines which days exist.
func TestDatesExist(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ",
			rapid.IntRange(0, 9999).Draw(t, "year"), rapid.IntRange(0, 13).Draw(t, "month"), rapid.IntRange(0, 32).Draw(t, "day"),
			rapid.IntRange(0, 24).Draw(t, "hour"), rapid.IntRange(0, 60).Draw(t, "minute"), rapid.IntRange(0, 60).Draw(t, "second"))
		got, err := ParseInstant(text)
		want, wantErr := time.Parse(time.RFC3339, text)
		if wantErr != nil || want.Unix() < 0 {
			if err == nil {
				t.Fatalf("accepted %s", text)
			}
			return
		}
		if err != nil || int64(got) != want.Unix() {
			t.Fatalf("%s is %d (%v), want %d", text, got, err, want.Unix())
		}
	})
}

func TestParseInstantRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "want a date and a time of day"},
		{"2026-12-01", "want a date and a time of day"},
		{"2026-12-01T17:00:00.5Z", "want a date and a time of day"},
		{"2026-12-01T17:00:00+00:00", "want a date and a time of day"},
		{" 2026-12-01T17:00:00", "unexpected"},
		{"2026-12-01 17:00:00Z", "unexpected"},
		{"2026-12-01t17:00:00Z", "unexpected"},
		{"2026-12-01T17:00:00z", "unexpected"},
		{"2026-12-01T17:00:00\n", "unexpected"},
		{"+026-12-01T17:00:00Z", "unexpected"},
		{"2026-1２-01T17:00:Z", "unexpected"}, // a full-width digit
		{"1969-12-31T23:59:59Z", "year before 1970"},
		{"0000-01-01T00:00:00Z", "year before 1970"},
		{"2026-00-01T17:00:00Z", "no such month"},
		{"2026-13-01T17:00:00Z", "no such month"},
		{"2026-12-00T17:00:00Z", "no such day"},
		{"2026-04-31T17:00:00Z", "no such day"},
		{"2026-02-29T17:00:00Z", "no such day"},
		{"2100-02-29T17:00:00Z", "no such day"},
		{"2026-12-01T24:00:00Z", "no such time of day"},
		{"2026-12-01T17:60:00Z", "no such time of day"},
		{"2026-12-31T23:59:60Z", "no such time of day"}, // no leap seconds
	} {
		_, err := ParseInstant(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "2026-12-01T17:00:00Z") {
			t.Errorf("%q: %v, want %q and the right form", c.text, err, c.want)
		}
	}
}

// A peer may send any instant; printing it must not fail.
func TestInstantsOutOfRangePrint(t *testing.T) {
	for _, at := range []Instant{math.MinInt64, -1, math.MaxInt64} {
		if at.String() == "" {
			t.Errorf("instant %d has no text", int64(at))
		}
	}
	if got := Instant(-1).String(); got != "1969-12-31T23:59:59Z" {
		t.Errorf("the second before 1970 is %s", got)
	}
}

// FuzzParseInstant checks that only the canonical spelling of an instant is accepted.
func FuzzParseInstant(f *testing.F) {
	for _, text := range []string{"1970-01-01T00:00:00Z", "2024-02-29T23:59:59Z", "9999-12-31T23:59:59Z", "2026-12-01T17:00:00+01:00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := ParseInstant(text); err == nil && at.String() != text {
			t.Fatalf("%q is %s", text, at)
		}
	})
}
