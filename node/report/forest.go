package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// entry is a number with its name: a row of an interval plot.
type entry struct {
	name string
	analysis.Number
	unanswered bool // its interval is all that it can be
}

// text is the number with its interval for these records, or why there is none.
func (e entry) text() string {
	text := numberText(e.Number)
	if _, between, ok := strings.Cut(text, " "); ok && e.unanswered {
		return "no answer " + between
	}
	return text
}

// mostEntries bounds the rows of an interval plot.
const mostEntries = 20

// Sizes of interval plots, in pixels.
const (
	forestPitch = 34.0 // a name, and under it its interval
	peoplePitch = 12.0 // more, where a second line says the one for people like these
	forestLeft  = 28.0
	forestArea  = 260.0
	forestTop   = 4.0
	digitWidth  = 7.0 // of one character, about
	mostName    = 64  // characters
)

// forest draws intervals one under the other. On a common axis they can be compared; where
// units differ each row has an axis of its own, whose middle is 0.
func forest(id, what string, entries []entry, common bool, unit string) figure.Figure {
	total := len(entries)
	entries = entries[:min(total, mostEntries)]
	left, right := forestLeft, 90.0
	for _, e := range entries {
		right = max(right, 20+digitWidth*float64(len([]rune(e.text()))))
		if people := peopleText(e.Number); people != "" {
			right = max(right, 20+digitWidth*float64(len([]rune(people+" "+analysis.ForPeople))))
		}
	}
	people := slices.ContainsFunc(entries, func(e entry) bool { return peopleText(e.Number) != "" })
	d := &figure.Drawing{}
	pitch := forestPitch
	if people {
		pitch += peoplePitch
	}
	bottom := forestTop + pitch*float64(len(entries))
	axis := figure.NewAxis(left, left+forestArea, ends(entries)...)
	if common {
		d.Scale(axis, forestTop, bottom)
		if axis.Low < 0 && axis.High > 0 {
			d.Path("zero", fmt.Sprintf("M%g %gV%g", axis.At(0), forestTop, bottom), "")
		}
		d.Text("soft", 1, bottom+34, unit)
	} else {
		d.Path("zero", fmt.Sprintf("M%g %gV%g", left+forestArea/2, forestTop, bottom), "")
		d.Text("soft mid", left+forestArea/2, bottom+16, "0")
	}
	for i, e := range entries {
		y := forestTop + pitch*float64(i) + 0.72*forestPitch
		d.Text("name", 1, y-10, longName(e.name))
		d.Text("soft", left+forestArea+12, y+4, e.text())
		if people := peopleText(e.Number); people != "" {
			d.Text("soft small", left+forestArea+12, y+17, people+" "+analysis.ForPeople)
		}
		if e.Estimate == nil {
			continue
		}
		at := axis
		if !common {
			low, high := e.Outer()
			far := max(math.Abs(low), math.Abs(high), math.Abs(*e.Estimate), math.SmallestNonzeroFloat64)
			at = figure.Axis{Low: -far, High: far, From: left, To: left + forestArea}
		}
		class := "bar"
		if contains0(e.Number) {
			class = "bar open"
		}
		if low, high := e.Outer(); low < *e.Low || high > *e.High {
			d.Path(class+" people", fmt.Sprintf("M%g %gH%g", at.At(low), y, at.At(high)), "")
		}
		d.Path(class, fmt.Sprintf("M%g %gH%gM%g %gv8M%g %gv8", at.At(*e.Low), y, at.At(*e.High), at.At(*e.Low), y-4, at.At(*e.High), y-4), e.name+": "+numberTitle(e.Number))
		d.Path("dot", fmt.Sprintf("M%g %gh0", at.At(*e.Estimate), y), "")
	}
	f := figure.Figure{
		ID: id, Title: what + ", with intervals", Drawing: d, Width: left + forestArea + right, Height: bottom + 44, Least: 0.75,
		Description: fmt.Sprintf("%d of %d numbers, each a dot with its interval and its figures beside it.", len(entries), total),
		Caption:     "Dots are estimates, and bars their intervals " + analysis.ForRecords + ". A dashed bar contains 0.",
	}
	if people {
		f.Caption = "Dots are estimates. Bars with ends are their intervals " + analysis.ForRecords + ", thin lines those " + analysis.ForPeople + ". If the latter contains 0, both are dashed."
	}
	if !common {
		f.Caption = "Units differ, so each row has its own scale, with 0 in the middle. Compare how far bars are from 0, not rows with each other. " + f.Caption
	}
	if total > len(entries) {
		f.Caption += fmt.Sprintf(" The %d clearest of %d.", len(entries), total)
	}
	return f
}

func longName(s string) string {
	runes := []rune(s)
	if len(runes) <= mostName {
		return s
	}
	return string(runes[:mostName-24]) + "…" + string(runes[len(runes)-23:])
}

func ends(entries []entry) []float64 {
	var out []float64
	for _, e := range entries {
		if e.Estimate != nil {
			low, high := e.Outer()
			out = append(out, *e.Estimate, low, high)
		}
	}
	return out
}

// ofOneSize reports numbers of about one size, such as shares, that one axis can show.
func ofOneSize(entries []entry) bool {
	for _, x := range ends(entries) {
		if math.Abs(x) > 1 {
			return false
		}
	}
	return true
}
