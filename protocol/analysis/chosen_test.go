package analysis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/distance"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// chosen asks for the distances between records, and passes the document through Decode.
func (s shipped) chosen(t *testing.T, words ...string) analysis.Analysis {
	t.Helper()
	asked, err := studyfile.Further(s.options.Study, "record-distance", words)
	if err != nil {
		t.Fatal(err)
	}
	s.options.Analyses = []study.Analysis{asked}
	result, labels := s.run(t)
	if len(labels) > 0 {
		t.Errorf("parties are told %v", labels)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if result, err = analysis.Decode(raw, s.options.Study.ID); err != nil {
		t.Fatal(err)
	}
	return result.Analyses[0]
}

// party returns the index of a party in a study.
func party(t *testing.T, s *study.Study, name string) int {
	t.Helper()
	index, ok := s.PartyByName(name)
	if !ok {
		t.Fatalf("no party %s", name)
	}
	return index
}

// Without noise and projection the distances are exactly those of the named rows, between each two
// and from each party's mean record.
func TestRecordDistances(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: k-means, clusters: 2}"))
	sent := ship(t, s, 5, scattered(rand.New(rand.NewPCG(8, 1)), 30, 45, 12))
	all := released(t, sent, 0)
	a := answer{t, sent.chosen(t, "of=south/44,north/7,south/0,west/11", "to=parties")}
	if len(a.Pairs) != 6+4*3 || len(a.Features) != 4+3 || len(a.RecordDistances.Records) != 4 || a.RecordDistances.Records[0] != (analysis.ChosenRecord{Party: "south", Row: 44}) {
		t.Fatalf("%d pairs of %v, records %v", len(a.Pairs), a.Features, a.RecordDistances.Records)
	}
	north, south, west := party(t, s, "north"), party(t, s, "south"), party(t, s, "west")
	rows := map[string]whose{"south/44": {south, 44}, "north/7": {north, 7}, "south/0": {south, 0}, "west/11": {west, 11}}
	for x, of := range rows {
		for y, to := range rows {
			if x != y {
				closeTo(t, x+" and "+y, *a.find(x, y).Estimate, distance.Squared(all[of], all[to]))
			}
		}
		for p, size := range map[int]int{north: 30, south: 45, west: 12} {
			mean := make([]float64, 2)
			for row := range size {
				for j, v := range all[whose{p, row}] {
					mean[j] += v / float64(size)
				}
			}
			name := s.Parties[p].Name
			closeTo(t, x+" and the mean of "+name, *a.find(x, name).Estimate, distance.Squared(all[of], mean))
		}
	}
	for _, table := range (analysis.Result{Analyses: []analysis.Analysis{a.Analysis}}).Tables() {
		if table.Name == "numbers" && (len(table.Rows) != 18 || table.Rows[0][5] != "south/44" || table.Rows[0][6] != "north/7") {
			t.Errorf("numbers begin with %v", table.Rows[0])
		}
		if table.Name == "record_distances_records" && (len(table.Rows) != 4 || table.Rows[1][2] != "north" || table.Rows[1][3] != int64(7)) {
			t.Errorf("records are %v", table.Rows)
		}
	}
	for words, want := range map[string]string{
		"of=south/45,north/0": "the release of south has 45 rows, numbered from 0, and none 45",
		"of=west/12,north/0":  "the release of west has 12 rows",
	} {
		if a := sent.chosen(t, words); !strings.Contains(a.Undefined, want) || len(a.Pairs) > 0 {
			t.Errorf("%s: %q, want %q", words, a.Undefined, want)
		}
	}
	sent.options.Contributions = slices.Delete(sent.options.Contributions, west, west+1)
	if a := sent.chosen(t, "of=south/0,west/0"); a.Undefined != "west has no release in this result" {
		t.Errorf("of an absent party: %q", a.Undefined)
	}
}

