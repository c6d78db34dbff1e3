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

// Colour returns a correlation's colour on the fixed scale from −1 to 1; 0 is white.
func Colour(r float64) string {
	rgb := shade(r)
	return fmt.Sprintf("#%02x%02x%02x", int(rgb[0]), int(rgb[1]), int(rgb[2]))
}

func shade(r float64) (rgb [3]float64) {
	anchors := positive
	if r < 0 {
		anchors = negative
	}
	at := math.Round(20*math.Min(1, math.Abs(r))) / 10 // in steps of .05, so that cells can share a path
	from := min(int(at), 1)
	part := at - float64(from)
	for i := range rgb {
		rgb[i] = math.Round(anchors[from][i] + part*(anchors[from+1][i]-anchors[from][i]))
	}
	return rgb
}

// panels are the backgrounds of faded colours, in light and in dark mode: --panel in style.css.
var panels = [2][3]float64{{0xe3, 0xe6, 0xe9}, {0xbd, 0xc3, 0xca}}

// White reports whether white is easier to read than black on a correlation's colour, faded for an
// interval of this half-width. The better of the two has a contrast of at least 4.5 to 1.
func White(r, half float64) bool {
	white, black := contrasts(r, half)
	return white > black
}

// contrasts returns the contrasts of white and of black text, each the lesser of light and dark
// mode.
func contrasts(r, half float64) (white, black float64) {
	rgb, opacity := shade(r), opacity(half)
	white, black = math.Inf(1), math.Inf(1)
	for _, panel := range panels {
		light := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := (opacity*rgb[i] + (1-opacity)*panel[i]) / 255
			if v <= 0.03928 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			light += weight * v
		}
		white, black = min(white, 1.05/(light+0.05)), min(black, (light+0.05)/0.05)
	}
	return white, black
}

// Fade returns the opacity, as two hexadecimal digits, for an interval of this half-width: full at
// 0, a quarter from 0.3 on, in steps of a sixteenth.
func Fade(half float64) string {
	return fmt.Sprintf("%02x", int(math.Round(255*opacity(half))))
}

func opacity(half float64) float64 { return math.Round(16*math.Max(0.25, 1-2.5*half)) / 16 }
