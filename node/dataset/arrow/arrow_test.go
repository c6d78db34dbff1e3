package arrow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/study"
)

// visits returns record batches with columns of many types; every seventh value is null.
func visits(t testing.TB, batches, each int) (*arrow.Schema, []arrow.RecordBatch) {
	t.Helper()
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "note", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "patient", Type: arrow.BinaryTypes.LargeString},
		{Name: "visit", Type: arrow.PrimitiveTypes.Uint16},
		{Name: "age", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "height", Type: arrow.PrimitiveTypes.Float32},
		{Name: "cost", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "smoker", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "ward", Type: dictionary, Nullable: true},
	}, nil)
	var out []arrow.RecordBatch
	row := 0
	for range batches {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for range each {
			b.Field(0).AppendNull()
			b.Field(1).(*array.LargeStringBuilder).Append("p" + strings.Repeat("x", row%5))
			b.Field(2).(*array.Uint16Builder).Append(uint16(row))
			if row%7 == 3 {
				for _, i := range []int{3, 7, 8} {
					b.Field(i).AppendNull()
				}
			} else {
				b.Field(3).(*array.Float64Builder).Append(float64(row%90) + 0.5)
				b.Field(7).(*array.BooleanBuilder).Append(row%3 == 0)
				if err := b.Field(8).(*array.BinaryDictionaryBuilder).AppendString([]string{"north", "south"}[row%2]); err != nil {
					t.Fatal(err)
				}
			}
			b.Field(4).(*array.Float32Builder).Append(float32(row%200) / 4)
			b.Field(5).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(row*25 - 100)))
			b.Field(6).(*array.Date32Builder).Append(arrow.Date32(row - 10))
			row++
		}
		out = append(out, b.NewRecordBatch())
	}
	return schema, out
}

