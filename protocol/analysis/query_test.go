package analysis_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// truth returns the squared distance of two records in encoded units, before any projection.
func truth(t *testing.T, s *study.Study, x, y []float64) (squared float64) {
	t.Helper()
	a, b := encode(s, mustPlan(t, s, 0), x), encode(s, mustPlan(t, s, 0), y)
	for i := range a {
		d := float64(a[i]-b[i]) / float64(s.Bits.One())
		squared += d * d
	}
	return squared
}

// projectedBy projects vectors by the rows of R that follow from a seed.
func projectedBy(t *testing.T, s *study.Study, n int, vectors [][]float64) *mat.Dense {
	t.Helper()
	p, err := release.NewProjector(s, 0, rootSeed(n))
	if err != nil {
		t.Fatal(err)
	}
	out := mat.NewDense(len(vectors), s.Sketches[0].Projection.K, nil)
	for i, v := range vectors {
		point, _ := p.Project(encode(s, mustPlan(t, s, 0), v))
		out.SetRow(i, point)
	}
	return out
}

// byDistance orders the released records by their distance from a point.
func byDistance(all map[whose][]float64, point []float64) (order []whose, squared map[whose]float64) {
	squared = map[whose]float64{}
	for w, v := range all {
		var d float64
		for j := range v {
			d += (v[j] - point[j]) * (v[j] - point[j])
		}
		order, squared[w] = append(order, w), d
	}
	slices.SortFunc(order, func(a, b whose) int { return cmp.Compare(squared[a], squared[b]) })
	return order, squared
}

// For a vector that is projected exactly, only the records have noise. Its distances are unbiased,
// and their intervals hold together although neighbours are chosen by them. The same holds for two
// noised records, as in a party's query. An estimate that subtracted the wrong noise would miss by
// far.
func TestQueriesAreAnsweredWithTheirNoise(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: rademacher, k: 64, matrix: public}",
		"{unit: attribute, mechanism: gaussian, epsilon: 250, delta: 1e-6}", "{kind: neighbors, neighbors: 3}")+
		"new_records_until: 2027-12-15T17:00:00Z\nqueries: {releases: 3, records: 50, neighbors: 3}\n")
	rng := rand.New(rand.NewPCG(8, 3))
	data := scattered(rng, 150, 150, 150)
	vectors := scattered(rng, 50)["north"].values
	plan, err := release.ForQuery(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	missed, missedOwn, asked := 0, 0, 0
	for run := range 12 {
		sent := ship(t, s, 40+run, data)
		all := released(t, sent, 0)
		q := analysis.Queries{Points: projectedBy(t, s, 40+run, vectors), Neighbors: 3}
		for i := range vectors {
			q.Names = append(q.Names, fmt.Sprint("vector ", i))
		}
		answers, err := analysis.Query(context.Background(), sent.options, q)
		if err != nil {
			t.Fatal(err)
		}
		noised := querySketch(t, plan, 40+run, vectors)
		own, err := analysis.AnswerQuery(context.Background(), sent.options, analysis.OwnQuery{Party: 1, Number: 2, Sketch: noised.Sketch})
		if err != nil {
			t.Fatal(err)
		}
		columns := analysis.Labels{Columns: own.Columns}
		of := func(w whose) []float64 {
			name := s.Parties[sent.options.Contributions[w.party].Party].Name
			return data[name].values[sent.orders[w.party][0][w.row]]
		}
		for i := range vectors {
			asked++
			order, squared := byDistance(all, q.Points.RawRowView(i))
			wrong := false
			for rank, n := range answers.Queries[i].Near {
				w := order[rank]
				if name := s.Parties[sent.options.Contributions[w.party].Party].Name; !slices.Equal(n.Parties, []string{name}) {
					t.Fatalf("neighbour %d of vector %d is of %q, want %s", rank+1, i, n.Parties, name)
				}
				if want := max(0, squared[w]-64*plan.NoiseOf(0, 1, 1).Variance); math.Abs(*n.Distance.Estimate-want) > 1e-9 {
					t.Fatalf("squared distance %g, want %g", *n.Distance.Estimate, want)
				}
				d := truth(t, s, vectors[i], of(w))
				wrong = wrong || d < *n.Distance.Low-1e-9 || d > *n.Distance.High+1e-9
			}
			if wrong {
				missed++
			}

			row := noised.Order[i]
			point := make([]float64, 64)
			for j, v := range noised.Sketch.Row(i) {
				point[j] = float64(v) * plan.Unit()
			}
			order, _ = byDistance(all, point)
			wrong = false
			for rank := range 3 {
				w, number := order[rank], fmt.Sprint(rank+1)
				who := column(t, columns, 0, "neighbor_"+number)
				if mine := sent.options.Contributions[w.party].Party == 1; mine != (who.Own[i] == w.row) || mine == (who.Texts[i] != "") {
					t.Fatalf("neighbour %d of row %d is named %q, row %d; it is %v", rank+1, i, who.Texts[i], who.Own[i], w)
				}
				d := truth(t, s, vectors[row], of(w))
				wrong = wrong || d < column(t, columns, 0, "distance_low_"+number).Numbers[i]-1e-9 || d > column(t, columns, 0, "distance_high_"+number).Numbers[i]+1e-9
			}
			if wrong {
				missedOwn++
			}
		}
	}
	// 5 % of 600, and 4.5 standard deviations.
	t.Logf("of %d: intervals miss for %d vectors, %d rows", asked, missed, missedOwn)
	if limit := asked/20 + 25; missed > limit || missedOwn > limit {
		t.Errorf("of %d: intervals miss for %d vectors, %d rows of a query", asked, missed, missedOwn)
	}
}

