package analysis_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// breastCancer returns the Wisconsin diagnostic data of the testnet: 30 measurements of 569
// patients, in standard deviations around their means, and the diagnosis.
func breastCancer(t *testing.T) (values [][]float64, malignant []float64) {
	t.Helper()
	raw, err := os.ReadFile("../../testnet/cancer/breast_cancer.csv")
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(strings.NewReader(string(raw)))
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := make([]float64, len(line))
		for j, text := range line {
			if row[j], err = strconv.ParseFloat(text, 64); err != nil {
				t.Fatal(err)
			}
		}
		values, malignant = append(values, row[:30]), append(malignant, 1-row[30])
	}
	for j := range 30 {
		var column []float64
		for _, row := range values {
			column = append(column, row[j])
		}
		mean, spread := stat.PopMeanStdDev(column, nil)
		for _, row := range values {
			row[j] = (row[j] - mean) / spread
		}
	}
	return values, malignant
}

// With the ridge chosen by the noise, a regression and a discriminant on 30 nearly collinear
// columns of 569 records of three parties are defined in at least 19 of 20 runs at ε = 4, with
// centres and spreads declared wrongly. Without a ridge they are hardly ever defined.
func TestRidgeOfNoiseAnswers(t *testing.T) {
	values, malignant := breastCancer(t)
	rng := rand.New(rand.NewPCG(9, 1))
	columns := ""
	for j := range 30 {
		columns += fmt.Sprintf("  - {name: c%d, kind: numeric, centre: %.3f, spread: %.3f}\n", j, .3*rng.NormFloat64(), math.Exp(.2*rng.NormFloat64()))
	}
	const ask = "{kind: regression, target: ill}, {kind: lda}, {kind: regression, target: ill, ridge: 0}, {kind: lda, ridge: 0}"
	s := parse(t, "partition: horizontal\nrecords: {id: [patient]}\ncolumns:\n"+columns+"  - {name: ill, kind: binary, role: label}\n"+
		"sketches: [{side: moments, clip: 2.6}]\nprivacy: {unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}\nanalyses: ["+ask+"]\n")
	data := files{}
	for i, row := range values {
		name := []string{"north", "south", "west"}[i%3]
		f := data[name]
		f.add(fmt.Sprint(i), append(slices.Clone(row), malignant[i])...)
		data[name] = f
	}
	defined, ridge := make([]int, 4), 0.
	for n := range 20 {
		result, _ := ship(t, s, 300+n, data).run(t)
		for i, a := range result.Analyses {
			if a.Undefined == "" {
				defined[i]++
			} else if i < 2 {
				t.Logf("run %d: %s: %s", n, a.Kind, a.Undefined)
			}
		}
		if a := result.Analyses[0]; a.Regression != nil {
			ridge = a.Regression.Ridge
			if a.Regression.Ridged() == "" || len(a.Features)+len(a.Regression.LeftOut) != 30 {
				t.Errorf("ridge %g of %d columns without %v", ridge, len(a.Features), a.Regression.LeftOut)
			}
		}
	}
	t.Logf("defined of 20: regression %d, lda %d; without a ridge %d, %d; ridge %.3g", defined[0], defined[1], defined[2], defined[3], ridge)
	if defined[0] < 19 || defined[1] < 19 {
		t.Errorf("a regression is defined in %d, lda in %d of 20 runs", defined[0], defined[1])
	}
	if defined[2] > 2 || defined[3] > 15 {
		t.Error("no power: they are defined without a ridge")
	}
}

// Neighbours are named only if enough of the variation of distances is due to the records. Under
// Laplace noise on each value, those of breast cancer's records are not named at ε = 4, and are
// named at ε = 16. Intervals of those named contain the true distance, and no distance is negative.
func TestNeighborsOfNoiseAreNotNamed(t *testing.T) {
	values, _ := breastCancer(t)
	columns := ""
	for j := range 30 {
		columns += fmt.Sprintf("  - {name: c%d, kind: numeric, centre: 0, spread: 1}\n", j)
	}
	for _, test := range []struct {
		epsilon float64
		named   bool
		told    float64
	}{{4, false, 0}, {16, true, .94}} {
		s := parse(t, "partition: horizontal\nrecords: {id: [patient]}\ncolumns:\n"+columns+
			fmt.Sprintf("sketches: [{side: records, family: identity}]\nprivacy: {unit: attribute, mechanism: laplace, epsilon: %g}\nanalyses: [{kind: neighbors, neighbors: 3}, {kind: outliers}]\n", test.epsilon))
		data := files{}
		for i, row := range values {
			name := []string{"north", "south", "west"}[i%3]
			f := data[name]
			f.add(fmt.Sprint(i), row...)
			data[name] = f
		}
		sent := ship(t, s, 400, data)
		result, labels := sent.run(t)
		a := result.Analyses[0]
		if !test.named {
			if !strings.Contains(a.Undefined, "cannot be told apart") || a.Neighbors != nil || len(labels) > 0 || result.Analyses[1].Undefined == "" {
				t.Errorf("ε = %g: %q, %d lists, outliers %q", test.epsilon, a.Undefined, len(labels), result.Analyses[1].Undefined)
			}
			continue
		}
		if a.Neighbors == nil {
			t.Fatalf("ε = %g: %s", test.epsilon, a.Undefined)
		}
		if math.Abs(a.Neighbors.Reliability-test.told) > .03 {
			t.Errorf("ε = %g: told apart by %.3f, want %.2f", test.epsilon, a.Neighbors.Reliability, test.told)
		}
		all, missed, plain, n := released(t, sent, 0), 0, 0, 0
		truth := func(x, y whose) (sum float64) {
			at := func(w whose) []float64 {
				name := s.Parties[sent.options.Contributions[w.party].Party].Name
				return data[name].values[sent.orders[w.party][0][w.row]]
			}
			for j, v := range at(x) {
				d := (math.Max(-3, math.Min(3, v)) - math.Max(-3, math.Min(3, at(y)[j]))) / 3
				sum += d * d
			}
			return sum
		}
		for p, l := range labels {
			for row := range sent.options.Contributions[p].Sketches[0].Rows {
				order, _ := nearest(all, whose{p, row})
				n++
				d, low, high := column(t, l, 0, "distance_1").Numbers[row], column(t, l, 0, "distance_low_1").Numbers[row], column(t, l, 0, "distance_high_1").Numbers[row]
				if d < 0 || low < 0 || !(low <= d && d <= high) || low == high {
					t.Fatalf("distance %g [%g, %g]", d, low, high)
				}
				true1 := truth(whose{p, row}, order[0])
				if true1 < low || true1 > high {
					missed++
				}
				if 2*d-low < true1 { // an interval as wide above as below
					plain++
				}
			}
		}
		t.Logf("ε = %g: told apart by %.3f, intervals miss for %d of %d records; as wide above as below %d", test.epsilon, a.Neighbors.Reliability, missed, n, plain)
		// At least .95 of the records, less five standard errors: false rejection below 3e-7.
		if float64(missed) > .05*float64(n)+5*math.Sqrt(.0475*float64(n)) || plain < missed+n/20 {
			t.Errorf("ε = %g: intervals miss for %d of %d records, plain ones for %d", test.epsilon, missed, n, plain)
		}
	}
}
