package figure

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/block"
)

// Sizes of heat maps, in pixels.
const (
	heatSide    = 720.0
	largestCell = 84.0
	numberCell  = 44.0 // cells of this size or more show their estimate
	rangeCell   = 76.0 // and of this size or more their interval, if all fit
	rangeLetter = 5.1  // approximate width of a character in it
	rangeMinus  = 3.4  // extra width of a minus sign
	mostTitled  = 310  // pairs across parties that have titles with their numbers; with more, the page would be large
)

// heatMap draws pairs on the fixed scale from −1 to 1, with labels in their order or grouped. Lines
// separate groups if the order keeps each group together.
func heatMap(id string, p block.Heat) drawn {
	order := p.Order
	if order == nil {
		order = byGroup(p.Labels)
	}
	n := len(order)
	widest := widestRange(p.Pairs)
	cell := min(max(largestCell, widest), math.Floor(heatSide/float64(n)))
	h := heat{Drawing: &Drawing{}, Heat: p, id: id, order: order, cell: cell, side: cell * float64(n), ranges: cell >= max(rangeCell, widest), name: func(l block.Label) string { return l.Name }}
	says := " Squares along the diagonal, between the rules, hold a party's own pairs; all other cells are across parties."
	switch {
	case !together(p.Labels, order):
		h.name, says = block.Label.String, ""
	case !slices.ContainsFunc(p.Labels, func(l block.Label) bool { return l.Group != p.Labels[0].Group }):
		says = ""
	}
	h.before = h.labelRoom()
	h.Hatch(id + "-hatch")
	h.Rect("panel", h.before, h.before, h.side, h.side)
	h.Begin(h.before, h.before, `class="grid"`)
	h.cells()
	h.groups()
	h.labels()
	h.End()
	h.legend()
	return drawn{h.Drawing, max(h.before+h.side+12, h.before+470), h.before + h.side + 56, 0, h.told(), says, ""}
}

// heat is a heat map being drawn.
type heat struct {
	*Drawing
	block.Heat
	id                 string
	order              []int // positions of the labels
	cell, side, before float64
	ranges             bool                     // cells show their interval, since all intervals fit
	name               func(block.Label) string // includes the group unless it stands beside the labels
}

// widestRange returns the width in pixels that the longest interval of a cell needs.
func widestRange(pairs []block.HeatPair) float64 {
	most := 0.0
	for _, p := range pairs {
		if p.Undefined == "" && p.I != p.J {
			low, high := p.Outer()
			_, between := block.Interval(p.Value, low, high)
			most = max(most, rangeLetter*float64(len(between))+rangeMinus*float64(strings.Count(between, "-")))
		}
	}
	return math.Ceil(most) + 4
}

// together reports whether an order keeps each group's labels together.
func together(labels []block.Label, order []int) bool {
	seen := map[string]bool{}
	for place, i := range order {
		group := labels[i].Group
		if place > 0 && labels[order[place-1]].Group == group {
			continue
		}
		if seen[group] {
			return false
		}
		seen[group] = true
	}
	return true
}

// byGroup orders labels by group, in the order in which groups first occur.
func byGroup(labels []block.Label) []int {
	first := map[string]int{}
	order := make([]int, len(labels))
	for i, l := range labels {
		order[i] = i
		if _, seen := first[l.Group]; !seen {
			first[l.Group] = i
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return first[labels[i].Group] - first[labels[j].Group] })
	return order
}

// labelRoom returns the width in pixels that the labels and the parties' names need.
func (h heat) labelRoom() float64 {
	longest := 0
	for _, i := range h.order {
		longest = max(longest, len([]rune(shortened(h.name(h.Labels[i])))))
	}
	return math.Min(210, 46+6.4*float64(longest))
}

// shortened abbreviates a label that would not fit.
func shortened(s string) string {
	runes := []rune(s)
	if len(runes) <= 24 {
		return s
	}
	return string(runes[:16]) + "…" + string(runes[len(runes)-7:])
}

// cells draws every pair on both sides of the diagonal. A cell is a line as wide as it is high.
// Cells without a title that have the same fill share a path.
func (h heat) cells() {
	at := make([]int, len(h.order)) // feature → place
	for place, feature := range h.order {
		at[feature] = place
	}
	across := 0
	for _, p := range h.Pairs {
		if h.Across(p) {
			across++
		}
	}
	titles := across <= mostTitled
	shared, fills := map[string]*strings.Builder{}, []string{}
	plain := func(fill string, row, column int) {
		if shared[fill] == nil {
			shared[fill] = &strings.Builder{}
			fills = append(fills, fill)
		}
		fmt.Fprintf(shared[fill], "M%g %gh%g", float64(column)*h.cell, float64(row)*h.cell, h.cell)
	}
	h.Begin(0, h.cell/2, fmt.Sprintf(`stroke-width="%g"`, h.cell))
	for _, p := range h.Pairs {
		if p.I == p.J {
			continue
		}
		row, column, fill := max(at[p.I], at[p.J]), min(at[p.I], at[p.J]), h.fill(p)
		plain(fill, column, row)
		if !titles || h.Labels[p.I].Group != "" && h.Labels[p.I].Group == h.Labels[p.J].Group {
			plain(fill, row, column)
			continue
		}
		h.Filled(fill, fmt.Sprintf("M%g %gh%g", float64(column)*h.cell, float64(row)*h.cell, h.cell), titled(h.Labels[p.I].String()+", "+h.Labels[p.J].String(), p.Number))
	}
	for _, fill := range fills {
		h.Filled(fill, shared[fill].String(), "")
	}
	h.End()
	if h.cell < numberCell {
		return
	}
	h.Begin(0, 0, `class="cells" pointer-events="none"`)
	for _, p := range h.Pairs {
		if p.I != p.J {
			h.numbers(p, max(at[p.I], at[p.J]), min(at[p.I], at[p.J]))
		}
	}
	h.End()
}

