package figure

import "testing"

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
