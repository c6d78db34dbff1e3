package figure

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/protocol/block"
)

// plane draws the mean of each class with its ellipse, and the spread of records around it.
func plane(p block.Plane) drawn {
	var dots []block.Dot
	for _, m := range p.Means {
		for _, side := range []float64{-1, 1} {
			dots = append(dots, block.Dot{X: m.At[0] + side*math.Max(1, m.Within[0]), Y: m.At[1] + side*math.Max(1, m.Within[1])})
		}
	}
	x, y := planeScale(dots)
	unit := x(1) - x(0)
	d := &Drawing{}
	d.Rect("frame", 0.5, 0.5, scatterWidth-1, scatterHeight-1)
	for _, m := range p.Means {
		cx, cy, series := Tenth(x(m.At[0])), Tenth(y(m.At[1])), m.Series%Series
		d.Path("zero", circle(cx, cy, Tenth(unit)), "")
		if p.Flat {
			half := Tenth(m.Within[0] * unit / math.Sqrt2) // for a single direction
			d.Path(fmt.Sprintf("ellipse s%d", series), fmt.Sprintf("M%g %gh%g", Tenth(cx-half), cy, 2*half), "")
		} else {
			d.Ellipse(fmt.Sprintf("ellipse s%d", series), Ellipse{X: cx, Y: cy, RX: Tenth(m.Within[0] * unit), RY: Tenth(m.Within[1] * unit)})
		}
		mark := Pen{}
		mark.Mark(cx, cy, Shape(m.Series))
		d.Path(fmt.Sprintf("mark s%d", series), mark.String(), m.Name)
		d.Text("strong", within(cx, scatterWidth)+8, within(cy, scatterHeight)-8, shortened(m.Name))
	}
	d.Text("soft mid", scatterWidth/2, scatterHeight+20, p.Axes)
	return drawn{d, scatterWidth, scatterHeight + 30, 0.5, "", "", ""}
}

func circle(x, y, r float64) string {
	return fmt.Sprintf("M%g %ga%g %g 0 1 0 %g 0a%g %g 0 1 0 %g 0z", Tenth(x-r), y, r, r, 2*r, r, r, -2*r)
}
