package distance

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// Rows and Lanes are the shape of a tile: a group of rows against a panel of lanes.
const (
	Rows  = 8
	Lanes = 32
)

// tile holds the scores of a group of rows with a panel, Rows × Lanes.
type tile [Rows * Lanes]float32

// score fills the tile. rows is n × Rows and panel n × Lanes, both coordinate by
// coordinate.
func (t *tile) score(l cpu.Level, rows, panel []float32) {
	n := len(rows) / Rows
	if n == 0 || len(rows) != n*Rows || len(panel) != n*Lanes {
		panic(fmt.Sprintf("distance: a group of rows of %d entries and a panel of %d", len(rows), len(panel)))
	}
	if l != cpu.Go {
		tileScores(l, &t[0], &rows[0], &panel[0], n)
		return
	}
	for r := range Rows {
		for i := 0; i < Lanes; i += 4 { // four sums stay in registers
			var a, b, c, d float32
			of, lanes := rows[r:], panel[i:]
			for {
				v, w := of[0], lanes[:4]
				a += float32(v * w[0])
				b += float32(v * w[1])
				c += float32(v * w[2])
				d += float32(v * w[3])
				if len(of) <= Rows {
					break
				}
				of, lanes = of[Rows:], lanes[Lanes:]
			}
			sums := t[r*Lanes+i:][:4]
			sums[0], sums[1], sums[2], sums[3] = a, b, c, d
		}
	}
}

// Masks has one bit for each lane, for each row of a group.
type Masks [Rows]uint32

// Limits has a limit on the score for each row of a group.
type Limits [Rows]float32

// Below sets the bits of masks where the score of a row and a lane is at most the
// row's limit, and reports whether there are any. rows is n × Rows and panel n ×
// Lanes, coordinate by coordinate, as a Frame writes them.
func Below(l cpu.Level, masks *Masks, rows, panel []float32, limits *Limits) bool {
	var t tile
	t.score(l, rows, panel)
	return t.below(l, masks, limits)
}

func (t *tile) below(l cpu.Level, masks *Masks, limits *Limits) bool {
	if l != cpu.Go {
		return tileBelow(&masks[0], &t[0], &limits[0])
	}
	var all uint32
	for r, limit := range limits {
		var mask uint32
		for i, s := range t[r*Lanes:][:Lanes] {
			if s <= limit {
				mask |= 1 << i
			}
		}
		masks[r] = mask
		all |= mask
	}
	return all != 0
}

// BestRows holds, for each lane of a panel, the row with the least score so far.
type BestRows struct {
	Least  [Lanes]float32
	Second [Lanes]float32 // the least score of the other rows
	Row    [Lanes]int32   // of Least; the first if several are equal
}

// Least overwrites to with the comparison of all groups of rows with a panel: rows is any number of
// groups of n × Rows, n being the panel's coordinates.
func Least(l cpu.Level, to *BestRows, rows, panel []float32) {
	for i := range Lanes {
		to.Least[i], to.Second[i], to.Row[i] = inf32, inf32, 0
	}
	var t tile
	group := len(panel) / Lanes * Rows
	for first := 0; len(rows) > 0; first += Rows {
		t.score(l, rows[:group], panel)
		t.least(l, to, int32(first))
		rows = rows[group:]
	}
}

func (t *tile) least(l cpu.Level, to *BestRows, first int32) {
	if l != cpu.Go {
		tileLeast(to, &t[0], first)
		return
	}
	for r := range Rows {
		for i, s := range t[r*Lanes:][:Lanes] {
			switch {
			case s < to.Least[i]:
				to.Second[i], to.Least[i], to.Row[i] = to.Least[i], s, first+int32(r)
			case s < to.Second[i]:
				to.Second[i] = s
			}
		}
	}
}

// Scores writes the scores of one group of rows with a panel, Rows × Lanes.
func Scores(l cpu.Level, to []float32, rows, panel []float32) {
	(*tile)(to[:Rows*Lanes]).score(l, rows, panel)
}
