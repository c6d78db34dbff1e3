package linear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/room"
)

// Folds describes the folds of a cross-validation.
type Folds struct {
	Count    int                   // number of folds; each is predicted by a model of the others. Default 10
	Level    estimate.Level        // of intervals. Default estimate.DefaultLevel
	Rand     *rand.Rand            // required: assigns the records of each label to the folds
	Progress func(done, total int) // called after each trained classifier; may be nil
}

// Validation is the result of a cross-validation. All numbers refer to the true labels. If only
// randomised labels are known, they are unbiased estimates, and may lie outside the range of counts
// and fractions.
//
// Accuracy is the fraction of the records predicted correctly, each by the model trained without
// it. Its interval is Wilson's 1927 on all of them together. It is about the models trained here,
// on records like these: the mean over the folds of each model's accuracy on new records. Errors of
// records in different folds are dependent, as their models share data. Where one record changes a
// model little the dependence vanishes, and the variance is that of independent trials (Bayle,
// Bayle, Janson and Mackey 2020, Cross-validation Confidence Intervals for Test Error: central
// limit theorems under weak stability of the learner; Wilson's variance, p(1-p), is not less). The
// resampled t of Nadeau and Bengio 2003 is not used: its correction is a heuristic for random
// subsamples, it has only as many numbers as folds, and it does not handle randomised labels.
// Neither interval covers that other training sets would give other models.
type Validation struct {
	Accuracy  estimate.Estimate
	Folds     []float64 // accuracy in each
	Error     float64   // standard deviation of Folds over √Count
	Baseline  estimate.Estimate
	Majority  int         // the class that Baseline always predicts: the most frequent one
	Confusion [][]float64 // records by true class and predicted class
	Predicted []int       // by record: the class predicted by the model trained without it
	Margins   []float64   // by record: the score of its label minus the highest of any other; above 0 if the label is predicted
	Fold      []int       // by record: its fold
}

// CrossValidate trains a model for each fold on all others. Folds are stratified: their numbers of
// records of each label differ by at most one. It returns a DataError if a label has fewer records
// than there are folds.
func CrossValidate(ctx context.Context, d Data, by Trainer, f Folds) (Validation, error) {
	if f.Count == 0 {
		f.Count = 10
	}
	if f.Progress == nil {
		f.Progress = func(int, int) {}
	}
	v, err := validate(ctx, d, by, f)
	if err != nil {
		return Validation{}, fmt.Errorf("cross-validating: %w", err)
	}
	return v, nil
}

func validate(ctx context.Context, d Data, by Trainer, f Folds) (Validation, error) {
	if err := errors.Join(d.check(), by.check()); err != nil {
		return Validation{}, err
	}
	if err := f.check(d); err != nil {
		return Validation{}, err
	}
	d.space = &scratch{}
	v, n := Validation{}, len(d.Labels)
	var err error
	if v.Predicted, err = room.Of[int](d.Room, n); err != nil {
		return Validation{}, err
	}
	if v.Margins, err = room.Of[float64](d.Room, n); err != nil {
		return Validation{}, err
	}
	if v.Fold, err = f.deal(d); err != nil {
		return Validation{}, err
	}
	all, err := room.Of[int](d.Room, n)
	if err != nil {
		return Validation{}, err
	}
	done, total := 0, f.Count*len(d.tasks(nil))
	for fold := range f.Count {
		rows := all[:0]
		for i, in := range v.Fold {
			if in != fold {
				rows = append(rows, i)
			}
		}
		m, err := train(ctx, d, rows, by, func() { done++; f.Progress(done, total) })
		if err != nil {
			return Validation{}, err
		}
		for i, in := range v.Fold {
			if in == fold {
				x := d.Points.RawRowView(i)
				v.Predicted[i], v.Margins[i] = m.Predict(x), m.margin(x, d.Labels[i])
			}
		}
	}
	v.judge(d, f)
	return v, nil
}

func (f Folds) check(d Data) error {
	switch {
	case f.Count < 2:
		return fmt.Errorf("%d folds: at least 2 are needed", f.Count)
	case f.Rand == nil:
		return errors.New("folds: no source of randomness")
	}
	for class, count := range d.counts() {
		if count < f.Count {
			return dataErrorf("class %d has %d records, fewer than the %d folds", class+1, count, f.Count)
		}
	}
	return nil
}

// deal assigns each record to a fold: the records of each label in random order, fold by fold,
// continuing where the previous label ended.
func (f Folds) deal(d Data) ([]int, error) {
	sorted, err := room.Of[int](d.Room, len(d.Labels))
	if err != nil {
		return nil, err
	}
	out, err := room.Of[int](d.Room, len(d.Labels))
	if err != nil {
		return nil, err
	}
	counts, ends := d.counts(), make([]int, d.Classes)
	for class := 1; class < d.Classes; class++ {
		ends[class] = ends[class-1] + counts[class-1]
	}
	for i, label := range d.Labels {
		sorted[ends[label]] = i
		ends[label]++
	}
	next := 0
	for class, count := range counts {
		rows := sorted[ends[class]-count : ends[class]]
		f.Rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, i := range rows {
			out[i] = next % f.Count
			next++
		}
	}
	return out, nil
}

// judge compares predictions with labels.
func (v *Validation) judge(d Data, f Folds) {
	agreed, sizes, hits := 0, make([]int, f.Count), make([]int, f.Count)
	v.Confusion = make([][]float64, d.Classes)
	for c := range v.Confusion {
		v.Confusion[c] = make([]float64, d.Classes)
	}
	for i, label := range d.Labels {
		v.Confusion[label][v.Predicted[i]]++
		sizes[v.Fold[i]]++
		if label == v.Predicted[i] {
			agreed++
			hits[v.Fold[i]]++
		}
	}
	p, span := d.Noise.Other, d.Noise.span(d.Classes)
	v.Accuracy = estimate.Proportion(agreed, len(d.Labels), f.Level).Affine(1/span, -p/span)
	var mean, squares float64
	for i, hit := range hits {
		v.Folds = append(v.Folds, (float64(hit)/float64(sizes[i])-p)/span)
		mean += v.Folds[i] / float64(f.Count)
	}
	for _, a := range v.Folds {
		squares += (a - mean) * (a - mean)
	}
	v.Error = math.Sqrt(squares / float64(f.Count-1) / float64(f.Count))
	counts := d.counts()
	for c, count := range counts {
		if count > counts[v.Majority] {
			v.Majority = c
		}
	}
	v.Baseline = estimate.Proportion(counts[v.Majority], len(d.Labels), f.Level).Affine(1/span, -p/span)
	v.unmix(p, span)
}

// unmix turns counts by randomised label into unbiased ones by true label. Of the N records with a
// prediction, p·N + span·(those of true class c) have label c on average.
func (v *Validation) unmix(p, span float64) {
	if p == 0 {
		return
	}
	for predicted := range v.Confusion {
		var all float64
		for c := range v.Confusion {
			all += v.Confusion[c][predicted]
		}
		for c := range v.Confusion {
			v.Confusion[c][predicted] = (v.Confusion[c][predicted] - p*all) / span
		}
	}
}
