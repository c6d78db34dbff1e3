package linear_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/linear"
)

func source(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 7)) }

// blobs returns n points of dimension d around the corners of a simplex, one corner per class.
func blobs(rng *rand.Rand, n, d, classes int, apart float64) linear.Data {
	out := linear.Data{Points: mat.NewDense(n, d, nil), Classes: classes}
	for i := range n {
		label := i % classes
		out.Labels = append(out.Labels, label)
		for j := range d {
			v := rng.NormFloat64()
			if j == label%d {
				v += apart
			}
			out.Points.Set(i, j, v)
		}
	}
	return out
}

// randomised replaces each label by each other class with probability p.
func randomised(rng *rand.Rand, d linear.Data, p float64) linear.Data {
	labels := make([]int, len(d.Labels))
	for i, label := range d.Labels {
		if labels[i] = label; rng.Float64() < p*float64(d.Classes) { // uniform over all classes
			labels[i] = rng.IntN(d.Classes)
		}
	}
	d.Labels, d.Noise = labels, linear.Randomised{Other: p}
	return d
}

// trainers returns one of each kind, with fresh sources of randomness.
func trainers() map[string]linear.Trainer {
	return map[string]linear.Trainer{
		"perceptron": linear.Perceptron{Rand: source(1)}, "voted perceptron": linear.Perceptron{Voted: true, Rand: source(1)},
		"hinge": linear.SVM{Rand: source(1)}, "squared hinge": linear.SVM{Squared: true, Rand: source(1)}, "ridge": linear.Ridge{},
	}
}

func accuracy(m linear.Model, d linear.Data) float64 {
	right := 0.0
	for i, label := range d.Labels {
		if m.Predict(d.Points.RawRowView(i)) == label {
			right++
		}
	}
	return right / float64(len(d.Labels))
}

// TestEveryClassifierLearns with two and four classes that are far apart.
func TestEveryClassifierLearns(t *testing.T) {
	for _, classes := range []int{2, 4} {
		data, fresh := blobs(source(2), 400, 5, classes, 8), blobs(source(3), 400, 5, classes, 8)
		for name, by := range trainers() {
			m, err := linear.Train(context.Background(), data, by)
			if err != nil {
				t.Fatal(err)
			}
			if got := accuracy(m, fresh); got < 0.99 {
				t.Errorf("%s, %d classes: accuracy %.3f", name, classes, got)
			}
		}
	}
}

