package analysis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// diagnosed is a horizontal study whose label is the last column.
const diagnosed = `partition: horizontal
records: {id: [patient]}
columns:
  - {name: height, kind: numeric, bounds: [100, 220]}
  - {name: pulse, kind: numeric, centre: 70, spread: 12}
  - {name: ward, kind: categorical, values: [medicine, surgery, maternity], role: label}
sketches:
  - %s
privacy: %s
analyses: [%s]
`

const allClassifiers = "{kind: perceptron, epochs: 30}, {kind: voted-perceptron}, {kind: svm}, {kind: svm, loss: hinge}, {kind: ridge-classification}"

// diagnoses returns files of such a study: records near three corners of the columns' ranges, one
// per ward.
func diagnoses(rng *rand.Rand, sizes map[string][]int) files {
	data, group := corners(rng, sizes)
	for name, f := range data {
		for i := range f.values {
			f.values[i] = append(f.values[i], float64(group[name][i]))
		}
	}
	return data
}

func mostlyMixed(scale int) map[string][]int {
	return map[string][]int{"north": {20 * scale, 9 * scale, 0}, "south": {0, 31 * scale, 15 * scale}, "west": {13 * scale, 0, 40 * scale}}
}

// TestClassifiersFindTheWards trains on records near three corners that no party has in full, with
// plain and randomised labels, with a projection and without one. Predictions go to their records
// and are right, and the document says how often.
func TestClassifiersFindTheWards(t *testing.T) {
	wards := []string{"medicine", "surgery", "maternity"}
	for _, c := range []struct{ name, sketch, privacy string }{
		{"plain", "{side: records, family: identity, labels: plain}", noPromise},
		{"plain, rotated", "{side: records, family: hadamard, k: 2, labels: plain}", noPromise},
		{"randomised", "{side: records, family: identity, labels: randomised}", "{unit: attribute, mechanism: laplace, epsilon: 40}"},
		{"randomised for certain", "{side: records, family: sparse, k: 16, s: 4, labels: randomised}", "{unit: attribute, mechanism: gaussian, epsilon: 300, delta: 1e-6}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := parse(t, fmt.Sprintf(diagnosed, c.sketch, c.privacy, allClassifiers))
			data := diagnoses(rand.New(rand.NewPCG(3, 5)), mostlyMixed(2))
			sent := ship(t, s, 5, data)
			result, labels := sent.run(t)
			for a, answer := range result.Analyses {
				found := answer.Classifier
				if found == nil {
					t.Fatalf("%s: no answer: %q", answer.Kind, answer.Undefined)
				}
				right, all := 0, 0
				for i, contribution := range sent.options.Contributions {
					name := s.Parties[contribution.Party].Name
					column := labels[i].Columns[a]
					if column.Name != "predicted" || column.Analysis != a || column.Rows() != len(data[name].ids) {
						t.Fatalf("column %q of analysis %d with %d rows", column.Name, column.Analysis, column.Rows())
					}
					for row, ward := range column.Texts {
						record := sent.orders[i][answer.Sketch][row]
						if all++; wards[int(data[name].values[record][2])] == ward {
							right++
						}
					}
				}
				share := float64(right) / float64(all)
				if least := 0.97; share < least {
					t.Errorf("%s: %.3f of the predictions are right", answer.Kind, share)
				}
				if *found.Accuracy.Low > share || share > *found.Accuracy.High+1e-9 {
					t.Errorf("%s: accuracy %.3f, stated [%.3f, %.3f]", answer.Kind, share, *found.Accuracy.Low, *found.Accuracy.High)
				}
				checkClassifier(t, found, all)
				checkModel(t, found, sent, answer.Sketch, wards, data, s)
			}
		})
	}
}

