package dataset

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol/study"
)

// The benchmarks read a table of 50 numbers with six decimals and a 16-byte id per record: 50,000
// records, or 1,000,000 with COSKETCH_FULL set. Throughput is in bytes of the file.

const benchFields = 50

func benchRecords() int {
	return full.Or(50_000, 1_000_000)
}

func benchValue(i, j int) float64 { return float64((i*7919+j*104729)%2000003)/1000001 - 1 }

func benchSchema(tb testing.TB) Schema {
	s := Schema{ID: []string{"id"}, Normalize: []study.Normalization{study.NormalizeNFC, study.NormalizeTrim, study.NormalizeCasefold}, Bits: 12, MaxRecords: 1 << 40}
	for j := range benchFields {
		s.Fields = append(s.Fields, Field{Name: fmt.Sprintf("c%d", j), Kind: study.Numeric, Scale: bounds(tb, -1, 1)})
	}
	return s
}

func benchCSV(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "data.csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	w.WriteString("id")
	for j := range benchFields {
		fmt.Fprintf(w, ",c%d", j)
	}
	var row []byte
	for i := range benchRecords() {
		row = fmt.Appendf(row[:0], "\nP%015d", i)
		for j := range benchFields {
			row = strconv.AppendFloat(append(row, ','), benchValue(i, j), 'f', 6, 64)
		}
		w.Write(row)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

func benchmarkOpen(b *testing.B, path string, workers int) {
	schema := benchSchema(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(context.Background(), Files(path), schema, Options{Workers: workers})
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
	b.ReportMetric(float64(benchRecords())*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkCSV(b *testing.B) {
	path := benchCSV(b)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { benchmarkOpen(b, path, workers) })
	}
	// Baseline: one goroutine with the standard library, which parses values but checks and keeps
	// nothing.
	b.Run("encoding-csv", func(b *testing.B) {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(info.Size())
		for b.Loop() {
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			r := csv.NewReader(bufio.NewReaderSize(f, 64<<10))
			r.ReuseRecord = true
			schema := benchSchema(b)
			r.Read()
			for {
				row, err := r.Read()
				if err == io.EOF {
					break
				}
				for j, cell := range row[1:] {
					x, err := strconv.ParseFloat(cell, 64)
					if err != nil {
						b.Fatal(err)
					}
					schema.Fields[j].Scale.Encode(x, schema.Bits)
				}
			}
			f.Close()
		}
		b.ReportMetric(float64(benchRecords())*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
}

func BenchmarkParquet(b *testing.B) {
	group := parquet.Group{"id": parquet.String()}
	for j := range benchFields {
		group[fmt.Sprintf("c%d", j)] = parquet.Leaf(parquet.DoubleType)
	}
	path := filepath.Join(b.TempDir(), "data.parquet")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := parquet.NewGenericWriter[map[string]any](f, parquet.NewSchema("table", group), parquet.Compression(&parquet.Snappy))
	var rows []parquet.Row
	columns := w.Schema().Columns()
	for i := range benchRecords() {
		row := make(parquet.Row, len(columns))
		for c, path := range columns {
			if path[0] == "id" {
				row[c] = parquet.ByteArrayValue(fmt.Appendf(nil, "P%015d", i)).Level(0, 0, c)
				continue
			}
			j, _ := strconv.Atoi(path[0][1:])
			row[c] = parquet.DoubleValue(benchValue(i, j)).Level(0, 0, c)
		}
		if rows = append(rows, row); len(rows) == 1000 {
			if _, err := w.WriteRows(rows); err != nil {
				b.Fatal(err)
			}
			rows = rows[:0]
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { benchmarkOpen(b, path, workers) })
	}
	// Baseline: one goroutine with the library's column API, which encodes values but checks
	// nothing and ignores ids.
	b.Run("one-goroutine", func(b *testing.B) { benchmarkPages(b, path) })
}

// benchmarkPages decodes a Parquet file page by page, one column after the other.
func benchmarkPages(b *testing.B, path string) {
	schema := benchSchema(b)
	for b.Loop() {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(info.Size())
		p, err := parquet.OpenFile(f, info.Size())
		if err != nil {
			b.Fatal(err)
		}
		for _, group := range p.RowGroups() {
			for i, chunk := range group.ColumnChunks() {
				pages := chunk.Pages()
				for {
					page, err := pages.ReadPage()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					if chunk.Type().Kind() == parquet.Double {
						values := page.Data()
						for _, x := range values.Double() {
							schema.Fields[i%benchFields].Scale.Encode(x, schema.Bits)
						}
					}
					parquet.Release(page)
				}
				pages.Close()
			}
		}
		f.Close()
	}
	b.ReportMetric(float64(benchRecords())*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
