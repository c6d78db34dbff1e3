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

// Folds says how records are divided for cross-validation.
type Folds struct {
	Count    int                   // parts, each of which is predicted by a model of the others. Default 10
	Level    estimate.Level        // of intervals. Default estimate.DefaultLevel
	Rand     *rand.Rand            // required: deals the records of each label to the folds
	Progress func(done, total int) // told of each classifier trained. Default: nobody
}

// Validation is what cross-validation found. Numbers are about the true labels, also where
// only randomised ones are known: then they are unbiased estimates, and may lie outside of
// what counts and parts can be.
//
// Accuracy is the part of the records that were predicted rightly by the model that did not
// know them. Its interval is Wilson's 1927 on all of them together. It is about the models
// trained here, on records like these: the mean over the folds of each model's accuracy on
// new records. Errors of records in different folds are dependent, as their models share
// data, but where one record moves a model little the dependence vanishes and their
// variance is that of independent trials (Bayle, Bayle, Janson and Mackey 2020,
// Cross-validation Confidence Intervals for Test Error: central limit theorems under
// weak stability of the learner; what Wilson takes for it, p(1-p), is not less). The resampled t of Nadeau
// and Bengio 2003 is not used: its correction is a heuristic for random subsamples, it has
// but as many numbers as folds, and it knows nothing of randomised labels. Neither interval
// covers that other training sets would give other models.
type Validation struct {
	Accuracy  estimate.Estimate
	Folds     []float64 // accuracy in each
	Error     float64   // standard deviation of Folds over √Count
	Baseline  estimate.Estimate
	Majority  int         // the class that Baseline predicts always, the most frequent
	Confusion [][]float64 // records by true class and predicted class
	Predicted []int       // by record: its class by the model that did not know it
	Margins   []float64   // by record: the score of its label less the highest of any other, above 0 where that is predicted
	Fold      []int       // by record: in which part it was
}

// CrossValidate trains a model for each fold on all others. Folds are stratified: they have
// as many records of each label, but for one. It is a DataError where a label has fewer
// records than there are folds.
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
	d.space = &space{}
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
			return unfit("class %d has %d records, fewer than the %d folds", class+1, count, f.Count)
		}
	}
	return nil
}

// deal gives each record its fold: the records of each label in random order, one fold after
// the other, going on where the label before ended.
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

// judge holds predictions against labels.
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

// unmix turns counts by randomised label into unbiased ones by true label: of the N records
// with a prediction, those with label c come to p·N + span·(those of true class c) in the mean.
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
