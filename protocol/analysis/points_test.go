package analysis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// joined is a vertical study of the records side: a record's columns are at three parties.
const joined = `partition: vertical
records: {id: [patient], join: %s}
columns:
  - {name: x, kind: numeric, bounds: [0, 10], owner: north}
  - {name: w, kind: binary, owner: west}
  - {name: y, kind: numeric, centre: 5, spread: 2, owner: south}
  - {name: z, kind: numeric, bounds: [-20, 20], owner: north}
sketches:
%s
privacy: %s
analyses: [%s]
`

// of is a record's values at each party.
type of struct{ north, south, west []float64 }

// split gives records to the parties that hold them, each in its own order.
func split(rng *rand.Rand, records []of, has func(party string, record int) bool) (data files, order map[string][]int) {
	data, order = files{}, map[string][]int{}
	for _, name := range []string{"north", "south", "west"} {
		var f file
		for _, i := range rng.Perm(len(records)) {
			if !has(name, i) {
				continue
			}
			values := map[string][]float64{"north": records[i].north, "south": records[i].south, "west": records[i].west}[name]
			f.add(fmt.Sprintf("p%d", i), values...)
			order[name] = append(order[name], i)
		}
		if len(f.ids) > 0 {
			data[name] = f
		}
	}
	return data, order
}

// TestJoinedRecords clusters records that no party can tell apart on its own: north sees two kinds,
// south and west see two others. Parties lack some records. Every party's own rows get the clusters
// of their records or, if only records of all parties are joined, nothing.
func TestJoinedRecords(t *testing.T) {
	const sketches = "  - {side: records, family: identity}\n  - {side: records, family: rademacher, k: 32}\n"
	const weak = "{unit: attribute, mechanism: laplace, epsilon: 200}"
	rng := rand.New(rand.NewPCG(8, 8))
	kinds := []of{
		{[]float64{0, 20}, []float64{-1}, []float64{0}},
		{[]float64{10, -20}, []float64{-1}, []float64{0}},
		{[]float64{10, -20}, []float64{11}, []float64{1}},
	}
	var records []of
	var kind []int
	for i := range 90 {
		kind = append(kind, i%3)
		records = append(records, kinds[i%3])
	}
	lacks := func(party string, i int) bool { return party == "south" && i >= 81 || party == "west" && i < 6 }
	for _, test := range []struct {
		join, privacy, absent string
		in                    []int
	}{
		{"all", noPromise, "", []int{0, 15, 75}},
		{"all", weak, "", []int{0, 15, 75}},
		{"all", weak, "west", []int{9, 81}},
		{"any", noPromise, "north", []int{15, 75}},
		{"any", weak, "", []int{0, 15, 75}},
	} {
		t.Run(test.join+" "+test.privacy+" without "+test.absent, func(t *testing.T) {
			s := parse(t, fmt.Sprintf(joined, test.join, sketches, test.privacy, "{kind: k-means, clusters: 3}"))
			data, order := split(rng, records, func(party string, i int) bool { return party != test.absent && !lacks(party, i) })
			sent := ship(t, s, 5, data)
			result, labels := sent.run(t)
			a := result.Analyses[0]
			want := test.in[len(test.in)-1]
			if test.join == "any" {
				want = 90
			}
			if a.Joined == nil || !slices.Equal(a.Joined.In, test.in) || a.Joined.Records != want || string(a.Joined.Join) != test.join {
				t.Fatalf("joined: %+v", a.Joined)
			}
			total := 0
			for _, n := range a.KMeans.Sizes {
				total += n
			}
			if total != want {
				t.Errorf("clusters of %d records, want %d", total, want)
			}
			cluster := map[int]int{} // by record
			for i, c := range sent.options.Contributions {
				name := s.Parties[c.Party].Name
				column := labels[i].Columns[0]
				if column.Rows() != len(order[name]) {
					t.Fatalf("%s: %d labels of %d rows", name, column.Rows(), len(order[name]))
				}
				for row, at := range sent.orders[i][0] {
					record := order[name][at]
					everywhere := true
					for _, other := range []string{"north", "south", "west"} {
						everywhere = everywhere && (other == test.absent || !lacks(other, record))
					}
					if said := column.Text(row) != ""; said != (everywhere || test.join == "any") {
						t.Errorf("%s, record %d: %q", name, record, column.Text(row))
					}
					if column.Text(row) == "" {
						continue
					}
					if other, known := cluster[record]; known && other != column.Integers[row] {
						t.Errorf("record %d is in cluster %d and in %d", record, other, column.Integers[row])
					}
					cluster[record] = column.Integers[row]
				}
			}
			if test.absent != "" || test.join == "any" {
				return // the kinds are not three places then
			}
			meaning := map[int]int{}
			for record, c := range cluster {
				if k, known := meaning[c]; known && k != kind[record] {
					t.Fatalf("cluster %d holds kinds %d and %d", c, k, kind[record])
				}
				meaning[c] = kind[record]
			}
			if len(meaning) != 3 {
				t.Errorf("clusters stand for %v", meaning)
			}
		})
	}
}

