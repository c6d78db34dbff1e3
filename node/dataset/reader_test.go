package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/study"
)

const testBits fixedpoint.Bits = 8 // One is 256

func bounds(t testing.TB, lo, hi float64) fixedpoint.Scale {
	t.Helper()
	s, err := fixedpoint.Bounds(lo, hi)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clinic is a schema with a field of every kind: six entries a row.
func clinic(t testing.TB) Schema {
	spread, err := fixedpoint.CentreSpread(170, 10)
	if err != nil {
		t.Fatal(err)
	}
	return Schema{
		ID:        []string{"patient"},
		Normalize: []study.Normalization{study.NormalizeNFC, study.NormalizeTrim, study.NormalizeCasefold},
		Fields: []Field{
			{Name: "age", Kind: study.Numeric, Scale: bounds(t, 0, 128)},
			{Name: "height", Header: "Height (cm)", Kind: study.Numeric, Scale: spread},
			{Name: "smoker", Kind: study.Binary, Scale: bounds(t, 0, 1)},
			{Name: "ward", Kind: study.Categorical, Values: []string{"a", "b", "ü"}},
		},
		Bits:       testBits,
		MaxRecords: 1000,
	}
}

const clinicHeader = "patient,comment,age,Height (cm),smoker,ward\n"

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// table collects all batches of a file.
type table struct {
	IDs    []string
	Values []int64
}

func readAll(path string, s Schema, o Options) (table, Summary, error) {
	return readSource(Files(path), s, o)
}

func readSource(source Source, s Schema, o Options) (table, Summary, error) {
	r, err := Open(context.Background(), source, s, o)
	if err != nil {
		return table{}, Summary{}, err
	}
	defer r.Close()
	var all table
	for {
		b, err := r.Next(context.Background())
		if err != nil {
			if _, again := r.Next(context.Background()); again != err {
				return all, r.Summary(), fmt.Errorf("error changed from %v to %v", err, again)
			}
			if err == io.EOF {
				err = nil
			}
			return all, r.Summary(), err
		}
		if b.First != int64(len(all.IDs)) || len(b.IDs) == 0 || len(b.Values) != len(b.IDs)*s.Entries() {
			return all, r.Summary(), fmt.Errorf("batch at %d of %d ids and %d values after %d records",
				b.First, len(b.IDs), len(b.Values), len(all.IDs))
		}
		for _, id := range b.IDs {
			all.IDs = append(all.IDs, string(id))
		}
		all.Values = append(all.Values, b.Values...)
	}
}

func TestRead(t *testing.T) {
	text := "\ufeff" + strings.ReplaceAll(clinicHeader+
		" P1 ,\"a \"\"quoted\"\", and\nsplit comment\",64,170,1,a\n"+
		"Stra\u00dfe,, 1.28e2 ,200,0,b\n"+
		"\n"+ // skipped
		"u\u0308,,-5,500,1, u\u0308 \n"+ // clipped twice; id in decomposed form
		"p4,,,,,\n", "\n", "\r\n")
	schema := clinic(t)
	schema.Missing = study.MissingCentre
	path := write(t, text)
	got, summary, err := readAll(path, schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := table{
		IDs: []string{"p1", "strasse", "\u00fc", "p4"},
		Values: []int64{
			128, 0, 256, 256, 0, 0,
			256, 256, 0, 0, 256, 0,
			0, 256, 256, 0, 0, 256,
			128, 0, 128, 0, 0, 0,
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	wantSummary := Summary{
		Records: 4,
		Fields: []FieldSummary{
			{Name: "age", Clamped: 1, Missing: 1}, {Name: "height", Clamped: 1, Missing: 1}, {Name: "smoker", Missing: 1}, {Name: "ward", Missing: 1},
		},
		Bytes: int64(len(text)), Size: int64(len(text)), Complete: true,
		Digest: sha256.Sum256([]byte(text)),
	}
	wantSummary.Limit = 1000
	wantSummary.Origins = []Origin{{Name: path, Format: "CSV, comma, decimal point, utf-8, byte order mark, CRLF", Dialect: Dialect{Delimiter: Comma, Decimal: DecimalPoint, Encoding: UTF8, Date: DateISO}, Digest: wantSummary.Digest}}
	if !reflect.DeepEqual(summary, wantSummary) {
		t.Errorf("got  %+v\nwant %+v", summary, wantSummary)
	}
}

func TestMissingSkip(t *testing.T) {
	schema := clinic(t)
	schema.Missing = study.MissingSkip
	text := clinicHeader + "1,,1,170,1,a\n2,,,170,1,a\n3,,,170,,a\n4,,2,170,0,b\n"
	for _, size := range []int{1, 2, 3, 100} {
		got, summary, err := readAll(write(t, text), schema, Options{BatchRecords: size})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.IDs, []string{"1", "4"}) || len(got.Values) != 2*schema.Entries() {
			t.Errorf("kept %v", got)
		}
		if summary.Records != 2 || summary.Skipped != 2 || summary.Fields[0].Missing != 2 || summary.Fields[2].Missing != 1 {
			t.Errorf("summary %+v", summary)
		}
	}
	// A record that is left out still has its id.
	_, _, err := readAll(write(t, clinicHeader+"1,,,170,1,a\n1,,1,170,1,a\n"), schema, Options{})
	if err == nil || !strings.Contains(err.Error(), "lines 2 and 3") {
		t.Errorf("a repeated id: %v", err)
	}
}

// TestRequiredStaysAbsent checks that a required value is never replaced when absent, unlike
// others; its record may still be left out.
func TestRequiredStaysAbsent(t *testing.T) {
	schema := clinic(t)
	last := len(schema.Fields) - 1
	schema.Fields[last].Required = true
	text := clinicHeader + "1,,,170,1,a\n2,,1,170,1,\n3,,1,170,1,a\n"
	for missing, refused := range map[study.Missing]bool{study.MissingRefuse: true, study.MissingCentre: true, study.MissingSkip: false} {
		schema.Missing = missing
		_, _, err := readAll(write(t, text), schema, Options{})
		if (err != nil) != refused {
			t.Errorf("%s: %v", missing, err)
		}
		if missing == study.MissingCentre && (err == nil || !strings.Contains(err.Error(), ":3: ") || !strings.Contains(err.Error(), "labels travel")) {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestSeveralIDColumns(t *testing.T) {
	schema := Schema{ID: []string{"site", "number"}, Normalize: []study.Normalization{study.NormalizeDigits}, Bits: testBits, MaxRecords: 10}
	got, _, err := readAll(write(t, "number,site\n1-2,S12\n2,112\n22,1\n"), schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	join := func(parts ...string) string {
		var b []byte
		for _, p := range parts {
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
		}
		return string(b)
	}
	want := []string{join("12", "12"), join("112", "2"), join("1", "22")}
	if !reflect.DeepEqual(got.IDs, want) || len(got.Values) != 0 {
		t.Errorf("got %q, want %q", got.IDs, want)
	}
}

func TestNormalizationOrder(t *testing.T) {
	read := func(steps ...study.Normalization) string {
		t.Helper()
		schema := Schema{ID: []string{"id"}, Normalize: steps, Bits: testBits, MaxRecords: 1}
		got, _, err := readAll(write(t, "id\n\" A\u030a 1\u0661 \"\n"), schema, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got.IDs[0]
	}
	for _, c := range []struct {
		want  string
		steps []study.Normalization
	}{
		{" A\u030a 1\u0661 ", nil},
		{"A\u030a 1\u0661", []study.Normalization{study.NormalizeTrim}},
		{" \u00c5 1\u0661 ", []study.Normalization{study.NormalizeNFC}},
		{"\u00e5 1\u0661", []study.Normalization{study.NormalizeNFC, study.NormalizeTrim, study.NormalizeCasefold}},
		{"1", []study.Normalization{study.NormalizeDigits}},
	} {
		if got := read(c.steps...); got != c.want {
			t.Errorf("%v: got %+q, want %+q", c.steps, got, c.want)
		}
	}
	// U+01F0 folds to two characters that NFC composes again, so the order of steps matters.
	if a, b := caseFoldOnce(study.NormalizeNFC, study.NormalizeCasefold), caseFoldOnce(study.NormalizeCasefold, study.NormalizeNFC); a == b {
		t.Errorf("both orders give %+q", a)
	}
}

func TestBatchSizeDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.IntRange(0, 300), 1, 40).Draw(rt, "ages")
		var text strings.Builder
		text.WriteString("id,age\n")
		for i, age := range rows {
			if age > 250 {
				fmt.Fprintf(&text, "%d,\n", i)
				continue
			}
			fmt.Fprintf(&text, "%d,%d\n", i, age)
		}
		schema := Schema{
			ID: []string{"id"}, Bits: testBits, MaxRecords: 40, Missing: study.MissingSkip,
			Fields: []Field{{Name: "age", Kind: study.Numeric, Scale: bounds(t, 0, 100)}},
		}
		path := write(t, text.String())
		want, wantSummary, wantErr := readAll(path, schema, Options{})
		got, summary, err := readAll(path, schema, Options{BatchRecords: rapid.IntRange(1, 50).Draw(rt, "batch")})
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(summary, wantSummary) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			rt.Fatalf("got %v %+v %v\nwant %v %+v %v", got, summary, err, want, wantSummary, wantErr)
		}
	})
}

// Whatever a CSV writer writes is read back: ids and numbers, with quotes, commas and line breaks
// around them.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z",\n ü]{0,8}[a-z]`), 1, 20, rapid.ID).Draw(rt, "ids")
		var buffer bytes.Buffer
		w := csv.NewWriter(&buffer)
		w.UseCRLF = rapid.Bool().Draw(rt, "crlf")
		w.Write([]string{"x", "id,\n\"quoted\"", "note"})
		var want table
		scale := bounds(t, -1000, 1000)
		for i, id := range ids {
			x := rapid.Float64Range(-2000, 2000).Draw(rt, "x")
			v, _ := scale.Encode(x, testBits)
			want.IDs = append(want.IDs, id)
			want.Values = append(want.Values, v)
			form := []byte("feg")[i%3]
			w.Write([]string{strconv.FormatFloat(x, form, -1, 64), id, rapid.StringMatching(`["a,\n]*`).Draw(rt, "note")})
		}
		w.Flush()
		schema := Schema{
			ID: []string{"id,\n\"quoted\""}, Bits: testBits, MaxRecords: 20,
			Fields: []Field{{Name: "x", Kind: study.Numeric, Scale: scale}},
		}
		got, _, err := readAll(write(t, buffer.String()), schema, Options{BatchRecords: 7})
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("%v\ngot  %+v\nwant %+v", err, got, want)
		}
	})
}

