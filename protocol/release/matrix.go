package release

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// Matrix returns the rows of R that a sketch is made with, scaled, as anybody with the seed can. On
// the records side it is features × k, with the rows of the features (in a joined sketch the
// party's own, and k is the length of its rows). On the columns side it is records × k, with the
// rows of records with these ids.
func (p Plan) Matrix(root seed.Seed, ids [][]byte) (*mat.Dense, error) {
	rows, flat, err := p.rows(root, ids)
	if err != nil {
		return nil, fmt.Errorf("making the matrix of sketch %d: %w", p.Index+1, err)
	}
	out := mat.NewDense(rows, len(flat)/rows, nil) // a label beside the rows has no row of R
	scale := p.Spec().Scale()
	for i, v := range flat {
		out.RawMatrix().Data[i] = float64(v) * scale
	}
	return out, nil
}

func (p Plan) rows(root seed.Seed, ids [][]byte) (rows int, flat []int64, err error) {
	k := p.Spec().K
	if p.Sketch().Side == sketch.Records {
		fixed, places, err := p.fixed(root)
		if err != nil {
			return 0, nil, err
		}
		d, k := len(p.Features), fixed.Spec().K
		flat, unit := make([]int64, d*k), make([]int64, fixed.Columns())
		for j, at := range places {
			clear(unit)
			unit[at] = 1
			fixed.Project(flat[j*k:(j+1)*k], unit)
		}
		return d, flat, nil
	}
	key, err := root.Derive(seed.RecordRows)
	if err != nil {
		return 0, nil, err
	}
	matrix, err := projection.New(p.Spec(), stream.New(key))
	if err != nil {
		return 0, nil, err
	}
	b := Builder{plan: p}
	flat = make([]int64, len(ids)*k)
	for i, label := range b.label(&part{}, ids) {
		matrix.AddOuter(flat[i*k:(i+1)*k], label, []int64{1})
	}
	return len(ids), flat, nil
}