// The noise of joined records is that of the parties that hold each of them. Two places apart in
// north's columns are found, and the rest of the inertia is noise. Its sum over 20,000 coordinates
// and more is within 12 % of the stated one (more than 5 standard deviations; false rejection below
// 1e-6). With every party's noise on every record, or with north's alone, it would be wrong by 25 %
// and more.
func TestJoinedNoise(t *testing.T) {
	full.Statistical(t)
	for _, sk := range []string{"  - {side: records, family: sparse, k: 16}", "  - {side: records, family: identity}"} {
		for _, privacy := range []string{"{unit: attribute, mechanism: laplace, epsilon: 30}", "{unit: attribute, mechanism: gaussian, epsilon: 400, delta: 1e-6}"} {
			s := parse(t, fmt.Sprintf(joined, "any", sk, privacy, "{kind: k-means, clusters: 2, restarts: 3}"))
			records := make([]of, 8000)
			for i := range records {
				records[i] = of{[]float64{float64(i % 2 * 10), float64(40*(i%2) - 20)}, []float64{5}, nil}
			}
			// West has a single record, at a distinct place: bits have no centre.
			records[0].west = []float64{1}
			data, _ := split(rand.New(rand.NewPCG(1, 9)), records, func(party string, i int) bool {
				return party == "north" || party == "south" && i < 4000 || i == 0
			})
			result, _ := ship(t, s, 4, data).run(t)
			k := result.Analyses[0].KMeans
			if slices.Max(k.Sizes) > 4001 {
				t.Fatalf("%s, %s: sizes %v", sk, privacy, k.Sizes)
			}
			if left := *k.Debiased.Estimate / k.Inertia; math.Abs(left) > 0.12 {
				t.Errorf("%s, %s: inertia %g, which is noise, without it %g: %.3f of it", sk, privacy, k.Inertia, *k.Debiased.Estimate, left)
			}
		}
	}
}

// If nothing can be joined, only the analysis is lost, not the study. Releases without pseudonyms
// are refused.
func TestNothingToJoin(t *testing.T) {
	s := parse(t, fmt.Sprintf(joined, "all", "  - {side: records, family: identity}", noPromise, "{kind: k-means, clusters: 2}"))
	one := of{[]float64{1, 1}, []float64{1}, []float64{1}}
	data, _ := split(rand.New(rand.NewPCG(1, 1)), []of{one, one, one}, func(party string, i int) bool {
		return party == []string{"north", "south", "west"}[i]
	})
	sent := ship(t, s, 1, data)
	result, labels := sent.run(t)
	if a := result.Analyses[0]; a.Undefined != "no record is in the releases of all 3 parties" || a.KMeans != nil || labels != nil {
		t.Errorf("%+v, %v", a, labels)
	}
	sent.options.Contributions[1].Rows = nil
	if _, _, err := analysis.Run(t.Context(), sent.options); err == nil || !strings.Contains(err.Error(), "pseudonym") {
		t.Errorf("without pseudonyms: %v", err)
	}
	if s.Merge(0) != study.Join {
		t.Error("a joined study is not")
	}
}

