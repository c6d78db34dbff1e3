// Package arrow reads Arrow record batches, in the streaming format or the file format. It is
// separate from package dataset because it links 3.5 MB: only programs that pass it to a
// dataset.Stream import it.
package arrow

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/cosketch/cosketch/node/dataset"
)

// batches implements dataset.Batches.
type batches struct {
	reader reader
	end    func()
	batch  arrow.RecordBatch // valid until the reader's next Read
}

// reader reads either format.
type reader interface {
	Schema() *arrow.Schema
	Read() (arrow.RecordBatch, error) // io.EOF after the last
}

// Open reads the file format if from supports random access, and otherwise the streaming format. It
// is a dataset.OpenBatches.
func Open(from io.Reader) (dataset.Batches, error) {
	if file, ok := from.(ipc.ReadAtSeeker); ok {
		r, err := ipc.NewFileReader(file)
		if err != nil {
			return nil, err
		}
		return &batches{reader: r, end: func() { r.Close() }}, nil
	}
	r, err := ipc.NewReader(from)
	if err != nil {
		return nil, err
	}
	return &batches{reader: r, end: r.Release}, nil
}

func (b *batches) Names() (out []string) {
	for _, f := range b.reader.Schema().Fields() {
		out = append(out, f.Name)
	}
	return out
}

func (b *batches) Fill(column int, number bool) (_ dataset.Fill, holds string) {
	fill, holds := fillFor(b.reader.Schema().Field(column).Type, number)
	if fill == nil {
		return nil, holds
	}
	return func(v *dataset.Vector, from, to int) error { return fill(v, b.batch.Column(column), from, to) }, ""
}

func (b *batches) Next() (int64, error) {
	batch, err := b.reader.Read()
	if err != nil {
		return 0, err
	}
	b.batch = batch
	return batch.NumRows(), nil
}

func (b *batches) Close() { b.end() }

// fill appends the values [at, to) of an array.
type fill func(v *dataset.Vector, from arrow.Array, at, to int) error

// each makes a fill from a function that adds one present value.
func each[A arrow.Array](isNumber bool, add func(v *dataset.Vector, from A, i int) error) fill {
	return func(v *dataset.Vector, from arrow.Array, at, to int) error {
		of, ok := from.(A)
		if !ok {
			return fmt.Errorf("a column of %s in one batch, of another type in the next", from.DataType())
		}
		for i := at; i < to; i++ {
			if of.IsNull(i) {
				v.AddNull(isNumber)
				continue
			}
			if err := add(v, of, i); err != nil {
				return err
			}
		}
		return nil
	}
}

// numeric is an array of numbers.
type numeric[T any] interface {
	arrow.Array
	Value(int) T
}

func numbers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | arrow.Date32, A numeric[T]]() fill {
	return each(true, func(v *dataset.Vector, from A, i int) error { v.AddNumber(float64(from.Value(i))); return nil })
}

func integers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32, A numeric[T]]() fill {
	return each(false, func(v *dataset.Vector, from A, i int) error { v.AddInteger(int64(from.Value(i))); return nil })
}

func texts[A numeric[string]]() fill {
	return each(false, func(v *dataset.Vector, from A, i int) error { v.AddText([]byte(from.Value(i))); return nil })
}

// fillFor returns the fill for a column; nil, and what the column holds, if that is not wanted.
// Numbers and texts are as in dataset's decoderFor.
func fillFor(t arrow.DataType, isNumber bool) (_ fill, holds string) {
	if d, ok := t.(*arrow.DictionaryType); ok {
		fill, holds := fillFor(d.ValueType, isNumber)
		if fill == nil {
			return nil, holds
		}
		return dictionary(fill, isNumber), ""
	}
	if isNumber {
		return numbersFor(t)
	}
	switch t.ID() {
	case arrow.STRING:
		return texts[*array.String](), ""
	case arrow.LARGE_STRING:
		return texts[*array.LargeString](), ""
	case arrow.STRING_VIEW:
		return texts[*array.StringView](), ""
	case arrow.INT8:
		return integers[int8, *array.Int8](), ""
	case arrow.INT16:
		return integers[int16, *array.Int16](), ""
	case arrow.INT32:
		return integers[int32, *array.Int32](), ""
	case arrow.INT64:
		return integers[int64, *array.Int64](), ""
	case arrow.UINT8:
		return integers[uint8, *array.Uint8](), ""
	case arrow.UINT16:
		return integers[uint16, *array.Uint16](), ""
	case arrow.UINT32:
		return integers[uint32, *array.Uint32](), ""
	case arrow.NULL:
		return nulls(false), ""
	}
	return nil, t.Name() + " values"
}

func numbersFor(t arrow.DataType) (_ fill, holds string) {
	switch t.ID() {
	case arrow.BOOL:
		return each(true, func(v *dataset.Vector, from *array.Boolean, i int) error {
			x := 0.0
			if from.Value(i) {
				x = 1
			}
			v.AddNumber(x)
			return nil
		}), ""
	case arrow.INT8:
		return numbers[int8, *array.Int8](), ""
	case arrow.INT16:
		return numbers[int16, *array.Int16](), ""
	case arrow.INT32:
		return numbers[int32, *array.Int32](), ""
	case arrow.INT64:
		return numbers[int64, *array.Int64](), ""
	case arrow.UINT8:
		return numbers[uint8, *array.Uint8](), ""
	case arrow.UINT16:
		return numbers[uint16, *array.Uint16](), ""
	case arrow.UINT32:
		return numbers[uint32, *array.Uint32](), ""
	case arrow.UINT64:
		return numbers[uint64, *array.Uint64](), ""
	case arrow.FLOAT32:
		return numbers[float32, *array.Float32](), ""
	case arrow.FLOAT64:
		return numbers[float64, *array.Float64](), ""
	case arrow.DATE32:
		return numbers[arrow.Date32, *array.Date32](), ""
	case arrow.DECIMAL128:
		scale := int(t.(*arrow.Decimal128Type).Scale)
		if scale < 0 {
			return nil, "decimals"
		}
		divisor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		return each(true, func(v *dataset.Vector, from *array.Decimal128, i int) error {
			n := from.Value(i)
			x := float64(int64(n.LowBits())) / math.Pow10(scale) // as in Parquet, which has no larger ones
			if n.HighBits() != int64(n.LowBits())>>63 || scale > 22 {
				x, _ = new(big.Rat).SetFrac(n.BigInt(), divisor).Float64()
			}
			v.AddNumber(x)
			return nil
		}), ""
	case arrow.NULL:
		return nulls(true), ""
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return nil, dataset.HoldsText
	}
	return nil, t.Name() + " values"
}

// nulls appends absent values.
func nulls(isNumber bool) fill {
	return func(v *dataset.Vector, _ arrow.Array, at, to int) error {
		for range to - at {
			v.AddNull(isNumber)
		}
		return nil
	}
}

// dictionary looks up values by their indexes.
func dictionary(fill fill, isNumber bool) fill {
	return func(v *dataset.Vector, from arrow.Array, at, to int) error {
		d, ok := from.(*array.Dictionary)
		if !ok {
			return errors.New("a dictionary in one batch, and none in the next")
		}
		values := d.Dictionary()
		for i := at; i < to; i++ {
			if d.IsNull(i) {
				v.AddNull(isNumber)
				continue
			}
			index := d.GetValueIndex(i)
			if index < 0 || index >= values.Len() {
				return errors.New("an index outside of its dictionary")
			}
			if err := fill(v, values, index, index+1); err != nil {
				return err
			}
		}
		return nil
	}
}
