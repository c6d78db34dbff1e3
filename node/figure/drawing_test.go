package figure

import (
	"fmt"
	"math"
	"regexp"
	"testing"
	"unicode/utf8"
)

// Numbers below an axis do not touch, however long they are.
func TestNumbersBelowAnAxisStandApart(t *testing.T) {
	const letter = 7.0
	crowded := 0
	for _, axis := range []Axis{
		NewAxis(28, 288, 2999.43, 3000), NewAxis(28, 288, -1, 1), NewAxis(28, 288, 99999.5, 100001), NewAxis(28, 288, 0.00001, 0.00002),
		NewAxis(28, 128, -350000, 870000), NewLogAxis(28, 288, 1e-7, 1e9),
	} {
		d := &Drawing{}
		d.XAxis(axis, 0, 10)
		end, written := math.Inf(-1), 0
		for _, m := range regexp.MustCompile(`x="([^"]*)"[^>]*>([^<]*)<`).FindAllStringSubmatch(d.body.String(), -1) {
			var at float64
			if _, err := fmt.Sscan(m[1], &at); err != nil {
				t.Fatal(err)
			}
			half := letter * float64(utf8.RuneCountInString(m[2])) / 2
			if at-half < end {
				t.Errorf("%s on an axis from %g to %g begins at %g, where the number before it ends at %g", m[2], axis.Low, axis.High, at-half, end)
			}
			end, written = at+half, written+1
		}
		if written < 2 {
			t.Errorf("%d numbers below an axis from %g to %g", written, axis.Low, axis.High)
		}
		if written < len(axis.Ticks()) {
			crowded++
		}
	}
	if crowded == 0 {
		t.Error("no axis was crowded: the test finds nothing")
	}
}

// If the numbers of an axis do not all fit, they are thinned out evenly, not here and there, and 0
// stays.
func TestWrittenTicksAreEven(t *testing.T) {
	for _, c := range []struct {
		low, high    float64
		first, every int
	}{{-0.35, -0.2, 0, 2}, {0, 5, 0, 1}, {-0.025, 0.1, 1, 2}} {
		ticks := NewAxis(28, 198, c.low, c.high).Ticks()
		if first, every := labelledTicks(ticks); first != c.first || every != c.every {
			t.Errorf("%v: from %d each %d, want from %d each %d", ticks, first, every, c.first, c.every)
		}
	}
	if first, every := labelledTicks(nil); first != 0 || every != 1 {
		t.Errorf("of none: from %d each %d", first, every)
	}
}
