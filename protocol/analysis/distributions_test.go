package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// rank returns the share of values below x.
func rank(values []float64, x float64) (share float64) {
	for _, v := range values {
		if v < x {
			share += 1 / float64(len(values))
		}
	}
	return share
}

// Quantiles from trees and from bins are those of the pooled values, in original units, over the
// records that have one. Bars add up to these records.
func TestQuantilesArePooled(t *testing.T) {
	data := patients(rand.New(rand.NewPCG(4, 1)), 2500, 3000, 2000)
	for _, promise := range []string{countedPromise, countedLaplace, noPromise} {
		for _, intervals := range []string{"each", "all"} {
			s := parse(t, fmt.Sprintf(counted, promise, "{kind: quantile, intervals: "+intervals+"}, {kind: quantile, columns: [cost], at: [0.1, 0.9]}"))
			result, _ := ship(t, s, 3, data).run(t)
			a := result.Analyses[0]
			if len(a.Distributions) != 3 || a.Undefined != "" || (a.EachLevel > a.Level) != (intervals == "all") || !a.People() || a.Units != "original" {
				t.Fatalf("%+v", a)
			}
			for i, column := range []struct {
				name string
				at   int
			}{{"age", 2}, {"cost", 3}, {"score", 4}} {
				values, d := data.column(column.at), a.Distributions[i]
				if a.Features[i].Column != column.name || len(d.Quantiles) != 3 {
					t.Fatalf("%+v: %+v", a.Features[i], d)
				}
				holds(t, promise+": values of "+column.name, d.Present, float64(len(values)))
				for j, q := range d.Quantiles {
					share := []float64{0.25, 0.5, 0.75}[j]
					if q.Share != share || q.Quantile.Low == nil {
						t.Fatalf("%s: quantile %+v", promise, q)
					}
					// Intervals miss once in 20 times: here all 54 hold, with .01 of rank to spare.
					if low, high := rank(values, *q.Quantile.Low), rank(values, *q.Quantile.High+1e-9); low > share+0.01 || high < share-0.01 {
						t.Errorf("%s: %s at %v is %v [%v, %v], of ranks %v to %v", promise, column.name, share, *q.Quantile.Estimate, *q.Quantile.Low, *q.Quantile.High, low, high)
					}
				}
				sum := 0.0
				for _, bar := range d.Histogram {
					sum += *bar.Count.Estimate
				}
				if off := sum / float64(len(values)); off < 0.9 || off > 1.1 || len(d.Histogram) < 5 {
					t.Errorf("%s: %d bars of %s have %v records", promise, len(d.Histogram), column.name, sum)
				}
			}
			if d := result.Analyses[1].Distributions; len(d) != 1 || len(d[0].Quantiles) != 2 || *d[0].Quantiles[1].Quantile.Estimate < 1000 {
				t.Errorf("%s: cost at .1 and .9: %+v", promise, d)
			}
		}
	}
}

// Few records say nothing; and a quantile that may be beyond three spreads says on which side.
func TestQuantilesThatCannotBeTold(t *testing.T) {
	s := parse(t, fmt.Sprintf(counted, countedPromise, "{kind: quantile, at: [0.0005, 0.5]}"))
	result, _ := ship(t, s, 3, patients(rand.New(rand.NewPCG(4, 2)), 6, 5)).run(t)
	for _, d := range result.Analyses[0].Distributions {
		for _, q := range d.Quantiles {
			if q.Quantile.Undefined == "" {
				t.Errorf("of eleven records: %+v", q)
			}
		}
	}
	if result.Analyses[0].Nothing() == "" {
		t.Error("something stands out of eleven records")
	}
	result, _ = ship(t, s, 3, patients(rand.New(rand.NewPCG(4, 3)), 2500, 3000)).run(t)
	score := result.Analyses[0].Distributions[2].Quantiles
	if !score[0].OpenLow || score[0].OpenHigh || score[1].OpenLow || score[1].OpenHigh {
		t.Errorf("score: %+v", score)
	}
	age := result.Analyses[0].Distributions[0].Quantiles
	if age[0].OpenLow { // within bounds
		t.Errorf("age: %+v", age)
	}
}

// For a column without values, a constant one and a rare one, the answer says what is true, or why
// there is none.
func TestQuantilesOfOddColumns(t *testing.T) {
	s := parse(t, fmt.Sprintf(counted, countedPromise, "{kind: quantile}, {kind: table}"))
	data := patients(rand.New(rand.NewPCG(4, 5)), 2500, 3000, 2000)
	for _, f := range data {
		for i, row := range f.values {
			row[2], row[3], row[4] = math.NaN(), 500, 10
			if i == 0 {
				row[3] = 99_999
			}
		}
	}
	result, _ := ship(t, s, 3, data).run(t)
	ds := result.Analyses[0].Distributions
	for _, q := range ds[0].Quantiles {
		if q.Quantile.Undefined == "" || len(ds[0].Histogram) > 0 || *ds[0].Present.Low > 100 {
			t.Errorf("of no value: %+v", ds[0])
		}
	}
	for _, q := range ds[1].Quantiles {
		if *q.Quantile.Low > 500 || *q.Quantile.High < 500 || *q.Quantile.High > 560 || *q.Quantile.Low < 450 {
			t.Errorf("of a constant: %+v", q)
		}
	}
	for _, q := range ds[2].Quantiles { // in bins of half a spread
		if *q.Quantile.Low > 10 || *q.Quantile.High < 10 || q.OpenLow || q.OpenHigh {
			t.Errorf("of a constant about its centre: %+v", q)
		}
	}
	ages := result.Analyses[1].CrossTables[2]
	holds(t, "ages that are missing", ages.Cells[4][0].Count, 7500)
	holds(t, "ages below 16", ages.Cells[0][0].Count, 0)
}

// A masked sum of counts answers as the plain sum does.
func TestMaskedCountsAnswerAsPlainOnes(t *testing.T) {
	terms := fmt.Sprintf(counted, noPromise, "{kind: quantile}, {kind: table}")
	plain := ship(t, parse(t, terms), 3, patients(rand.New(rand.NewPCG(4, 4)), 300, 200, 400))
	want, _ := plain.run(t)
	masked, rng := plain.options, rand.New(rand.NewPCG(7, 7))
	masked.Study = parse(t, "sum: masked\ncolluding: 1\n"+terms)
	masked.Contributions = nil
	left := make([]int64, len(plain.options.Contributions[0].Sketches[0].Data)) // remainder of the masks, which add up to zero
	for i, c := range plain.options.Contributions {
		of := c.Sketches[0]
		data := make([]int64, len(of.Data))
		for j, v := range of.Data {
			mask := int64(rng.Uint64())
			if i == 2 {
				mask = left[j]
			}
			left[j] -= mask
			data[j] = v + mask
		}
		c.Masked, c.Sketches = 3, []sketch.Sketch{{Side: of.Side, Rows: of.Rows, Cols: of.Cols, Data: data}}
		masked.Contributions = append(masked.Contributions, c)
	}
	got, _, err := analysis.Run(t.Context(), masked)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Analyses, want.Analyses) {
		t.Errorf("%+v\nwant %+v", got.Analyses, want.Analyses)
	}
}
