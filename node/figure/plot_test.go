package figure

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/block"
)

func number(value, half float64) block.Number {
	return block.Number{Value: value, Low: value - half, High: value + half}
}

// A merge that is not settled is drawn differently from one that is.
func TestTreeMarksWhatIsNotSettled(t *testing.T) {
	svg := string(New(block.Figure{ID: "d", Plot: block.Tree{
		Leaves: []string{"a", "b", "c"}, Order: []int{2, 0, 1},
		Joins: []block.Join{{A: 0, B: 1, Height: 0.5, Error: 0.1, Size: 2, Open: true}, {A: 2, B: 3, Height: 0.6, Size: 3}},
	}}).SVG())
	if n := strings.Count(svg, `class="branch open"`); n != 1 || strings.Count(svg, `class="branch"`) != 1 || strings.Count(svg, `class="hollow"`) != 1 {
		t.Errorf("%d merges are dashed, want 1:\n%s", n, svg)
	}
	if !strings.Contains(svg, "merge 1 of 2 columns at 0.500, standard error at most 0.1: not settled") {
		t.Errorf("a merge does not say what it is:\n%s", svg)
	}
}

// A number's cells on both sides of the diagonal are hatched exactly if its interval contains 0 or
// it is undefined.
func TestHeatMapHatchesWhatCannotBeTold(t *testing.T) {
	svg := string(New(block.Figure{ID: "h", Plot: block.Heat{
		Labels: []block.Label{{Group: "north", Name: "a"}, {Group: "south", Name: "b"}, {Group: "north", Name: "c"}},
		Pairs:  []block.HeatPair{{I: 0, J: 1, Number: block.Number{Undefined: "lost"}}, {I: 0, J: 2, Number: number(0.1, 0.2)}, {I: 1, J: 2, Number: number(-0.5, 0.2)}},
	}}).SVG())
	// The undefined pair across parties has a cell with a title. Its other cell, and both cells of
	// the pair within a party, share a path. The legend is the third.
	hatched := regexp.MustCompile(`stroke="url\(#h-hatch\)" d="([^"]*)"`).FindAllStringSubmatch(svg, -1)
	cells := 0
	for _, path := range hatched {
		cells += strings.Count(path[1], "M")
	}
	if len(hatched) != 3 || cells != 1+3+1 {
		t.Errorf("%d hatched cells in %d paths, want 5 in 3:\n%s", cells, len(hatched), svg)
	}
	if !strings.Contains(svg, "−0.50 [−0.70, −0.30]</title>") || !strings.Contains(svg, "undefined</title>") {
		t.Error("a cell does not say its number")
	}
}

// The text about scales holds whatever the units are.
func TestForestSaysWhatItsScalesAre(t *testing.T) {
	row := block.ForestRow{Name: "x", Number: block.Number{Value: 54.2, Low: 54.1, High: 54.3}}
	for want, f := range map[string]block.Forest{
		" Each row has its own scale, with 0 in the middle. Compare how far": {Rows: []block.ForestRow{row, row}},
		" 0 is in the middle. Dots are estimates":                            {Rows: []block.ForestRow{row}},
		" Dots are estimates": {Rows: []block.ForestRow{row, row}, Common: true},
	} {
		if got := forest(f).says; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