func TestUnfitData(t *testing.T) {
	good := blobs(source(2), 40, 3, 2, 4)
	with := func(change func(d *linear.Data)) linear.Data {
		d := good
		d.Points, d.Labels = mat.DenseCopyOf(good.Points), append([]int(nil), good.Labels...)
		change(&d)
		return d
	}
	for _, c := range []struct {
		name  string
		data  linear.Data
		unfit bool // want a DataError, which more records may resolve
	}{
		{"no features", with(func(d *linear.Data) { d.Points = &mat.Dense{} }), true},
		{"one class only", with(func(d *linear.Data) { clear(d.Labels) }), true},
		{"fewer of a class than folds", with(func(d *linear.Data) { clear(d.Labels); d.Labels[3] = 1 }), true},
		{"a class without records", with(func(d *linear.Data) { d.Classes = 3 }), true},
		{"NaN", with(func(d *linear.Data) { d.Points.Set(3, 1, math.NaN()) }), false},
		{"infinite", with(func(d *linear.Data) { d.Points.Set(3, 1, math.Inf(-1)) }), false},
		{"a label that is no class", with(func(d *linear.Data) { d.Labels[3] = 2 }), false},
		{"a label below 0", with(func(d *linear.Data) { d.Labels[3] = -1 }), false},
		{"too few labels", with(func(d *linear.Data) { d.Labels = d.Labels[1:] }), false},
		{"one class", with(func(d *linear.Data) { d.Classes = 1; clear(d.Labels) }), false},
		{"labels that say nothing", with(func(d *linear.Data) { d.Noise.Other = 0.5 }), false},
		{"a negative probability", with(func(d *linear.Data) { d.Noise.Other = -0.1 }), false},
	} {
		_, err := linear.CrossValidate(context.Background(), c.data, linear.Ridge{}, linear.Folds{Rand: source(1)})
		var unfit *linear.DataError
		if err == nil || errors.As(err, &unfit) != c.unfit {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	data := blobs(source(2), 40, 3, 2, 4)
	for _, by := range []linear.Trainer{
		linear.Perceptron{}, linear.Perceptron{Epochs: -1, Rand: source(1)}, linear.SVM{}, linear.SVM{Cost: -1, Rand: source(1)},
		linear.SVM{Cost: math.NaN(), Rand: source(1)}, linear.SVM{Tolerance: math.Inf(1), Rand: source(1)}, linear.SVM{Passes: -1, Rand: source(1)},
		linear.Ridge{Penalty: -1}, linear.Ridge{Penalty: math.NaN()},
	} {
		if _, err := linear.Train(context.Background(), data, by); err == nil {
			t.Errorf("%+v is taken", by)
		}
	}
	for _, f := range []linear.Folds{{}, {Count: 1, Rand: source(1)}} {
		if _, err := linear.CrossValidate(context.Background(), data, linear.Ridge{}, f); err == nil {
			t.Errorf("%+v is taken", f)
		}
	}
}

func TestTrainingStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	data := blobs(source(2), 40, 3, 2, 4)
	for name, by := range trainers() {
		if _, err := linear.Train(ctx, data, by); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cut, stop := context.WithCancel(context.Background())
	_, err := linear.CrossValidate(cut, data, linear.Ridge{}, linear.Folds{Rand: source(1), Progress: func(done, total int) {
		if done == 3 && total == 10 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cross-validation goes on: %v", err)
	}
}

// TestSameSourceSameModel also checks that data are not changed.
func TestSameSourceSameModel(t *testing.T) {
	data := blobs(source(2), 90, 3, 3, 1)
	before := mat.DenseCopyOf(data.Points)
	first, second := trainers(), trainers()
	for name := range first {
		a, err := linear.Train(context.Background(), data, first[name])
		if err != nil {
			t.Fatal(err)
		}
		b, err := linear.Train(context.Background(), data, second[name])
		if err != nil {
			t.Fatal(err)
		}
		for c := range a.Scorers {
			for i, p := range a.Scorers[c].Planes {
				if q := b.Scorers[c].Planes[i]; p.Bias != q.Bias || !mat.Equal(mat.NewVecDense(3, p.Weights), mat.NewVecDense(3, q.Weights)) {
					t.Fatalf("%s: %v and %v", name, p, q)
				}
			}
		}
	}
	if !mat.Equal(before, data.Points) {
		t.Error("points were changed")
	}
}

// Models trained with less Memory than the points take equal those trained with all points held, to
// the bit.
func TestStretches(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	const n, d, classes = 700, 5, 3
	data := linear.Data{Points: mat.NewDense(n, d, nil), Classes: classes}
	for i := range n {
		data.Labels = append(data.Labels, i%classes)
		for j := range d {
			data.Points.Set(i, j, rng.NormFloat64()+float64(i%classes))
		}
	}
	for name, by := range map[string]func(*rand.Rand) linear.Trainer{
		"svm":        func(r *rand.Rand) linear.Trainer { return linear.SVM{Rand: r, Passes: 20} },
		"perceptron": func(r *rand.Rand) linear.Trainer { return linear.Perceptron{Voted: true, Rand: r} },
		"ridge":      func(*rand.Rand) linear.Trainer { return linear.Ridge{} },
	} {
		var want linear.Validation
		for _, memory := range []int64{0, 8 * d, 100 * 8 * d, 8 * d * n} {
			data.Memory = memory
			folds := linear.Folds{Count: 5, Rand: rand.New(rand.NewPCG(1, 1))}
			got, err := linear.CrossValidate(t.Context(), data, by(rand.New(rand.NewPCG(2, 2))), folds)
			if err != nil {
				t.Fatal(err)
			}
			if memory == 0 {
				want = got
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %d bytes: other predictions", name, memory)
			}
		}
	}
}
