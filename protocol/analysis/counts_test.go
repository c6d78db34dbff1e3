package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// counted is a horizontal study of counts, with its privacy and analyses.
const counted = `partition: horizontal
records: {id: [patient], missing: count}
columns:
  - {name: ward, kind: categorical, values: [a, b, c, rare]}
  - {name: smoker, kind: binary}
  - {name: age, kind: numeric, bounds: [0, 128]}
  - {name: cost, kind: numeric, bounds: [1, 100000], transform: log}
  - {name: score, kind: numeric, centre: 10, spread: 2}
sketches:
  - side: counts
    tables:
      - {of: [{column: ward}]}
      - {of: [{column: ward}, {column: smoker}]}
      - {of: [{column: age, edges: [16, 40, 64]}]}
      - {of: [{column: age}], depth: 7}
      - {of: [{column: cost}], depth: 7}
      - {of: [{column: score, bins: 24}]}
privacy: %s
analyses: [%s]
`

const (
	countedPromise = "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	countedLaplace = "{unit: record, mechanism: laplace, epsilon: 4}"
)

// patients returns records of such a study; some values are missing.
func patients(rng *rand.Rand, sizes ...int) files {
	out := files{}
	for i, name := range []string{"north", "south", "west"}[:len(sizes)] {
		var f file
		for row := range sizes[i] {
			ward, smoker := float64(rng.IntN(3)), 0.
			if rng.Float64() < []float64{0.1, 0.3, 0.6}[int(ward)] {
				smoker = 1
			}
			age := math.Round(min(max(45+18*rng.NormFloat64(), 0), 100))
			if rng.Float64() < 0.1 {
				age = math.NaN()
			}
			f.add(fmt.Sprint(row+1), ward, smoker, age, math.Exp(6+rng.NormFloat64()), 10+2*rng.NormFloat64())
		}
		out[name] = f
	}
	return out
}

// column returns a column of all records, without missing values.
func (fs files) column(at int) (out []float64) {
	for _, f := range fs {
		for _, row := range f.values {
			if !math.IsNaN(row[at]) {
				out = append(out, row[at])
			}
		}
	}
	return out
}

// number counts the records for which of is true.
func (fs files) number(of func(row []float64) bool) (n float64) {
	for _, f := range fs {
		for _, row := range f.values {
			if of(row) {
				n++
			}
		}
	}
	return n
}

// holds allows an interval to miss once in 20: the truth may be outside by at most its width.
func holds(t *testing.T, what string, n analysis.Number, truth float64) {
	t.Helper()
	if n.Low == nil || n.Undefined != "" {
		t.Errorf("%s is undefined: %s", what, n.Undefined)
		return
	}
	if wide := *n.High - *n.Low; truth < *n.Low-wide || truth > *n.High+wide {
		t.Errorf("%s is %v [%v, %v], truth %v", what, *n.Estimate, *n.Low, *n.High, truth)
	}
}