func TestCancel(t *testing.T) {
	r, err := Open(t.Context(), Files(write(t, clinicHeader+"1,,1,170,1,a\n")), clinic(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 2 { // an error is final
		if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	if s := r.Summary(); s.Complete || s.Digest != [32]byte{} {
		t.Errorf("summary of an unfinished reader: %+v", s)
	}
}

func TestFileChanges(t *testing.T) {
	path := write(t, clinicHeader+"1,,1,170,1,a\n")
	r, err := Open(t.Context(), Files(path), clinic(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("2,,1,170,1,a\n")
	f.Close()
	for err == nil {
		_, err = r.Next(t.Context())
	}
	if !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("got %v", err)
	}
}

func TestBoundedMemory(t *testing.T) {
	// An unclosed quote followed by 64 MiB.
	path := write(t, "patient\n1\n\"2\n")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte("some text, "), 1<<20/11)
	for range 64 {
		f.Write(block)
	}
	f.Close()
	schema := Schema{ID: []string{"patient"}, Bits: testBits, MaxRecords: 10}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, summary, err := readAll(path, schema, Options{MaxRecordBytes: 1 << 20})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "data.csv:3: the row has more than 1048576 bytes (is a quoted value never closed?)") {
		t.Errorf("got %v", err)
	}
	if summary.Bytes > 2<<20 {
		t.Errorf("read %d bytes of a record limited to 1 MiB", summary.Bytes)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<20 {
		t.Errorf("allocated %d bytes for a record limited to 1 MiB", allocated)
	}
}

func TestLongHeader(t *testing.T) {
	path := write(t, "\"patient\n"+strings.Repeat("1\n", 1<<18))
	_, err := Open(t.Context(), Files(path), clinic(t), Options{MaxRecordBytes: 1 << 10})
	if err == nil || !strings.HasSuffix(err.Error(), "data.csv:1: the row has more than 1024 bytes (is a quoted value never closed?)") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkRead(b *testing.B) {
	const records, fields = 100_000, 10
	var text bytes.Buffer
	schema := Schema{ID: []string{"id"}, Normalize: []study.Normalization{study.NormalizeNFC, study.NormalizeTrim, study.NormalizeCasefold}, Bits: 12, MaxRecords: records}
	text.WriteString("id")
	for j := range fields {
		name := fmt.Sprintf("c%d", j)
		fmt.Fprintf(&text, ",%s", name)
		schema.Fields = append(schema.Fields, Field{Name: name, Kind: study.Numeric, Scale: bounds(b, -1, 1)})
	}
	for i := range records {
		fmt.Fprintf(&text, "\nP%07d", i)
		for j := range fields {
			fmt.Fprintf(&text, ",%.6f", float64((i*7919+j*104729)%2000003)/1000001-1)
		}
	}
	path := write(b, text.String())
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(context.Background(), Files(path), schema, Options{})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = r.Next(context.Background())
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		r.Close()
	}
}
