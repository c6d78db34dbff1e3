package analysis_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/codebook"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// shipTwice is ship for two rounds: the second round uses the moments of the first.
func shipTwice(t testing.TB, s *study.Study, n int, data files) shipped {
	t.Helper()
	first := ship(t, s, n, data).options
	book, err := analysis.ComputeBasis(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if err := analysis.CheckBasis(t.Context(), first, book); err != nil {
		t.Errorf("the interim does not follow from the first round: %v", err)
	}
	second := ship(t, s.WithBasis(book), n, data)
	for i, c := range second.options.Contributions {
		if !slices.Equal(c.Sketches[0].Data, first.Contributions[i].Sketches[0].Data) {
			t.Fatal("the rounds have other moments")
		}
	}
	return second
}

// inTwoRounds returns a study of two rounds.
func inTwoRounds(t *testing.T, columns, sketches, privacy, analyses string) *study.Study {
	t.Helper()
	head, tail, _ := strings.Cut(horizontal, "  - {name: height")
	_, tail, _ = strings.Cut(tail, "sketches:")
	text := strings.NewReplacer("PRIVACY", privacy, "ANALYSES", analyses, "SKETCHES", sketches).Replace(
		head + columns + "sketches:" + strings.NewReplacer("privacy: %s", "privacy: PRIVACY", "[%s]", "[ANALYSES]", "%s", "SKETCHES").Replace(tail))
	return parse(t, text+"rounds: 2\n")
}

// Without noise, code points say what is true of their records.
func TestCodesAreOfTheirRecords(t *testing.T) {
	data, first := twoKinds(800, 0.7, rand.New(rand.NewPCG(8, 1)))
	s := inTwoRounds(t, kindsColumns, "  - {side: moments}\n  - {side: codes}", noPromise, "{kind: k-means, clusters: 2}")
	for draw := range 5 {
		result, _ := shipTwice(t, s, 7+draw, data).run(t)
		c := result.Analyses[0].CellMeans
		if c == nil || c.Records != 2400 {
			t.Fatalf("%+v, %s", c, result.Analyses[0].Undefined)
		}
		labeller, err := analysis.NewLabeller(s, result.Analyses[0])
		if err != nil {
			t.Fatal(err)
		}
		one := s.ReadBits().One()
		k := labeller.Label([]int64{one / 2, -one / 2, one / 2, one * 3 / 4, one, one, 0, 0})
		for i, want := range []float64{float64(first), float64(2400 - first)} {
			at, sign := k, 1.
			if i == 1 {
				at, sign = 1-k, -1
			}
			if n := c.Sizes[at]; *n.Estimate != want || *n.Low != want || *n.High != want {
				t.Errorf("draw %d: %v [%v, %v] records, want %v", draw, *n.Estimate, *n.Low, *n.High, want)
			}
			for j, mean := range []float64{1.4 * sign, -1.4 * sign, 1.4 * sign, 50 + 28*sign, (1 + sign) / 2, (1 + sign) / 2, 0, (1 - sign) / 2} {
				if got := *c.Centroids[at][j].Estimate; math.Abs(got-mean) > 0.02*(1+math.Abs(mean)) {
					t.Errorf("draw %d: cluster %d has %v in feature %d, want %v", draw, at, got, j, mean)
				}
			}
		}
	}
}

// With noise, intervals of whole studies contain the number of records of a cluster, and its means
// along the axes.
func TestIntervalsOfCodesHoldInStudies(t *testing.T) {
	const privacy = "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	s := inTwoRounds(t, kindsColumns, "  - {side: moments, clip: 2.2, share: 3}\n  - {side: codes, share: 7}", privacy, "{kind: k-means, clusters: 2}")
	data, first := twoKinds(700, 0.7, rand.New(rand.NewPCG(8, 1)))
	var sizes, means, of float64
	const draws = 60
	for draw := range draws {
		result, _ := shipTwice(t, s, 100+draw, data).run(t)
		c := result.Analyses[0].CellMeans
		if c == nil {
			t.Fatal(result.Analyses[0].Undefined)
		}
		k := 0
		if *c.Centroids[1][0].Estimate > *c.Centroids[0][0].Estimate {
			k = 1
		}
		for i, want := range []float64{float64(first), float64(2100 - first)} {
			at, sign := k, 1.
			if i == 1 {
				at, sign = 1-k, -1
			}
			of++
			if n := c.Sizes[at]; *n.Low <= want && want <= *n.High {
				sizes++
			}
			if m := c.Centroids[at][0]; *m.Low <= 1.4*sign && 1.4*sign <= *m.High {
				means++
			}
		}
	}
	t.Logf("sizes %.3f, means %.3f", sizes/of, means/of)
	// Of 120 intervals that hold with .95, 100 or fewer hold in 2e-6 of all runs; the seeds are
	// fixed.
	if sizes <= 100 || means <= 90 {
		t.Errorf("intervals hold %v of %v sizes and %v means", sizes, of, means)
	}
}

// An interim that does not follow from the first round is detected, and the error says what
// differs.
func TestStrangeInterimIsFound(t *testing.T) {
	data, _ := twoKinds(500, 0.6, rand.New(rand.NewPCG(8, 1)))
	s := inTwoRounds(t, kindsColumns, "  - {side: moments}\n  - {side: codes}", noPromise, "{kind: k-means, clusters: 3}")
	first := ship(t, s, 7, data).options
	own, err := analysis.ComputeBasis(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*sketch.Codebook)
		part   codebook.Part
	}{
		"fewer codes":       {func(b *sketch.Codebook) { b.Codes = b.Codes[1:] }, codebook.PartShape},
		"another centre":    {func(b *sketch.Codebook) { b.Centre[0] += 100 }, codebook.PartCentre},
		"another radius":    {func(b *sketch.Codebook) { b.Radius += b.Radius / 10 }, codebook.PartRadius},
		"another axis":      {func(b *sketch.Codebook) { b.Axes[0] = slices.Clone(b.Axes[1]) }, codebook.PartAxes},
		"codes in one spot": {func(b *sketch.Codebook) { b.Codes = slices.Repeat(b.Codes[:1], len(b.Codes)) }, codebook.PartCodes},
	} {
		b := own
		b.Codebook.Centre, b.Codebook.Axes = slices.Clone(own.Codebook.Centre), slices.Clone(own.Codebook.Axes)
		c.change(&b.Codebook)
		err := analysis.CheckBasis(t.Context(), first, b)
		var strange *analysis.BasisError
		var deviation *codebook.Mismatch
		if !errors.As(err, &strange) || !errors.As(err, &deviation) || deviation.Part != c.part {
			t.Errorf("%s: %v, want %s", name, err, c.part)
		}
	}
}

