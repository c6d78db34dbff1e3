package release

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Which counts stand out of their noise, at the thresholds: two standard errors next to each other,
// three behind a gap, and four behind one and far out.
func TestWhichCountsStandOut(t *testing.T) {
	noisy := func(counts map[int]float64) (out []int64) {
		out = make([]int64, 15)
		for b, n := range counts {
			out[b] = int64(n * 10 * dp.CountWeight)
		}
		return out
	}
	for name, c := range map[string]struct {
		from   int
		counts map[int]float64 // in standard errors
		told   []int
	}{
		"two":               {0, map[int]float64{1: 2, 2: 2}, []int{1, 2}},
		"less":              {0, map[int]float64{1: 1.9, 2: 2.9}, nil},
		"three after a gap": {0, map[int]float64{2: 3, 3: 2.9}, []int{2}},
		"from further on":   {2, map[int]float64{2: 9, 3: 2, 5: 3}, []int{3, 5}},
		"not far":           {0, map[int]float64{11: 3}, []int{11}},
		"far":               {0, map[int]float64{12: 3.9, 13: 4}, []int{13}},
		"far, no gap":       {11, map[int]float64{12: 2, 13: 2}, []int{12, 13}},
		"the last":          {13, map[int]float64{14: 2}, []int{14}},
	} {
		var told []int
		counted{noisy: noisy(c.counts), sd: 10}.passing(c.from, func(b int, count float64) {
			told = append(told, b)
			if math.Abs(count-10*c.counts[b]) > 0.1 {
				t.Errorf("%s: %g records, want %g", name, count, 10*c.counts[b])
			}
		})
		if !slices.Equal(told, c.told) {
			t.Errorf("%s: %v stand out, want %v", name, told, c.told)
		}
	}
}

// The clip that a party chooses, at the thresholds of its rules. Four bits have a typical length of
// 1.
func TestClipsAtTheBorders(t *testing.T) {
	const bits = "bits: 8\nrecords: {id: [patient], missing: refuse}\ncolumns: [{name: a, kind: binary}, {name: b, kind: binary}, {name: c, kind: binary}, {name: d, kind: binary}]\n"
	products := momentStudy(t, bits+"sketches: [{side: moments, clip: 2}]\n"+gaussianRecords+"analyses: [{kind: correlation}]\n")
	means := momentStudy(t, bits+"sketches: [{side: moments, products: false, clip: 2}]\n"+gaussianRecords+"analyses: [{kind: mean}]\n")
	if !products.ForProducts(0) || means.ForProducts(0) || products.TypicalLength(0) != 1 {
		t.Fatalf("a typical length of %g", products.TypicalLength(0))
	}
	const one = 256
	clips := []int64{one, one * 3 / 2, one * 2, one * 3}
	with := func(change func(*counted)) counted {
		c := counted{clips: clips, noisy: make([]int64, 5), records: 8, sd: 1, parties: 1, mu: 1, usual: 2}
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		of           counted
		means, pairs int
	}{
		"too few to tell":     {with(func(c *counted) { c.records = 7 }), 2, 2},
		"enough":              {with(func(c *counted) {}), 0, 0},
		"no noise, no longer": {with(func(c *counted) { c.mu, c.sd = math.Inf(1), 0 }), 0, 0},
		"no noise, longer":    {with(func(c *counted) { c.mu, c.sd, c.noisy[4] = math.Inf(1), 0, dp.CountWeight }), 3, 3},
		"the next":            {with(func(c *counted) { c.mu, c.noisy[1], c.records = 1e9, 100*dp.CountWeight, 1e9 }), 1, 1},
		"the one after":       {with(func(c *counted) { c.mu, c.noisy[2], c.records = 1e9, 100*dp.CountWeight, 1e9 }), 2, 2},
		"drowning":            {with(func(c *counted) { c.mu, c.noisy[4], c.records = 1e-9, 1e12*dp.CountWeight, 1e6 }), 3, 1}, // 1.5 typical lengths do not exceed ample
	} {
		if got := c.of.choose(means, 0); got != c.means {
			t.Errorf("%s: means take clip %d, want %d", name, got, c.means)
		}
		if got := c.of.choose(products, 0); got != c.pairs {
			t.Errorf("%s: products take clip %d, want %d", name, got, c.pairs)
		}
	}
}

// Limits that other code relies on are pinned.
func TestLimitsArePinned(t *testing.T) {
	for name, c := range map[string][2]int64{
		"bytes of a sketch": {MaxBytes, 68_719_476_736}, "words of a stretch of a mask": {maskBlock, 8192}, "bytes of a masked word": {maskedWidth, 8},
		"squares of own sums": {ownLevel, 262_144}, "an entry": {largestEntry, (1 << 62) / 64},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
	if got := fmt.Sprint(clearCount, clearApart, clearFar, far, maxBias, maxClassBias, bearableShare, leastPassing, maxProductNoise, normalClip, typicalOfRange); got != "2 3 4 11 0.4 0.35 0.3 1.5 0.09 1.5 0.1" {
		t.Error(got)
	}
}

// The centres and spreads in a release are accepted up to their bounds.
func TestOwnMovesAtTheirBorders(t *testing.T) {
	p := ownPlan(t, "name: x, kind: numeric, bounds: [0, 1]\nname: bit, kind: binary", "", "1.1")
	one, cols := p.Study.Bits.One(), len(p.Features)
	far := p.Study.Columns[p.Features[0].Column].Scale.Range(p.Study.Bits)
	for _, c := range []struct {
		at int
		to int64
		ok bool
	}{
		{0, 16 * one, true}, {0, 16*one + 1, false}, {0, 16 * (one - far), true}, {0, 16*(one-far) - 1, false},
		{cols, 1, true}, {cols, 0, false}, {cols, 48 * one, true}, {cols, 48*one + 1, false},
		{1, 0, true}, {1, -1, false}, {1, 16 * one, true}, {1, 16*one + 1, false},
		{cols + 1, 16*one + 1, false}, {cols + 1, 16*one - 1, false},
		{2, 1, false}, {cols + 2, 1, false}, {2*cols + 2, 1, true}, {3*cols + 2, 1, false}, {3 * cols, 1, true},
	} {
		head := make([]int64, 4*cols)
		head[0], head[1], head[cols], head[cols+1] = 8*one, 8*one, 16*one, 16*one
		head[c.at] = c.to
		if after, err := p.Owned(head); (err == nil) != c.ok || c.ok && after.Cut() < 1 {
			t.Errorf("%d in place %d: %v", c.to, c.at, err)
		}
	}
}
