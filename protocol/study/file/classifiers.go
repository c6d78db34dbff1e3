package file

import (
	"slices"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Ranges of the options of classifiers.
const (
	defaultFolds, maxFolds       = 10, 100
	defaultEpochs, maxEpochs     = 10, 1000
	leastStrength, mostStrength  = 1e-6, 1e6
	defaultCost, defaultStrength = 1, 1
)

var losses = schema.Words{What: "loss", Has: []string{string(study.Hinge), string(study.SquaredHinge)}}

var (
	perceptronEntry      = classifierEntry(study.Perceptron, "epochs")
	votedPerceptronEntry = classifierEntry(study.VotedPerceptron, "epochs")
	svmEntry             = classifierEntry(study.SVM, "cost", "loss")
	ridgeEntry           = classifierEntry(study.RidgeClassification, "penalty")
)

// classifierEntry is that of a kind with these keys beside folds.
func classifierEntry(name study.AnalysisKind, keys ...string) entry {
	has := func(key string) bool { return slices.Contains(keys, key) }
	return entry{
		kind: name,
		keys: append([]string{"folds"}, keys...),
		read: func(o object) study.Options {
			out := study.ClassifierOptions{Folds: o.WholeOr("folds", defaultFolds)}
			if has("epochs") {
				out.Epochs = o.WholeOr("epochs", defaultEpochs)
			}
			if has("cost") {
				if out.Cost = defaultCost; o.Has("cost") {
					out.Cost = o.Number("cost")
				}
				out.Loss = schema.Choice(o.Object, "loss", losses, study.SquaredHinge)
			}
			if has("penalty") {
				if out.Penalty = defaultStrength; o.Has("penalty") {
					out.Penalty = o.Number("penalty")
				}
			}
			return out
		},
		check: checkClassifier,
	}
}

func checkClassifier(r *reader, _ *study.Study, a study.Analysis, path string) {
	o, _ := a.Options.(study.ClassifierOptions)
	if o.Folds < 2 || o.Folds > maxFolds {
		r.Fail(path+".folds", "%d is not between 2 and %d", o.Folds, maxFolds)
	}
	if r.Given(path+".epochs") && (o.Epochs < 1 || o.Epochs > maxEpochs) {
		r.Fail(path+".epochs", "%d is not between 1 and %d", o.Epochs, maxEpochs)
	}
	for key, x := range map[string]float64{"cost": o.Cost, "penalty": o.Penalty} {
		if r.Given(path+"."+key) && !(x >= leastStrength && x <= mostStrength) {
			r.Fail(path+"."+key, "%v is not between %v and %v", x, leastStrength, float64(mostStrength))
		}
	}
}
