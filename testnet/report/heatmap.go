package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/testnet/outcome"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// heatMap is a square of correlations: estimates below the diagonal, the truth
// above it, rows and columns grouped by party.
type heatMap struct {
	Name          string // prefix of ids in the page
	Description   string
	Width, Height float64
	Left, Top     float64 // corner of the square
	Side, Cell    float64
	RuleFrom      float64     // where rules between parties and party names begin, before the square
	Labels        []heatLabel // of rows and columns alike
	Blocks        []heatBlock // one for each party
	Rules         []float64   // offsets of the lines between parties
	Shift         float64     // half a cell: from a cell's edge to its middle line
	Cells         []heatGroup // estimates across parties, one by one for their titles
	Plain         []heatPath  // all other cells, those of one fill together
	Numbers       []heatText  // in cells that are large enough
	LegendTop     float64
	LegendWidth   float64
	Legend        []legendStop
	Fading        []legendStop
}

// heatLabel names a row and a column by their middle's offset.
type heatLabel struct {
	At   float64
	Text string
}

// heatBlock is the square of a party's own pairs: offset along both axes, side
// and centre.
type heatBlock struct {
	At, Size, Middle float64
	Name             string
}

// heatGroup is the cells of one fill.
type heatGroup struct {
	Fill  heatFill
	Cells []heatCell
}

// heatCell is one cell: its corner within the square, and what it says when pointed at.
type heatCell struct {
	X, Y  float64
	Title string
}

// heatFill is a colour, or the hatching of what cannot be told from 0.
type heatFill struct {
	Colour  string
	Hatched bool
	White   bool // text on it is easier to read in white than in black
}

// heatPath draws several squares.
type heatPath struct {
	Fill heatFill
	Path string
}

// heatText is a number, and its interval under it, in the middle of a square.
type heatText struct {
	X, Y      float64
	Text, Sub string
	Class     string
}

type legendStop struct {
	X, Width float64
	Fill     string
	Text     string
	TextX    float64
}

const (
	figureWidth = 940.0
	heatBefore  = 180.0 // room for labels and party names, on the left and on top
	stopWidth   = 10.0
	largestCell = 92.0
	textCell    = 60.0 // cells from this size on hold numbers
)

func newHeatMap(name string, m outcome.Matrix) *heatMap {
	n := len(m.Features)
	cell := math.Min(largestCell, math.Floor((figureWidth-heatBefore-10)/float64(n)))
	h := &heatMap{
		Name: name, Left: heatBefore, Top: heatBefore, Side: cell * float64(n), Cell: cell,
		Shift:     cell / 2,
		RuleFrom:  16 - heatBefore,
		LegendTop: heatBefore + cell*float64(n) + 18,
		Width:     heatBefore + cell*float64(n) + 10,
		Height:    heatBefore + cell*float64(n) + 54,
	}
	covered, pairs := m.Coverage()
	h.Description = fmt.Sprintf("%d columns of %d parties. Below the diagonal the estimates, above it the truth, from −1 (blue) over 0 (white) to 1 (orange). "+
		"Of %d pairs across parties, %d intervals contain the truth. The table below holds every number.", n, scenario.Parties, pairs, covered)
	for i, f := range m.Features {
		at := (float64(i) + 0.5) * cell
		h.Labels = append(h.Labels, heatLabel{At: at, Text: f.Column})
		if i == 0 || m.Features[i-1].Party != f.Party {
			h.Blocks = append(h.Blocks, heatBlock{At: float64(i) * cell, Name: scenario.PartyNames[f.Party]})
			if i > 0 {
				h.Rules = append(h.Rules, float64(i)*cell)
			}
		}
		last := &h.Blocks[len(h.Blocks)-1]
		last.Size += cell
		last.Middle = last.At + last.Size/2
	}
	h.fill(m)
	h.legend()
	return h
}