// told returns attributes with what a page's script says of every cell: the names in order, and the
// numbers below the diagonal, row by row. Each is an estimate and the ends of its interval for
// these records, then of the interval for people like these, if there is one.
func (h heat) told() string {
	n := len(h.order)
	plain := strings.NewReplacer("[", "", "]", "", ",", "")
	names, numbers, at := make([]string, n), make([]string, n*(n-1)/2), make([]int, n)
	for place, feature := range h.order {
		names[place], at[feature] = h.Labels[feature].String(), place
	}
	for _, p := range h.Pairs {
		if row, column := max(at[p.I], at[p.J]), min(at[p.I], at[p.J]); row != column {
			said := p.Number
			said.Unanswered = false // a script needs the number itself
			number := said.String()
			if wider := p.PeopleInterval(); wider != "" {
				number += " " + wider
			}
			numbers[row*(row-1)/2+column] = plain.Replace(number)
		}
	}
	return fmt.Sprintf(`data-cell="%g" data-names="%s" data-numbers="%s"`, h.cell,
		template.HTMLEscapeString(strings.Join(names, "\n")), strings.Join(numbers, ";"))
}

// numbers writes the numbers into the two cells of a pair.
func (h heat) numbers(p block.HeatPair, row, column int) {
	text, between := "?", ""
	class := "mid"
	if p.Undefined == "" {
		low, high := p.Outer()
		text, between = block.Interval(p.Value, low, high)
		text, between = minus(text), minus(between)
		if p.Unanswered {
			text = "–"
		}
		if p.ExcludesZero() && White(p.Value, (high-low)/2) {
			class = "mid strong"
		}
	}
	x, y := (float64(column)+0.5)*h.cell, (float64(row)+0.5)*h.cell
	if h.ranges {
		h.Text(class, x, y, text)
		h.Text(class+" sub", x, y+14, between)
	} else {
		h.Text(class, x, y+4, text)
	}
	h.Text(class, y, x+4, text)
}

// fill returns a pair's colour, or the hatching if it cannot be distinguished from 0.
func (h heat) fill(p block.HeatPair) string {
	if !p.ExcludesZero() {
		return "url(#" + h.id + "-hatch)"
	}
	low, high := p.Outer()
	return Colour(p.Value) + Fade((high-low)/2)
}

// groups draws the groups' names, and the lines between groups.
func (h heat) groups() {
	h.Begin(0, 0, `pointer-events="none"`)
	for from := 0; from < len(h.order) && together(h.Labels, h.order); {
		party, to := h.Labels[h.order[from]].Group, from
		for to < len(h.order) && h.Labels[h.order[to]].Group == party {
			to++
		}
		start, size := float64(from)*h.cell, float64(to-from)*h.cell
		if party != "" {
			h.Text("party", start+size/2, 14-h.before, shortened(party))
			h.Upwards("party", 14-h.before, start+size/2, shortened(party))
			if from > 0 {
				h.Path("rule", fmt.Sprintf("M%g %gV0M%g %gH0", start, 6-h.before, 6-h.before, start), "")
				h.Path("rule inner", fmt.Sprintf("M%g 0V%gM0 %gH%g", start, h.side, start, h.side), "")
			}
		}
		from = to
	}
	h.Path("frame", fmt.Sprintf("M0 0H%gV%gH0zL%g %g", h.side, h.side, h.side, h.side), "")
	h.End()
}

func (h heat) labels() {
	size := "label"
	if h.cell < 13 {
		size = "label tiny"
	}
	for place, feature := range h.order {
		middle := (float64(place) + 0.5) * h.cell
		name := shortened(h.name(h.Labels[feature]))
		h.Text(size+" end", -6, middle+4, name)
		h.Upwards(size, middle+4, -6, name)
	}
}

// legend shows the colour scale, how colours fade, and the hatching.
func (h heat) legend() {
	const stops, width = 21, 9.0
	top := h.before + h.side + 16
	h.Begin(h.before, top, `stroke-width="12"`)
	for i := range stops {
		r := float64(i-stops/2) / (stops / 2)
		h.Filled(Colour(r), fmt.Sprintf("M%g 6h%g", float64(i)*width, width), "")
	}
	for i, half := range fadings() {
		h.Rect("panel", fadeAt(i), 0, 34, 12)
		h.Filled(Colour(0.7)+Fade(half), fmt.Sprintf("M%g 6h34", fadeAt(i)), "")
	}
	h.Rect("panel", 366, 0, 22, 12)
	h.Filled("url(#"+h.id+"-hatch)", "M366 6h22", "")
	h.End()
	h.Begin(h.before, top, "")
	h.Rect("axis", 0, 0, stops*width, 12)
	for i, text := range []string{"−1", "0", "+1"} {
		h.Text("soft mid small", (0.5+10*float64(i))*width, 25, text)
	}
	for i, half := range fadings() {
		h.Text("soft mid small", fadeAt(i)+17, 25, fmt.Sprintf("±%g", half))
	}
	h.Text("soft small", 394, 10, "contains 0")
	h.End()
}

// fadings returns the half-widths of intervals in the legend; fadeAt returns their positions.
func fadings() []float64 { return []float64{0, 0.1, 0.2, 0.3} }

func fadeAt(i int) float64 { return 214 + 34*float64(i) }
