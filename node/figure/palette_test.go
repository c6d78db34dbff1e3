package figure

import (
	"math"
	"testing"
)

func TestColours(t *testing.T) {
	for r, want := range map[float64]string{0: "#ffffff", 1: "#c45300", -1: "#18549c", 0.5: "#f5b269", 2: "#c45300"} {
		if got := Colour(r); got != want {
			t.Errorf("Colour(%v) = %s, want %s", r, got, want)
		}
	}
	if Fade(0) != "ff" || Fade(1) != "40" {
		t.Errorf("fade runs from %s to %s, want ff to 40", Fade(0), Fade(1))
	}
}

// Every cell's number is readable, in light and dark mode, whatever its colour and fading.
func TestNumbersCanBeRead(t *testing.T) {
	whites := 0
	for step := -40; step <= 40; step++ {
		for half := 0.0; half <= 0.4; half += 0.01 {
			r := float64(step) / 40
			white, black := contrasts(r, half)
			if best := math.Max(white, black); best < 4.5 {
				t.Errorf("at %g, ±%g, a number has a contrast of %.2f at most", r, half, best)
			}
			if White(r, half) {
				whites++
			}
		}
	}
	if whites == 0 || White(0, 0) || !White(-1, 0) {
		t.Errorf("%d numbers are white", whites)
	}
	if _, black := contrasts(-1, 0); black > 4.5 {
		t.Error("black on the darkest blue would do: the test finds nothing")
	}
}