// legend shows the scale, and how its strongest colour fades with the interval.
func (h *heatMap) legend() {
	const stops = 21
	h.LegendWidth = stops * stopWidth
	for i := range stops {
		r := float64(i-stops/2) / (stops / 2)
		stop := legendStop{X: float64(i) * stopWidth, Width: stopWidth, Fill: figure.Colour(r), TextX: (float64(i) + 0.5) * stopWidth}
		if i%(stops/2) == 0 {
			stop.Text = []string{"−1", "0", "+1"}[i/(stops/2)]
		}
		h.Legend = append(h.Legend, stop)
	}
	for i, half := range []float64{0, 0.1, 0.2, 0.3} {
		x := 210 + float64(i)*3*stopWidth
		h.Fading = append(h.Fading, legendStop{X: x, Width: 3 * stopWidth, Fill: figure.Colour(0.7) + figure.Fade(half), Text: fmt.Sprintf("±%g", half), TextX: x + 1.5*stopWidth})
	}
}

// fill draws every pair twice: its estimate below the diagonal, its truth above.
// A cell is a horizontal line as wide as high: half the bytes of a rectangle.
func (h *heatMap) fill(m outcome.Matrix) {
	plain := map[heatFill]*strings.Builder{}
	var order []heatFill
	add := func(fill heatFill, x, y float64) {
		if plain[fill] == nil {
			plain[fill] = new(strings.Builder)
			order = append(order, fill)
		}
		fmt.Fprintf(plain[fill], "M%g %gh%g", x, y, h.Cell)
	}
	for _, p := range m.Pairs {
		row, column := max(p.I, p.J), min(p.I, p.J)
		fill := estimateFill(p)
		x, y := h.corner(row, column)
		if p.Cross {
			h.cell(fill, heatCell{x, y, cellTitle(m, p)})
		} else {
			add(fill, x, y)
		}
		interval := ""
		if p.Undefined == "" {
			interval = fmt.Sprintf("[%s, %s]", number(m.Kind, p.Low), number(m.Kind, p.High))
		}
		h.number(x, y, number(m.Kind, p.Estimate), interval, fill)

		x, y = h.corner(column, row)
		fill = heatFill{Colour: figure.Colour(p.Truth), White: figure.White(p.Truth, 0)}
		add(fill, x, y)
		h.number(x, y, number(m.Kind, p.Truth), "", fill)
	}
	for _, fill := range order {
		h.Plain = append(h.Plain, heatPath{fill, plain[fill].String()})
	}
}

// cell adds a cell to those of its fill.
func (h *heatMap) cell(fill heatFill, c heatCell) {
	at := slices.IndexFunc(h.Cells, func(g heatGroup) bool { return g.Fill == fill })
	if at < 0 {
		at = len(h.Cells)
		h.Cells = append(h.Cells, heatGroup{Fill: fill})
	}
	h.Cells[at].Cells = append(h.Cells[at].Cells, c)
}

// estimateFill fades a colour with the width of its interval, and hatches a cell
// whose interval contains 0.
func estimateFill(p outcome.Pair) heatFill {
	if p.Undefined != "" || p.Low <= 0 && 0 <= p.High {
		return heatFill{Hatched: true}
	}
	half := (p.High - p.Low) / 2
	return heatFill{Colour: figure.Colour(p.Estimate) + figure.Fade(half), White: figure.White(p.Estimate, half)}
}

// cellTitle is a pair's number; which pair it is, its row and column say.
func cellTitle(m outcome.Matrix, p outcome.Pair) string {
	if p.Undefined != "" {
		return "undefined: " + p.Undefined
	}
	return fmt.Sprintf("%s [%s, %s]", number(m.Kind, p.Estimate), number(m.Kind, p.Low), number(m.Kind, p.High))
}

// number writes into a cell that is large enough.
func (h *heatMap) number(x, y float64, text, sub string, fill heatFill) {
	if h.Cell < textCell {
		return
	}
	class := ""
	if fill.White {
		class = "strong"
	}
	h.Numbers = append(h.Numbers, heatText{X: x + h.Cell/2, Y: y + h.Cell/2 + 4, Text: text, Sub: sub, Class: class})
}

// corner is the upper left corner of a cell, within the square.
func (h *heatMap) corner(row, column int) (x, y float64) {
	return float64(column) * h.Cell, float64(row) * h.Cell
}