// checkClassifier checks that a classifier is consistent.
func checkClassifier(t *testing.T, c *analysis.Classifier, records int) {
	t.Helper()
	var sum float64
	for _, row := range c.Confusion {
		for _, n := range row {
			sum += n
		}
	}
	if math.Abs(sum-float64(records)) > 1e-6*float64(records) || c.Records != records {
		t.Errorf("confusion matrix of %v records, said to be %d, are %d", sum, c.Records, records)
	}
	if c.Majority != "maternity" || c.Column != "ward" || len(c.Folds) != 10 || *c.Baseline.Estimate < 0.35 || *c.Baseline.Estimate > 0.5 {
		t.Errorf("majority %q of %q with %v in %d folds", c.Majority, c.Column, *c.Baseline.Estimate, len(c.Folds))
	}
}

// checkModel repeats the predictions from the document alone.
func checkModel(t *testing.T, c *analysis.Classifier, sent shipped, sk int, wards []string, data files, s *study.Study) {
	t.Helper()
	right, all := 0, 0
	for i, contribution := range sent.options.Contributions {
		rows := contribution.Sketches[sk]
		for row := range rows.Rows {
			best, highest := "", math.Inf(-1)
			for _, class := range c.ClassPlanes {
				score, votes := 0.0, 0.0
				for _, p := range class.Planes {
					at := p.Bias
					for j, w := range p.Weights {
						at += w * float64(rows.Row(row)[j]) * c.Unit
					}
					if !c.Voted {
						score = at
						continue
					}
					votes += float64(p.Votes)
					score += float64(p.Votes) * math.Copysign(1, at)
				}
				if c.Voted {
					score /= votes
				}
				if score > highest {
					best, highest = class.Class, score
				}
			}
			record := data[s.Parties[contribution.Party].Name].values[sent.orders[i][sk][row]]
			if all++; wards[int(record[2])] == best {
				right++
			}
		}
	}
	if float64(right) < 0.97*float64(all) {
		t.Errorf("the model in the document is right about %d of %d records", right, all)
	}
}

// TestClassifiersOfRandomisedLabels: if the label stays with probability 0.53 only, accuracy is
// still stated for true labels, and predictions are better than labels.
func TestClassifiersOfRandomisedLabels(t *testing.T) {
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, clip: 1.5, labels: randomised, label_share: 0.2}",
		"{unit: record, mechanism: laplace, epsilon: 4.8}", "{kind: ridge-classification}, {kind: svm}"))
	data := diagnoses(rand.New(rand.NewPCG(3, 6)), mostlyMixed(30))
	sent := ship(t, s, 6, data)
	result, labels := sent.run(t)
	for a, answer := range result.Analyses {
		found := answer.Classifier
		right, all, kept := 0.0, 0.0, 0.0
		for i, contribution := range sent.options.Contributions {
			values := data[s.Parties[contribution.Party].Name].values
			for row, ward := range labels[i].Columns[a].Texts {
				truth := int(values[sent.orders[i][0][row]][2])
				all++
				if found.Classes[truth] == ward {
					right++
				}
				if contribution.Labels[0][row] == truth {
					kept++
				}
			}
		}
		share := right / all
		t.Logf("%s: right %.3f, stated %.3f [%.3f, %.3f]; %.3f of the labels are true", answer.Kind, share, *found.Accuracy.Estimate, *found.Accuracy.Low, *found.Accuracy.High, kept/all)
		if *found.Accuracy.Low > share || share > *found.Accuracy.High {
			t.Errorf("%s: accuracy %.3f, stated [%.3f, %.3f]", answer.Kind, share, *found.Accuracy.Low, *found.Accuracy.High)
		}
		if kept/all > 0.56 || share < *found.Baseline.High {
			t.Errorf("%s: %.3f of the labels kept, %.3f of the records predicted", answer.Kind, kept/all, share)
		}
	}
	if d := result.Sketches[0]; d.Labels != "randomised" || d.Epsilon != 4.8 || *d.EpsilonPerPerson != 4.8 {
		t.Errorf("%+v", d)
	}
}

