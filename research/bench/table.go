package bench

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// table is generated data: a 16-byte id per record, and numbers in [0, 1) with six decimals. Equal
// tables hold equal values in every format.
type table struct{ records, columns int }

// million is the number of different values.
const million = 1_000_000

// stretch is the number of records generated from one state of the generator.
const stretch = 4096

// values fills dst, records × columns row-major, with the numbers of the n-th
// stretch, in millionths.
func (t table) values(dst []uint32, n int) {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range dst {
		dst[i] = uint32(rng.Uint64N(million))
	}
}

// stretches calls do for each stretch of records, from several goroutines. Each worker reuses one
// buffer for all its calls.
func (t table) stretches(do func(values []uint32, n, from, to int) error) error {
	next := make(chan int)
	var wait sync.WaitGroup
	failures := make([]error, runtime.GOMAXPROCS(0))
	for w := range failures {
		wait.Go(func() {
			values := make([]uint32, stretch*t.columns)
			for n := range next {
				from, to := n*stretch, min((n+1)*stretch, t.records)
				t.values(values[:(to-from)*t.columns], n)
				if failures[w] == nil {
					failures[w] = do(values, n, from, to)
				}
			}
		})
	}
	for n := range (t.records + stretch - 1) / stretch {
		next <- n
	}
	close(next)
	wait.Wait()
	return errors.Join(failures...)
}

// appendID appends the 16-byte id of a record.
func appendID(dst []byte, record int) []byte { return fmt.Appendf(dst, "P%015d", record) }

func columnName(column int) string { return fmt.Sprintf("c%d", column) }

// WriteTable writes a generated table of records × columns: Parquet if the name ends in .parquet,
// else CSV.
func WriteTable(file string, records, columns int) error {
	t := table{records, columns}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing a data file: %w", err)
	}
	if filepath.Ext(file) == ".parquet" {
		err = t.writeParquet(f)
	} else {
		err = t.writeCSV(f)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing a data file: %w", err)
	}
	return nil
}

// writeCSV writes rows of equal width, so that the offset of each stretch is known.
func (t table) writeCSV(f *os.File) error {
	header := []byte("id")
	for j := range t.columns {
		header = append(header, ","+columnName(j)...)
	}
	header = append(header, '\n')
	if _, err := f.WriteAt(header, 0); err != nil {
		return err
	}
	row := int64(len(appendID(nil, 0)) + t.columns*len(",0.000000") + 1)
	return t.stretches(func(values []uint32, _, from, to int) error {
		text := make([]byte, 0, row*stretch)
		for i := from; i < to; i++ {
			text = appendID(text, i)
			for _, v := range values[(i-from)*t.columns:][:t.columns] {
				text = append(text, ',', '0', '.',
					'0'+byte(v/100_000), '0'+byte(v/10_000%10), '0'+byte(v/1000%10), '0'+byte(v/100%10), '0'+byte(v/10%10), '0'+byte(v%10))
			}
			text = append(text, '\n')
		}
		_, err := f.WriteAt(text, int64(len(header))+int64(from)*row)
		return err
	})
}

// groupRecords is the size of row groups, the default of pyarrow.
const groupRecords = 1 << 20

// writeParquet writes columns of doubles and one of strings, compressed with Snappy, like pyarrow's
// defaults for values with few repetitions.
func (t table) writeParquet(f *os.File) error {
	group := parquet.Group{"id": parquet.String()}
	for j := range t.columns {
		group[columnName(j)] = parquet.Leaf(parquet.DoubleType)
	}
	schema := parquet.NewSchema("table", group)
	w := parquet.NewGenericWriter[any](f, schema, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(groupRecords))
	place := map[string]int{}
	for i, path := range schema.Columns() {
		place[path[0]] = i
	}
	numbers := make([]uint32, stretch*t.columns)
	values := make([]parquet.Value, 0, stretch)
	for n := range (t.records + stretch - 1) / stretch {
		from, to := n*stretch, min((n+1)*stretch, t.records)
		t.values(numbers[:(to-from)*t.columns], n)
		var ids bytes.Buffer
		values = values[:0]
		for i := from; i < to; i++ {
			ids.Write(appendID(nil, i))
			values = append(values, parquet.ByteArrayValue(ids.Bytes()[ids.Len()-16:]).Level(0, 0, place["id"]))
		}
		if _, err := w.ColumnWriters()[place["id"]].WriteRowValues(values); err != nil {
			return err
		}
		for j := range t.columns {
			at := place[columnName(j)]
			values = values[:0]
			for i := range to - from {
				values = append(values, parquet.DoubleValue(float64(numbers[i*t.columns+j])/million).Level(0, 0, at))
			}
			if _, err := w.ColumnWriters()[at].WriteRowValues(values); err != nil {
				return err
			}
		}
		if to%groupRecords == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return w.Close()
}
