package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// arrowStream is Arrow record batches being read, in the streaming format or in that of files; one batch is in memory,
// as large as its writer made it.
type arrowStream struct {
	name    string
	plan    *plan
	reader  batches
	end     func()
	columns []arrowColumn
	batch   arrow.RecordBatch // or nil
	at      int64             // of its records, the next
	read    int64             // records in all
}

// batches is a reader of either format.
type batches interface {
	Schema() *arrow.Schema
	Read() (arrow.RecordBatch, error) // io.EOF after the last
}

// arrowColumn is one column that is wanted.
type arrowColumn struct {
	index int // in the schema
	fill  arrowFill
	words *standIns
	texts *vector // texts that words or their own form make numbers; or nil
}

// arrowFill appends values of an array, from one to before another.
type arrowFill func(v *vector, from arrow.Array, at, to int) error

const unreadableStream = "not a readable stream of Arrow record batches"

// openArrow reads the format of files from what can be read at any place, and else the streaming format.
func openArrow(name string, from io.Reader, p *plan) (_ *arrowStream, err error) {
	a := &arrowStream{name: name, plan: p}
	err = a.guard(func() error {
		if file, ok := from.(ipc.ReadAtSeeker); ok {
			r, err := ipc.NewFileReader(file)
			if err != nil {
				return a.damaged(err)
			}
			a.reader, a.end = r, func() { r.Close() }
			return a.begin()
		}
		r, err := ipc.NewReader(from)
		if err != nil {
			return a.damaged(err)
		}
		a.reader, a.end = r, r.Release
		return a.begin()
	})
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// guard runs a step of reading. The library's answer to some damaged streams is a panic, which becomes an error here.
func (a *arrowStream) guard(step func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = a.damaged(nil)
		}
	}()
	return step()
}

func (a *arrowStream) damaged(err error) error {
	return &Error{File: a.name, Message: unreadableStream, Hint: "did its writer end before it was done?", Err: err}
}

// begin finds the schema's columns and checks their types.
func (a *arrowStream) begin() error {
	h := header{file: a.name}
	fields := a.reader.Schema().Fields()
	for _, f := range fields {
		h.names = append(h.names, cleanName(f.Name))
	}
	positions, err := h.locate(a.plan.headers)
	if err != nil {
		return err
	}
	for i, position := range positions {
		c := arrowColumn{index: position}
		if field := i - len(a.plan.schema.ID); field >= 0 {
			c.words = a.plan.columns[field].words
		}
		var holds string
		c.fill, holds = arrowFillFor(fields[position].Type, a.plan.isNumber(i))
		if c.fill == nil && c.words != nil && holds == holdsText {
			c.fill, _ = arrowFillFor(fields[position].Type, false)
			c.texts = &vector{}
		}
		if c.fill == nil {
			return a.plan.wrongType(a.name, 0, i, holds)
		}
		a.columns = append(a.columns, c)
	}
	return nil
}

func (a *arrowStream) next(ctx context.Context, reuse rows) (out rows, err error) {
	err = a.guard(func() error {
		out, err = a.nextRows(ctx, reuse)
		return err
	})
	return out, err
}

func (a *arrowStream) nextRows(ctx context.Context, reuse rows) (rows, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for a.batch == nil || a.at == a.batch.NumRows() {
		batch, err := a.reader.Read()
		if err == io.EOF {
			return nil, err
		}
		if err != nil {
			return nil, a.damaged(err)
		}
		a.batch, a.at = batch, 0 // the reader's own, up to its next
	}
	t := newTypedRows(a.plan, reuse)
	t.from, t.first = a.name, a.read+1
	t.records = int(min(a.batch.NumRows()-a.at, int64(a.plan.batchRows())))
	from, to := int(a.at), int(a.at)+t.records
	for i := range a.columns {
		c := &a.columns[i]
		into := &t.columns[i]
		if c.texts != nil {
			c.texts.reset()
			into = c.texts
		}
		if err := c.fill(into, a.batch.Column(c.index), from, to); err != nil {
			return nil, &Error{File: a.name, Column: a.plan.headers[i], Message: unreadableStream, Err: err}
		}
	}
	a.at += int64(t.records)
	a.read += int64(t.records)
	for i := range a.columns {
		t.translate(i, a.columns[i].words, a.columns[i].texts)
	}
	return t, nil
}

func (a *arrowStream) finish() (*Origin, error) {
	return &Origin{Name: a.name, Format: "Arrow"}, nil
}

func (a *arrowStream) progress() int64 { return 0 }

func (a *arrowStream) Close() error {
	if a.end == nil {
		return nil
	}
	return a.guard(func() error { a.end(); return nil })
}

