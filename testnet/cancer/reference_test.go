package cancer

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/linear"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/seed/stream"
)

// python is the system's Python on Debian; its package python3-sklearn is the reference.
const python = "/usr/bin/python3"

const reference = `
import json, sys
import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC
given = json.load(sys.stdin)
out = []
for case in given:
    x, y, fold = np.array(case["points"]), np.array(case["labels"]), np.array(case["fold"])
    def accuracy(make):
        right = 0
        for f in range(10):
            train, test = fold != f, fold == f
            c = 1 / np.mean((x[train] ** 2).sum(axis=1) + 1)
            right += (make(c).fit(x[train], y[train]).predict(x[test]) == y[test]).sum()
        return right / len(y)
    out.append([
        accuracy(lambda c: LinearSVC(C=c, loss="hinge", tol=1e-5, max_iter=200000)),
        accuracy(lambda c: LinearSVC(C=c, loss="squared_hinge", dual=True, tol=1e-5, max_iter=200000)),
        accuracy(lambda c: RidgeClassifier(alpha=1)),
    ])
json.dump(out, sys.stdout)
`

// given is a sketch with labels and folds, the input of the reference.
type given struct {
	Points [][]float64 `json:"points"`
	Labels []int       `json:"labels"`
	Fold   []int       `json:"fold"`
}

// TestAgainstScikitLearn cross-validates support vector machines and ridge on the same sketches and
// folds, with and without noise: accuracies differ by less than a percentage point.
func TestAgainstScikitLearn(t *testing.T) {
	full.Only(t, "compares with scikit-learn")
	if err := exec.Command(python, "-c", "import sklearn").Run(); err != nil {
		t.Skipf("%s with scikit-learn is not here: %v", python, err)
	}
	names := []string{"hinge", "squared hinge", "ridge"}
	var cases []given
	var ours [][]float64
	for i, epsilon := range []dp.Epsilon{0, 32, 8} {
		d := sketched(t, epsilon)
		var accuracies []float64
		var v linear.Validation
		for _, by := range []linear.Trainer{
			linear.SVM{Tolerance: 1e-4, Rand: drawing(1)}, linear.SVM{Squared: true, Tolerance: 1e-4, Rand: drawing(1)}, linear.Ridge{},
		} {
			var err error
			if v, err = linear.CrossValidate(context.Background(), d, by, linear.Folds{Rand: drawing(uint64(i))}); err != nil {
				t.Fatal(err)
			}
			accuracies = append(accuracies, v.Accuracy.Interval.Estimate)
		}
		one := given{Labels: d.Labels, Fold: v.Fold}
		for row := range d.Labels {
			one.Points = append(one.Points, d.Points.RawRowView(row))
		}
		cases, ours = append(cases, one), append(ours, accuracies)
	}
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(python, "-c", reference)
	run.Stdin, run.Stderr = bytes.NewReader(input), os.Stderr
	output, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	var theirs [][]float64
	if err := json.Unmarshal(output, &theirs); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		for j, name := range names {
			t.Logf("case %d, %s: %.4f here, %.4f by scikit-learn", i, name, ours[i][j], theirs[i][j])
			if math.Abs(ours[i][j]-theirs[i][j]) > 0.01 {
				t.Errorf("case %d, %s: %.4f here, %.4f by scikit-learn", i, name, ours[i][j], theirs[i][j])
			}
		}
	}
}

func drawing(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 3)) }

// sketched returns the patients' thirty measurements in fixed point within their range, as eight
// Hadamard coordinates, with Laplace noise for one value unless ε is 0.
func sketched(t *testing.T, epsilon dp.Epsilon) linear.Data {
	t.Helper()
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	const k, one = 8, 1 << 9
	values := make([]int64, Patients*Columns)
	var names [][]byte
	for j, name := range table.Names {
		names = append(names, stream.ColumnLabel(name))
		low, high := math.Inf(1), math.Inf(-1)
		for _, row := range table.Values {
			low, high = min(low, row[j]), max(high, row[j])
		}
		for i, row := range table.Values {
			values[i*Columns+j] = int64(math.Round(one * (row[j] - low) / (high - low)))
		}
	}
	spec := projection.Spec{Family: projection.Hadamard, K: k}
	fixed, err := projection.FixHadamard(spec, stream.New([32]byte{1}), stream.New([32]byte{2}), names)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int64, Patients*k)
	fixed.Project(rows, values)
	if epsilon > 0 {
		g, err := dp.Promise(dp.Laplace, dp.Budget{Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		noise, err := dp.Calibrate(g, dp.Sensitivity{L1: one * spec.RowL1(), L2Squared: one * one * spec.RowL2Squared()})
		if err != nil {
			t.Fatal(err)
		}
		if err := noise.Add(rows, rand.NewChaCha8([32]byte{3})); err != nil {
			t.Fatal(err)
		}
	}
	out := linear.Data{Points: mat.NewDense(Patients, k, nil), Classes: 2}
	for i, v := range rows {
		out.Points.Set(i/k, i%k, float64(v)*spec.Scale()/one)
	}
	for _, malignant := range table.Malignant {
		label := 0
		if malignant {
			label = 1
		}
		out.Labels = append(out.Labels, label)
	}
	return out
}