// A first round that does not fit on the board is refused before anybody approves it.
func TestFirstRoundsFit(t *testing.T) {
	var columns strings.Builder
	for i := range 390 {
		fmt.Fprintf(&columns, "  - {name: c%d, kind: numeric, bounds: [0, 100]}\n", i)
	}
	for name, c := range map[string]struct {
		beside string
		fits   bool
	}{
		"moments":                   {"", true},
		"moments beside few counts": {"\n  - {side: counts, tables: [{of: [{column: c0, bins: 10}]}], share: 3}", true},
		"moments beside counts":     {"\n  - {side: counts, tables: [{of: [{column: c0, bins: 256}, {column: c1, bins: 256}]}], share: 3}", false},
	} {
		s := inTwoRounds(t, columns.String(), "  - {side: moments, clip: 20, share: 3}\n  - {side: codes, share: 7}"+c.beside, "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}", "{kind: k-means, clusters: 3}")
		err := analysis.Deliverable(s)
		if c.fits && err != nil || !c.fits && (err == nil || !strings.Contains(err.Error(), "set rounds: 1")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Columns that have no part in the clusters, including a constant one, keep their means in every
// cluster. Intervals allow for the noise of the first round, which tilts the axes into them.
func TestMeansAcrossTheAxesHold(t *testing.T) {
	const privacy = "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	const columns = `  - {name: a, kind: numeric, centre: 0, spread: 1}
  - {name: b, kind: numeric, centre: 0, spread: 1}
  - {name: same, kind: numeric, centre: 0, spread: 1}
  - {name: other, kind: numeric, centre: 0, spread: 1}
`
	s := inTwoRounds(t, columns, "  - {side: moments, clip: 2, share: 3}\n  - {side: codes, share: 7}", privacy, "{kind: k-means, clusters: 2}")
	rng := rand.New(rand.NewPCG(3, 9))
	data := files{}
	for _, name := range []string{"north", "south", "west"} {
		var f file
		for row := range 1500 {
			at := 1.5
			if rng.Float64() < .4 {
				at = -1.5
			}
			f.add(fmt.Sprint(row+1), at+.4*rng.NormFloat64(), at+.4*rng.NormFloat64(), 0, .5*rng.NormFloat64())
		}
		data[name] = f
	}
	held, of := 0, 0
	for draw := range 40 {
		result, _ := shipTwice(t, s, 300+draw, data).run(t)
		c := result.Analyses[0].CellMeans
		if c == nil {
			t.Fatal(result.Analyses[0].Undefined)
		}
		for k := range 2 {
			for _, column := range []int{2, 3} {
				of++
				if m := c.Centroids[k][column]; *m.Low <= 0 && 0 <= *m.High {
					held++
				}
			}
		}
	}
	t.Logf("%d of %d", held, of)
	// The seeds are fixed. Without the tilt and the noise of the mean 6 of 160 hold.
	if held < of*9/10 {
		t.Errorf("intervals hold %d of %d means of columns across the axes", held, of)
	}
}
