package analysis

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/codebook"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// codeMeans clusters the code points of the second round, by all parties' records.
func (r *run) codeMeans(ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
	return r.partitionMeans(ctx, index, sk, a, r.byCodes)
}

// byCodes returns the cells around the code points of the second round, along the codebook's axes.
// Across the axes all clusters have the same position: the mean of all records.
func (r *run) byCodes(ctx context.Context, sk int, o study.KMeansOptions) (p partition, err error) {
	x, sum, err := r.together(sk)
	if err != nil {
		return p, err
	}
	book, one := r.Study.Codebook(sk), float64(r.Study.Bits.One())
	noise, _ := x.plan.CodeNoise(len(r.Contributions))
	cells, err := codebook.Cells(book, sum, r.Study.CodeWeights(sk), noise, float64(r.records()))
	if err != nil {
		return p, &brokenInput{err}
	}
	p = partition{axes: x, variance: codebook.Square(book) / one / one, cells: inUnits(cells, one)}
	p.place = func(point []float64) []float64 {
		steps := make([]float64, len(point))
		floats.ScaleTo(steps, one, point)
		out := codebook.Back(book, steps)
		for j, c := range x.centres {
			out[j] = (out[j] - float64(c)) / one
		}
		return out
	}
	known, err := r.beside(ctx, x, sk)
	if err != nil {
		return p, err
	}
	n := float64(r.records())
	tilts := codebook.Tilts(book, known.records.Covariance, known.product/n/n)
	middle := p.place(make([]float64, len(book.Axes)))
	p.mean = func(of cluster.CellCluster, j int, records estimate.Noisy) estimate.Estimate {
		value, times := codebook.Sum(book, of.Sums, j)
		variance := times * float64(of.Cells) * p.cells.Noise.Sum
		variance += records.Value * records.Value * known.means[j] * max(1-times, 0) // across the axes a cluster has the mean of all records
		for a, sum := range of.Sums {
			variance += sum * sum * tilts[a] * max(1-times, 0)
		}
		e := estimate.Quotient(estimate.Noisy{Value: value, Variance: variance}, records, 0)
		return e.Plus(middle[j]).Times(x.unit(j)).Plus(x.origin(j))
	}
	p.cut = r.cutFromCells(x.plan, sum, o.Clusters)
	p.rests = append(r.restsOnCells(false, p.cut), premise.AlongAxes)
	return p, nil
}

// inUnits converts cells from steps to encoded units; one is the number of steps in a unit.
func inUnits(c cluster.Cells, one float64) cluster.Cells {
	for _, m := range []*mat.Dense{c.Sums, c.Places} {
		m.Scale(1/one, m)
	}
	c.Noise.Sum, c.CentroidVariance = c.Noise.Sum/one/one, c.CentroidVariance/one/one
	return c
}
