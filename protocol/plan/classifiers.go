package plan

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/study"
)

// usableAccuracy is the largest useful half-width of the accuracy of a classifier.
const usableAccuracy = 0.05

func ofPerceptron() forecaster      { return ofClassifier(study.Perceptron) }
func ofVotedPerceptron() forecaster { return ofClassifier(study.VotedPerceptron) }
func ofSVM() forecaster             { return ofClassifier(study.SVM) }
func ofRidge() forecaster           { return ofClassifier(study.RidgeClassification) }

// ofClassifier returns a kind that predicts the label.
func ofClassifier(kind study.AnalysisKind) forecaster {
	return forecaster{kind: kind, outright: (*cell).accuracy}
}

// accuracy forecasts how closely a classifier's accuracy will be known at worst: from the number of
// records, and how much randomised labels still say. The accuracy itself depends on the data. It
// returns nil if records have no label.
func (c *cell) accuracy(a study.Analysis) (*Analysis, error) {
	plan, err := c.plan(c.viewer())
	if err != nil || plan.Labels == nil {
		return nil, err
	}
	records, span := 0, 1-float64(len(plan.Labels.Classes))*plan.Labels.Response.Other()
	for party := range c.Study.Parties {
		records += int(min(c.Options.records(party), math.MaxInt32))
	}
	level := estimate.DefaultLevel
	if a.Intervals == study.IntervalsAll {
		level = level.Bonferroni(2)
	}
	e := estimate.Proportion(records/2, records, level)
	half := (e.High - e.Low) / 2 / span
	out := &Analysis{
		Kind: a.Kind, Measure: "accuracy", Options: []Choice{},
		Chosen: Choice{
			Method: c.method.String(), Mechanism: c.method.Mechanism, Family: c.sketch().Projection.Family, K: c.sketch().Projection.K, S: c.sketch().Projection.S,
			StandardError: e.StandardError / span, HalfWidth: half, Usable: half <= usableAccuracy,
		},
		Outcome: Usable, Verdict: Usable.says(fmt.Sprintf("accuracy will be known to ± %.2g at worst; how high it is depends on the data", half)),
	}
	out.Chosen.AtBest = End{StandardError: out.Chosen.StandardError, HalfWidth: half}
	out.Chosen.AtWorst = out.Chosen.AtBest
	if !out.Chosen.Usable {
		out.Outcome, out.Verdict = TooWide, TooWide.says(fmt.Sprintf("accuracy would be known only to ± %.2g", half))
		if span < 0.5 {
			out.Verdict += fmt.Sprintf(", because each label stays as it is with a probability of only %.2g", plan.Labels.Response.Kept())
		}
	}
	return out, nil
}
