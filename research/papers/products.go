package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/stream"
)

// liuProducts computes figure 6: the errors of inner products between two sets of columns.
func liuProducts(ctx context.Context, o Options) (Table, error) {
	const records, columns = productRecords, productColumns
	r := source("liu-6", -1)
	x, length := uniformColumns(r, records, 2*columns)
	labels := make([][]byte, records)
	for i := range labels {
		labels[i] = fmt.Appendf(nil, "%d", i)
	}
	t := Table{
		Question: "How are the errors of inner products of columns of unit length spread?",
		Setting:  fmt.Sprintf("Two sets of %d columns of %d uniform numbers, each scaled to length one, 100 columns a set in the paper; %d matrices, in this process.", columns, records, o.Repeats),
		Columns:  []string{"k", "published bound", "root mean squared error", "theory", "mean of one matrix (deviation over matrices)"},
		Notes: []string{"Errors have mean zero over matrices. The entries of one matrix lean together, as all columns share a direction.",
			"The error falls as the root of k."},
	}
	chart := newErrorChart("liu-6", "Root mean squared error of inner products of columns of length one, by k", "k", "root mean squared error")
	var asPlayed, holding, single []float64
	for _, k := range []int{200, 500, 1000, 5000} {
		spec := projection.Spec{Family: projection.Gaussian, K: k}
		type run struct {
			square, mean, part, within float64 // part, within: mean square, and share of intervals that hold, over the pairs of the study on nodes
			errors                     []float64
		}
		repeats := o.Repeats
		if k <= 500 {
			repeats = 4 * o.Repeats // small k take a tenth of the time
		}
		runs, err := each(ctx, o, repeats, func(i int) (run, error) {
			matrix, err := projection.New(spec, stream.New(key("liu-6", i*10_000+k)))
			if err != nil {
				return run{}, err
			}
			sums := make([]int64, 2*columns*k)
			matrix.AddOuters(sums, labels, x)
			u, scale := make([][]float64, 2*columns), spec.Scale()
			for c := range u {
				u[c] = make([]float64, k)
				for j := range k {
					u[c][j] = float64(sums[j*2*columns+c]) * scale / length[c]
				}
			}
			var out run
			for a := range columns {
				for b := columns; b < 2*columns; b++ {
					off := dot(u[a], u[b]) - cosine(x, length, 2*columns, a, b)
					out.square += off * off / (columns * columns)
					out.mean += off / (columns * columns)
					if a < playedColumns && b < columns+playedColumns {
						const pairs = playedColumns * playedColumns
						out.part += off * off / pairs
						c := dot(u[a], u[b])
						if math.Abs(off) < normal95*math.Sqrt((dot(u[a], u[a])*dot(u[b], u[b])+c*c)/float64(k)) {
							out.within += 100. / pairs
						}
					}
					if k == 5000 && i == 0 {
						out.errors = append(out.errors, off)
					}
				}
			}
			return out, nil
		})
		if err != nil {
			return Table{}, err
		}
		var squares, centres []float64
		for _, one := range runs {
			squares, centres = append(squares, one.square), append(centres, one.mean)
		}
		rms := math.Sqrt(mean(squares))
		theory := math.Sqrt((1 + 0.75*0.75) / float64(k)) // the cosine of two uniform columns is 3/4
		t.Lines = append(t.Lines, Line{
			Cells: []string{fmt.Sprint(k), fmt.Sprintf("%.4f", math.Sqrt(2/float64(k))), fmt.Sprintf("%.4f", rms), fmt.Sprintf("%.4f", theory), fmt.Sprintf("%.4f", math.Sqrt(variance(centres)))},
			// Errors of one matrix are correlated, so that a matrix counts like about two draws.
			Holds:   math.Abs(mean(squares)-theory*theory) < 5*standardError(squares),
			Because: "the mean squared error is within five standard errors of theory",
		})
		var roots []float64
		for _, one := range runs {
			roots = append(roots, math.Sqrt(one.square))
			if k == productK {
				asPlayed, holding = append(asPlayed, math.Sqrt(one.part)), append(holding, one.within)
			}
			single = append(single, one.errors...)
		}
		chart.add(float64(k), math.NaN(), rms, quantile(roots, 0.025), quantile(roots, 0.975), theory)
	}
	t.charts = append(t.charts, histogram("liu-6a", "Errors of the inner products of one matrix, k = 5000, and the law over all matrices", "error", single, math.Sqrt(1.5625/5000)), chart.done())
	drawn, err := o.play(ctx, productStudy(x), func(out Outcome) ([]Drawn, error) { return readProducts(out, x, length) })
	if err != nil {
		return Table{}, err
	}
	t.compare(fmt.Sprintf("Three parties with %d of the columns each, columns side, family gaussian, k = %d, mechanism none. The mean of draws in this process is over the pairs of %d and %d columns.", playedColumns, productK, playedColumns, playedColumns),
		drawn, spread(asPlayed), spread(holding).in("%"))
	return t, nil
}

