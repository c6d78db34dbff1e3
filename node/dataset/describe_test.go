package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

func describe(t testing.TB, source Source, o DescribeOptions) Description {
	t.Helper()
	d, err := Describe(context.Background(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// brief returns a description with one line for each column.
func brief(d Description) string {
	var out []string
	for _, c := range d.Columns {
		line := fmt.Sprintf("%s: %s %d+%d", c.Name, c.Kind, c.Present, c.Missing)
		if c.Holds != "" {
			line += " " + c.Holds
		}
		if c.More {
			line += fmt.Sprintf(" over %d", c.Distinct)
		} else {
			line += fmt.Sprintf(" of %d", c.Distinct)
		}
		if n := c.Numbers; n != nil {
			line += fmt.Sprintf(" %g…%g", n.Least, n.Greatest)
		}
		if c.NotNumbers > 0 {
			line += fmt.Sprintf(" odd %d at %s", c.NotNumbers, c.Odd)
		}
		for _, v := range c.Common {
			line += fmt.Sprintf(" %s=%d", v.Value, v.Count)
		}
		if c.Doubtful {
			line += " doubtful"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestDescribeDialects(t *testing.T) {
	const comma = "id, age ,smoker,ward,born,note,none\n" +
		"r1,30.5,1,north,1990-01-02,a long text,\n" +
		"r2,-2,0,south,1991-02-03,another,\n" +
		"\n" +
		"r3,,1,north,,\"line\nbreak\",\n" +
		"r4,1e3,,north,1992-03-04,third,\n"
	german := strings.NewReplacer(",", ";", ".", ",").Replace(comma)
	german = strings.NewReplacer("1990-01-02", "02.01.1990", "1991-02-03", "03.02.1991", "1992-03-04", "04.03.1992", "north", "n\xf6rd").Replace(german)
	want := `id: text 4+0 of 4
age: numeric 3+1 of 3 -2…1000
smoker: binary 3+1 of 2 1=2 0=1
ward: categorical 4+0 of 2 north=3 south=1
born: date 3+1 of 3 7306…8098
note: text 4+0 of 4
none: empty 0+4 of 0`
	for name, c := range map[string]struct {
		text  string
		fixed Dialect
	}{
		"comma":   {comma, Dialect{}},
		"tab":     {strings.ReplaceAll(comma, ",", "\t"), Dialect{}},
		"windows": {"\xef\xbb\xbf" + strings.ReplaceAll(comma, "\n", "\r\n"), Dialect{}},
		"gzip":    {string(gzipped(t, comma)), Dialect{}},
		"zstd":    {string(zstded(t, comma)), Dialect{}},
		"german":  {german, Dialect{Encoding: Windows1252, Date: DateDots}},
	} {
		d := describe(t, Source{Files: []string{write(t, c.text)}, CSV: c.fixed}, DescribeOptions{ID: []string{"id"}})
		if got := strings.ReplaceAll(brief(d), "nörd", "north"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if d.Records != 4 || d.IDs == nil || d.IDs.Repeated != 0 || len(d.Origins) != 1 || d.Origins[0].Digest.String() == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestDescribeOddities(t *testing.T) {
	rows := "a,b,a,d\n"
	for i := range 20 {
		rows += fmt.Sprintf("%d,5,x,%d.%d.2001\n", i, i%9+10, 10)
	}
	rows += "n/a,5,x,11.10.2001\nn/a,5,x,NaN\n"
	d := describe(t, Files(write(t, rows)), DescribeOptions{})
	want := `a: numeric 22+0 of 21 0…19 odd 2 at line 22
b: numeric 22+0 of 1 5…5
a: categorical 22+0 of 1 x=22
d: date 22+0 of 10 odd 22 at line 2`
	if got := brief(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !d.Columns[1].Constant() || d.Columns[0].Constant() || d.Columns[3].OtherDates != 21 {
		t.Errorf("%+v", d.Columns)
	}
	// A header that may be a record is marked.
	d = describe(t, Files(write(t, "2001-01-02,north,7,\n2001-01-03,north,8,\n2001-01-04,south,9,\n")), DescribeOptions{})
	for i, c := range d.Columns {
		if !c.Doubtful {
			t.Errorf("name %d is not doubted", i)
		}
	}
}

func TestDescribeFiles(t *testing.T) {
	first, second := write(t, "id,x,y\nr1,1,2\nr2,3,4\n"), write(t, "z,x,id\n5,6,r1\n,7,r2\n,8,\n")
	d := describe(t, Files(first, second), DescribeOptions{ID: []string{"id"}})
	want := `id: categorical 4+1 of 2 r1=2 r2=2
x: numeric 5+0 of 5 1…8
y: numeric 2+3 of 2 2…4
z: numeric 1+4 of 1 5…5`
	if got := brief(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if d.IDs.Repeated != 2 || d.IDs.Absent != 1 || d.IDs.First != second+":4" || d.IDs.Where[0] != first+":2 and "+second+":2" {
		t.Errorf("ids: %+v", d.IDs)
	}
}

// Ids are compared after normalisation, over all their columns.
func TestDescribeIDs(t *testing.T) {
	o := DescribeOptions{ID: []string{"a", "b"}, Normalize: []study.Normalization{study.NormalizeTrim, study.NormalizeCasefold}}
	o.ReadOptions.HeldIDs = 1 // force a spill
	d := describe(t, Files(write(t, "a,b\nx,1\nX ,1\nx,2\nx,1\n")), o)
	if d.IDs.Repeated != 2 || !reflect.DeepEqual(d.IDs.Where, []string{"line 2 and line 3", "line 2 and line 5"}) {
		t.Errorf("%+v", d.IDs)
	}
}

func TestDescribeParquet(t *testing.T) {
	var visits []visit
	for i := range 50 {
		v := visit{Patient: fmt.Sprint("p", i), Visit: int32(i), Height: float32(i) / 2, Cost: int64(i) * 100, Day: int32(i), Code: int64(i % 2)}
		if i%5 > 0 {
			v.Age, v.Smoker, v.Ward = ptr(float64(i)), ptr(i%2 == 0), ptr([]string{"north", "south"}[i%2])
		}
		visits = append(visits, v)
	}
	visits[7].Visit, visits[7].Patient = 6, "p6"
	d := describe(t, Files(writeParquet(t, visits, 20)), DescribeOptions{ID: []string{"patient", "visit"}})
	want := `patient: text 50+0 of 49
visit: numeric 50+0 of 49 0…49
age: numeric 40+10 of 40 1…49
height: numeric 50+0 of 50 0…24.5
count: empty 0+50 of 0
small: binary 50+0 of 1 0=50
large: binary 50+0 of 1 0=50
cost: numeric 50+0 of 50 0…49
day: date 50+0 of 50 0…49
smoker: binary 40+10 of 2 0=20 1=20
ward: categorical 40+10 of 2 north=20 south=20
code: binary 50+0 of 2 0=25 1=25
note: other 0+50 groups or lists of 0`
	got := brief(d)
	if !sameColumns(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if d.IDs.Repeated != 1 || d.IDs.Where[0] != "row 7 and row 8" {
		t.Errorf("%+v", d.IDs)
	}
}

func TestDescribeSQL(t *testing.T) {
	path := sqliteDatabase(t, `CREATE TABLE t (id TEXT, x REAL, n INTEGER, w TEXT, b BLOB);
		INSERT INTO t VALUES ('a', 1.5, 0, 'north', NULL), ('b', NULL, 1, 'north', NULL), ('b', '2.5', 1, ' ', NULL);`)
	d := describe(t, Source{SQL: &SQL{Driver: SQLite, Database: path, Query: "SELECT * FROM t"}}, DescribeOptions{ID: []string{"id"}})
	want := `id: categorical 3+0 of 2 b=2 a=1
x: numeric 2+1 of 2 1.5…2.5
n: binary 3+0 of 2 1=2 0=1
w: categorical 2+1 of 1 north=2
b: empty 0+3 of 0`
	if got := brief(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if d.Records != 3 || d.IDs.Repeated != 1 || d.IDs.Where[0] != "row 2 and row 3" {
		t.Errorf("%+v", d.IDs)
	}
	d = describe(t, Source{SQL: &SQL{Driver: SQLite, Database: path, Query: "SELECT x FROM t"}}, DescribeOptions{})
	if d.Records != 3 || d.IDs != nil {
		t.Errorf("without ids: %+v", d)
	}
}

// Describe judges as Open does: it counts what Open clips at each bound, and says where Open would
// stop.
func TestDescribeAgainst(t *testing.T) {
	path := write(t, "id,x,w,s\nr1,-1,a,0\nr2,0,b,1\nr3,10,c,2\nr4,10.5,a,1\nr5,11,a,1\nr6,word,a,1\n")
	d := describe(t, Files(path), DescribeOptions{Bits: 16, Fields: []Field{
		{Name: "X", Header: "x", Kind: study.Numeric, Scale: bounds(t, 0, 10)},
		{Name: "w", Kind: study.Categorical, Values: []string{"a", "b"}},
		{Name: "s", Kind: study.Binary, Scale: bounds(t, 0, 1)},
	}})
	for i, want := range []*FitDescription{nil, {Below: 1, Above: 2, Refused: 1, First: "line 7"}, {Refused: 1, First: "line 4"}, {Refused: 1, First: "line 4"}} {
		if got := d.Columns[i].Against; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", d.Columns[i].Name, got, want)
		}
	}
	parquet := writeParquet(t, []visit{{Patient: "a", Height: 5, Code: 7}, {Patient: "b", Height: -3, Code: 8}}, 10)
	d = describe(t, Files(parquet), DescribeOptions{Bits: 16, Fields: []Field{
		{Name: "height", Kind: study.Numeric, Scale: bounds(t, 0, 4)}, {Name: "code", Kind: study.Categorical, Values: []string{"7"}},
	}})
	for _, c := range d.Columns {
		want := map[string]*FitDescription{"height": {Below: 1, Above: 1}, "code": {Refused: 1, First: "row 2"}}[c.Name]
		if !reflect.DeepEqual(c.Against, want) {
			t.Errorf("%s: %+v, want %+v", c.Name, c.Against, want)
		}
	}
}

// Beyond the memory bounds, least, greatest and counts stay exact, and the quantiles of a sample
// have a standard error of about 0.2 percentage points.
func TestDescribeManyRecords(t *testing.T) {
	const n = 200_000
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("id,x\n")
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Round(1e6*r.ExpFloat64()) / 1e6
		fmt.Fprintf(&text, "%d,%g\n", i, values[i])
	}
	d := describe(t, Files(write(t, text.String())), DescribeOptions{})
	sort.Float64s(values)
	c := d.Columns[1]
	if c.Present != n || !c.More || c.Numbers.Count != n || c.Numbers.Least != values[0] || c.Numbers.Greatest != values[n-1] {
		t.Errorf("%+v", c)
	}
	if c.Numbers.Sampled > mostNumbers || c.Numbers.Sampled < mostNumbers/3 {
		t.Errorf("%d sampled", c.Numbers.Sampled)
	}
	for i, p := range QuantileLevels() {
		at, _ := slices.BinarySearch(values, c.Numbers.Quantiles[i])
		if got := float64(at) / n; math.Abs(got-p) > 0.015 { // 5 standard errors at the smallest sample
			t.Errorf("quantile %g is at %g", p, got)
		}
	}
	total := int64(0)
	for _, b := range c.Numbers.Histogram {
		total += b
	}
	if total != int64(c.Numbers.Sampled) || c.Numbers.Width != 1 || len(c.Numbers.Histogram) != int(values[n-1])+1 {
		t.Errorf("histogram %v of %d", c.Numbers.Histogram, c.Numbers.Sampled)
	}
}

func TestHistogram(t *testing.T) {
	for text, want := range map[string]string{
		"3\n4\n6\n4":          "2.5 1 [1 2 0 1]",
		"7\n7.0":              "7 0 [2]",
		"0\n1.5\n3\n20\n0.99": "0 5 [4 0 0 0 1]",
	} {
		n := describe(t, Files(write(t, "x\n"+text+"\n")), DescribeOptions{}).Columns[0].Numbers
		if got := fmt.Sprintf("%g %g %v", n.Low, n.Width, n.Histogram); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	n := describe(t, Files(write(t, "x\n0\n5e-324\n")), DescribeOptions{}).Columns[0].Numbers
	if n.Histogram[0] != 2 {
		t.Errorf("the least numbers: %+v", n)
	}
	n = describe(t, Files(write(t, "x\n-1.7e308\n1.7e308\n")), DescribeOptions{}).Columns[0].Numbers
	if n.Histogram[0] != 2 || n.Width != 0 {
		t.Errorf("the greatest numbers: %+v", n)
	}
}

func TestDescribeErrors(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		source Source
		id     string
		want   string
	}{
		"directory":   {Files(dir), "", "a directory"},
		"missing":     {Files(filepath.Join(dir, "no.csv")), "", "no such file"},
		"empty":       {Files(write(t, "")), "", "the file is empty"},
		"header only": {Files(write(t, "a,b\n")), "", "no records, only a header"},
		"id":          {Files(write(t, "a,b\n1,SECRET\n")), "c", `no column "c"`},
		"not parquet": {Source{Files: []string{writeAs(t, "SECRET", "x.parquet")}}, "", unreadable},
		"query":       {Source{SQL: &SQL{Driver: SQLite, Database: sqliteDatabase(t, "CREATE TABLE t (a)"), Query: "SELECT a FROM t"}}, "", "no records"},
		"elsewhere":   {Source{Elsewhere: "the register"}, "", "the register"},
		"stream":      {Source{Stream: &Stream{Name: "standard input"}}, "", "standard input: a stream cannot be described (give a file)"},
	} {
		o := DescribeOptions{}
		if c.id != "" {
			o.ID = []string{c.id}
		}
		_, err := Describe(context.Background(), c.source, o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
		if name == "elsewhere" && !fail.Has(err, fail.DataElsewhere) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "missing" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Describe(ended, Files(write(t, "a\n1\n")), DescribeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func writeAs(t *testing.T, text, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Any file is described or refused.
func FuzzDescribe(f *testing.F) {
	f.Add([]byte("a;b\n1,5;x\n"))
	f.Add([]byte("a,a\n2001-02-03,\"\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Describe(context.Background(), Files(writeBytes(t, data)), DescribeOptions{})
		if err != nil {
			return
		}
		for _, c := range d.Columns {
			if c.Present+c.Missing != d.Records {
				t.Fatalf("%d and %d missing of %d", c.Present, c.Missing, d.Records)
			}
		}
	})
}
