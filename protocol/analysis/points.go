package analysis

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/release"
)

// points are the records that analyses of the records side run on, whoever's they are: all
// parties' records, one party's after another's in the order of their releases' rows.
type points struct {
	matrix *mat.Dense       // m × k, one record a row, in encoded units
	noise  []estimate.Noise // by record: on one coordinate of it
	of     [][]int          // by contribution and row of its release: the record it is of, or notJoined
}

// notJoined stands for the record of a row that is none of the points.
const notJoined = -1

// points returns the records of a records-side sketch, as they were merged. It merges once
// a run: nobody changes what it returns.
func (r *run) points(ctx context.Context, sk int) (*points, error) {
	if p := r.merged[sk]; p != nil {
		return p, nil
	}
	p, err := r.stacked(ctx, sk)
	if err != nil {
		return nil, err
	}
	if r.merged == nil {
		r.merged = map[int]*points{}
	}
	r.merged[sk] = p
	return p, nil
}

// stretch is how many records are merged between two looks at the context.
const stretch = 1024

// stacked puts the parties' records after each other. All have the same noise.
func (r *run) stacked(ctx context.Context, sk int) (*points, error) {
	out, m := &points{}, 0
	for _, c := range r.Contributions {
		of := make([]int, c.Sketches[sk].Rows)
		for i := range of {
			of[i] = m
			m++
		}
		out.of = append(out.of, of)
	}
	plan, err := release.For(r.Study, r.Contributions[0].Party, sk)
	if err != nil {
		return nil, err
	}
	noise := plan.NoiseOf(0, 1, 1)
	out.noise = make([]estimate.Noise, m)
	for i := range out.noise {
		out.noise[i] = noise
	}
	out.matrix = mat.NewDense(m, plan.Spec().K, nil)
	for n, c := range r.Contributions {
		for i, at := range out.of[n] {
			if i%stretch == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			record := out.matrix.RawRowView(at)
			for j, v := range c.Sketches[sk].Row(i) {
				record[j] = float64(v) * plan.Unit()
			}
		}
	}
	return out, nil
}

// law says how the records of a sketch err, with the mean noise of those of all parties.
func (r *run) law(sk int, all *points) (estimate.Records, error) {
	plan, err := release.For(r.Study, r.Contributions[0].Party, sk)
	if err != nil {
		return estimate.Records{}, err
	}
	_, k := all.matrix.Dims()
	out := estimate.Records{K: k, Identity: plan.Spec().OrthogonalRows(len(plan.Features)), Noise: estimate.Noise{Sources: all.noise[0].Sources}}
	for _, n := range all.noise {
		out.Noise.Variance += n.Variance / float64(len(all.noise))
		out.Noise.FourthCumulant += n.FourthCumulant / float64(len(all.noise))
	}
	return out, nil
}

// holders says for each record which contribution has it, the first of several.
func (p *points) holders() []int {
	out := make([]int, len(p.noise))
	for i := range p.of {
		n := len(p.of) - 1 - i
		for _, record := range p.of[n] {
			if record != notJoined {
				out[record] = n
			}
		}
	}
	return out
}
