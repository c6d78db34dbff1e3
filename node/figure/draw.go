package figure

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol/block"
)

// drawn is a finished plot.
type drawn struct {
	*Drawing
	width, height float64
	least         float64 // fraction of its width to which it may shrink; 0: it keeps its width
	told          string  // attributes with its numbers, for a script of its page
	says          string  // addition to the caption: how it was drawn, and what is left out
	describes     string  // addition to the description for people who cannot see it
}

// New draws a figure.
func New(f block.Figure) Figure {
	var d drawn
	switch p := f.Plot.(type) {
	case block.Chart:
		d = chart(p)
	case block.Heat:
		d = heatMap(f.ID, p)
	case block.Forest:
		d = forest(p)
	case block.Tree:
		d = tree(p)
	case block.Scatter:
		d = scatter(p)
	case block.Plane:
		d = plane(p)
	case block.Confusion:
		d = confusion(p)
	case block.Panels:
		d = sideBySide(p)
	case block.Bars:
		d = bars(p)
	default:
		panic(fmt.Sprintf("figure: a plot of type %T", p)) // unreachable: block has no other
	}
	return Figure{
		ID: f.ID, Title: f.Title, Description: strings.TrimSpace(f.Description + d.describes), Caption: strings.TrimSpace(f.Caption + d.says),
		Width: d.width, Height: d.height, MinScale: d.least, Told: d.told, Drawing: d.Drawing,
	}
}
