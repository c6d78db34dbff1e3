package linear

import (
	"context"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/distance"
	"github.com/cosketch/cosketch/kernel/room"
)

// scratch is the scratch space for training. One model after the other reuses it.
type scratch struct {
	order          []int32
	alpha, lengths []float64
	copies         []float64 // of points, in the stretches of an order
	held           []int32   // by place in the order: index of the copy
	place          []int32   // by point: its place in the order
	normal, second []float64 // matrices of ridge
}

// reuse returns n zeros. It reuses the previous space if it is large enough; otherwise it allocates
// for most.
func reuse[T room.Plain](from room.Allocator, used *[]T, n, most int) ([]T, error) {
	if len(*used) < n {
		fresh, err := room.Of[T](from, most)
		if err != nil {
			return nil, err
		}
		*used = fresh
		return fresh[:n], nil
	}
	clear((*used)[:n])
	return (*used)[:n], nil
}

// shared is the space that all models share.
func (d Data) shared() *scratch {
	if d.space == nil {
		return &scratch{}
	}
	return d.space
}

// order is the order of the points before shuffling.
func (t task) order() ([]int32, error) {
	out, err := reuse(t.Room, &t.shared().order, len(t.rows), len(t.Labels))
	for i := range out {
		out[i] = int32(i)
	}
	return out, err
}

// pass calls do with the points in an order. If they take more than Memory, they are first copied,
// in one pass from beginning to end, each into its stretch of the order. Then one stretch after the
// other is read. So a disk reads and writes sequentially, whatever the order is.
func (t task) pass(ctx context.Context, order []int32, do func(i int, x []float64)) error {
	_, d := t.Points.Dims()
	at := func(n int) []float64 { return t.point(int(order[n])) }
	if t.Memory > 0 && 8*int64(d)*int64(len(order)) > t.Memory {
		copies, held, err := t.stretches(ctx, order, max(int(t.Memory/8)/d, 1))
		if err != nil {
			return err
		}
		at = func(n int) []float64 { return distance.Row(copies, int(held[n])) }
	}
	for n, i := range order {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		do(int(i), at(n))
	}
	return nil
}

// stretches copies the points into stretches of the order, each points to a stretch. Held is the
// index of the copy, by place in the order.
func (t task) stretches(ctx context.Context, order []int32, each int) (copies blas64.General, held []int32, err error) {
	s := t.shared()
	_, d := t.Points.Dims()
	place, err := reuse(t.Room, &s.place, len(order), len(t.Labels))
	if err != nil {
		return copies, nil, err
	}
	if held, err = reuse(t.Room, &s.held, len(order), len(t.Labels)); err != nil {
		return copies, nil, err
	}
	if len(s.copies) < len(order)*d { // each is written before it is read
		if s.copies, err = room.Of[float64](t.Room, len(t.Labels)*d); err != nil {
			return copies, nil, err
		}
	}
	copies = blas64.General{Rows: len(order), Cols: d, Stride: d, Data: s.copies}
	for n, i := range order {
		place[i] = int32(n)
	}
	filled := make([]int, (len(order)+each-1)/each)
	for i, n := range place {
		if i%4096 == 0 && ctx.Err() != nil {
			return copies, nil, ctx.Err()
		}
		stretch := int(n) / each
		to := stretch*each + filled[stretch]
		filled[stretch]++
		copy(distance.Row(copies, to), t.point(i))
		held[n] = int32(to)
	}
	return copies, held, nil
}

// symmetric is an n × n matrix of zeros.
func (d Data) symmetric(n int) (*mat.SymDense, error) {
	data, err := reuse(d.Room, &d.shared().normal, n*n, n*n)
	if err != nil {
		return nil, err
	}
	return mat.NewSymDense(n, data), nil
}
