package figure

import (
	"fmt"
	"math"
	"strings"
)

// Pen writes the data of an SVG path with relative moves to whole pixels, which keeps figures with
// hundreds of marks small. Marks must end where they began.
type Pen struct {
	strings.Builder
	x, y int
}

// Mark draws a mark at a point. mark is path data that begin and end there.
func (p *Pen) Mark(x, y float64, mark string) {
	toX, toY := int(math.Round(x)), int(math.Round(y))
	dx, dy := toX-p.x, toY-p.y
	separator := " "
	if dy < 0 {
		separator = "" // the minus sign separates
	}
	command := "m"
	if p.Len() == 0 {
		command = "M"
	}
	fmt.Fprintf(&p.Builder, "%s%d%s%d%s", command, dx, separator, dy, mark)
	p.x, p.y = toX, toY
}

// Marks. With round caps, a line of no length is a dot; the other is a closed outline around its
// point.
const (
	DotMark      = "h0"
	TriangleMark = "l3 6h-6z"
)

// shapes are outlines about eight pixels wide around their point, distinguishable without colour.
var shapes = []string{
	"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0m4 0",                               // circle
	"m0-4.6l4.6 8h-9.2zm0 4.6",                                            // triangle
	"m-3.5-3.5h7v7h-7zm3.5 3.5",                                           // square
	"m0-5l5 5l-5 5l-5-5zm0 5",                                             // diamond
	"m-1.4-4.6h2.8v3.2h3.2v2.8h-3.2v3.2h-2.8v-3.2h-3.2v-2.8h3.2zm1.4 4.6", // plus
	"m0 4.6l4.6-8h-9.2zm0-4.6",                                            // triangle on its point
	"m-5-1.8h10v3.6h-10zm5 1.8",                                           // horizontal bar
	"m-1.8-5h3.6v10h-3.6zm1.8 5",                                          // vertical bar
}

// Shape returns the mark of a series. Its colour is that of the class "s" followed by the number of
// the series modulo Series.
func Shape(series int) string { return shapes[series%len(shapes)] }

// Series is how many series can be distinguished by shape and colour.
const Series = 8

// Tenth rounds a coordinate to a tenth of a pixel.
func Tenth(x float64) float64 { return math.Round(10*x) / 10 }
