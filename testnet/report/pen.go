package report

import (
	"fmt"
	"math"
	"strings"
)

// pen writes the data of an SVG path with relative moves to whole pixels, which
// keeps figures of hundreds of marks small. Marks must end where they began.
type pen struct {
	strings.Builder
	x, y int
}

// mark draws a mark at a point: path data that begin and end there.
func (p *pen) mark(x, y float64, mark string) {
	toX, toY := int(math.Round(x)), int(math.Round(y))
	dx, dy := toX-p.x, toY-p.y
	separator := " "
	if dy < 0 {
		separator = "" // the sign separates
	}
	command := "m"
	if p.Len() == 0 {
		command = "M"
	}
	fmt.Fprintf(&p.Builder, "%s%d%s%d%s", command, dx, separator, dy, mark)
	p.x, p.y = toX, toY
}

// The marks. A line of no length is a dot by its round caps.
const (
	dotMark      = "h0"
	triangleMark = "l3 6h-6z"
)
