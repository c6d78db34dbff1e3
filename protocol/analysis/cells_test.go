package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// columnsStudy returns a horizontal study of the columns.
func columnsStudy(t *testing.T, columns, sketches, privacy, analyses string) *study.Study {
	t.Helper()
	head, tail, _ := strings.Cut(horizontal, "  - {name: height")
	_, tail, _ = strings.Cut(tail, "sketches:")
	return parse(t, fmt.Sprintf(head+columns+"sketches:"+tail, sketches, privacy, analyses))
}

// twoKinds returns records of two kinds far apart, the first with a share of all: three numbers
// around the declared centre, one within bounds, a boolean, and one of three words.
func twoKinds(n int, share float64, rng *rand.Rand) (data files, first int) {
	data = files{}
	for _, name := range []string{"north", "south", "west"} {
		var f file
		for row := range n {
			at, yes, word := 1.4, 1., 0.
			if rng.Float64() >= share {
				at, yes, word = -1.4, 0, 2
			} else {
				first++
			}
			f.add(fmt.Sprint(row+1), at+0.2*rng.NormFloat64(), -at+0.2*rng.NormFloat64(), at+0.2*rng.NormFloat64(), 50+20*at+2*rng.NormFloat64(), yes, word)
		}
		data[name] = f
	}
	return data, first
}

const kindsColumns = `  - {name: a, kind: numeric, centre: 0, spread: 1}
  - {name: b, kind: numeric, centre: 0, spread: 1}
  - {name: c, kind: numeric, centre: 0, spread: 1}
  - {name: e, kind: numeric, bounds: [0, 100]}
  - {name: f, kind: binary}
  - {name: g, kind: categorical, values: [x, y, z]}
`

// Without noise, cells say what is true of their records: if clusters are far apart, the sizes and
// means of clusters, with places from moments and from what the study declares. This checks that
// the numbering of cells, the directions from the public keys and the places agree.
func TestCellsAreOfTheirRecords(t *testing.T) {
	data, first := twoKinds(800, 0.7, rand.New(rand.NewPCG(8, 1)))
	for name, c := range map[string]struct {
		sketches string
		stray    float64 // records in small cells between the two, which the declared places misplace
	}{
		"by moments":  {"  - {side: moments}\n  - {side: cells, L: 5, q: 1}", 0},
		"as declared": {"  - {side: cells, L: 5}", 10},
	} {
		s, stray := columnsStudy(t, kindsColumns, c.sketches, noPromise, "{kind: k-means, clusters: 2}"), c.stray
		for draw := range 5 {
			result, _ := ship(t, s, 7+draw, data).run(t)
			c := result.Analyses[0].CellMeans
			if c == nil || c.Records != 2400 {
				t.Fatalf("%s: %+v, %s", name, c, result.Analyses[0].Undefined)
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
				if n := c.Sizes[at]; math.Abs(*n.Estimate-want) > stray || *n.Low != *n.Estimate || *n.High != *n.Estimate {
					t.Errorf("%s, draw %d: %v [%v, %v] records, want %v", name, draw, *n.Estimate, *n.Low, *n.High, want)
				}
				for j, mean := range []float64{1.4 * sign, -1.4 * sign, 1.4 * sign, 50 + 28*sign, (1 + sign) / 2, (1 + sign) / 2, 0, (1 - sign) / 2} {
					if got := *c.Centroids[at][j].Estimate; math.Abs(got-mean) > 0.02*(1+math.Abs(mean)) {
						t.Errorf("%s, draw %d: cluster %d has %v in feature %d, want %v", name, draw, i, got, j, mean)
					}
				}
			}
		}
	}
}

// With noise, intervals of whole studies contain the number of records of a cluster and its means,
// although most cells are empty and hidden by noise.
func TestIntervalsOfCellsHoldInStudies(t *testing.T) {
	const privacy = "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	s := columnsStudy(t, kindsColumns, "  - {side: moments, clip: 2.2, share: 1}\n  - {side: cells, L: 6, q: 1, clip: 2.2, share: 3}", privacy, "{kind: k-means, clusters: 2}")
	data, first := twoKinds(700, 0.7, rand.New(rand.NewPCG(8, 1)))
	var sizes, means, held, of float64
	const draws = 60
	for draw := range draws {
		result, _ := ship(t, s, 100+draw, data).run(t)
		c := result.Analyses[0].CellMeans
		if c == nil {
			t.Fatal(result.Analyses[0].Undefined)
		}
		k := 0
		if *c.Centroids[1][0].Estimate > *c.Centroids[0][0].Estimate {
			k = 1
		}
		if n := c.Sizes[k]; *n.Low <= float64(first) && float64(first) <= *n.High {
			sizes++
		}
		if sum := *c.Sizes[0].Estimate + *c.Sizes[1].Estimate; math.Abs(sum-2100) > 1e-6 {
			t.Errorf("sizes add up to %v", sum)
		}
		for j, mean := range []float64{1.4, -1.4, 1.4} {
			of++
			if e := c.Centroids[k][j]; *e.Low <= mean && mean <= *e.High {
				held++
			}
		}
	}
	means = held / of
	t.Logf("sizes %.3f, means %.3f", sizes/draws, means)
	if sizes/draws < 0.9 || means < 0.9 { // of 60 draws that hold with .95 each, fewer have probability .02
		t.Errorf("sizes are held in %.3f, means in %.3f", sizes/draws, means)
	}
}
