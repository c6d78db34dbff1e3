package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/protocol/study"
)

// writeParquet writes rows, group of them in each row group.
func writeParquet[T any](t testing.TB, rows []T, group int, options ...parquet.WriterOption) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, append(options, parquet.PageBufferSize(256))...)
	for len(rows) > 0 {
		n := min(group, len(rows))
		if _, err := w.Write(rows[:n]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "data.PARQUET")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// visit has a column for every type that is read.
type visit struct {
	Patient string   `parquet:"patient"`
	Visit   int32    `parquet:"visit"`
	Age     *float64 `parquet:"age"`
	Height  float32  `parquet:"height"`
	Count   *int64   `parquet:"count,dict"`
	Small   uint32   `parquet:"small"`
	Large   uint64   `parquet:"large"`
	Cost    int64    `parquet:"cost,decimal(2:18)"`
	Day     int32    `parquet:"day,date"`
	Smoker  *bool    `parquet:"smoker"`
	Ward    *string  `parquet:"ward,dict"`
	Code    int64    `parquet:"code"`
	Note    []string `parquet:"note,list"`
}

func visitSchema(t testing.TB) Schema {
	s := Schema{ID: []string{"patient", "visit"}, Bits: testBits, MaxRecords: 1000, Missing: study.MissingCentre}
	for _, name := range []string{"age", "height", "count", "small", "large", "cost", "day"} {
		s.Fields = append(s.Fields, Field{Name: name, Kind: study.Numeric, Scale: bounds(t, 0, 256)})
	}
	s.Fields = append(s.Fields,
		Field{Name: "smoker", Kind: study.Binary, Scale: bounds(t, 0, 1)},
		Field{Name: "ward", Kind: study.Categorical, Values: []string{"a", "b"}},
		Field{Name: "code", Kind: study.Categorical, Values: []string{"7", "8"}})
	return s
}

// A Parquet file reads like the CSV file of the same table, whatever its row groups, pages and
// dictionaries.
func TestParquet(t *testing.T) {
	schema := visitSchema(t)
	rapid.Check(t, func(rt *rapid.T) {
		var csv strings.Builder
		csv.WriteString("patient,visit,age,height,count,small,large,cost,day,smoker,ward,code\n")
		n := rapid.IntRange(1, 120).Draw(rt, "records")
		rows := make([]visit, n)
		for i := range rows {
			v := rapid.IntRange(0, 250).Draw(rt, "value")
			r := visit{Patient: fmt.Sprintf("P%d", i/3), Visit: int32(i % 3), Height: float32(v) / 4, Small: uint32(v + 1),
				Large: uint64(v + 2), Cost: int64(v) * 33, Day: int32(v - 3), Code: int64(7 + v%2), Note: []string{"x", "y"}[:v%3%2+1]}
			age, count, smoker, ward := "", "", "", ""
			if v%2 == 0 {
				x := float64(v) / 8
				r.Age, age = &x, fmt.Sprint(x)
			}
			if v%5 != 0 {
				x := int64(v)
				r.Count, count = &x, fmt.Sprint(x)
			}
			if v%7 != 0 {
				x := v%11 == 0
				r.Smoker, smoker = &x, map[bool]string{false: "0", true: "1"}[x]
			}
			if v%3 != 0 {
				x := []string{"", "a", " b "}[v%3]
				r.Ward, ward = &x, x
			}
			rows[i] = r
			fmt.Fprintf(&csv, "%s,%d,%s,%v,%s,%d,%d,%d.%02d,%d,%s,%s,%d\n", r.Patient, r.Visit, age, r.Height, count, r.Small, r.Large,
				r.Cost/100, r.Cost%100, r.Day, smoker, ward, r.Code)
		}
		want, wantSummary, err := readAll(write(t, csv.String()), schema, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		path := writeParquet(t, rows, rapid.IntRange(1, 130).Draw(rt, "group"), parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(rt, "version")))
		got, summary, err := readAll(path, schema, Options{})
		if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(summary.Fields, wantSummary.Fields) {
			rt.Fatalf("%v\ngot  %v\nwant %v", err, got, want)
		}
		if !summary.Complete || summary.Bytes != summary.Size || summary.Origins[0].Format != "Parquet" {
			rt.Fatalf("summary %+v", summary)
		}
	})
}

func TestBadParquet(t *testing.T) {
	type row struct {
		ID    string   `parquet:"id"`
		X     float64  `parquet:"x"`
		Flag  int32    `parquet:"flag"`
		Text  string   `parquet:"text"`
		When  int64    `parquet:"when,timestamp"`
		Money [9]byte  `parquet:"money,decimal(2:20)"`
		List  []string `parquet:"list"`
		On    bool     `parquet:"on"`
	}
	one := func(change func(*row)) string {
		rows := []row{{ID: "a"}, {ID: secret}, {ID: "c"}}
		change(&rows[1])
		return writeParquet(t, rows, 2)
	}
	good := one(func(*row) {})
	field := func(name string, kind study.ColumnKind) Field {
		return Field{Name: name, Kind: kind, Scale: bounds(t, 0, 1), Values: []string{"v"}}
	}
	nan := 0.0
	nan /= nan
	for name, c := range map[string]struct {
		path  string
		id    string
		field Field
		want  string
	}{
		"text":         {good, "id", field("text", study.Numeric), `: column "text": holds text, not numbers (the study says numeric)`},
		"text, binary": {good, "id", field("text", study.Binary), `: column "text": holds text, not numbers (the study says binary)`},
		"float id":     {good, "x", field("x", study.Numeric), `: column "x": holds floating-point numbers, not text or integers (it identifies a record)`},
		"boolean id":   {good, "on", field("x", study.Numeric), `: column "on": holds booleans, not text or integers (it identifies a record)`},
		"category":     {good, "id", field("x", study.Categorical), `: column "x": holds floating-point numbers, not text or integers (the study says categorical)`},
		"time":         {good, "id", field("when", study.Numeric), `: column "when": holds times, not numbers (the study says numeric)`},
		"decimal":      {good, "id", field("money", study.Numeric), `: column "money": holds decimals in bytes, not numbers (the study says numeric)`},
		"list":         {good, "id", field("list", study.Numeric), `: column "list": holds groups or lists, not numbers (the study says numeric)`},
		"absent":       {good, "id", field("y", study.Numeric), `: no column "y" (did you mean "x"? the file has "flag", "id", "list", "money", "on", "text", "when", "x")`},
		"not binary":   {one(func(r *row) { r.Flag = 2 }), "id", field("flag", study.Binary), `: row 2: column "flag": neither 0 nor 1 (a binary column holds 0 and 1, or false and true; store null where a value is missing)`},
		"NaN":          {one(func(r *row) { r.X = nan }), "id", field("x", study.Numeric), `: row 2: column "x": not a finite number (store null where a value is missing)`},
		"not in list":  {one(func(r *row) { r.Text = secret }), "id", field("text", study.Categorical), `: row 2: column "text": not one of the column's values (the study lists the values; store null where one is missing)`},
		"not UTF-8":    {one(func(r *row) { r.ID = "\xff" }), "id", field("x", study.Numeric), `: row 2: column "id": not valid UTF-8 (store it as UTF-8)`},
		"empty id":     {one(func(r *row) { r.ID = "" }), "id", field("x", study.Numeric), `: row 2: column "id": record id is empty (every row needs an id that is not empty after normalisation)`},
		"repeated":     {one(func(r *row) { r.ID = "c" }), "id", field("x", study.Numeric), `: row 3: record id repeated: rows 2 and 3 (a record may appear once: remove or merge the repeated rows)`},
	} {
		t.Run(name, func(t *testing.T) {
			schema := Schema{ID: []string{c.id}, Bits: testBits, MaxRecords: 3, Fields: []Field{c.field}}
			if c.field.Name == "text" && c.field.Kind == study.Categorical {
				schema.Missing = study.MissingCentre
			}
			_, summary, err := readAll(c.path, schema, Options{})
			if want := "reading " + c.path + c.want; err == nil || !sameColumns(err.Error(), want) || summary.Complete {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	schema := Schema{ID: []string{"id"}, Bits: testBits, MaxRecords: 2}
	if _, _, err := readAll(good, schema, Options{}); err == nil || !strings.HasSuffix(err.Error(), ": 3 records, more than 2, the limit (party study explain tells how many the study can take)") {
		t.Errorf("got %v", err)
	}
}

// sameColumns compares errors regardless of the order in which a writer stored columns.
func sameColumns(got, want string) bool {
	head, _, listed := strings.Cut(want, "the file has")
	return got == want || listed && strings.HasPrefix(got, head)
}

// A damaged file gives an error or the same data, never a panic, and never more records than
// before.
func TestDamagedParquet(t *testing.T) {
	rows := make([]visit, 50)
	for i := range rows {
		rows[i] = visit{Patient: fmt.Sprint(i), Ward: []*string{nil, ptr("a"), ptr("b")}[i%3], Code: 7}
	}
	path := writeParquet(t, rows, 20)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	schema := visitSchema(t)
	check := func(rt *rapid.T, damaged []byte) {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			rt.Fatal(err)
		}
		_, _, err := readAll(path, schema, Options{})
		var e *Error
		if err != nil && !errors.As(err, &e) {
			rt.Fatalf("not an *Error: %v", err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		damaged := bytes.Clone(data)
		for range rapid.IntRange(1, 3).Draw(rt, "bytes") {
			damaged[rapid.IntRange(0, len(data)-1).Draw(rt, "at")] ^= byte(rapid.IntRange(1, 255).Draw(rt, "by"))
		}
		check(rt, damaged)
		check(rt, data[:rapid.IntRange(1, len(data)-1).Draw(rt, "cut")])
	})
	if err := os.WriteFile(path, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err = readAll(path, schema, Options{}); err == nil || !strings.HasSuffix(err.Error(), ": not a readable Parquet file (is it complete? write or copy it again)") {
		t.Errorf("half a file: %v", err)
	}
}

func ptr[T any](x T) *T { return &x }
