package study

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Kinds of analyses that predict the label from a record's sketch: records side, with labels.
const (
	Perceptron          AnalysisKind = "perceptron"
	VotedPerceptron     AnalysisKind = "voted-perceptron"
	SVM                 AnalysisKind = "svm"
	RidgeClassification AnalysisKind = "ridge-classification"
)

// ClassifierOptions are those of all four; what a kind has not is zero.
type ClassifierOptions struct {
	Folds   int     // of cross-validation; default 10
	Epochs  int     // perceptrons: passes over the records; default 10
	Cost    float64 // svm: of a record's loss, beside the squared norm of the weights; default 1
	Loss    Loss    // svm; default SquaredHinge
	Penalty float64 // ridge: of the squared norm of the weights; default 1
}

// Loss is what a support vector machine minimises.
type Loss string

const (
	Hinge        Loss = "hinge"
	SquaredHinge Loss = "squared-hinge"
)

// Ranges of the options of classifiers.
const (
	defaultFolds, maxFolds       = 10, 100
	defaultEpochs, maxEpochs     = 10, 1000
	leastStrength, mostStrength  = 1e-6, 1e6
	defaultCost, defaultStrength = 1, 1
)

var losses = schema.Words{What: "loss", Has: []string{string(Hinge), string(SquaredHinge)}}

var (
	perceptron      = classifier(Perceptron)
	votedPerceptron = classifier(VotedPerceptron)
	svm             = classifier(SVM)
	ridge           = classifier(RidgeClassification)
)

// classifier is a kind of them.
func classifier(name AnalysisKind) kind {
	return kind{
		name: name, needs: one(needs{side: sketch.Records, labels: true}),
		says: func(a Analysis) string {
			return fmt.Sprintf("which predicts the label, %s", a.Options)
		},
	}
}

var (
	perceptronEntry      = classifierEntry(Perceptron, "epochs")
	votedPerceptronEntry = classifierEntry(VotedPerceptron, "epochs")
	svmEntry             = classifierEntry(SVM, "cost", "loss")
	ridgeEntry           = classifierEntry(RidgeClassification, "penalty")
)

// classifierEntry is that of a kind with these keys beside folds.
func classifierEntry(name AnalysisKind, keys ...string) entry {
	has := func(key string) bool { return slices.Contains(keys, key) }
	return entry{
		kind: name,
		keys: append([]string{"folds"}, keys...),
		read: func(o object) Options {
			out := ClassifierOptions{Folds: o.WholeOr("folds", defaultFolds)}
			if has("epochs") {
				out.Epochs = o.WholeOr("epochs", defaultEpochs)
			}
			if has("cost") {
				if out.Cost = defaultCost; o.Has("cost") {
					out.Cost = o.Number("cost")
				}
				out.Loss = schema.Choice(o.Object, "loss", losses, SquaredHinge)
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

func checkClassifier(r *reader, _ *Study, a Analysis, path string) {
	o, _ := a.Options.(ClassifierOptions)
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

func (o ClassifierOptions) String() string {
	out := "folds: " + strconv.Itoa(o.Folds)
	if o.Epochs > 0 {
		out += ", epochs: " + strconv.Itoa(o.Epochs)
	}
	if o.Loss != "" {
		out += fmt.Sprintf(", cost: %v, loss: %s", o.Cost, o.Loss)
	}
	if o.Penalty > 0 {
		out += fmt.Sprintf(", penalty: %v", o.Penalty)
	}
	return out
}

func (o ClassifierOptions) encode(e *schema.Encoder) {
	e.Whole("analysis.folds", o.Folds)
	e.Whole("analysis.epochs", o.Epochs)
	e.Real("analysis.cost", o.Cost)
	e.Text("analysis.loss", string(o.Loss))
	e.Real("analysis.penalty", o.Penalty)
}