// each makes a fill of what adds one value that is there.
func each[A arrow.Array](isNumber bool, add func(v *vector, from A, i int) error) arrowFill {
	return func(v *vector, from arrow.Array, at, to int) error {
		of, ok := from.(A)
		if !ok {
			return fmt.Errorf("a column of %s in one batch, of another type in the next", from.DataType())
		}
		for i := at; i < to; i++ {
			if of.IsNull(i) {
				v.addNull(isNumber)
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

func arrowNumbers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | arrow.Date32, A numeric[T]]() arrowFill {
	return each(true, func(v *vector, from A, i int) error { v.addNumber(float64(from.Value(i))); return nil })
}

func arrowIntegers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32, A numeric[T]]() arrowFill {
	return each(false, func(v *vector, from A, i int) error { v.addInteger(int64(from.Value(i))); return nil })
}

func arrowTexts[A numeric[string]]() arrowFill {
	return each(false, func(v *vector, from A, i int) error { v.addText([]byte(from.Value(i))); return nil })
}

// arrowFillFor returns nil and what a column holds if that is not wanted. Numbers and texts are those of decoderFor.
func arrowFillFor(t arrow.DataType, isNumber bool) (_ arrowFill, holds string) {
	if d, ok := t.(*arrow.DictionaryType); ok {
		fill, holds := arrowFillFor(d.ValueType, isNumber)
		if fill == nil {
			return nil, holds
		}
		return arrowDictionary(fill, isNumber), ""
	}
	if isNumber {
		return arrowNumbersFor(t)
	}
	switch t.ID() {
	case arrow.STRING:
		return arrowTexts[*array.String](), ""
	case arrow.LARGE_STRING:
		return arrowTexts[*array.LargeString](), ""
	case arrow.STRING_VIEW:
		return arrowTexts[*array.StringView](), ""
	case arrow.INT8:
		return arrowIntegers[int8, *array.Int8](), ""
	case arrow.INT16:
		return arrowIntegers[int16, *array.Int16](), ""
	case arrow.INT32:
		return arrowIntegers[int32, *array.Int32](), ""
	case arrow.INT64:
		return arrowIntegers[int64, *array.Int64](), ""
	case arrow.UINT8:
		return arrowIntegers[uint8, *array.Uint8](), ""
	case arrow.UINT16:
		return arrowIntegers[uint16, *array.Uint16](), ""
	case arrow.UINT32:
		return arrowIntegers[uint32, *array.Uint32](), ""
	case arrow.NULL:
		return arrowNulls(false), ""
	}
	return nil, t.Name() + " values"
}

func arrowNumbersFor(t arrow.DataType) (_ arrowFill, holds string) {
	switch t.ID() {
	case arrow.BOOL:
		return each(true, func(v *vector, from *array.Boolean, i int) error {
			x := 0.0
			if from.Value(i) {
				x = 1
			}
			v.addNumber(x)
			return nil
		}), ""
	case arrow.INT8:
		return arrowNumbers[int8, *array.Int8](), ""
	case arrow.INT16:
		return arrowNumbers[int16, *array.Int16](), ""
	case arrow.INT32:
		return arrowNumbers[int32, *array.Int32](), ""
	case arrow.INT64:
		return arrowNumbers[int64, *array.Int64](), ""
	case arrow.UINT8:
		return arrowNumbers[uint8, *array.Uint8](), ""
	case arrow.UINT16:
		return arrowNumbers[uint16, *array.Uint16](), ""
	case arrow.UINT32:
		return arrowNumbers[uint32, *array.Uint32](), ""
	case arrow.UINT64:
		return arrowNumbers[uint64, *array.Uint64](), ""
	case arrow.FLOAT32:
		return arrowNumbers[float32, *array.Float32](), ""
	case arrow.FLOAT64:
		return arrowNumbers[float64, *array.Float64](), ""
	case arrow.DATE32:
		return arrowNumbers[arrow.Date32, *array.Date32](), ""
	case arrow.DECIMAL128:
		scale := t.(*arrow.Decimal128Type).Scale
		if scale < 0 || int(scale) >= len(exactPowers) {
			return nil, "decimals"
		}
		return each(true, func(v *vector, from *array.Decimal128, i int) error {
			n := from.Value(i)
			whole := int64(n.LowBits())
			if n.HighBits() != whole>>63 {
				return errors.New("a decimal of more than 18 digits")
			}
			v.addNumber(float64(whole) / exactPowers[scale])
			return nil
		}), ""
	case arrow.NULL:
		return arrowNulls(true), ""
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return nil, holdsText
	}
	return nil, t.Name() + " values"
}

// arrowNulls are values none of which is there.
func arrowNulls(isNumber bool) arrowFill {
	return func(v *vector, _ arrow.Array, at, to int) error {
		for range to - at {
			v.addNull(isNumber)
		}
		return nil
	}
}

// arrowDictionary reads values by their indexes.
func arrowDictionary(fill arrowFill, isNumber bool) arrowFill {
	return func(v *vector, from arrow.Array, at, to int) error {
		d, ok := from.(*array.Dictionary)
		if !ok {
			return errors.New("a dictionary in one batch, and none in the next")
		}
		values := d.Dictionary()
		for i := at; i < to; i++ {
			if d.IsNull(i) {
				v.addNull(isNumber)
				continue
			}
			index := d.GetValueIndex(i)
			if index < 0 || index >= values.Len() {
				return errDictionary
			}
			if err := fill(v, values, index, index+1); err != nil {
				return err
			}
		}
		return nil
	}
}