// Under noise and a projection the intervals cover the distances of the data: for about 95 % of
// 4,000 pairs in 20 releases, with some slack since pairs share records and R. With intervals: all
// nearly all do. Intervals without the noise subtracted cover fewer.
func TestRecordDistancesCover(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: rademacher, k: 64}",
		"{unit: attribute, mechanism: laplace, epsilon: 30}", "{kind: k-means, clusters: 2}"))
	plain := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: neighbors}"))
	data := scattered(rand.New(rand.NewPCG(8, 2)), 40, 40, 40)
	var of []string
	var rows []whose
	for row := range 10 {
		of, rows = append(of, fmt.Sprintf("north/%d", row), fmt.Sprintf("west/%d", row)), append(rows, whose{party(t, s, "north"), row}, whose{party(t, s, "west"), row})
	}
	pairs, each, all, raw := 0, 0, 0, 0
	for run := range 20 {
		sent := ship(t, s, 40+run, data)
		truth := func(w whose) []float64 {
			party := s.Parties[w.party].Name
			var x []float64
			for _, v := range encode(plain, mustPlan(t, plain, w.party), data[party].values[sent.orders[w.party][0][w.row]]) {
				x = append(x, float64(v)/float64(plain.Bits.One()))
			}
			return x
		}
		noisy := released(t, sent, 0)
		single, together := sent.chosen(t, "of="+strings.Join(of, ",")), sent.chosen(t, "of="+strings.Join(of, ","), "intervals=all")
		if want := 1 - 0.05/190; math.Abs(together.EachLevel-want) > 1e-12 {
			t.Fatalf("intervals that hold together are built for %g, want %g", together.EachLevel, want)
		}
		for i, p := range single.Pairs {
			x, y := rows[p.I], rows[p.J]
			d := distance.Squared(truth(x), truth(y))
			half := (*p.High - *p.Low) / 2
			pairs++
			if *p.Low <= d && d <= *p.High {
				each++
			}
			if q := together.Pairs[i]; *q.Low <= d && d <= *q.High {
				all++
			}
			if math.Abs(distance.Squared(noisy[x], noisy[y])-d) <= half {
				raw++
			}
		}
	}
	shares := []float64{float64(each) / float64(pairs), float64(all) / float64(pairs), float64(raw) / float64(pairs)}
	if shares[0] < 0.91 || shares[0] > 0.99 || shares[1] < 0.998 || shares[2] > 0.85 {
		t.Errorf("of %d pairs %.3f are covered, %.4f where all hold together, %.3f with the noise left in", pairs, shares[0], shares[1], shares[2])
	}
}

// In a vertical study a row names the record that all parties' rows of it make, whoever's row is
// given. The noise is that of the parties that hold the record.
func TestDistancesOfJoinedRecords(t *testing.T) {
	records := make([]of, 12)
	rng := rand.New(rand.NewPCG(8, 9))
	for i := range records {
		records[i] = of{north: []float64{rng.Float64() * 10, rng.Float64() * 40}, south: []float64{5 + rng.Float64()}, west: []float64{float64(i % 2)}}
	}
	data, _ := split(rng, records, func(party string, record int) bool { return party != "west" || record < 9 })
	for _, join := range []string{"all", "any"} {
		s := parse(t, fmt.Sprintf(joined, join, "  - {side: records, family: identity}", noPromise, "{kind: k-means, clusters: 2}"))
		sent := ship(t, s, 9, data)
		row := func(party, record int) int { // the row of a record in a party's release
			for at, i := range sent.orders[party][0] {
				if data[s.Parties[party].Name].ids[i] == fmt.Sprintf("p%d", record) {
					return at
				}
			}
			t.Fatalf("no record %d", record)
			return 0
		}
		values := released(t, sent, 0)
		var truth float64
		for party := range 3 {
			truth += distance.Squared(values[whose{party, row(party, 2)}], values[whose{party, row(party, 5)}])
		}
		north, south, west := party(t, s, "north"), party(t, s, "south"), party(t, s, "west")
		names := fmt.Sprintf("of=north/%d,south/%d", row(north, 2), row(south, 5))
		a := sent.chosen(t, names)
		if a.Joined == nil || len(a.Pairs) != 1 {
			t.Fatalf("%+v", a)
		}
		closeTo(t, "distance of joined records", *a.Pairs[0].Estimate, truth)
		same := sent.chosen(t, fmt.Sprintf("of=north/%d,west/%d", row(north, 2), row(west, 2)))
		if !strings.Contains(same.Undefined, "are rows of one record") {
			t.Errorf("two names of one record: %+v", same)
		}
		lacking := sent.chosen(t, fmt.Sprintf("of=north/%d,south/%d", row(north, 11), row(south, 2)))
		if join == "all" && !strings.Contains(lacking.Undefined, "is a record that other parties lack") || join == "any" && lacking.Undefined != "" {
			t.Errorf("join: %s, a record that west lacks: %q", join, lacking.Undefined)
		}
		if _, err := studyfile.Further(s, "record-distance", []string{names, "to=parties"}); err == nil || !strings.Contains(err.Error(), "no mean record of each") {
			t.Errorf("means of joined parties: %v", err)
		}
	}
}
