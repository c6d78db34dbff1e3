package dataset

import (
	"errors"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// errDictionary reports an index outside of a page's dictionary.
var errDictionary = errors.New("an index outside of its dictionary")

// contents returns a page's present values; if the page has a dictionary, the dictionary's values
// and indexes into them.
func contents(page parquet.Page) (values encoding.Values, indexes []int32) {
	data := page.Data()
	if d := page.Dictionary(); d != nil {
		return d.Page().Data(), data.Int32()
	}
	return data, nil
}

// numbers appends n of the values, through their indexes if there are any.
func numbers[T int32 | int64 | uint32 | uint64 | float32 | float64](v *Vector, values []T, indexes []int32, from, n int, divisor float64) error {
	v.addPresent(n)
	if indexes == nil {
		values = values[from : from+n]
		if whole, ok := any(values).([]float64); ok && divisor == 1 {
			v.numbers = append(v.numbers, whole...)
			return nil
		}
		for _, x := range values {
			v.numbers = append(v.numbers, float64(x)/divisor)
		}
		return nil
	}
	for _, at := range indexes[from : from+n] {
		if uint(at) >= uint(len(values)) {
			return errDictionary
		}
		v.numbers = append(v.numbers, float64(values[at])/divisor)
	}
	return nil
}

func int32Numbers(divisor float64, signed bool) decoder {
	return func(v *Vector, page parquet.Page, from, n int) error {
		values, indexes := contents(page)
		if !signed {
			return numbers(v, values.Uint32(), indexes, from, n, divisor)
		}
		return numbers(v, values.Int32(), indexes, from, n, divisor)
	}
}

func int64Numbers(divisor float64, signed bool) decoder {
	return func(v *Vector, page parquet.Page, from, n int) error {
		values, indexes := contents(page)
		if !signed {
			return numbers(v, values.Uint64(), indexes, from, n, divisor)
		}
		return numbers(v, values.Int64(), indexes, from, n, divisor)
	}
}

func decodeFloats(v *Vector, page parquet.Page, from, n int) error {
	values, indexes := contents(page)
	return numbers(v, values.Float(), indexes, from, n, 1)
}

func decodeDoubles(v *Vector, page parquet.Page, from, n int) error {
	values, indexes := contents(page)
	return numbers(v, values.Double(), indexes, from, n, 1)
}

// decodeBooleans reads bits, the lowest of each byte first.
func decodeBooleans(v *Vector, page parquet.Page, from, n int) error {
	values, indexes := contents(page)
	packed := values.Boolean()
	for i := range n {
		bit := from + i
		if indexes != nil {
			bit = int(indexes[bit])
		}
		if uint(bit/8) >= uint(len(packed)) {
			return errDictionary
		}
		v.AddNumber(float64(packed[bit/8] >> (bit % 8) & 1))
	}
	return nil
}

func decodeTexts(v *Vector, page parquet.Page, from, n int) error {
	values, indexes := contents(page)
	data, offsets := values.ByteArray()
	for i := range n {
		at := from + i
		if indexes != nil {
			at = int(indexes[at])
		}
		if at < 0 || at+1 >= len(offsets) {
			return errDictionary
		}
		v.AddText(data[offsets[at]:offsets[at+1]])
	}
	return nil
}

// integers appends n of the values as decimal texts.
func integers[T int32 | int64 | uint32](v *Vector, values []T, indexes []int32, from, n int) error {
	for i := range n {
		at := from + i
		if indexes != nil {
			at = int(indexes[at])
		}
		if uint(at) >= uint(len(values)) {
			return errDictionary
		}
		v.AddInteger(int64(values[at]))
	}
	return nil
}

func int32Texts(signed bool) decoder {
	return func(v *Vector, page parquet.Page, from, n int) error {
		values, indexes := contents(page)
		if !signed {
			return integers(v, values.Uint32(), indexes, from, n)
		}
		return integers(v, values.Int32(), indexes, from, n)
	}
}

func decodeInt64Texts(v *Vector, page parquet.Page, from, n int) error {
	values, indexes := contents(page)
	return integers(v, values.Int64(), indexes, from, n)
}
