package figure

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/block"
)

// Sizes of dendrograms, in pixels.
const (
	dendrogramArea  = 480.0
	dendrogramPitch = 20.0
	dendrogramTop   = 6.0
)

// tree draws a dendrogram with its leaves at the left. A merge is dashed, with an open mark, if
// another one could have come before it.
func tree(t block.Tree) drawn {
	n, most := len(t.Leaves), 0
	for _, name := range t.Leaves {
		most = max(most, len([]rune(longName(name))))
	}
	left := 12 + 6.4*float64(most)
	d := &Drawing{}
	bottom := dendrogramTop + dendrogramPitch*float64(n)
	heights := []float64{0}
	for _, m := range t.Joins {
		heights = append(heights, m.Height)
	}
	axis := NewAxis(left, left+dendrogramArea, heights...)
	d.XAxis(axis, dendrogramTop, bottom)
	d.Text("soft mid", left+dendrogramArea/2, bottom+34, t.Axis)
	// Position of each cluster: leaves in their order, then merges.
	x, y := make([]float64, n+len(t.Joins)), make([]float64, n+len(t.Joins))
	for place, leaf := range t.Order {
		x[leaf], y[leaf] = axis.At(0), Tenth(dendrogramTop+dendrogramPitch*(float64(place)+0.5))
		d.Text("label end", left-8, y[leaf]+4, longName(t.Leaves[leaf]))
	}
	for i, m := range t.Joins {
		at := n + i
		x[at], y[at] = axis.At(m.Height), Tenth((y[m.A]+y[m.B])/2)
		class, words := "branch", "settled"
		if m.Open {
			class, words = "branch open", "not settled"
		}
		d.Path(class, fmt.Sprintf("M%g %gH%gV%gH%g", x[m.A], y[m.A], x[at], y[m.B], x[m.B]),
			fmt.Sprintf("merge %d of %d columns at %.3f, standard error at most %.2g: %s", i+1, m.Size, m.Height, m.Error, words))
	}
	for i, m := range t.Joins {
		if m.Open {
			mark := Pen{}
			mark.Mark(x[n+i], y[n+i], Shape(0))
			d.Path("hollow", mark.String(), "")
		}
	}
	return drawn{d, left + dendrogramArea + 14, bottom + 44, 0.7, "", "", ""}
}