// Tables have the cells of the pooled records, with the shares of rows and columns, and missing
// values apart. With noise of both kinds they are within their intervals; without noise they are
// exact.
func TestTablesArePooled(t *testing.T) {
	data := patients(rand.New(rand.NewPCG(4, 1)), 2500, 3000, 2000)
	for _, promise := range []string{countedPromise, countedLaplace, noPromise} {
		for _, intervals := range []string{"each", "all"} {
			s := parse(t, fmt.Sprintf(counted, promise, "{kind: table, intervals: "+intervals+"}, {kind: table, tables: [[ward, smoker]], threshold: 500}"))
			result, _ := ship(t, s, 3, data).run(t)
			a := result.Analyses[0]
			if len(a.CrossTables) != 4 || a.Undefined != "" || (a.EachLevel > a.Level) != (intervals == "all") || result.Nothing() != "" {
				t.Fatalf("%+v", a)
			}
			wards, crossed, ages := a.CrossTables[0], a.CrossTables[1], a.CrossTables[2]
			for i, ward := range []string{"a", "b", "c", "rare", "(missing)"} {
				truth := data.number(func(row []float64) bool { return int(row[0]) == i })
				holds(t, promise+": ward "+ward, wards.Cells[i][0].Count, truth)
				holds(t, promise+": share of ward "+ward, wards.Cells[i][0].OfColumn, truth/7500)
				if wards.Rows[i] != ward || wards.Cells[i][0].OfRow != (analysis.Number{}) {
					t.Errorf("row %d of %v: %+v", i, wards.Rows, wards.Cells[i][0])
				}
				for j := range 2 {
					both := data.number(func(row []float64) bool { return int(row[0]) == i && int(row[1]) == j })
					holds(t, promise+": ward and smoker", crossed.Cells[i][j].Count, both)
					if truth > 0 {
						holds(t, promise+": smokers of a ward", crossed.Cells[i][j].OfRow, both/truth)
					} else if share := crossed.Cells[i][j].OfRow; share.Estimate != nil {
						t.Errorf("%s: of no record a share is %v", promise, *share.Estimate)
					}
				}
			}
			for i, name := range []string{"below 16", "16 to 40", "40 to 64", "from 64", "(missing)"} {
				low, high := []float64{-1, 16, 40, 64, 0}[i], []float64{16, 40, 64, 129, 0}[i]
				truth := data.number(func(row []float64) bool {
					return row[2] >= low && row[2] < high || math.IsNaN(row[2]) && i == 4
				})
				holds(t, promise+": age "+name, ages.Cells[i][0].Count, truth)
				if ages.Rows[i] != name || promise == noPromise && *ages.Cells[i][0].Count.Low != truth {
					t.Errorf("%s: %s %s: %v, want %v", promise, ages.Rows[i], name, *ages.Cells[i][0].Count.Low, truth)
				}
			}
			if *crossed.V.Estimate < 0.3 || *crossed.V.Estimate > 0.6 || *crossed.V.Low >= *crossed.V.High && promise != noPromise || len(crossed.LeftOut) != 1 || crossed.LeftOut[0] != "rare" {
				t.Errorf("%s: V is %v, without %v", promise, *crossed.V.Estimate, crossed.LeftOut)
			}
			if !a.People() || a.Covered() == "" {
				t.Errorf("%s: intervals cover %q", promise, a.Covered())
			}
			hidden := result.Analyses[1].CrossTables
			if len(hidden) != 1 || hidden[0].Cells[3][0].Count.Undefined != "fewer than 500" || hidden[0].Cells[3][0].OfRow.Undefined == "" || hidden[0].Cells[0][0].Count.Estimate == nil {
				t.Errorf("%s: %+v", promise, hidden)
			}
		}
	}
}

// If records are so few that nothing stands out, cells may be empty, and the table says that
// nothing was found. Late parties are not in it.
func TestTablesOfFewRecords(t *testing.T) {
	s := parse(t, fmt.Sprintf(counted, countedPromise, "{kind: table}"))
	result, _ := ship(t, s, 3, patients(rand.New(rand.NewPCG(4, 2)), 6, 5)).run(t)
	a := result.Analyses[0]
	for _, row := range a.CrossTables[1].Cells {
		for _, cell := range row {
			if *cell.Count.Low != 0 || *cell.Count.High > 11 || *cell.Count.Estimate < 0 || *cell.Count.Estimate > 11 {
				t.Errorf("of eleven records a cell has %v [%v, %v]", *cell.Count.Estimate, *cell.Count.Low, *cell.Count.High)
			}
		}
	}
	if a.CrossTables[1].V.Undefined == "" || a.CrossTables[1].Records != 11 || a.Nothing() == "" || len(result.Absent) != 1 {
		t.Errorf("%+v, %q", a.CrossTables[1].V, a.Nothing())
	}
}

// A document whose tables name columns or values unknown to the study is refused.
func TestTablesNameWhatTheStudyNames(t *testing.T) {
	s := parse(t, fmt.Sprintf(counted, countedPromise, "{kind: table}"))
	for what, spoil := range map[string]func(*analysis.CrossTable){
		"column": func(c *analysis.CrossTable) { c.RowsOf = "nobody" },
		"cell":   func(c *analysis.CrossTable) { c.Rows[1] = "x" },
	} {
		result, _ := ship(t, s, 3, patients(rand.New(rand.NewPCG(4, 2)), 60, 50)).run(t)
		spoil(&result.Analyses[0].CrossTables[0])
		if result.CheckNames(s) == nil {
			t.Errorf("another %s passes", what)
		}
	}
}
