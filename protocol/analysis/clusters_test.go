package analysis_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/seed/transcript"
)

// corners returns files of a horizontal study whose records are near three corners of the columns'
// ranges. group gives the corner of each record of a party.
func corners(rng *rand.Rand, sizes map[string][]int) (data files, group map[string][]int) {
	at := [][]float64{{110, 45}, {210, 45}, {160, 100}}
	data, group = files{}, map[string][]int{}
	for _, name := range []string{"north", "south", "west"} {
		groups, ok := sizes[name]
		if !ok {
			continue
		}
		var f file
		for g, size := range groups {
			for range size {
				f.add("", at[g][0]+2*rng.NormFloat64(), at[g][1]+rng.NormFloat64())
				group[name] = append(group[name], g)
			}
		}
		rng.Shuffle(len(f.ids), func(i, j int) {
			f.values[i], f.values[j] = f.values[j], f.values[i]
			group[name][i], group[name][j] = group[name][j], group[name][i]
		})
		for i := range f.ids {
			f.ids[i] = fmt.Sprint(i + 1)
		}
		data[name] = f
	}
	return data, group
}

// TestLabelsGoToTheirRecords clusters three clear groups that no party has in full, by two
// sketches, with and without noise and with a party absent. Each record's label, found by its
// release row and the secret order, names its group. The labels of a party are in its own document,
// whatever the others' sizes.
func TestLabelsGoToTheirRecords(t *testing.T) {
	const sketches = "  - {side: records, family: identity}\n  - {side: records, family: sparse, k: 16, s: 4}\n"
	const weak = "{unit: attribute, mechanism: laplace, epsilon: 400}"
	sizes := map[string][]int{"north": {20, 9, 0}, "south": {0, 31, 5}, "west": {3, 0, 40}}
	for _, test := range []struct {
		name, privacy string
		present       []string
	}{
		{"plain", noPromise, []string{"north", "south", "west"}},
		{"noised", weak, []string{"north", "south", "west"}},
		{"without south", noPromise, []string{"north", "west"}},
		{"without north", weak, []string{"south", "west"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := parse(t, fmt.Sprintf(horizontal, sketches, test.privacy, "{kind: k-means, clusters: 3}, {kind: k-means, clusters: 3, restarts: 3}"))
			here := map[string][]int{}
			want := make([]int, 3)
			for _, name := range test.present {
				here[name] = sizes[name]
				for g, n := range sizes[name] {
					want[g] += n
				}
			}
			data, group := corners(rand.New(rand.NewPCG(3, 1)), here)
			sent := ship(t, s, 5, data)
			result, labels := sent.run(t)
			if len(labels) != len(test.present) {
				t.Fatalf("%d documents for %d parties", len(labels), len(test.present))
			}
			for a, answer := range result.Analyses {
				meaning := map[int]int{} // cluster → group
				for i, c := range sent.options.Contributions {
					name := s.Parties[c.Party].Name
					checkLabels(t, labels[i], a, answer, name, len(group[name]))
					for row, cluster := range labels[i].Columns[a].Integers {
						g := group[name][sent.orders[i][answer.Sketch][row]]
						if known, ok := meaning[cluster]; ok && known != g {
							t.Fatalf("analysis %d: cluster %d holds groups %d and %d", a, cluster, known, g)
						}
						meaning[cluster] = g
					}
				}
				if len(meaning) != 3 {
					t.Errorf("analysis %d: clusters stand for %v", a, meaning)
				}
				for cluster, size := range answer.KMeans.Sizes {
					if size != want[meaning[cluster]] {
						t.Errorf("analysis %d: cluster %d has %d records, want %d", a, cluster, size, want[meaning[cluster]])
					}
				}
			}
		})
	}
}

// checkLabels checks the form of one party's labels.
func checkLabels(t *testing.T, l analysis.Labels, index int, a analysis.Analysis, party string, records int) {
	t.Helper()
	if l.Format != analysis.LabelsFormat || l.Party != party || len(l.Columns) != 2 {
		t.Fatalf("labels of %s: format %q, party %q, %d analyses", party, l.Format, l.Party, len(l.Columns))
	}
	one := l.Columns[index]
	if one.Analysis != index || one.Sketch != a.Sketch || len(one.Integers) != records {
		t.Errorf("labels of %s: analysis %d of sketch %d with %d records, want %d, %d, %d", party, one.Analysis, one.Sketch, len(one.Integers), index, a.Sketch, records)
	}
	if slices.Max(one.Integers) >= a.KMeans.Clusters || slices.Min(one.Integers) < 0 {
		t.Errorf("labels of %s: clusters %d to %d of %d", party, slices.Min(one.Integers), slices.Max(one.Integers), a.KMeans.Clusters)
	}
}

// TestCentroidsAreInEncodedUnits: with the identity a centroid is a point of the unit ranges.
func TestCentroidsAreInEncodedUnits(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: k-means, clusters: 3}"))
	data, _ := corners(rand.New(rand.NewPCG(3, 2)), map[string][]int{"north": {50, 50, 0}, "south": {0, 0, 60}, "west": {9, 9, 9}})
	result, _ := ship(t, s, 5, data).run(t)
	a := result.Analyses[0]
	for _, want := range [][]float64{{10. / 120, -25. / 36}, {110. / 120, -25. / 36}, {60. / 120, 30. / 36}} {
		near := slices.ContainsFunc(a.KMeans.Centroids, func(c []float64) bool {
			return len(c) == 2 && (c[0]-want[0])*(c[0]-want[0])+(c[1]-want[1])*(c[1]-want[1]) < 1e-3
		})
		if !near {
			t.Errorf("no centroid near %v among %v", want, a.KMeans.Centroids)
		}
	}
	if a.KMeans.Inertia <= 0 || a.KMeans.Inertia > 1 {
		t.Errorf("inertia %v of tight groups", a.KMeans.Inertia)
	}
}

// TestKMeansCanBeRedone: anyone with the releases and the study gets the published clusters, with
// the study's own number of restarts. Twelve clusters of evenly spread records have many poor
// optima, so that other starts would end elsewhere.
func TestKMeansCanBeRedone(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise,
		"{kind: k-means, clusters: 12, restarts: 1}, {kind: k-means, clusters: 12, restarts: 3}"))
	rng, data := rand.New(rand.NewPCG(3, 3)), files{}
	for _, name := range []string{"north", "south", "west"} {
		var f file
		for i := range 60 {
			f.add(fmt.Sprint(i), 100+120*rng.Float64(), 34+72*rng.Float64())
		}
		data[name] = f
	}
	sent := ship(t, s, 5, data)
	result, _ := sent.run(t)
	var entries []float64
	for _, c := range sent.options.Contributions {
		for _, v := range c.Sketches[0].Data {
			entries = append(entries, float64(v)/float64(s.Bits.One()))
		}
	}
	points := mat.NewDense(180, 2, entries)
	for i, restarts := range []int{1, 3} {
		start := protocol.Hash("cosketch/1/analysis/k-means", s.ID[:], transcript.Uint32(uint32(i)))
		want, err := cluster.KMeans(context.Background(), points, cluster.Options{Clusters: 12, Restarts: restarts, Rand: rand.New(rand.NewChaCha8(start))})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Analyses[i].KMeans; !slices.Equal(got.Sizes, want.Sizes) || got.Inertia != want.Inertia {
			t.Errorf("%d restarts: sizes %v, inertia %v, want %v, %v", restarts, got.Sizes, got.Inertia, want.Sizes, want.Inertia)
		}
	}
}
