package figure

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/block"
)

// Sizes of panels, in pixels.
const (
	panelWidth = 170.0
	panelGap   = 14.0
	panelPitch = 20.0
	panelTop   = 24.0
	mostRows   = 40
)

// sideBySide draws several numbers per row in panels side by side, each as a dot with its interval.
func sideBySide(p block.Panels) drawn {
	names, most := p.Rows[:min(len(p.Rows), mostRows)], 0
	for _, name := range names {
		most = max(most, len([]rune(shortened(name))))
	}
	left := 10 + 6.4*float64(most)
	d := &Drawing{}
	bottom := panelTop + panelPitch*float64(len(names))
	middle := func(row int) float64 { return panelTop + panelPitch*(float64(row)+0.5) }
	for i, name := range names {
		d.Text("label end", left-8, middle(i)+4, shortened(name))
	}
	for k, panel := range p.Panels {
		from := left + float64(k)*(panelWidth+panelGap)
		axis := Axis{Low: -1, High: 1, Step: 1, From: from + 8, To: from + panelWidth - 8}
		d.XAxis(axis, panelTop, bottom)
		d.Path("zero", fmt.Sprintf("M%g %gV%g", axis.At(0), panelTop, bottom), "")
		d.Text("party", from+panelWidth/2, panelTop-9, panel.Name)
		for i, name := range names {
			y := middle(i)
			if n := panel.Numbers[i]; n.Undefined == "" {
				class := "bar"
				if !n.ExcludesZero() {
					class = "bar open"
				}
				d.Path(class, fmt.Sprintf("M%g %gH%g", axis.At(n.Low), y, axis.At(n.High)), titled(name, n))
			}
			d.Path("dot", fmt.Sprintf("M%g %gh0", axis.At(panel.Values[i]), y), "")
		}
	}
	out := drawn{Drawing: d, width: left + float64(len(p.Panels))*(panelWidth+panelGap), height: bottom + 24, least: 0.6}
	if len(names) < len(p.Rows) {
		out.says = fmt.Sprintf(" Shows %d of %d rows; the table has more.", len(names), len(p.Rows))
	}
	return out
}