// querySketch makes a party's query.
func querySketch(t *testing.T, plan release.Plan, n int, records [][]float64) release.Exact {
	t.Helper()
	b, err := plan.NewBuilder(rootSeed(n), 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range records {
		if err := b.Add([][]byte{fmt.Append(nil, i)}, encode(plan.Study, plan, v)); err != nil {
			t.Fatal(err)
		}
	}
	e, err := b.Finish(source(3_000_000 + n))
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Draw(&e.Sketch, source(4_000_000+n), 1); err != nil {
		t.Fatal(err)
	}
	return e
}

// Without noise and with an exact rotation, or without projection, distances are those of the data,
// up to rounding. That holds in a vertical study, too, where several parties hold a record's
// columns.
func TestQueriesWithoutNoiseAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var records []of
	for range 40 {
		records = append(records, of{
			north: []float64{10 * rng.Float64(), 40*rng.Float64() - 20}, south: []float64{-1 + 12*rng.Float64()}, west: []float64{float64(rng.IntN(2))},
		})
	}
	for _, sketch := range []string{
		"{side: records, family: identity}", "{side: records, family: hadamard, k: 4, matrix: public}", "{side: records, family: rademacher, k: 512, matrix: public}",
	} {
		s := parse(t, fmt.Sprintf(joined, "any", "  - "+sketch, noPromise, "{kind: neighbors}"))
		if !s.Projectable(0) {
			t.Fatalf("%s is not projectable", sketch)
		}
		data, _ := split(rng, records, func(string, int) bool { return true })
		sent := ship(t, s, 7, data)
		p, err := release.NewProjector(s, 0, rootSeed(7))
		if err != nil {
			t.Fatal(err)
		}
		var vector []int64 // in the order of the study's columns: x, w, y, z
		for c, x := range []float64{2, 1, 4, -5} {
			column := s.Columns[c]
			v, _ := column.Scale.Encode(x, s.Bits)
			vector = append(vector, v)
		}
		point, _ := p.Project(vector)
		q := analysis.Queries{Names: []string{"v"}, Points: mat.NewDense(1, len(point), point), Neighbors: 40}
		a, err := analysis.Query(context.Background(), sent.options, q)
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		for _, r := range records {
			var d float64
			for c, x := range []float64{r.north[0], r.west[0], r.south[0], r.north[1]} {
				v, _ := s.Columns[c].Scale.Encode(x, s.Bits)
				e := float64(v-vector[c]) / float64(s.Bits.One())
				d += e * e
			}
			want = append(want, d)
		}
		slices.Sort(want)
		tolerance := 1e-9
		if strings.Contains(sketch, "rademacher") {
			tolerance = 0.5 // of the distance: more than four standard deviations, √(2/512) each
		}
		for rank, n := range a.Queries[0].Near {
			if len(n.Parties) != 3 || len(n.Handle) != 16 {
				t.Fatalf("%s: a joined record is of %q, handle %q", sketch, n.Parties, n.Handle)
			}
			if got := *n.Distance.Estimate; math.Abs(got-want[rank]) > tolerance*max(want[rank], 1) {
				t.Errorf("%s: squared distance %d is %g, want %g", sketch, rank+1, got, want[rank])
			}
		}
		if text, _ := json.Marshal(a); strings.Contains(string(text), "p1") {
			t.Errorf("%s: the answer has a record's id", sketch)
		}
	}
}

// Queries without an answer say so, and what a party is told is consistent.
func TestQueriesThatHaveNoAnswer(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: neighbors, neighbors: 3}"))
	sent := ship(t, s, 1, scattered(rand.New(rand.NewPCG(8, 3)), 5, 5))
	q := analysis.Queries{Names: []string{"v"}, Points: mat.NewDense(1, 2, nil), Neighbors: 11}
	if _, err := analysis.Query(context.Background(), sent.options, q); fail.Find(err).ID != fail.Unanswerable || !strings.Contains(err.Error(), "there are only 10 records") {
		t.Errorf("eleven neighbours of ten: %v", err)
	}
	if _, err := analysis.AnswerQuery(context.Background(), sent.options, analysis.OwnQuery{Number: 1}); err == nil || !strings.Contains(err.Error(), "admits no queries") {
		t.Errorf("a query of a study without any: %v", err)
	}
	good := analysis.QueryAnswer{Format: analysis.QueryFormat, Study: s.ID.String(), Number: 3, Columns: []analysis.RowColumn{
		{Name: "neighbor_1", Texts: []string{"", "south:00"}, Own: []int{7, -1}},
	}}
	for name, change := range map[string]func(*analysis.QueryAnswer){
		"":             func(*analysis.QueryAnswer) {},
		"query 4":      func(a *analysis.QueryAnswer) { a.Number = 4 },
		"study":        func(a *analysis.QueryAnswer) { a.Study = protocol.StudyID{}.String() },
		"has 1 rows":   func(a *analysis.QueryAnswer) { a.Columns = []analysis.RowColumn{{Integers: []int{1}}} },
		"row 8 of 8":   func(a *analysis.QueryAnswer) { a.Columns[0].Own = []int{8, -1} },
		"format":       func(a *analysis.QueryAnswer) { a.Format = "cosketch/query/2" },
		"several valu": func(a *analysis.QueryAnswer) { a.Columns[0].Integers = []int{1, 2} },
	} {
		bad := good
		bad.Columns = slices.Clone(good.Columns)
		change(&bad)
		raw, err := json.Marshal(bad)
		if err != nil {
			t.Fatal(err)
		}
		_, err = analysis.DecodeQueryAnswer(raw, s.ID, 3, 2, 8)
		if name == "" && err != nil || name != "" && (err == nil || !strings.Contains(err.Error(), name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
