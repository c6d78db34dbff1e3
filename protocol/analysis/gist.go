package analysis

import (
	"math"
	"slices"
)

// Gist is the summary of a dense table for people. It counts pairs of features of different parties
// if several parties have features, and otherwise all pairs of different features.
type Gist struct {
	Compared  int64  `json:"compared"`        // pairs that were compared
	Clear     int64  `json:"clear"`           // pairs whose interval, the second one if there is one, excludes zero
	Undefined int64  `json:"undefined"`       // pairs without a number
	Clearest  []Pair `json:"clearest" by:"-"` // the clearest pairs: those whose interval's nearer end is farthest from 0, in widths of the interval, on its own side
}

// mostClearest limits the pairs of a gist.
const mostClearest = 100

// Compared says whose pairs a gist of the analysis's features counts.
func (a Analysis) Compared() string {
	if newGist(a.Features).several {
		return "parties' columns"
	}
	return "columns"
}

// gist accumulates the Gist of a table.
type gist struct {
	Gist
	party   []int // of each feature
	several bool
	least   float64 // clearness of the last of the clearest, once the list is full
	heap    []clearPair
}

type clearPair struct {
	clear float64
	Pair
}

func newGist(features []Feature) *gist {
	g := &gist{party: make([]int, len(features)), least: -1}
	known := map[string]int{}
	for i, f := range features {
		if _, seen := known[f.Party]; !seen {
			known[f.Party] = len(known)
		}
		g.party[i] = known[f.Party]
	}
	g.several = len(known) > 1
	return g
}

// add counts a pair's record. Among equally clear pairs the first stays.
func (g *gist) add(i, j int, r *record, pair func() Pair) {
	if i == j || g.several && g.party[i] == g.party[j] {
		return
	}
	g.Compared++
	if r.code > 0 {
		g.Undefined++
		return
	}
	low, high := r.values[atLow], r.values[atHigh]
	if !math.IsNaN(r.values[atOuter]) {
		low, high = r.values[atOuter], r.values[atOuter+1]
	}
	if !(low <= 0 && 0 <= high) {
		g.Clear++
	}
	clear := clearness(low, high)
	if clear <= g.least {
		return
	}
	at, _ := slices.BinarySearchFunc(g.heap, clear, func(p clearPair, clear float64) int {
		if p.clear >= clear {
			return -1
		}
		return 1
	})
	if g.heap = slices.Insert(g.heap, at, clearPair{clear, pair()}); len(g.heap) > mostClearest {
		g.heap = g.heap[:mostClearest]
	}
	if len(g.heap) == mostClearest {
		g.least = g.heap[mostClearest-1].clear
	}
}

func (g *gist) done() Gist {
	g.Clearest = make([]Pair, len(g.heap))
	for i, p := range g.heap {
		g.Clearest[i] = p.Pair
	}
	return g.Gist
}
