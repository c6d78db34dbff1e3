package audit

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/audit/attack"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// columnsSide attacks the columns of a sketch through the sampled records' rows of R.
func (s seen) columnsSide() ([]AttackedResult, error) {
	rows, values, err := s.columns()
	if err != nil {
		return nil, err
	}
	x := s.truth() // centred, as in the sketch
	scales := s.plan.Scales()
	for j, c := range s.plan.Centres() {
		for i := range s.sample.records {
			x.Set(i, j, (x.At(i, j)-c)/scales[j])
		}
	}
	return s.throughColumns(rows, values, x)
}

// columns returns the sampled records' rows of R, and the sketched columns.
func (s seen) columns() (rows, values *mat.Dense, err error) {
	ids := make([][]byte, len(s.sample.records))
	for i, record := range s.sample.records {
		ids[i] = record.id
	}
	if rows, err = s.plan.Matrix(s.root, ids); err != nil {
		return nil, nil, err
	}
	head := s.plan.Head()
	values = mat.NewDense(s.exact.Sketch.Rows-head, s.plan.Values, nil)
	for i := range s.exact.Sketch.Rows - head {
		for j := range s.plan.Values {
			values.Set(i, j, float64(s.exact.Sketch.Row(head + i)[j])*s.plan.Unit())
		}
	}
	return rows, values, nil
}

// columnsTogether attacks several sketches of the same columns jointly. Each sketch has its own
// centres and scales, which are first undone. A centre's part in a sketch is the centre times the
// column sums of R over all records; those sums are known only if all records are in the sample.
func columnsTogether(all []seen) ([]AttackedResult, error) {
	var rows, values *mat.Dense
	for _, s := range all {
		r, v, err := s.columns()
		if err != nil {
			return nil, err
		}
		m, k := r.Dims()
		if whole := int64(m) == s.records; !whole && slices.ContainsFunc(s.plan.Centres(), func(c float64) bool { return c != 0 }) {
			return nil, nil
		}
		var sums mat.VecDense
		sums.MulVec(r.T(), ones(m))
		scales := s.plan.Scales()
		for j, c := range s.plan.Centres() {
			for i := range k {
				v.Set(i, j, v.At(i, j)*scales[j]+c*sums.AtVec(i))
			}
		}
		if rows == nil {
			rows, values = r, v
			continue
		}
		var side, below mat.Dense
		side.Augment(rows, r)
		below.Stack(values, v)
		rows, values = &side, &below
	}
	return all[0].throughColumns(rows, values, all[0].truth())
}

func (s seen) throughColumns(rows, values, x *mat.Dense) ([]AttackedResult, error) {
	solved, err := s.solved(rows, values, x)
	if err != nil {
		return nil, err
	}
	matched, err := s.matched(rows, values, x)
	return append(solved, matched...), err
}

// solved finds the values of least norm, around their columns' means, that have the sketch of the
// records. Without noise, and with as many coordinates as records, these are the true values. It
// needs all records.
func (s seen) solved(rows, values, x *mat.Dense) ([]AttackedResult, error) {
	m, k := rows.Dims()
	if int64(m) < s.records || m*k > attackedEntries {
		return nil, nil
	}
	_, d := x.Dims()
	var sums mat.VecDense // the sketch of a column of ones
	sums.MulVec(rows.T(), ones(m))
	off := mat.NewDense(d, k, nil)
	means := make([]float64, d)
	for j := range d {
		means[j] = stat.Mean(mat.Col(nil, j, x), nil)
		for c := range k {
			off.Set(j, c, values.At(c, j)-means[j]*sums.AtVec(c))
		}
	}
	found, err := attack.View{R: rows, Y: off}.MinimumNorm()
	if err != nil {
		return nil, err
	}
	guess := mat.NewDense(m, d, nil)
	for i := range m {
		for j := range d {
			guess.Set(i, j, means[j]+found.At(j, i))
		}
	}
	return s.results("least norm", "R; the ids of all records; the columns' means", x, guess)
}

func ones(n int) *mat.VecDense {
	out := mat.NewVecDense(n, nil)
	for i := range n {
		out.SetVec(i, 1)
	}
	return out
}

// matched correlates each record's row of R with the sketched columns.
func (s seen) matched(rows, values, x *mat.Dense) ([]AttackedResult, error) {
	found, err := attack.Filter(rows, values)
	if err != nil {
		return nil, err
	}
	m, _ := x.Dims()
	guess := mat.NewDense(m, s.plan.Values, nil)
	var outliers, shown int
	for j := range s.plan.Values {
		// The best linear guess is the filter's output, shrunk by its share of signal variance.
		column, filtered := mat.Col(nil, j, x), mat.Col(nil, j, found)
		spread := attack.FilterError(mat.Col(nil, j, values))
		mean, deviation := stat.PopMeanStdDev(column, nil)
		slope := deviation * deviation / (deviation*deviation + spread*spread)
		for i, v := range filtered {
			guess.Set(i, j, mean+slope*(v-mean))
			if far := math.Abs(column[i]) > 6*spread; far {
				outliers++
				if math.Abs(v) > 5*spread {
					shown++
				}
			}
		}
	}
	out, err := s.results("matched filter", "R; the records' ids", x, guess)
	if err != nil {
		return nil, err
	}
	if outliers > 0 {
		out = append(out, AttackedResult{Name: "outliers", Knows: "R; the records' ids", Measure: "values that stand out of their column's sketch",
			Value: float64(shown) / float64(outliers), Detail: fmt.Sprintf("%d values lie beyond six deviations of what hides them", outliers)})
	}
	return out, nil
}
