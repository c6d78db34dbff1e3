package dataset

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// scored is a record whose numbers and texts include words.
type scored struct {
	ID    string   `parquet:"id"`
	Score *float64 `parquet:"score"`
	Smoke *string  `parquet:"smoke"`
	Ward  string   `parquet:"ward"`
}

// Words mean the same in every data format, and a replacement is not replaced again.
func TestWordsEverywhere(t *testing.T) {
	words := Replacements{Missing: []string{"999", "k.A."}, Values: map[string]map[string]string{
		"score": {"1": "2", "2": "1"}, "smoke": {"ja": "1", "nein": "0"}, "ward": {"N": "north"},
	}}
	schema := Schema{ID: []string{"id"}, Bits: 12, MaxRecords: 10, Missing: study.MissingCentre, Fields: []Field{
		{Name: "score", Kind: study.Numeric, Scale: bounds(t, 0, 10)}, {Name: "smoke", Kind: study.Binary, Scale: bounds(t, 0, 1)},
		{Name: "ward", Kind: study.Categorical, Values: []string{"north", "south"}},
	}}
	visits := []scored{
		{"r1", new(1.0), new("ja"), "N"}, {"r2", new(2.0), new("nein"), "south"}, {"r3", new(999.0), new(" k.A. "), "k.A."}, {"r4", nil, nil, "N"},
	}
	text, sql := "id,score,smoke,ward\n", []string{"CREATE TABLE t (id, score, smoke, ward)"}
	text += "r1,1,ja,N\nr2,2,nein,south\nr3,999, k.A. ,k.A.\nr4,,,N\n"
	sql = append(sql, "INSERT INTO t VALUES ('r1', 1, 'ja', 'N'), ('r2', 2.0, 'nein', 'south'), ('r3', 999, ' k.A. ', 'k.A.'), ('r4', NULL, NULL, 'N')")
	_, want, err := rowsOf(Files(write(t, "id,score,smoke,ward\nr1,2,1,north\nr2,1,0,south\nr3,,,\nr4,,,north\n")), schema)
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]Source{
		"CSV": Files(write(t, text)), "Parquet": Files(writeParquet(t, visits, 3)),
		"SQLite": {SQL: &SQL{Driver: SQLite, Database: sqliteDatabase(t, strings.Join(sql, ";")), Query: "SELECT * FROM t"}},
	} {
		if _, _, err := rowsOf(source, schema); err == nil {
			t.Errorf("%s: read without words", name)
		}
		source.Words = words
		_, values, err := rowsOf(source, schema)
		if err != nil || !reflect.DeepEqual(values, want) {
			t.Errorf("%s: %v, got %v, want %v", name, err, values, want)
		}
		d := describe(t, source, DescribeOptions{})
		if got := brief(d); !strings.Contains(got, "score: numeric 2+2 of 2 1…2\nsmoke: binary 2+2 of 2") || !strings.Contains(got, "ward: categorical 3+1 of 2 north=2 south=1") {
			t.Errorf("%s:\n%s", name, got)
		}
		// A replacement that is not a number is an error at its record.
		source.Words.Values = map[string]map[string]string{"score": {"2": "two"}, "smoke": words.Values["smoke"], "ward": words.Values["ward"]}
		if _, _, err := rowsOf(source, schema); err == nil || !strings.Contains(err.Error(), `column "score": not a decimal number`) || strings.Contains(err.Error(), "two") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
