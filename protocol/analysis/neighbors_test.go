package analysis_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/distance"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// scattered returns files of records without groups.
func scattered(rng *rand.Rand, sizes ...int) files {
	out := files{}
	for i, name := range []string{"north", "south", "west"}[:len(sizes)] {
		var f file
		for n := range sizes[i] {
			f.add(fmt.Sprint(n), 100+120*rng.Float64(), 34+72*rng.Float64())
		}
		out[name] = f
	}
	return out
}

// column returns a party's column of an analysis by its name.
func column(t *testing.T, l analysis.Labels, index int, name string) analysis.RowColumn {
	t.Helper()
	for _, c := range l.Columns {
		if c.Analysis == index && c.Name == name {
			return c
		}
	}
	t.Fatalf("no column %s of analysis %d for %s", name, index, l.Party)
	return analysis.RowColumn{}
}

// whose identifies a record: its contribution, and its row there.
type whose struct{ party, row int }

// released returns the records of a sketch in encoded units, as they were released.
func released(t *testing.T, s shipped, sketch int) map[whose][]float64 {
	t.Helper()
	out := map[whose][]float64{}
	for p, c := range s.options.Contributions {
		plan, err := release.For(s.options.Study, c.Party, sketch)
		if err != nil {
			t.Fatal(err)
		}
		unit := plan.Unit()
		for row := range c.Sketches[sketch].Rows {
			for _, v := range c.Sketches[sketch].Row(row) {
				out[whose{p, row}] = append(out[whose{p, row}], float64(v)*unit)
			}
		}
	}
	return out
}

// nearest sorts all other records by their squared distance, and by party and row.
func nearest(all map[whose][]float64, of whose) (order []whose, squared map[whose]float64) {
	squared = map[whose]float64{}
	for w, x := range all {
		if w != of {
			order, squared[w] = append(order, w), distance.Squared(all[of], x)
		}
	}
	slices.SortFunc(order, func(a, b whose) int {
		return cmp.Or(cmp.Compare(squared[a], squared[b]), a.party-b.party, a.row-b.row)
	})
	return order, squared
}

// Each of three parties of different sizes is told the neighbours of its records: its own ones by
// row, those of others by party and handle. A record has one handle for a party, and another for
// any other party and in any other run.
func TestNeighborsAreNamed(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: neighbors, neighbors: 4}"))
	sent := ship(t, s, 5, scattered(rand.New(rand.NewPCG(8, 1)), 30, 45, 12))
	result, labels := sent.run(t)
	section := result.Analyses[0].Neighbors
	edges, all := [3][3]int{}, released(t, sent, 0)
	handles := map[string]bool{}
	for p, l := range labels {
		named := map[whose]string{}
		for row := range sent.options.Contributions[p].Sketches[0].Rows {
			order, squared := nearest(all, whose{p, row})
			for rank, other := range order[:4] {
				edges[p][other.party]++
				number := strconv.Itoa(rank + 1)
				who := column(t, l, 0, "neighbor_"+number)
				at := func(part string) float64 { return column(t, l, 0, part+number).Numbers[row] }
				if got := at("distance_"); got != squared[other] {
					t.Fatalf("distance %s of row %d of %s is %g, want %g", number, row, l.Party, got, squared[other])
				}
				// Values are rounded: the interval is as wide as the rounding, and no wider.
				if low, high := at("distance_low_"), at("distance_high_"); !(low < squared[other] && squared[other] < high && high-low < .01) {
					t.Fatalf("interval %s of row %d of %s is [%g, %g] around %g", number, row, l.Party, low, high, squared[other])
				}
				if other.party == p {
					if who.Own[row] != other.row || who.Texts[row] != "" {
						t.Fatalf("neighbour %s of row %d of %s is own row %d (%q), want %d", number, row, l.Party, who.Own[row], who.Texts[row], other.row)
					}
					continue
				}
				handle := who.Texts[row]
				if known, ok := named[other]; who.Own[row] != -1 || !strings.HasPrefix(handle, labels[other.party].Party+":") || ok && known != handle {
					t.Fatalf("neighbour %s of row %d of %s is %q (own row %d), before %q", number, row, l.Party, handle, who.Own[row], known)
				}
				named[other] = handle
			}
		}
		for _, handle := range named {
			if handles[handle] {
				t.Errorf("handle %q stands for two records, or is known to two parties", handle)
			}
			handles[handle] = true
		}
	}
	across := 0
	for i := range edges {
		if !slices.Equal(section.Edges[i], edges[i][:]) {
			t.Errorf("edges %v, want %v", section.Edges, edges)
		}
		for j := range edges {
			if i != j {
				across += edges[i][j]
			}
		}
	}
	closeTo(t, "share across", section.Across, float64(across)/(87*4))
	closeTo(t, "share if unrelated", section.Unrelated, (30*57+45*42+12*75)/(87.*86))
	if section.Nearest[2].Value > section.Farthest[2].Value || len(handles) == 0 {
		t.Errorf("nearest %v, farthest %v, %d handles", section.Nearest, section.Farthest, len(handles))
	}
	_, again := sent.run(t)
	for _, c := range again[0].Columns {
		for _, text := range c.Texts {
			if handles[text] {
				t.Errorf("handle %q is of an earlier run", text)
			}
		}
	}
	sent.options.Entropy = strings.NewReader("few")
	if _, _, err := analysis.Run(t.Context(), sent.options); err == nil || !strings.Contains(err.Error(), "drawing handles") {
		t.Errorf("without entropy: %v", err)
	}
}

