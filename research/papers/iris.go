package papers

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/linear"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
)

// liuIris computes table IV: the voted perceptron on projected flowers.
func liuIris(ctx context.Context, o Options) (Table, error) {
	iris, err := o.Corpus.Iris()
	if err != nil {
		return Table{}, err
	}
	const d, folds = 4, 10
	var flat []int64
	var labels []int
	for i, row := range iris.Rows {
		for _, name := range iris.Names[:d] {
			values, err := iris.Numbers(name)
			if err != nil {
				return Table{}, err
			}
			flat = append(flat, int64(math.Round(10*values[i]))) // one decimal
		}
		label := 0
		if row[d] == "Iris-virginica" {
			label = 1
		}
		labels = append(labels, label)
	}
	t := Table{
		Question: "Do projected flowers still tell Iris virginica from the other two species?",
		Setting:  fmt.Sprintf("Iris, voted perceptron with ten epochs, ten folds; R with normal entries, k = 2 of 4, %d matrices, in this process.", o.Repeats),
		Columns:  []string{"data", "published accuracy", "our mean", "our 10 %, median and 90 %"},
		Notes:    []string{"The published value is from one matrix. Its standard deviation over folds, 9.43, divides by ten; dividing by nine gives 9.94."},
	}
	var projected []float64
	accuracy := func(k, i int) (float64, error) {
		spec := projection.Spec{Family: projection.Gaussian, K: k}
		if k == d {
			spec.Family = projection.Identity
		}
		f, err := fixed(spec, d, "liu-4", i)
		if err != nil {
			return 0, err
		}
		points := project(f, flat)
		for j := range points {
			points[j] /= 10
		}
		data := linear.Data{Points: mat.NewDense(len(labels), k, points), Labels: labels, Classes: 2}
		r := source("liu-4", i)
		v, err := linear.CrossValidate(ctx, data, linear.Perceptron{Epochs: 10, Voted: true, Rand: r}, linear.Folds{Count: folds, Rand: r})
		return 100 * v.Accuracy.Interval.Estimate, err
	}
	for _, line := range []struct {
		name      string
		k         int
		published float64
	}{{"original", d, 94.67}, {"projected", 2, 86.67}} {
		got, err := each(ctx, o, o.Repeats, func(i int) (float64, error) { return accuracy(line.k, i) })
		if err != nil {
			return Table{}, err
		}
		low, middle, high := quantile(got, 0.1), quantile(got, 0.5), quantile(got, 0.9)
		one := Line{
			Cells:   []string{line.name, percent(line.published), percent(mean(got)), fmt.Sprintf("%.2f, %.2f, %.2f", low, middle, high)},
			Holds:   line.published >= low && line.published <= middle,
			Because: "the published accuracy lies between our lowest tenth and our median",
		}
		if line.k == d {
			one.Holds, one.Because = math.Abs(mean(got)-96.8) < 2.5, "on the flowers themselves about 96.8 %, as with ten epochs"
		}
		t.Lines = append(t.Lines, one)
		if line.k != d {
			t.charts = append(t.charts, histogram("liu-4", "Accuracy on projected flowers, over matrices (published: 86.67 %)", "accuracy, %", got, 0))
			projected = got
		}
	}
	drawn, err := o.play(ctx, irisStudy(iris, labels), func(out Outcome) ([]Drawn, error) {
		a, err := answer(out.Result, "voted-perceptron")
		if err != nil {
			return nil, err
		}
		n, err := number("accuracy over ten folds", a.Classifier.Accuracy, 100)
		return []Drawn{n}, err
	})
	if err != nil {
		return Table{}, err
	}
	t.compare("Three parties with a third of the flowers each, records side, family gaussian, k = 2, mechanism none, labels plain.", drawn, spread(projected).in("%"))
	return t, nil
}

// irisStudy learns from projected flowers. The species are spread evenly over the parties.
func irisStudy(iris corpus.Table, labels []int) Study {
	const d = 4
	names := append(numbered(d), "virginica")
	s := Study{
		Name: "liu-iris", Partition: study.Horizontal,
		Columns:  append(columns(names[:d], "kind: numeric, bounds: [0, 8]"), "name: virginica, kind: binary, source: public data, role: label"),
		Sketches: []string{"side: records, family: gaussian, k: 2, labels: plain"}, Privacy: "mechanism: none",
		Analyses: []string{"kind: voted-perceptron, epochs: 10, folds: 10"},
	}
	for i, row := range iris.Rows {
		var values []float64
		for _, cell := range row[:d] {
			v, _ := strconv.ParseFloat(cell, 64) // cannot fail: Numbers has parsed them all
			values = append(values, v)
		}
		at := &s.Data[i%parties]
		at.Columns, at.IDs, at.Values = names, append(at.IDs, strconv.Itoa(i)), append(at.Values, append(values, float64(labels[i])))
	}
	return s
}
