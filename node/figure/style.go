package figure

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed style.css
var style string

// Style is the style sheet of all figures, for the head of a page: what their classes look
// like, and the colours of light and dark as custom properties, which the page may use too.
func Style() template.CSS {
	var out strings.Builder
	out.WriteString(style)
	for width := leastStep; width <= leastMost; width += leastStep {
		fmt.Fprintf(&out, ".w%d{min-width:%dpx}", width, width)
	}
	out.WriteString("\n@media print { svg { min-width: 0 !important; } }\n")
	return template.CSS(out.String())
}

// Figures keep a least width by a class, in steps: a page whose policy forbids styles on
// elements can show them.
const (
	leastStep = 40
	leastMost = 960
)

// leastClass is the class of a least width, in pixels.
func leastClass(width float64) string {
	return fmt.Sprintf("w%d", min(max(int(width)/leastStep, 1)*leastStep, leastMost))
}