// The intervals of a record's neighbours hold together although the neighbours were chosen by these
// distances. At most 5 % of the records, plus 4.5 standard deviations for chance (4e-6), have one
// that misses. Plain 95 % intervals of the same pairs miss for more.
func TestNeighborsIntervalsHoldForTheChosen(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: rademacher, k: 64}",
		"{unit: attribute, mechanism: gaussian, epsilon: 150, delta: 1e-6}", "{kind: neighbors, neighbors: 3}"))
	plain := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: neighbors}"))
	data := scattered(rand.New(rand.NewPCG(8, 2)), 150, 150, 150)
	plan, err := release.For(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	law := estimate.Records{K: 64, Noise: plan.NoiseOf(0, 1, 150)}
	plainly, err := law.Distances(0)
	if err != nil {
		t.Fatal(err)
	}
	missed, naive, records := 0, 0, 0
	for run := range 4 {
		sent := ship(t, s, 20+run, data)
		result, labels := sent.run(t)
		all := released(t, sent, 0)
		if result.Analyses[0].EachLevel < 0.999 {
			t.Fatalf("intervals were built for %g", result.Analyses[0].EachLevel)
		}
		for p, l := range labels {
			for row := range 150 {
				records++
				order, raw := nearest(all, whose{p, row})
				own, off := false, false
				for rank, other := range order[:3] {
					x := encode(plain, mustPlan(t, plain, p), data[l.Party].values[sent.orders[p][0][row]])
					y := encode(plain, mustPlan(t, plain, other.party), data[labels[other.party].Party].values[sent.orders[other.party][0][other.row]])
					var truth float64
					for i := range x {
						d := float64(x[i]-y[i]) / float64(plain.Bits.One())
						truth += d * d
					}
					number := strconv.Itoa(rank + 1)
					own = own || truth < column(t, l, 0, "distance_low_"+number).Numbers[row]-1e-9 || truth > column(t, l, 0, "distance_high_"+number).Numbers[row]+1e-9
					b := plainly.Of(raw[other])
					off = off || truth < b.Low || truth > b.High
				}
				if own {
					missed++
				}
				if off {
					naive++
				}
			}
		}
	}
	t.Logf("intervals miss for %d of %d records, plain ones for %d", missed, records, naive)
	if missed > 90+42 || naive < 2*(90+42) {
		t.Errorf("intervals miss for %d of %d records, plain ones for %d", missed, records, naive)
	}
}

