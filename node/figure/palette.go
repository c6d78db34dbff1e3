package figure

import (
	"fmt"
	"math"
)

// anchors of the diverging palette at |r| = 0, ½ and 1, safe for colour-blind
// readers: blue for negative, orange for positive.
var (
	negative = [3][3]float64{{255, 255, 255}, {129, 176, 222}, {24, 84, 156}}
	positive = [3][3]float64{{255, 255, 255}, {245, 178, 105}, {196, 83, 0}}
)

// Colour is a correlation's colour on the fixed scale from −1 to 1; 0 is white.
func Colour(r float64) string {
	anchors := positive
	if r < 0 {
		anchors = negative
	}
	at := math.Round(20*math.Min(1, math.Abs(r))) / 10 // in steps of .05, so that cells can share a path
	from := min(int(at), 1)
	part := at - float64(from)
	var rgb [3]int
	for i := range rgb {
		rgb[i] = int(math.Round(anchors[from][i] + part*(anchors[from+1][i]-anchors[from][i])))
	}
	return fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])
}

// Fade is the opacity, as two hexadecimal digits, for an interval of a
// half-width: full at 0, a quarter from 0.3 on, in steps of a sixteenth.
func Fade(half float64) string {
	return fmt.Sprintf("%02x", int(math.Round(255*math.Round(16*math.Max(0.25, 1-2.5*half))/16)))
}
