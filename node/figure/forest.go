package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/block"
)

// mostEntries bounds the rows of an interval plot.
const mostEntries = 20

// Sizes of interval plots, in pixels.
const (
	forestPitch = 34.0 // a name with its interval below it
	peoplePitch = 12.0 // added if a second line gives the interval for people like these
	forestLeft  = 28.0
	forestArea  = 260.0
	forestTop   = 4.0
	digitWidth  = 7.0 // approximate width of a character
	mostName    = 64  // in characters
)

// forest draws intervals below each other. On a common axis they can be compared. If units or sizes
// may differ, each row has its own axis, centred at 0.
func forest(f block.Forest) drawn {
	rows := f.Rows[:min(len(f.Rows), mostEntries)]
	total := max(f.Of, len(f.Rows))
	left, right := forestLeft, 90.0
	for _, e := range rows {
		right = max(right, 20+digitWidth*float64(len([]rune(e.String()))))
		if wider := e.PeopleInterval(); wider != "" {
			right = max(right, 20+digitWidth*float64(len([]rune(wider+" "+block.ForPeople))))
		}
	}
	people := slices.ContainsFunc(rows, func(e block.ForestRow) bool { return e.PeopleInterval() != "" })
	d := &Drawing{}
	pitch := forestPitch
	if people {
		pitch += peoplePitch
	}
	bottom := forestTop + pitch*float64(len(rows))
	axis := NewAxis(left, left+forestArea, ends(rows)...)
	if f.Common {
		d.XAxis(axis, forestTop, bottom)
		if axis.Low < 0 && axis.High > 0 {
			d.Path("zero", fmt.Sprintf("M%g %gV%g", axis.At(0), forestTop, bottom), "")
		}
		d.Text("soft", 1, bottom+34, f.Unit)
	} else {
		d.Path("zero", fmt.Sprintf("M%g %gV%g", left+forestArea/2, forestTop, bottom), "")
		d.Text("soft mid", left+forestArea/2, bottom+16, "0")
	}
	for i, e := range rows {
		y := forestTop + pitch*float64(i) + 0.72*forestPitch
		d.Text("name", 1, y-10, longName(e.Name))
		d.Text("soft", left+forestArea+12, y+4, minus(e.String()))
		if wider := e.PeopleInterval(); wider != "" {
			d.Text("soft small", left+forestArea+12, y+17, minus(wider)+" "+block.ForPeople)
		}
		if e.Undefined != "" {
			continue
		}
		at := axis
		low, high := e.Outer()
		if !f.Common {
			far := max(math.Abs(low), math.Abs(high), math.Abs(e.Value), math.SmallestNonzeroFloat64)
			at = Axis{Low: -far, High: far, From: left, To: left + forestArea}
		}
		class := "bar"
		if !e.ExcludesZero() {
			class = "bar open"
		}
		if low < e.Low || high > e.High {
			d.Path(class+" people", fmt.Sprintf("M%g %gH%g", at.At(low), y, at.At(high)), "")
		}
		d.Path(class, fmt.Sprintf("M%g %gH%gM%g %gv8M%g %gv8", at.At(e.Low), y, at.At(e.High), at.At(e.Low), y-4, at.At(e.High), y-4), titled(e.Name, e.Number))
		d.Path("dot", fmt.Sprintf("M%g %gh0", at.At(e.Value), y), "")
	}
	says := " Dots are estimates, and bars their intervals " + block.ForRecords + ". A dashed bar contains 0."
	if people {
		says = " Dots are estimates. Bars with ends are their intervals " + block.ForRecords + ", thin lines those " + block.ForPeople + ". If the latter contains 0, both are dashed."
	}
	switch {
	case f.Common:
	case total == 1:
		says = " 0 is in the middle." + says
	default:
		says = " Each row has its own scale, with 0 in the middle. Compare how far bars are from 0, not rows with each other." + says
	}
	if total > len(rows) {
		says += fmt.Sprintf(" The %d clearest of %d.", len(rows), total)
	}
	return drawn{d, left + forestArea + right, bottom + 44, 0.75, "", says, fmt.Sprintf(" %d of %d numbers, each a dot with its interval and its figures beside it.", len(rows), total)}
}

// titled returns the title of a number's mark.
func titled(name string, n block.Number) string { return name + ": " + minus(n.Long()) }

// minus replaces hyphens by typographic minus signs.
func minus(text string) string { return strings.ReplaceAll(text, "-", "−") }

func longName(s string) string {
	runes := []rune(s)
	if len(runes) <= mostName {
		return s
	}
	return string(runes[:mostName-24]) + "…" + string(runes[len(runes)-23:])
}

func ends(rows []block.ForestRow) []float64 {
	var out []float64
	for _, e := range rows {
		if e.Undefined == "" {
			low, high := e.Outer()
			out = append(out, e.Value, low, high)
		}
	}
	return out
}