// TestJoinedRecordsAnswerAll asks every kind about joined records of which parties lack some; one
// party has the labels. Numbers are about the records that have what they need, and a party's table
// has an empty cell if there is nothing to say.
func TestJoinedRecordsAnswerAll(t *testing.T) {
	labelled := strings.Replace(joined, "  - {name: w, kind: binary,", "  - {name: v, kind: numeric, bounds: [0, 1], owner: west}\n  - {name: w, kind: binary, role: label,", 1)
	rng := rand.New(rand.NewPCG(8, 9))
	records := make([]of, 300)
	for i := range records {
		kind := float64(i % 2)
		records[i] = of{[]float64{2 + 6*kind + 0.3*rng.NormFloat64(), 10 * rng.NormFloat64()}, []float64{5 + rng.NormFloat64()}, []float64{rng.Float64(), kind}}
	}
	data, _ := split(rng, records, func(party string, i int) bool {
		return party == "north" || party == "south" && i%10 != 3 || party == "west" && i%10 != 7
	})
	for join, want := range map[string]struct{ records, labelled int }{"all": {240, 240}, "any": {300, 270}} {
		s := parse(t, fmt.Sprintf(labelled, join, "  - {side: records, family: identity, labels: randomised}", "{unit: attribute, mechanism: laplace, epsilon: 100}",
			"{kind: k-means, clusters: auto}, {kind: neighbors, neighbors: 3}, {kind: outliers, neighbors: 5}, {kind: svm, folds: 3}, {kind: ridge-classification}"))
		result, labels := ship(t, s, 4, data).run(t)
		for i, a := range result.Analyses {
			if a.Undefined != "" || a.Joined == nil || a.Joined.Records != want.records {
				t.Fatalf("join %s, analysis %d (%s): %q, %+v", join, i, a.Kind, a.Undefined, a.Joined)
			}
		}
		if n := result.Analyses[1].Neighbors; len(n.Edges) != 3 {
			t.Errorf("edges %v", n.Edges)
		}
		for _, a := range result.Analyses[3:] {
			if c := a.Classifier; c.Records != want.labelled || *c.Accuracy.Estimate < 0.9 {
				t.Errorf("join %s, %s: %d records, accuracy %v", join, a.Kind, c.Records, *c.Accuracy.Estimate)
			}
		}
		raw, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := analysis.Decode(raw, s.ID); err != nil {
			t.Error(err)
		}
		for _, l := range labels {
			raw, err := json.Marshal(l)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := analysis.DecodeLabels(raw, s.ID); err != nil {
				t.Errorf("of %s: %v", l.Party, err)
			}
			for _, c := range l.Columns {
				if c.Rows() != len(data[l.Party].ids) {
					t.Errorf("of %s: %s has %d rows of %d", l.Party, c.Name, c.Rows(), len(data[l.Party].ids))
				}
			}
		}
	}
}

// If every party holds enough of the records, only these determine the centroids: missing columns
// do not draw them to the centre. If too few, and under join: all, all records count.
func TestWholeRecordsSayWhereClustersAre(t *testing.T) {
	apart := map[bool]float64{}
	for _, test := range []struct {
		join    string
		records int
		whole   bool
	}{{"any", 600, true}, {"any", 100, false}, {"all", 600, false}} {
		s := parse(t, fmt.Sprintf(joined, test.join, "  - {side: records, family: identity}", noPromise, "{kind: k-means, clusters: 2}"))
		rng := rand.New(rand.NewPCG(4, 2))
		records := make([]of, test.records)
		for i := range records {
			records[i] = of{[]float64{float64(i % 2 * 10), float64(i%2*40 - 20)}, []float64{float64(i%2*12) - 1}, []float64{float64(i % 2)}}
		}
		held := map[string][]bool{}
		whole := 0
		for i := range records {
			all := true
			for _, name := range []string{"north", "south", "west"} {
				held[name] = append(held[name], rng.Float64() < 0.6)
				all = all && held[name][i]
			}
			if all {
				whole++
			}
		}
		data, _ := split(rng, records, func(party string, i int) bool { return held[party][i] })
		result, _ := ship(t, s, 4, data).run(t)
		a := result.Analyses[0]
		want := 0
		if test.whole {
			want = whole
		}
		total := a.KMeans.Sizes[0] + a.KMeans.Sizes[1]
		if a.KMeans.Whole != want || total != a.Joined.Records {
			t.Errorf("%s, %d records: centroids of %d, clusters of %d of %d; want %d", test.join, test.records, a.KMeans.Whole, total, a.Joined.Records, want)
		}
		if test.join == "all" {
			continue
		}
		for j, v := range a.KMeans.Centroids[0] {
			apart[test.whole] += (v - a.KMeans.Centroids[1][j]) * (v - a.KMeans.Centroids[1][j])
		}
	}
	if !(apart[true] > 1.2*apart[false]) {
		t.Errorf("centroids are %.3g apart, and %.3g where absent columns draw them to the centre", apart[true], apart[false])
	}
}
