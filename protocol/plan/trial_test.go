package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
)

// trial is one random study and its number of draws.
type trial struct {
	name    string
	terms   string // the study file from partition on
	records int64
	overlap float64
	draws   int
}

// parse returns a study of two parties, taken from an example of package study.
func parse(t testing.TB, terms string) *study.Study {
	t.Helper()
	return parseOf(t, terms, "name: west")
}

// parseOf returns a study with these terms and the parties of the registry, except one.
func parseOf(t testing.TB, terms, without string) *study.Study {
	t.Helper()
	example, err := os.ReadFile("../study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "partition:")
	var lines []string
	for line := range strings.Lines(head) {
		if without == "" || !strings.Contains(line, without) {
			lines = append(lines, line)
		}
	}
	s, err := file.Parse([]byte(strings.Join(lines, "") + "expires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\n" + terms))
	if err != nil {
		t.Fatalf("%v\n%s", err, terms)
	}
	return s
}

// study returns the trial's study with the smallest ε of a list at which every answer is forecast
// to be usable: correlations within 0.15 and with a denominator that stands out of its error, so
// that no draw is undefined, and distances of records within a half.
func (tr trial) study(t testing.TB) *cell {
	t.Helper()
	for epsilon := 0.5; epsilon < 1000; epsilon *= 1.15 {
		s := parse(t, strings.ReplaceAll(tr.terms, "EPSILON", fmt.Sprintf("%.3f", epsilon)))
		o := Options{Study: s, Party: study.Everyone, Records: map[string]int64{"": tr.records}, Overlap: tr.overlap, Spreads: map[string]float64{}}
		for _, column := range s.Columns {
			if lo, hi, ok := column.Scale.Bounds(); ok && column.Kind == study.Numeric {
				o.Spreads[column.Name] = (hi - lo) / math.Sqrt(12) // values are uniform
			}
		}
		c := newCell(o, 0)
		useful := true
		for _, a := range s.Analyses {
			most, wide := 0.15, 1.06
			if a.Kind == study.KMeans {
				most = 0.5
			}
			if a.Kind == study.Distance || a.Kind == study.Intersection || a.Kind == study.Covariance || a.Kind == study.GroupDistance {
				wide = 10
			}
			for _, q := range c.questions(a) {
				e, err := c.forecast(q)
				if err != nil {
					t.Fatal(err)
				}
				useful = useful && e.Undefined == "" && e.StandardError < most && e.HalfWidth < wide*e.Detects()
			}
		}
		if useful {
			return c
		}
	}
	t.Fatalf("no ε is enough for %s\n%s", tr.name, tr.terms)
	return nil
}

// trials returns random studies of every kind: 37 in the long form, 11 of them in the short one.
func trials() []trial {
	rng := rand.New(rand.NewPCG(20, 26))
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	column := func(name, owner string) string {
		if owner != "" {
			owner = ", owner: " + owner
		}
		switch centre, spread := between(-50, 50), between(0.5, 20); rng.IntN(3) {
		case 0:
			return fmt.Sprintf("  - {name: %s, kind: numeric, bounds: [%.3f, %.3f], kurtosis: 1.8%s}\n", name, centre-spread, centre+spread, owner)
		default:
			return fmt.Sprintf("  - {name: %s, kind: numeric, centre: %.3f, spread: %.3f%s}\n", name, centre, spread, owner)
		}
	}
	privacies := []string{
		"{mechanism: none}",
		"{unit: record, mechanism: gaussian, epsilon: EPSILON, delta: 1e-6}",
		"{unit: attribute, mechanism: gaussian, epsilon: EPSILON, delta: 1e-6}",
		"{unit: record, mechanism: laplace, epsilon: EPSILON}",
		"{unit: attribute, mechanism: laplace, epsilon: EPSILON}",
	}
	family := func(k int) string {
		switch rng.IntN(3) {
		case 0:
			return fmt.Sprintf("family: rademacher, k: %d", k)
		case 1:
			return fmt.Sprintf("family: sparse, k: %d, s: 2", k/2*2)
		}
		return fmt.Sprintf("family: sparse, k: %d", k)
	}
	add := func(out []trial, form, privacy string, more trial) []trial {
		more.name = fmt.Sprintf("%02d %s %s", len(out)+1, form, strings.Trim(strings.Split(privacy, ", e")[0], "{}"))
		return append(out, more)
	}
	var out []trial
	for range 2 {
		for _, privacy := range privacies {
			clip := ""
			if strings.Contains(privacy, "record") {
				clip = ", clip: 2.1"
			}
			columns := ""
			for i := range 4 {
				columns += column(fmt.Sprintf("c%d", i), []string{"north", "south"}[i/2])
			}
			out = add(out, "vertical", privacy, trial{
				terms: fmt.Sprintf("partition: vertical\nrecords: {id: [patient]}\ncolumns:\n%ssketches:\n  - {side: columns, %s, helpers: {ones: %.2f, squares: true}%s}\nprivacy: %s\n"+
					"analyses: [{kind: inner-product}, {kind: distance}, {kind: cosine}, {kind: covariance}, {kind: correlation, estimator: E1}, {kind: correlation, estimator: E2}, {kind: intersection}]\n",
					columns, family(256+rng.IntN(128)), between(0.5, 0.9), clip, privacy),
				records: int64(between(2500, 4000)), overlap: between(0.7, 0.95), draws: 1500,
			})
		}
	}
	for i, privacy := range privacies {
		clip := ""
		if strings.Contains(privacy, "record") {
			clip = ", clip: 2"
		}
		out = add(out, "horizontal", privacy, trial{
			terms: fmt.Sprintf("partition: horizontal\nrecords: {id: [patient]}\ncolumns:\n%s%s%ssketches:\n  - {side: columns, %s, helpers: {ones: 0.5, squares: true}%s}\nprivacy: %s\n"+
				"analyses: [{kind: inner-product}, {kind: distance}, {kind: cosine}, {kind: covariance}, {kind: correlation, estimator: E1}, {kind: correlation, estimator: E2}]\n",
				column("a", ""), column("b", ""), column("c", ""), family(256+rng.IntN(128)), clip, privacy),
			records: int64(between(2500, 4000)), draws: 1500,
		})
		families := []string{"family: hadamard, k: 24", "family: sparse, k: 40", "family: rademacher, k: 32", "family: sparse, k: 48, s: 2", "family: identity"}
		if clip != "" {
			clip = ", clip: 4"
		}
		columns := ""
		for j := range 40 {
			columns += column(fmt.Sprintf("c%d", j), "")
		}
		out = add(out, "records", privacy, trial{
			terms: fmt.Sprintf("partition: horizontal\nrecords: {id: [patient]}\ncolumns:\n%ssketches:\n  - {side: records, %s%s}\nprivacy: %s\nanalyses: [{kind: k-means, clusters: 2}]\n",
				columns, families[i], clip, privacy),
			records: 40, draws: 300,
		})
	}
	const response = "{unit: attribute, mechanism: randomised-response, epsilon: EPSILON}"
	bits := func(n int, owners ...string) (columns string) {
		for i := range n {
			owner := ""
			if len(owners) > 0 {
				owner = ", owner: " + owners[i*len(owners)/n]
			}
			columns += fmt.Sprintf("  - {name: c%d, kind: binary%s}\n", i, owner)
		}
		return columns
	}
	const head = "records: {id: [patient]}\ncolumns:\n"
	for _, f := range []string{"family: sparse, k: 300", "family: rademacher, k: 260"} {
		out = add(out, "vertical", response, trial{
			terms: "partition: vertical\n" + head + bits(4, "north", "south") + "sketches:\n  - {side: columns, " + f + ", helpers: {ones: 0.7}}\nprivacy: " + response + "\n" +
				"analyses: [{kind: inner-product}, {kind: distance}, {kind: cosine}, {kind: covariance}, {kind: correlation}, {kind: intersection}]\n",
			records: 3000, overlap: 0.8, draws: 1500,
		})
		out = add(out, "horizontal", response, trial{
			terms: "partition: horizontal\n" + head + bits(3) + "sketches:\n  - {side: columns, " + f + ", helpers: {ones: 0.7}}\nprivacy: " + response + "\n" +
				"analyses: [{kind: inner-product}, {kind: distance}, {kind: cosine}, {kind: covariance}, {kind: correlation}]\n",
			records: 1500, draws: 1500,
		})
	}
	for _, f := range []string{"identity", "sparse, k: 24", "hadamard, k: 20"} {
		out = add(out, "records", response, trial{
			terms: "partition: horizontal\n" + head + bits(40) + "sketches:\n  - {side: records, family: " + f + "}\nprivacy: " + response + "\nanalyses: [{kind: k-means, clusters: 2}]\n", records: 40, draws: 600,
		})
	}
	groups := func(columns, family, privacy string, records int64) {
		clip := ""
		if strings.Contains(privacy, "record") {
			clip = ", clip: 4"
		}
		out = add(out, "groups "+family, privacy, trial{
			terms: "partition: horizontal\n" + head + columns + "sketches:\n  - {side: records, family: " + family + clip + "}\nprivacy: " + privacy + "\nanalyses: [{kind: group-distance}]\n", records: records, draws: 1500,
		})
	}
	for i, family := range []string{"gaussian, k: 32", "hadamard, k: 24", "sparse, k: 40", "rademacher, k: 16", "identity"} {
		columns := ""
		for j := range 30 {
			columns += column(fmt.Sprintf("c%d", j), "")
		}
		groups(columns, family, privacies[i], 40)
	}
	groups(bits(30), "identity", response, 40)
	groups(bits(30), "sparse, k: 20", response, 25)
	for i, family := range []string{"identity", "sparse, k: 24", "hadamard, k: 20"} {
		columns, owned := "", []string{"north", "south"}
		for j := range 30 {
			columns += column(fmt.Sprintf("c%d", j), owned[j%2])
		}
		privacy := []string{privacies[4], privacies[2], response}[i]
		if privacy == response {
			columns = bits(30, owned...)
		}
		out = add(out, "joined "+family, privacy, trial{
			terms:   "partition: vertical\nrecords: {id: [patient], missing: refuse}\ncolumns:\n" + columns + "sketches:\n  - {side: records, family: " + family + "}\nprivacy: " + privacy + "\nanalyses: [{kind: k-means, clusters: 2}]\n",
			records: 40, overlap: 1, draws: 600,
		})
	}
	if full.Asked() {
		return out
	}
	short := []trial{out[1], out[16], out[13], out[15], out[20], out[24], out[25], out[27], out[32], out[34], out[35]}
	for i := range short {
		short[i].draws = min(short[i].draws, 850)
	}
	return short
}

// table is one party's data: for each record an id, and a value per own column.
type table struct {
	ids     [][]byte
	values  [][]float64
	encoded []int64
}

// tables draws data as the study declares, with records that two parties share.
func (tr trial) tables(s *study.Study, rng *rand.Rand) []table {
	out := make([]table, len(s.Parties))
	for p := range out {
		first := p * int(float64(tr.records)*(1-tr.overlap)+0.5)
		for i := range int(tr.records) {
			out[p].ids = append(out[p].ids, []byte("r"+strconv.Itoa(first+i)))
			var row []float64
			for _, c := range s.OwnColumns(p) {
				scale := s.Columns[c].Scale
				x := 0.0
				if lo, hi, ok := scale.Bounds(); s.Columns[c].Kind == study.Binary {
					x = float64(rng.IntN(2))
				} else if ok {
					x = lo + (hi-lo)*rng.Float64()
				} else {
					centre, spread, _ := scale.CentreSpread()
					x = centre + spread*rng.NormFloat64()
				}
				v, _ := scale.Encode(x, s.Bits)
				out[p].encoded = append(out[p].encoded, v)
				row = append(row, scale.Origin()+float64(v)*scale.Step(s.Bits))
			}
			out[p].values = append(out[p].values, row)
		}
	}
	return out
}

// draw ships one release of every party under the n-th seed.
func draw(t testing.TB, plans []release.Plan, data []table, n int) (out []analysis.Contribution, orders [][]int) {
	t.Helper()
	entropy := rand.NewChaCha8([32]byte{1, byte(n), byte(n >> 8)})
	var root [seed.Size]byte
	root[0], root[1], root[2] = 2, byte(n), byte(n>>8)
	for party, plan := range plans {
		b, err := plan.NewBuilder(seed.FromBytes(root), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Randomise(entropy); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(data[party].ids, data[party].encoded); err != nil {
			t.Fatal(err)
		}
		exact, err := b.Finish(entropy)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Noise.Add(exact.Sketch.Data, entropy); err != nil {
			t.Fatal(err)
		}
		out = append(out, analysis.Contribution{Party: party, Records: int64(len(data[party].ids)), Sketches: []sketch.Sketch{exact.Sketch}})
		orders = append(orders, exact.Order)
	}
	return out, orders
}
