package figure

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed style.css
var style string

// Style returns the style sheet of all figures, for the head of a page. It defines their classes,
// and the light and dark colours as custom properties, which the page may use as well.
func Style() template.CSS {
	var out strings.Builder
	out.WriteString(style)
	for width := leastStep; width <= leastMost; width += leastStep {
		fmt.Fprintf(&out, ".w%d{min-width:%dpx}", width, width)
	}
	out.WriteString("\n@media print { svg { min-width: 0 !important; } }\n")
	return template.CSS(out.String())
}

// A figure gets its minimum width from a class, in steps, so that it also works on pages whose
// policy forbids style attributes.
const (
	leastStep = 40
	leastMost = 960
)

// leastClass returns the class of a minimum width in pixels.
func leastClass(width float64) string {
	return fmt.Sprintf("w%d", min(max(int(width)/leastStep, 1)*leastStep, leastMost))
}