// TestClassifiersWithoutAnAnswer: they say why; other analyses are unaffected.
func TestClassifiersWithoutAnAnswer(t *testing.T) {
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise, "{kind: svm}, {kind: k-means, clusters: 2}, {kind: ridge-classification, folds: 2}"))
	for name, sizes := range map[string]map[string][]int{
		"all records have the same label":                {"north": {20, 0, 0}, "south": {31, 0, 0}},
		"class 3 has 4 records, fewer than the 10 folds": {"north": {20, 0, 2}, "south": {0, 31, 2}},
	} {
		result, _ := ship(t, s, 5, diagnoses(rand.New(rand.NewPCG(3, 7)), sizes)).run(t)
		if got := result.Analyses[0].Undefined; !strings.Contains(got, name) {
			t.Errorf("undefined for %q, want %q", got, name)
		}
		if result.Analyses[1].KMeans == nil {
			t.Error("clusters are lost")
		}
		if one := strings.HasPrefix(name, "all"); (result.Analyses[2].Classifier == nil) != one {
			t.Errorf("two folds: %q", result.Analyses[2].Undefined)
		}
	}
}

// TestLabelsMustBeThere: a contribution without labels is refused.
func TestLabelsMustBeThere(t *testing.T) {
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise, "{kind: svm}"))
	sent := ship(t, s, 5, diagnoses(rand.New(rand.NewPCG(3, 7)), mostlyMixed(1)))
	for _, labels := range [][][]int{nil, {nil}, {{1}}} {
		sent.options.Contributions[0].Labels = labels
		if _, _, err := analysis.Run(t.Context(), sent.options); err == nil {
			t.Errorf("labels %v are taken", labels)
		}
	}
}

// TestProgressOfTraining: the last report counts all folds.
func TestProgressOfTraining(t *testing.T) {
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise, "{kind: ridge-classification, folds: 4}"))
	sent := ship(t, s, 5, diagnoses(rand.New(rand.NewPCG(3, 7)), mostlyMixed(1)))
	var seen []int
	sent.options.Observe = func(p analysis.Progress) {
		if p.Analysis != 0 || p.Kind != study.RidgeClassification || p.Total != 12 {
			t.Errorf("analysis %d, %s: %d of %d", p.Analysis, p.Kind, p.Done, p.Total)
		}
		seen = append(seen, p.Done)
	}
	sent.run(t)
	if len(seen) != 12 || !slices.IsSorted(seen) {
		t.Errorf("progress %v", seen)
	}
}

// TestClassifierDocument pins what programs read.
func TestClassifierDocument(t *testing.T) {
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise, "{kind: voted-perceptron, epochs: 1, folds: 3}, {kind: ridge-classification, intervals: all}"))
	result, labels := ship(t, s, 5, diagnoses(rand.New(rand.NewPCG(3, 8)), map[string][]int{"north": {3, 3, 4}, "south": {3, 5, 2}, "west": {5, 3, 4}})).run(t)
	golden(t, "classifier.json", result)
	golden(t, "classifier_labels.json", labels[0])
}

// FuzzDecodeClassifier: whatever comes, what decodes can be shown.
func FuzzDecodeClassifier(f *testing.F) {
	s := parse(f, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise, "{kind: voted-perceptron, epochs: 1, folds: 3}, {kind: svm, folds: 2}, {kind: ridge-classification}"))
	result, _, err := analysis.Run(f.Context(), ship(f, s, 5, diagnoses(rand.New(rand.NewPCG(3, 5)), mostlyMixed(1))).options)
	if err != nil {
		f.Fatal(err)
	}
	for _, a := range result.Analyses {
		one := result
		one.Analyses = []analysis.Analysis{a}
		data, err := json.Marshal(one)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := analysis.Decode(data, s.ID)
		if err != nil {
			return
		}
		for _, a := range r.Analyses {
			c := a.Classifier
			if c == nil {
				continue
			}
			for i := range c.Classes {
				for j := range c.Classes {
					_ = c.Confusion[i][j]
				}
			}
			for _, class := range c.ClassPlanes {
				for _, p := range class.Planes {
					if len(p.Weights) != c.Coordinates {
						t.Fatal("a plane of another dimension")
					}
				}
			}
		}
	})
}