func bounds(t testing.TB, lo, hi float64) fixedpoint.Scale {
	t.Helper()
	s, err := fixedpoint.Bounds(lo, hi)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// schemaOf returns the schema with which visits is read.
func schemaOf(t testing.TB) dataset.Schema {
	s := dataset.Schema{ID: []string{"patient", "visit"}, Missing: study.MissingCentre, Bits: 10, MaxRecords: 1 << 20}
	for _, name := range []string{"age", "height", "cost", "day"} {
		s.Fields = append(s.Fields, dataset.Field{Name: name, Kind: study.Numeric, Scale: bounds(t, 0, 100)})
	}
	s.Fields = append(s.Fields, dataset.Field{Name: "smoker", Kind: study.Binary, Scale: bounds(t, 0, 1)}, dataset.Field{Name: "ward", Kind: study.Categorical, Values: []string{"north", "south"}})
	return s
}

// asCSV returns the batches as CSV.
func asCSV(batches []arrow.RecordBatch) string {
	var b strings.Builder
	b.WriteString("patient,visit,age,height,cost,day,smoker,ward\n")
	for _, batch := range batches {
		for i := range int(batch.NumRows()) {
			for c := 1; c < int(batch.NumCols()); c++ {
				column := batch.Column(c)
				text := column.ValueStr(i)
				if column.IsNull(i) {
					text = ""
				}
				if text == "true" || text == "false" {
					text = map[string]string{"true": "1", "false": "0"}[text]
				}
				if c > 1 {
					b.WriteByte(',')
				}
				b.WriteString(text)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func writeArrow(t testing.TB, w interface {
	Write(arrow.RecordBatch) error
	Close() error
}, all []arrow.RecordBatch) {
	t.Helper()
	for _, one := range all {
		if err := w.Write(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Arrow record batches, in a stream or in a file, read like CSV with the same values.
func TestArrowIsAsCSV(t *testing.T) {
	schema, all := visits(t, 4, 77)
	var stream bytes.Buffer
	writeArrow(t, ipc.NewWriter(&stream, ipc.WithSchema(schema), ipc.WithZstd()), all)
	path := filepath.Join(t.TempDir(), "data.arrow")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	_, one := visits(t, 1, 4*77) // a file has one dictionary
	writeArrow(t, w, one)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	read := func(from io.Reader) (ids []string, values []int64, s dataset.Summary) {
		r, err := dataset.Open(t.Context(), dataset.Source{Stream: &dataset.Stream{Arrow: Open, Name: "stream", From: from}}, schemaOf(t), dataset.Options{BatchRecords: 50})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for {
			b, err := r.Next(t.Context())
			if err == io.EOF {
				s := r.Summary()
				s.Origins, s.Digest = nil, [32]byte{}
				return ids, values, s
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range b.IDs {
				ids = append(ids, string(id))
			}
			values = append(values, b.Values...)
		}
	}
	ids, values, summary := read(strings.NewReader(asCSV(all)))
	if len(ids) != 4*77 || summary.Fields[0].Missing == 0 || summary.Fields[2].Clamped == 0 {
		t.Fatalf("as CSV: %d records, %+v", len(ids), summary)
	}
	for name, from := range map[string]io.Reader{"stream": &stream, "file": f} {
		i, v, s := read(from)
		if !reflect.DeepEqual(i, ids) || !reflect.DeepEqual(v, values) || !reflect.DeepEqual(s, summary) {
			t.Errorf("%s: %d records, %+v; as CSV %d, %+v", name, len(i), s, len(ids), summary)
		}
	}
}

// Whatever is wrong with a stream, the error is about the stream.
func TestArrowRefusals(t *testing.T) {
	schema, all := visits(t, 2, 30)
	var stream bytes.Buffer
	writeArrow(t, ipc.NewWriter(&stream, ipc.WithSchema(schema)), all)
	whole := stream.Bytes()
	lists := schemaOf(t)
	lists.Fields[0].Header = "note"
	texts := schemaOf(t)
	texts.Fields[0].Header = "patient"
	absent := schemaOf(t)
	absent.Fields[0].Header = "weight"
	const unreadable = "not a readable stream of Arrow record batches"
	for name, c := range map[string]struct {
		data   []byte
		schema dataset.Schema
		says   string
	}{
		"cut off":        {whole[:len(whole)/2], schemaOf(t), unreadable},
		"only a message": {whole[:40], schemaOf(t), unreadable},
		"lists":          {whole, lists, `column "note": holds list values, not numbers`},
		"texts":          {whole, texts, `column "patient": holds text, not numbers`},
		"no column":      {whole, absent, `no column "weight"`},
		"a file":         {[]byte("ARROW1\x00\x00 and so on"), schemaOf(t), "an Arrow file cannot be read from a stream"},
		"Parquet":        {[]byte("PAR1 and so on, and on"), schemaOf(t), "a Parquet file cannot be read from a stream"},
		"nothing":        {nil, schemaOf(t), "writes nothing"},
	} {
		_, err := dataset.Each(t.Context(), dataset.Source{Stream: &dataset.Stream{Arrow: Open, Name: "stream", From: bytes.NewReader(c.data)}}, c.schema, dataset.Options{}, func(dataset.Batch) error { return nil }, func(dataset.Summary) {})
		if wrong := (*dataset.Error)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	step := 13
	if testing.Short() {
		step = 131
	}
	for at := range whole { // a changed byte is read or refused, but never a panic
		if at%step != 0 {
			continue
		}
		data := bytes.Clone(whole)
		data[at] ^= 0xff
		_, err := dataset.Each(t.Context(), dataset.Source{Stream: &dataset.Stream{Arrow: Open, Name: "stream", From: bytes.NewReader(data)}}, schemaOf(t), dataset.Options{}, func(dataset.Batch) error { return nil }, func(dataset.Summary) {})
		if wrong := (*dataset.Error)(nil); err != nil && !errors.As(err, &wrong) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
}

// Decimals of any scale, with more digits than 64 bits hold, equal the numbers of their text. A
// DataFrame from a database often has 38 digits.
func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		scale int32
		most  float64
		texts []string
	}{
		{2, 1e17, []string{"0.00", "-0.01", "12.34", "92233720368547758.07", "92233720368547758.08", "-92233720368547758.09", "999999999999999999999999999999999999.99"}},
		{18, 20, []string{"9.990000000000000000", "9.223372036854775807", "-9.223372036854775809", "12345678901234567890.000000000000000001", "0.000000000000000001"}},
		{38, 1, []string{"0.10000000000000000000000000000000000000", "-0.99999999999999999999999999999999999999", "0.33333333333333333333333333333333333333"}},
	} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: &arrow.Decimal128Type{Precision: 38, Scale: c.scale}}}, nil))
		csv := "id,x\n"
		for i, text := range c.texts {
			n, ok := new(big.Int).SetString(strings.Replace(text, ".", "", 1), 10)
			if !ok {
				t.Fatal(text)
			}
			b.Field(0).(*array.Int32Builder).Append(int32(i))
			b.Field(1).(*array.Decimal128Builder).Append(decimal128.FromBigInt(n))
			csv += fmt.Sprintf("%d,%s\n", i, text)
		}
		one := b.NewRecordBatch()
		var stream bytes.Buffer
		writeArrow(t, ipc.NewWriter(&stream, ipc.WithSchema(one.Schema())), []arrow.RecordBatch{one})
		read := func(from io.Reader) (values []int64, clamped int64) {
			s := dataset.Schema{ID: []string{"id"}, Bits: 14, MaxRecords: 100, Fields: []dataset.Field{{Name: "x", Kind: study.Numeric, Scale: bounds(t, -c.most, c.most)}}}
			all, err := dataset.Each(t.Context(), dataset.Source{Stream: &dataset.Stream{Arrow: Open, Name: "stream", From: from}}, s, dataset.Options{}, func(b dataset.Batch) error {
				values = append(values, b.Values...)
				return nil
			}, func(dataset.Summary) {})
			if err != nil {
				t.Fatal(err)
			}
			return values, all.Fields[0].Clamped
		}
		want, out := read(strings.NewReader(csv))
		if got, clamped := read(&stream); !slices.Equal(got, want) || clamped != out || len(got) != len(c.texts) {
			t.Errorf("scale %d: %v, %d clamped; as CSV %v, %d", c.scale, got, clamped, want, out)
		}
	}
}
