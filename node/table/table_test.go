package table

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// mixed has every type of column, nulls in each, and text that needs quoting.
var mixed = analysis.Table{
	Name: "mixed",
	Columns: []analysis.Column{
		{Name: "which", Type: analysis.Integer}, {Name: "estimate", Type: analysis.Real},
		{Name: "name", Type: analysis.Text}, {Name: "defined", Type: analysis.Truth},
	},
	Rows: [][]any{
		{int64(1), 0.1, "north: ward=a, \"b\"", true},
		{int64(-2), nil, "größer\nals", false},
		{nil, 1e-300, nil, nil},
		{int64(math.MaxInt64), -2.5e17, "", true},
	},
}

func TestCSV(t *testing.T) {
	var out bytes.Buffer
	if err := CSV(&out, mixed); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows (%v)", len(rows), err)
	}
	if strings.Join(rows[0], " ") != "which estimate name defined" || rows[2][2] != `größer\u000aals` || rows[2][1] != "" {
		t.Errorf("read back %q", rows)
	}
	if x, err := strconv.ParseFloat(rows[1][1], 64); err != nil || x != 0.1 {
		t.Errorf("0.1 was written as %q", rows[1][1])
	}
}

func TestParquet(t *testing.T) {
	var out bytes.Buffer
	if err := Parquet(&out, mixed); err != nil {
		t.Fatal(err)
	}
	r := parquet.NewReader(bytes.NewReader(out.Bytes()))
	defer r.Close()
	for i, c := range r.Schema().Columns() {
		if c[0] != mixed.Columns[i].Name {
			t.Errorf("column %d is %q, want %q", i, c[0], mixed.Columns[i].Name)
		}
	}
	rows := make([]parquet.Row, 10)
	n, err := r.ReadRows(rows)
	if err != nil && err != io.EOF || n != len(mixed.Rows) {
		t.Fatalf("%d rows (%v)", n, err)
	}
	if rows[0][0].Int64() != 1 || rows[0][1].Double() != 0.1 || !rows[1][1].IsNull() || string(rows[1][2].ByteArray()) != "größer\nals" || !rows[2][3].IsNull() || !rows[3][3].Boolean() {
		t.Errorf("read back %v", rows[:n])
	}
}

func TestParquetWithoutRows(t *testing.T) {
	var out bytes.Buffer
	if err := Parquet(&out, analysis.Table{Name: "none", Columns: mixed.Columns}); err != nil {
		t.Fatal(err)
	}
}

// The bytes equal those that numpy.save writes for the array.
func TestNPYBytes(t *testing.T) {
	var out bytes.Buffer
	if err := NPY(&out, [][]float64{{1, -2, 0.5}, {0, 3, 1e10}}); err != nil {
		t.Fatal(err)
	}
	want := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" + strings.Repeat(" ", 58) + "\n" +
		"\x00\x00\x00\x00\x00\x00\xf0\x3f" + "\x00\x00\x00\x00\x00\x00\x00\xc0" + "\x00\x00\x00\x00\x00\x00\xe0\x3f" +
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x08\x40" + "\x00\x00\x00\x20\x5f\xa0\x02\x42"
	if out.String() != want {
		t.Errorf("wrote\n%q, want\n%q", out.String(), want)
	}
	for _, n := range []int{0, 1, 9, 10, 99, 100, 1000} { // the header always ends at a multiple of 64
		out.Reset()
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, 2)
		}
		if err := NPY(&out, rows); err != nil {
			t.Fatal(err)
		}
		if header := out.Len() - 16*n; header%64 != 0 || out.Bytes()[header-1] != '\n' {
			t.Errorf("%d rows: a header of %d bytes", n, header)
		}
	}
}

// The bytes equal those that numpy.save writes for a structured array of these types.
func TestRecordsBytes(t *testing.T) {
	var out bytes.Buffer
	if err := Records(&out, analysis.Table{
		Columns: []analysis.Column{{Name: "i", Type: analysis.Integer}, {Name: "n", Type: analysis.Integer}, {Name: "x", Type: analysis.Real}, {Name: "name", Type: analysis.Text}, {Name: "is", Type: analysis.Truth}},
		Rows:    [][]any{{int64(-2), nil, 0.5, "zwölf", true}, {int64(3), int64(7), nil, nil, false}},
	}); err != nil {
		t.Fatal(err)
	}
	const nan, seven = "\x01\x00\x00\x00\x00\x00\xf8\x7f", "\x00\x00\x00\x00\x00\x00\x1c\x40"
	want := "\x93NUMPY\x01\x00\xb6\x00{'descr': [('i', '<i8'), ('n', '<f8'), ('x', '<f8'), ('name', '<U5'), ('is', '|b1')], 'fortran_order': False, 'shape': (2,), }"
	want += strings.Repeat(" ", 10+0xb6-1-len(want)) + "\n" +
		"\xfe\xff\xff\xff\xff\xff\xff\xff" + nan + "\x00\x00\x00\x00\x00\x00\xe0\x3f" + "z\x00\x00\x00w\x00\x00\x00\xf6\x00\x00\x00l\x00\x00\x00f\x00\x00\x00" + "\x01" +
		"\x03\x00\x00\x00\x00\x00\x00\x00" + seven + nan + strings.Repeat("\x00", 20) + "\x00"
	if out.String() != want {
		t.Errorf("wrote\n%q, want\n%q", out.String(), want)
	}
}

func TestNPYRefusesRaggedRows(t *testing.T) {
	if err := NPY(io.Discard, [][]float64{{1, 2}, {3}}); err == nil || !strings.Contains(err.Error(), "row 1 has 1 entries") {
		t.Errorf("error %v", err)
	}
}