// Sizes of figure 6, and of its study on running nodes.
const (
	productRecords, productColumns = 10_000, 30
	playedColumns, productK        = 10, 500
)

// normal95 is the half width, in standard deviations, of a 95 % interval of a normal variable.
const normal95 = 1.96

// productStudy gives ten columns of the first set to one party, ten of the second to another, and
// ten of the rest to the third.
func productStudy(x []int64) Study {
	s := Study{
		Name: "liu-products", Partition: study.Vertical,
		Sketches: []string{fmt.Sprintf("side: columns, family: gaussian, k: %d, helpers: {ones: 0}", productK)},
		Privacy:  "mechanism: none", Analyses: []string{"kind: inner-product"},
	}
	for p, first := range playedFirst {
		for c := range playedColumns {
			name := fmt.Sprintf("c%d", first+c)
			s.Columns = append(s.Columns, fmt.Sprintf("name: %s, kind: numeric, bounds: [0, %d], source: made up, owner: %s", name, productGrain, partyNames[p]))
			s.Data[p].Columns = append(s.Data[p].Columns, name)
		}
		for i := 0; i < len(x); i += 2 * productColumns {
			var row []float64
			for c := range playedColumns {
				row = append(row, float64(x[i+first+c]))
			}
			s.Data[p].IDs = append(s.Data[p].IDs, strconv.Itoa(i))
			s.Data[p].Values = append(s.Data[p].Values, row)
		}
	}
	return s
}

// playedFirst is the first column of each party.
var playedFirst = [parties]int{0, productColumns, productColumns - playedColumns}

// readProducts reads the errors of the products between the first two parties' columns, and how
// many of their intervals hold.
func readProducts(out Outcome, x []int64, length []float64) ([]Drawn, error) {
	a, err := answer(out.Result, "inner-product")
	if err != nil {
		return nil, err
	}
	var square, pairs, within float64
	for _, p := range a.Pairs {
		from, to := a.Features[p.I], a.Features[p.J]
		if from.Party == to.Party {
			continue
		}
		var i, j int
		if _, err := fmt.Sscanf(from.Column+" "+to.Column, "c%d c%d", &i, &j); err != nil {
			return nil, err
		}
		d, err := number("a product", p.Number, 1/length[i]/length[j])
		if err != nil {
			return nil, err
		}
		if west := partyNames[2]; from.Party == west || to.Party == west {
			continue
		}
		truth := cosine(x, length, 2*productColumns, i, j)
		square, pairs = square+(d.Value-truth)*(d.Value-truth), pairs+1
		if d.Low != nil && *d.Low <= truth && truth <= *d.High {
			within++
		}
	}
	return []Drawn{
		{What: fmt.Sprintf("root mean squared error of %.0f products", pairs), Value: math.Sqrt(square / pairs)},
		{What: fmt.Sprintf("of %.0f intervals hold", pairs), Value: 100 * within / pairs},
	}, nil
}

// productGrain is the largest value, which is 1 in the paper.
const productGrain = 1 << 14

// uniformColumns draws integers up to productGrain, records × columns, and returns the columns'
// lengths too.
func uniformColumns(r *rand.Rand, records, columns int) (x []int64, length []float64) {
	x, length = make([]int64, records*columns), make([]float64, columns)
	for i := range x {
		x[i] = r.Int64N(productGrain + 1)
		length[i%columns] += float64(x[i]) * float64(x[i])
	}
	for c := range length {
		length[c] = math.Sqrt(length[c])
	}
	return x, length
}

func cosine(x []int64, length []float64, columns, a, b int) (sum float64) {
	for i := 0; i < len(x); i += columns {
		sum += float64(x[i+a]) * float64(x[i+b])
	}
	return sum / length[a] / length[b]
}
