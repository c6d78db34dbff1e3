package figure

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/protocol/block"
)

const confusionCell = 76.0 // pixels

// confusion draws a confusion matrix, as shares of the true class.
func confusion(c block.Confusion) drawn {
	n := len(c.Classes)
	room := 46.0
	for _, class := range c.Classes {
		room = max(room, 30+6.4*float64(len([]rune(shortened(class)))))
	}
	side := confusionCell * float64(n)
	d := &Drawing{}
	d.Begin(room, 44, "")
	d.Begin(0, confusionCell/2, fmt.Sprintf(`stroke-width="%g"`, confusionCell))
	for i, row := range c.Counts {
		for j, records := range row {
			d.Filled(Colour(part(records, row)), fmt.Sprintf("M%g %gh%g", float64(j)*confusionCell, float64(i)*confusionCell, confusionCell),
				fmt.Sprintf("%s taken for %s: %s records", c.Classes[i], c.Classes[j], minus(block.Count(records))))
		}
	}
	d.End()
	d.Begin(0, 0, `class="cells" pointer-events="none"`)
	for i, row := range c.Counts {
		for j, records := range row {
			x, y, share := (float64(j)+0.5)*confusionCell, (float64(i)+0.5)*confusionCell, part(records, row)
			class := ""
			if White(share, 0) {
				class = "strong"
			}
			d.Text(class, x, y, fmt.Sprintf("%.0f %%", 100*share))
			d.Text(class+" sub", x, y+15, minus(block.Count(records)))
		}
	}
	d.End()
	d.Rect("frame", 0, 0, side, side)
	for i, class := range c.Classes {
		d.Text("label end", -8, (float64(i)+0.5)*confusionCell+4, shortened(class))
		d.Text("label mid", (float64(i)+0.5)*confusionCell, -8, shortened(class))
	}
	d.Text("soft mid", side/2, -28, "predicted")
	d.Upwards("soft mid", 14-room, side/2, "true")
	d.End()
	return drawn{d, room + side + 6, 44 + side + 6, 0, "", "", ""}
}

// part returns a count's share of its row, clamped to [0, 1], since estimates may lie outside.
func part(of float64, row []float64) float64 {
	sum := 0.0
	for _, x := range row {
		sum += math.Max(x, 0)
	}
	if sum == 0 {
		return 0
	}
	return min(max(of/sum, 0), 1)
}
