package dataset

import (
	"reflect"
	"testing"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/study"
)

// transformed returns a schema with one amount under the log transform.
func transformed(t *testing.T) Schema {
	scale, err := fixedpoint.Log().Bounds(1, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	return Schema{
		ID: []string{"id"}, Missing: study.MissingCentre, Bits: 10, MaxRecords: 100,
		Fields: []Field{{Name: "pay", Kind: study.Numeric, Scale: scale}},
	}
}

// Text and typed columns are encoded alike. Values without a logarithm are clipped, and counted
// separately.
func TestReadTransformed(t *testing.T) {
	type payment struct {
		ID  int64    `parquet:"id"`
		Pay *float64 `parquet:"pay,optional"`
	}
	var rows []payment
	for i, x := range []float64{1, 1000, 1e6, 0, -3, 0.5, 2e6} {
		rows = append(rows, payment{int64(i), &x})
	}
	full := writeParquet(t, rows, 100)
	holes := writeParquet(t, append(rows, payment{ID: 7}), 100) // forces encoding value by value
	want := []int64{0, 512, 1024, 0, 0, 0, 1024}
	for path, missing := range map[string]int64{
		full: 0, holes: 1,
		write(t, "id,pay\n0,1\n1,1000\n2,1e6\n3,0\n4,-3\n5,0.5\n6,2000000\n"): 0,
	} {
		got, summary, err := readAll(path, transformed(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		values := want
		if missing > 0 {
			values = append(want[:len(want):len(want)], 512) // the geometric middle of the bounds
		}
		if !reflect.DeepEqual(got.Values, values) {
			t.Errorf("%s: %v, want %v", path, got.Values, values)
		}
		if fields := []FieldSummary{{Name: "pay", Clamped: 4, Missing: missing, NoLogarithm: 2}}; !reflect.DeepEqual(summary.Fields, fields) {
			t.Errorf("%s: %+v, want %+v", path, summary.Fields, fields)
		}
	}
	d := describe(t, Files(full), DescribeOptions{Bits: 10, Fields: transformed(t).Fields})
	if f := d.Columns[1].Against; f == nil || f.Below != 3 || f.Above != 1 || f.Refused != 0 {
		t.Errorf("described as %+v", f)
	}
}
