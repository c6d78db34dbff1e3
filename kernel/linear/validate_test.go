package linear_test

import (
	"context"
	"math"
	"testing"

	"github.com/cosketch/cosketch/kernel/linear"
)

func crossValidate(t testing.TB, d linear.Data, by linear.Trainer, seed uint64) linear.Validation {
	t.Helper()
	v, err := linear.CrossValidate(context.Background(), d, by, linear.Folds{Rand: source(seed)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFolds: numbers of records of each label, and of all, differ by at most one between folds. The
// reported numbers are consistent.
func TestFolds(t *testing.T) {
	d := blobs(source(3), 133, 4, 3, 2)
	for i := range 40 {
		d.Labels[i] = 0
	}
	v := crossValidate(t, d, linear.Ridge{}, 1)
	var by [10][3]int
	right := [10]int{}
	for i, fold := range v.Fold {
		by[fold][d.Labels[i]]++
		if v.Predicted[i] == d.Labels[i] {
			right[fold]++
		}
	}
	sum, total := 0, 0.0
	for fold, counts := range by {
		size := counts[0] + counts[1] + counts[2]
		if size < 13 || size > 14 {
			t.Errorf("fold %d has %d records", fold, size)
		}
		for label, count := range counts {
			if less := by[0][label] - count; less < -1 || less > 1 {
				t.Errorf("fold %d has %d records of label %d, the first %d", fold, count, label, by[0][label])
			}
		}
		if want := float64(right[fold]) / float64(size); v.Folds[fold] != want {
			t.Errorf("fold %d: accuracy %v, want %v", fold, v.Folds[fold], want)
		}
		sum += right[fold]
	}
	for c, row := range v.Confusion {
		var all float64
		for _, n := range row {
			all += n
		}
		want := 0
		for _, label := range d.Labels {
			if label == c {
				want++
			}
		}
		if all != float64(want) {
			t.Errorf("class %d has %v records in the confusion matrix, want %d", c, all, want)
		}
		total += row[c]
	}
	if v.Accuracy.Interval.Estimate != float64(sum)/133 || total != float64(sum) {
		t.Errorf("accuracy %v, %d right, %v on the diagonal", v.Accuracy, sum, total)
	}
	if v.Majority != 0 || v.Baseline.Interval.Estimate != float64(by[0][0]+by[1][0]+by[2][0]+by[3][0]+by[4][0]+by[5][0]+by[6][0]+by[7][0]+by[8][0]+by[9][0])/133 {
		t.Errorf("baseline %v of class %d", v.Baseline, v.Majority)
	}
}

// TestNoRecordIsPredictedByItself: labels unrelated to the points are predicted no better than by
// guessing. If a record were in its own training set, ridge on as many features as records would
// predict it.
func TestNoRecordIsPredictedByItself(t *testing.T) {
	d := blobs(source(5), 300, 300, 2, 0)
	v := crossValidate(t, d, linear.Ridge{Penalty: 1e-3}, 1)
	if a := v.Accuracy.Interval.Estimate; math.Abs(a-0.5) > 5*math.Sqrt(0.25/300) { // false alarm below 1e-6
		t.Errorf("accuracy %.3f on labels that are noise", a)
	}
	m, err := linear.Train(context.Background(), d, linear.Ridge{Penalty: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	if a := accuracy(m, d); a < 0.95 {
		t.Errorf("power: only %.3f on the records that the model knows", a)
	}
}

// TestAccuracyIsDebiased: over randomised labels, the estimates of accuracy, baseline and confusion
// have the mean of their values for the true labels, and intervals cover these. A z of 5 has
// probability below 1e-6. Uncorrected agreement is far off (power).
func TestAccuracyIsDebiased(t *testing.T) {
	const n, p, repeats = 600, 0.12, 300
	clean := blobs(source(6), n, 3, 3, 2.2)
	for i := range 120 {
		clean.Labels[i] = 0
	}
	var off, raw, diagonal, base []float64
	covered := 0
	for r := range uint64(repeats) {
		noisy := randomised(source(100+r), clean, p)
		v := crossValidate(t, noisy, linear.Ridge{}, r)
		truth, truly, agreed, zero := 0.0, 0.0, 0.0, 0.0
		for i, predicted := range v.Predicted {
			if predicted == clean.Labels[i] {
				truth += 1. / n
			}
			if predicted == 1 && clean.Labels[i] == 1 {
				truly++
			}
			if predicted == noisy.Labels[i] {
				agreed += 1. / n
			}
			if clean.Labels[i] == 0 {
				zero += 1. / n
			}
		}
		off, raw = append(off, v.Accuracy.Interval.Estimate-truth), append(raw, agreed-truth)
		diagonal, base = append(diagonal, (v.Confusion[1][1]-truly)/n), append(base, v.Baseline.Interval.Estimate-zero)
		if v.Accuracy.Low <= truth && truth <= v.Accuracy.High {
			covered++
		}
	}
	z := func(x []float64) float64 {
		var mean, squares float64
		for _, v := range x {
			mean += v / repeats
		}
		for _, v := range x {
			squares += (v - mean) * (v - mean) / (repeats - 1)
		}
		return mean / math.Sqrt(squares/repeats)
	}
	t.Logf("z of accuracy %.2f, confusion %.2f, baseline %.2f; uncorrected %.1f; covered %d of %d", z(off), z(diagonal), z(base), z(raw), covered, repeats)
	for name, x := range map[string][]float64{"accuracy": off, "confusion": diagonal, "baseline": base} {
		if math.Abs(z(x)) > 5 {
			t.Errorf("%s is biased: z = %.2f", name, z(x))
		}
	}
	if math.Abs(z(raw)) < 20 {
		t.Errorf("power: agreement with randomised labels has z = %.2f only", z(raw))
	}
	if covered < repeats*90/100 { // at 95 % fewer than 90 % have probability below 1e-3; the truth here varies, too
		t.Errorf("intervals cover in %d of %d", covered, repeats)
	}
}

// TestRidgeIsDebiased: over randomised labels the mean of ridge's plane is that of the true labels.
// Without correction it is not (power).
func TestRidgeIsDebiased(t *testing.T) {
	const p, repeats = 0.12, 400
	clean := blobs(source(8), 300, 3, 3, 2)
	for i := range 60 {
		clean.Labels[i] = 0
	}
	want, err := linear.Train(context.Background(), clean, linear.Ridge{})
	if err != nil {
		t.Fatal(err)
	}
	worst := func(correct bool) (z float64) {
		var sum, squares [3][4]float64
		for r := range uint64(repeats) {
			d := randomised(source(1000+r), clean, p)
			if !correct {
				d.Noise = linear.Randomised{}
			}
			m, err := linear.Train(context.Background(), d, linear.Ridge{})
			if err != nil {
				t.Fatal(err)
			}
			for c, s := range m.Scorers {
				for j, w := range append(s.Planes[0].Weights, s.Planes[0].Bias) {
					sum[c][j] += w
					squares[c][j] += w * w
				}
			}
		}
		for c, s := range want.Scorers {
			for j, w := range append(s.Planes[0].Weights, s.Planes[0].Bias) {
				mean := sum[c][j] / repeats
				deviation := math.Sqrt((squares[c][j]/repeats - mean*mean) / repeats)
				z = math.Max(z, math.Abs(mean-w)/deviation)
			}
		}
		return z
	}
	corrected, not := worst(true), worst(false)
	t.Logf("worst z of 12 weights: %.2f, without correction %.1f", corrected, not)
	if corrected > 5.5 { // 12 weights: false alarm below 1e-6
		t.Errorf("weights are biased: z = %.2f", corrected)
	}
	if not < 20 {
		t.Errorf("power: without correction z = %.2f only", not)
	}
}

// TestRandomisedLabelsCanBeLearnt: with many classes and labels that are more often wrong than
// right, classifiers still learn the true ones.
func TestRandomisedLabelsCanBeLearnt(t *testing.T) {
	const classes, p = 5, 0.13 // the true label is kept with probability 0.48
	clean, fresh := blobs(source(11), 1500, 5, classes, 6), blobs(source(12), 2000, 5, classes, 6)
	noisy := randomised(source(13), clean, p)
	for name, by := range trainers() {
		if name == "perceptron" {
			continue // its last plane depends on its last errors
		}
		m, err := linear.Train(context.Background(), noisy, by)
		if err != nil {
			t.Fatal(err)
		}
		got := accuracy(m, fresh)
		t.Logf("%s: %.3f of the true labels", name, got)
		if got < 0.9 {
			t.Errorf("%s: accuracy %.3f on true labels", name, got)
		}
	}
}