func mustPlan(t *testing.T, s *study.Study, party int) release.Plan {
	t.Helper()
	plan, err := release.For(s, party, 0)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// A question without an answer does not affect the others.
func TestTooFewRecordsForNeighbors(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise,
		"{kind: neighbors, neighbors: 9}, {kind: neighbors, neighbors: 8}, {kind: outliers}, {kind: k-means, clusters: auto}"))
	result, labels := ship(t, s, 5, scattered(rand.New(rand.NewPCG(8, 3)), 3, 3, 3)).run(t)
	for i, want := range []string{"only 8 others", "", "only 8 others", ""} {
		if a := result.Analyses[i]; (a.Undefined == "") != (want == "") || !strings.Contains(a.Undefined, want) {
			t.Errorf("analysis %d: %q, want %q", i, a.Undefined, want)
		}
	}
	if result.Analyses[1].Neighbors == nil || len(labels) != 3 {
		t.Error("the others have no answer")
	}
}

// A record far from all others ranks first among its party's outliers, by either score. The common
// result says only that its party has one.
func TestOutliersAreFound(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", "{unit: attribute, mechanism: laplace, epsilon: 400}",
		"{kind: outliers, neighbors: 5, top: 2}, {kind: outliers, neighbors: 5, top: 1, score: distance}"))
	data, _ := corners(rand.New(rand.NewPCG(8, 4)), map[string][]int{"north": {40, 0, 0}, "south": {40, 40, 0}, "west": {9, 0, 30}})
	f := data["south"]
	f.add("odd", 160, 45)
	data["south"] = f
	sent := ship(t, s, 5, data)
	result, labels := sent.run(t)
	south := slices.IndexFunc(labels, func(l analysis.Labels) bool { return l.Party == "south" })
	for i, a := range result.Analyses {
		o := a.Outliers
		if o.Ranked[south] < 1 || o.Above[south] < 1 || o.Ranked[0]+o.Ranked[1]+o.Ranked[2] != o.Top {
			t.Errorf("analysis %d: %+v", i, o)
		}
		ranks, scores := column(t, labels[south], i, "outlier_rank"), column(t, labels[south], i, "outlier_score")
		row := slices.Index(ranks.Integers, 1)
		if row < 0 || sent.orders[south][0][row] != 80 || scores.Numbers[row] != slices.Max(scores.Numbers) || scores.Numbers[row] <= o.Threshold {
			t.Errorf("analysis %d: rank 1 is row %d", i, row)
		}
	}
}

// auto finds the three corners, and suggests nothing if noise hides all.
func TestKMeansAuto(t *testing.T) {
	const terms = "{unit: attribute, mechanism: laplace, epsilon: %s}"
	data, _ := corners(rand.New(rand.NewPCG(8, 5)), map[string][]int{"north": {40, 20, 0}, "south": {40, 40, 30}, "west": {9, 0, 60}})
	for _, epsilon := range []string{"300", "0.5"} {
		s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", fmt.Sprintf(terms, epsilon), "{kind: k-means, clusters: auto, max_clusters: 6}, {kind: k-means, clusters: 2}"))
		result, _ := ship(t, s, 5, data).run(t)
		a, two := result.Analyses[0], result.Analyses[1].KMeans
		if epsilon == "300" {
			if a.KMeans == nil || a.KMeans.Clusters != 3 || *two.Suggested.Clusters != 3 || two.Clusters != 2 {
				t.Errorf("%+v, %+v", a, two)
			}
			if d := a.KMeans.Debiased; !(*d.Estimate < a.KMeans.Inertia && *d.Low <= *d.Estimate && *d.Estimate <= *d.High) {
				t.Errorf("inertia %v of %g", d, a.KMeans.Inertia)
			}
			continue
		}
		if a.KMeans != nil || !strings.Contains(a.Undefined, "no clusters stand out") || two == nil || two.Suggested.Clusters != nil {
			t.Errorf("of noise: %+v, %+v", a, two)
		}
	}
}
