package errortable

import (
	"math"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
)

// Seen has one sentence for each sort of study that was run, with its own figures.
func TestSeen(t *testing.T) {
	numbers := Table{Numbers: []Numbers{{Kind: study.Correlation, Answers: 3, Covered: 2, RMSE: 0.0125}, {Kind: study.Mean, Answers: 2, Undefined: 2}}}
	all := []Study{
		{Name: "values", Partition: study.Horizontal, Unit: dp.Attribute, Table: numbers},
		{Name: "people", Partition: study.Horizontal, Unit: dp.Record, Promise: "every whole record at ε = 1", Table: numbers},
		{Name: "columns", Partition: study.Vertical, Unit: dp.Record, Table: numbers},
		{Name: "open", Attacked: &Attacked{Party: "north", Knows: "R; all ids", Measure: "the values' variance", Value: 0.48, Baseline: -0.1}},
	}
	for i, want := range [][]string{
		{"(people)", "every whole record at ε = 1", "3 correlations err by 0.013", "2 of 3 intervals"},
		{"(columns)", "2 of 3 intervals"},
		{"(open)", "knows R and all ids recovers 48.0 %", "0.0 % without"},
	} {
		got := Seen(all)[i]
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%q does not say %q", got, part)
			}
		}
	}
	if got := Seen(all[:1]); got != nil {
		t.Errorf("of values alone: %q", got)
	}
}

// If records are clipped as a whole, values far from their centre are not moved.
func TestFarValuesStay(t *testing.T) {
	truth, err := newTruth(played(t, "regions"))
	if err != nil {
		t.Fatal(err)
	}
	far := 0
	for name, c := range truth.columns {
		spread := c.step * float64(truth.Study.Bits.One()) / 3
		for i, x := range c.raw {
			if math.Abs(x-c.origin) > 3*spread {
				far++
			}
			if math.Abs(c.bounded[i]-x) > c.step {
				t.Fatalf("%s of record %d is %v by the terms and %v in the data", name, i, c.bounded[i], x)
			}
		}
	}
	if far == 0 {
		t.Error("no value is farther than three spreads from its centre")
	}
}

// A short interval is printed with enough digits to distinguish its ends.
func TestDigitsOfAnExample(t *testing.T) {
	for want, e := range map[string]Example{"14.13": {Estimate: 14.127, Low: 14.05, High: 14.2}, "0.26": {Estimate: 0.262, Low: 0.1, High: 0.4}, "14": {Estimate: 14.127}} {
		if got := e.Digits(e.Estimate); got != want {
			t.Errorf("%+v: %s, want %s", e, got, want)
		}
	}
}
