package figure

import (
	"fmt"
	"math"
	"regexp"
	"testing"
	"unicode/utf8"
)

// Numbers below an axis stand apart, however long they are.
func TestNumbersBelowAnAxisStandApart(t *testing.T) {
	const letter = 7.0
	crowded := 0
	for _, axis := range []Axis{
		NewAxis(28, 288, 2999.43, 3000), NewAxis(28, 288, -1, 1), NewAxis(28, 288, 99999.5, 100001), NewAxis(28, 288, 0.00001, 0.00002),
		NewAxis(28, 128, -350000, 870000), NewLogAxis(28, 288, 1e-7, 1e9),
	} {
		d := &Drawing{}
		d.Scale(axis, 0, 10)
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
