package distance

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// inputs draws a group of rows and a panel of n coordinates at an offset that
// misaligns them. Half of the entries are small integers, so that scores tie.
func inputs(rng *rand.Rand, n, offset int) (rows, panel []float32) {
	draw := func(count int) []float32 {
		x := make([]float32, count+offset)[offset:]
		for i := range x {
			if x[i] = float32(rng.NormFloat64()); rng.IntN(2) == 0 {
				x[i] = float32(rng.IntN(3) - 1)
			}
		}
		return x
	}
	return draw(n * Rows), draw(n * Lanes)
}

func checkLevels(t *testing.T, seed uint64, coordinates, groups uint8, padded bool) {
	rng := rand.New(rand.NewPCG(seed, 7))
	n, offset := int(coordinates)+1, int(seed%5)
	rows, panel := inputs(rng, n, offset)
	for range groups % 4 {
		more, _ := inputs(rng, n, offset)
		rows = append(rows, more...)
	}
	if padded { // as a Frame pads after the last point
		for j := range n {
			rows[len(rows)-n*Rows+j*Rows+Rows-1] = 0
			panel[j*Lanes+Lanes-1] = 0
		}
		for i := range Lanes {
			panel[(n-1)*Lanes+i] = 1
		}
		rows[len(rows)-1] = inf32
	}
	var limits Limits
	for r := range limits {
		limits[r] = float32(rng.NormFloat64())
	}
	group := rows[:n*Rows]
	var want tile
	for r := range Rows {
		for i := range Lanes {
			var sum float32
			for j := range n {
				sum += float32(group[j*Rows+r] * panel[j*Lanes+i])
			}
			want[r*Lanes+i] = sum
		}
	}
	limits[0] = want[3] // exactly at the limit
	var masks Masks
	any := Below(cpu.Go, &masks, group, panel, &limits)
	var leaders BestRows
	Least(cpu.Go, &leaders, rows, panel)
	checkMasks(t, &want, &limits, masks, any)
	checkLeaders(t, rows, panel, n, &leaders)
	for _, l := range cpu.Levels() {
		var got tile
		Scores(l, got[:], group, panel)
		for i, s := range got {
			if math.Float32bits(s) != math.Float32bits(want[i]) {
				t.Fatalf("%v: %d coordinates: score %d is %g, want %g", l, n, i, s, want[i])
			}
		}
		var m Masks
		if a := Below(l, &m, group, panel, &limits); m != masks || a != any {
			t.Fatalf("%v: %d coordinates: masks %x (%v), want %x (%v)", l, n, m, a, masks, any)
		}
		var lead BestRows
		if Least(l, &lead, rows, panel); lead != leaders {
			t.Fatalf("%v: %d coordinates, %d rows: least %v, want %v", l, n, len(rows)/n, lead, leaders)
		}
	}
}

func checkMasks(t *testing.T, scores *tile, limits *Limits, masks Masks, any bool) {
	t.Helper()
	found := false
	for r, mask := range masks {
		for i := range Lanes {
			below := scores[r*Lanes+i] <= limits[r]
			found = found || below
			if below != (mask>>i&1 == 1) {
				t.Fatalf("row %d, lane %d: score %g, limit %g, mask %x", r, i, scores[r*Lanes+i], limits[r], mask)
			}
		}
	}
	if found != any {
		t.Fatalf("reports %v, there are %v", any, found)
	}
}

func checkLeaders(t *testing.T, rows, panel []float32, n int, got *BestRows) {
	t.Helper()
	for i := range Lanes {
		least, second, row := inf32, inf32, int32(0)
		for r := range len(rows) / n {
			var s float32
			for j := range n {
				s += float32(rows[r/Rows*n*Rows+j*Rows+r%Rows] * panel[j*Lanes+i])
			}
			if s < least {
				second, least, row = least, s, int32(r)
			} else if s < second {
				second = s
			}
		}
		if got.Least[i] != least || got.Second[i] != second || got.Row[i] != row {
			t.Fatalf("lane %d: row %d, %g and %g, want row %d, %g and %g", i, got.Row[i], got.Least[i], got.Second[i], row, least, second)
		}
	}
}

// Every level has the bits of the definition, for all numbers of coordinates and misaligned data.
func TestLevelsAgree(t *testing.T) {
	for n := range 256 {
		checkLevels(t, uint64(n), uint8(n), uint8(n), n%3 == 0)
	}
}

func FuzzLevels(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(0), false)
	f.Add(uint64(2), uint8(63), uint8(3), true)
	f.Add(uint64(3), uint8(255), uint8(1), false)
	f.Fuzz(checkLevels)
}

func TestWrongLengthsPanic(t *testing.T) {
	for name, lengths := range map[string][2]int{"rows": {9, Lanes}, "panel": {2 * Rows, Lanes}, "nothing": {0, 0}} {
		for _, l := range cpu.Levels() {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: wrong length of %s passed", l, name)
					}
				}()
				Below(l, new(Masks), make([]float32, lengths[0]), make([]float32, lengths[1]), new(Limits))
			}()
		}
	}
}

// 64 coordinates and the norm, as in a study with k = 64.
func BenchmarkBelow(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows, panel := inputs(rng, 65, 0)
	limits := new(Limits)
	for r := range limits {
		limits[r] = -1e9
	}
	for _, l := range cpu.Levels() {
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				Below(l, new(Masks), rows, panel, limits)
			}
			b.ReportMetric(Rows*Lanes*65*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
		})
	}
}

func BenchmarkLeast(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows, panel := inputs(rng, 65, 0)
	for _, l := range cpu.Levels() {
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				Least(l, new(BestRows), rows, panel)
			}
			b.ReportMetric(Rows*Lanes*65*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
		})
	}
}
