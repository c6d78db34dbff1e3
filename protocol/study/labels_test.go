package study_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
)

// TestLabelsTakeTheirPart: under unit record the parts of values and labels add up to the study's
// budget. Under unit attribute each value, and the label, has the sketch's whole budget.
func TestLabelsTakeTheirPart(t *testing.T) {
	source := file(t, "clinics")
	s := parse(t, source)
	if sk := s.Sketches[0]; math.Abs(sk.Share-2./3) > 1e-15 || math.Abs(sk.LabelShare-1./3) > 1e-15 {
		t.Errorf("shares %v and %v", sk.Share, sk.LabelShare)
	}
	p, err := s.Part(0)
	if err != nil {
		t.Fatal(err)
	}
	both := p.Values.Loss().Plus(p.Labels.Loss())
	if budget := (dp.Budget{Epsilon: s.Privacy.Epsilon, Delta: s.Privacy.Delta}); both.Epsilon(budget.Delta) > budget.Epsilon*(1+1e-9) || p.Whole.Epsilon() != budget.Epsilon {
		t.Errorf("together %v, stated %v, of %v", both.Epsilon(budget.Delta), p.Whole, budget)
	}
	even := parse(t, edit(t, source, ", label_share: 0.5", ""))
	if sk := even.Sketches[0]; sk.Share != 0.5 || sk.LabelShare != 0.5 {
		t.Errorf("by default shares are %v and %v", sk.Share, sk.LabelShare)
	}

	attribute := parse(t, edit(t, file(t, "hospitals"), "k: 32", "k: 32, labels: randomised"))
	if p, err = attribute.Part(0); err != nil || p.Values.Epsilon() != 8 || p.Labels.Epsilon() != 8 || p.Whole.Epsilon() != 8 {
		t.Errorf("unit attribute: %v, %v, %v: %v", p.Values, p.Labels, p.Whole, err)
	}
	if before := parse(t, file(t, "hospitals")).Exposure().Attributes; attribute.Exposure().Attributes != before+1 {
		t.Errorf("%d attributes, without labels %d", attribute.Exposure().Attributes, before)
	}
	r, err := attribute.Response(0)
	if err != nil || r.Epsilon() > 8 || r.Epsilon() < 7.99 {
		t.Errorf("response %v: %v", r, err)
	}

	plain := parse(t, edit(t, file(t, "hospitals"), "k: 32", "k: 32, labels: plain"))
	if p, err = plain.Part(0); err != nil || p.Values.Epsilon() != 8 || p.Whole.Mechanism() != dp.None || p.Stated().Epsilon() != 8 {
		t.Errorf("plain: %v, whole %v: %v", p.Values, p.Whole, err)
	}
	if person, err := plain.PerPerson(); err != nil || !math.IsInf(float64(person.Epsilon), 1) {
		t.Errorf("per person %v: %v", person, err)
	}
}

// TestExplainSaysWhatLabelsLetOut checks the sentence about labels.
func TestExplainSaysWhatLabelsLetOut(t *testing.T) {
	said := func(s *study.Study) string { return strings.Join(strings.Fields(explained(s, 0)), " ") }
	plain := said(parse(t, edit(t, file(t, "hospitals"), "k: 32", "k: 32, labels: plain")))
	for _, want := range []string{`the record's label "diagnosis" AS IT IS: no guarantee covers it`, "LABELS LEAVE AS THEY ARE", "accept_reconstruction: true", "but for the labels"} {
		if !strings.Contains(plain, want) {
			t.Errorf("plain labels: %q is not in\n%s", want, plain)
		}
	}
	if strings.Contains(plain, "Per person") {
		t.Error("a promise per person is stated, though labels leave as they are")
	}
	none := said(parse(t, edit(t, edit(t, file(t, "hospitals"), "k: 32", "k: 2, labels: plain"), "{unit: attribute, mechanism: laplace, epsilon: 8}", "{mechanism: none}")))
	if !strings.Contains(none, "labels do not leave as they are, which here they do") {
		t.Error(none)
	}
	randomised := said(parse(t, edit(t, file(t, "hospitals"), "k: 32", "k: 32, labels: randomised")))
	if want := "randomised: each of 2 classes stays with probability 0.9997, and becomes each other class with probability 0.0003354"; !strings.Contains(randomised, want) {
		t.Errorf("%q is not in\n%s", want, randomised)
	}
}

// TestClassifiersNeedLabels: by default, classifiers may be asked later exactly if labels travel.
func TestClassifiersNeedLabels(t *testing.T) {
	kinds := []study.AnalysisKind{study.Perceptron, study.VotedPerceptron, study.SVM, study.RidgeClassification}
	with, without := parse(t, file(t, "clinics")).Later, parse(t, file(t, "hospitals")).Later
	for _, kind := range kinds {
		if !slices.Contains(with, kind) || slices.Contains(without, kind) {
			t.Errorf("%s: with labels %v, without %v", kind, with, without)
		}
	}
}

func TestClassifierOptions(t *testing.T) {
	s := parse(t, file(t, "clinics"))
	for i, want := range []study.ClassifierOptions{
		{Folds: 10, Cost: 0.5, Loss: study.SquaredHinge}, {Folds: 5, Epochs: 10}, {Folds: 10, Penalty: 1},
	} {
		if got := s.Analyses[i].Options; got != want {
			t.Errorf("analysis %d: %+v, want %+v", i, got, want)
		}
	}
	if s.Analyses[2].Intervals != study.IntervalsAll {
		t.Error(s.Analyses[2].Intervals)
	}
}
