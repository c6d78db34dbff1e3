package figure

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Drawing collects the elements of an SVG. All text is escaped, so names may come from anybody.
type Drawing struct{ body strings.Builder }

// Path adds a path of a class. A title, if any, shows when the mouse points at it.
func (d *Drawing) Path(class, data, title string) {
	fmt.Fprintf(&d.body, `<path class="%s" d="%s"`, class, data)
	d.close("path", title)
}

// Filled adds a path in a colour, or in a pattern given as url(#id).
func (d *Drawing) Filled(stroke, data, title string) {
	fmt.Fprintf(&d.body, `<path stroke="%s" d="%s"`, template.HTMLEscapeString(stroke), data)
	d.close("path", title)
}

func (d *Drawing) close(element, title string) {
	if title == "" {
		d.body.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&d.body, "><title>%s</title></%s>\n", template.HTMLEscapeString(title), element)
}

func (d *Drawing) Text(class string, x, y float64, text string) {
	fmt.Fprintf(&d.body, `<text class="%s" x="%g" y="%g">%s</text>`+"\n", class, Tenth(x), Tenth(y), template.HTMLEscapeString(text))
}

// Upwards adds text that runs upwards from a point.
func (d *Drawing) Upwards(class string, x, y float64, text string) {
	fmt.Fprintf(&d.body, `<text class="%s" transform="translate(%g %g) rotate(-90)">%s</text>`+"\n", class, Tenth(x), Tenth(y), template.HTMLEscapeString(text))
}

func (d *Drawing) Rect(class string, x, y, width, height float64) {
	fmt.Fprintf(&d.body, `<rect class="%s" x="%g" y="%g" width="%g" height="%g"/>`+"\n", class, Tenth(x), Tenth(y), Tenth(width), Tenth(height))
}

func (d *Drawing) Ellipse(class string, e Ellipse) {
	fmt.Fprintf(&d.body, `<ellipse class="%s" rx="%g" ry="%g" transform="translate(%g %g) rotate(%g)"/>`+"\n", class, e.RX, e.RY, e.X, e.Y, e.Angle)
}

// Hatch defines a hatching pattern with this id, for estimates that cannot be distinguished from
// zero.
func (d *Drawing) Hatch(id string) {
	fmt.Fprintf(&d.body, `<defs><pattern id="%s" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V5"/></pattern></defs>`+"\n", id)
}

// Begin opens a group at a position, with further attributes if any; End closes it.
func (d *Drawing) Begin(x, y float64, attributes string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	fmt.Fprintf(&d.body, `<g transform="translate(%g %g)"%s>`, Tenth(x), Tenth(y), attributes)
}

// End closes the group that Begin opened.
func (d *Drawing) End() { d.body.WriteString("</g>\n") }

// XAxis draws a horizontal axis below an area: grid lines from top to bottom, and as many of their
// numbers as fit beside each other.
func (d *Drawing) XAxis(a Axis, top, bottom float64) {
	ticks := a.Ticks()
	first, every := labelledTicks(ticks)
	for i, t := range ticks {
		d.Path("axis", fmt.Sprintf("M%g %gV%g", t.At, Tenth(top), Tenth(bottom)), "")
		if i%every == first {
			d.Text("soft mid", t.At, bottom+16, t.Text)
		}
	}
}

// labelledTicks selects the ticks whose numbers fit: every n-th from first on, including 0 if there is
// one.
func labelledTicks(ticks []Tick) (first, every int) {
	const letter, between = 7, 6 // pixels: approximate width of a digit, and the gap between numbers
	half := func(t Tick) float64 { return letter * float64(utf8.RuneCountInString(t.Text)) / 2 }
	zero := max(0, slices.IndexFunc(ticks, func(t Tick) bool { return t.Text == "0" }))
	for every = 1; every < len(ticks); every++ {
		first, fits := zero%every, true
		for i := first; i+every < len(ticks); i += every {
			fits = fits && ticks[i].At+half(ticks[i])+between <= ticks[i+every].At-half(ticks[i+every])
		}
		if fits {
			return first, every
		}
	}
	return zero, max(1, len(ticks))
}

// YAxis draws a vertical axis beside an area: grid lines from left to right, and their numbers on
// the left.
func (d *Drawing) YAxis(a Axis, left, right float64) {
	for _, t := range a.Ticks() {
		d.Path("axis", fmt.Sprintf("M%g %gH%g", Tenth(left), t.At, Tenth(right)), "")
		d.Text("soft end", left-7, t.At+4, t.Text)
	}
}

// Figure is a finished drawing.
type Figure struct {
	ID            string // unique on its page
	Title         string
	Description   string // what it shows, for people who cannot see it
	Caption       string
	Width, Height float64
	MinScale      float64 // fraction of its width to which it may shrink; 0: it keeps its width
	Told          string  // attributes with its numbers, for a script of its page
	Scripted      bool    // the page has such a script
	Drawing       *Drawing
}

// SVG returns the figure as an element of a page that has Style.
func (f Figure) SVG() template.HTML {
	least := f.Width
	if f.MinScale > 0 {
		least = f.MinScale * f.Width
	}
	attributes := fmt.Sprintf(`class="%s"`, leastClass(least))
	if f.Scripted && f.Told != "" {
		attributes += " " + f.Told
	}
	return template.HTML(f.element(attributes, 0, ""))
}

// File returns the figure as a separate file with its style, a background and a margin.
func (f Figure) File() []byte {
	const edge = 10
	ground := fmt.Sprintf(`<rect x="-%d" y="-%d" width="100%%" height="100%%" fill="var(--page)"/>`, edge, edge)
	return []byte(f.element(`xmlns="http://www.w3.org/2000/svg"`, edge, "<style>\n"+style+"</style>\n"+ground+"\n") + "\n")
}

// element returns the figure's SVG element with these attributes and margin; its content begins
// with first.
func (f Figure) element(attributes string, edge float64, first string) string {
	esc := template.HTMLEscapeString
	width, height := math.Ceil(f.Width)+2*edge, math.Ceil(f.Height)+2*edge
	return fmt.Sprintf(`<svg %s viewBox="%g %g %g %g" width="%g" height="%g" role="img" aria-labelledby="%s-t %s-d">`+"\n"+`<title id="%s-t">%s</title>`+"\n"+`<desc id="%s-d">%s</desc>`+"\n",
		attributes, 0-edge, 0-edge, width, height, width, height, f.ID, f.ID, f.ID, esc(f.Title), f.ID, esc(f.Description)) + first + f.Drawing.body.String() + "</svg>"
}
