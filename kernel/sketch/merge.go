package sketch

import (
	"fmt"
	"math"
)

// Stack concatenates sketches of equal k: the columns of a columns side, the records of a records
// side. It returns an error if sides or k differ, or the side is one of sums.
func Stack(sketches ...Sketch) (Sketch, error) {
	out, err := stacked(sketches)
	if err != nil {
		return Sketch{}, fmt.Errorf("stacking sketches: %w", err)
	}
	out.Data = make([]int64, 0, out.Rows*out.Cols)
	if out.Side == Records {
		for _, s := range sketches {
			out.Data = append(out.Data, s.Data...)
		}
		return out, nil
	}
	for i := range out.Rows {
		for _, s := range sketches {
			out.Data = append(out.Data, s.Row(i)...)
		}
	}
	return out, nil
}

// stacked returns the shape of a stack, without data.
func stacked(sketches []Sketch) (Sketch, error) {
	if len(sketches) == 0 {
		return Sketch{}, errNoSketch
	}
	out := Sketch{Side: sketches[0].Side}
	for i, s := range sketches {
		if err := s.check(); err != nil {
			return Sketch{}, fmt.Errorf("sketch %d: %w", i+1, err)
		}
		first := sketches[0]
		switch {
		case s.Side != first.Side:
			return Sketch{}, fmt.Errorf("sketch %d is a %s, the first a %s", i+1, s, first)
		case s.Side.Sums():
			return Sketch{}, fmt.Errorf("sketch %d is a %s: sums are added, not stacked", i+1, s)
		case s.Side == Columns && s.Rows != first.Rows, s.Side == Records && s.Cols != first.Cols:
			return Sketch{}, fmt.Errorf("sketch %d is a %s, the first a %s: k differs", i+1, s, first)
		case s.Side == Columns:
			out.Rows, out.Cols = s.Rows, out.Cols+s.Cols
		default:
			out.Rows, out.Cols = out.Rows+s.Rows, s.Cols
		}
		if _, err := area(out.Rows, out.Cols); err != nil {
			return Sketch{}, err
		}
	}
	return out, nil
}

// Add adds sketches entry by entry. It returns an error if sides or shapes differ, or a sum
// overflows int64.
func Add(sketches ...Sketch) (Sketch, error) {
	if len(sketches) == 0 {
		return Sketch{}, fmt.Errorf("adding sketches: %w", errNoSketch)
	}
	first := sketches[0]
	out := Sketch{Side: first.Side, Rows: first.Rows, Cols: first.Cols}
	for i, s := range sketches {
		if err := s.check(); err != nil {
			return Sketch{}, fmt.Errorf("adding sketches: sketch %d: %w", i+1, err)
		}
		if s.Side != first.Side || s.Rows != first.Rows || s.Cols != first.Cols {
			return Sketch{}, fmt.Errorf("adding sketches: sketch %d is a %s, the first a %s", i+1, s, first)
		}
		if out.Data == nil {
			out.Data = make([]int64, len(s.Data))
		}
		for j, v := range s.Data {
			if v > 0 && out.Data[j] > math.MaxInt64-v || v < 0 && out.Data[j] < math.MinInt64-v {
				return Sketch{}, fmt.Errorf("adding sketches: entry (%d, %d) overflows at sketch %d", j/s.Cols+1, j%s.Cols+1, i+1)
			}
			out.Data[j] += v
		}
	}
	return out, nil
}

// Subtract subtracts part from whole entry by entry. This removes a set of records from a sketch
// exactly, if part is their sketch under the same rows of R. It returns an error if sides or shapes
// differ, or a difference overflows int64.
func Subtract(whole, part Sketch) (Sketch, error) {
	for i, s := range []Sketch{whole, part} {
		if err := s.check(); err != nil {
			return Sketch{}, fmt.Errorf("subtracting sketches: sketch %d: %w", i+1, err)
		}
	}
	if part.Side != whole.Side || part.Rows != whole.Rows || part.Cols != whole.Cols {
		return Sketch{}, fmt.Errorf("subtracting sketches: a %s from a %s", part, whole)
	}
	out := Sketch{Side: whole.Side, Rows: whole.Rows, Cols: whole.Cols, Data: make([]int64, len(whole.Data))}
	for j, v := range part.Data {
		if v > 0 && whole.Data[j] < math.MinInt64+v || v < 0 && whole.Data[j] > math.MaxInt64+v {
			return Sketch{}, fmt.Errorf("subtracting sketches: entry (%d, %d) overflows", j/part.Cols+1, j%part.Cols+1)
		}
		out.Data[j] = whole.Data[j] - v
	}
	return out, nil
}
