package study

import (
	"fmt"
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

var (
	perceptron      = classifier(Perceptron)
	votedPerceptron = classifier(VotedPerceptron)
	svm             = classifier(SVM)
	ridge           = classifier(RidgeClassification)
)

// classifier is a kind of them.
func classifier(name AnalysisKind) Kind {
	return Kind{
		Name: name, Needs: one(Needs{Side: sketch.Records, labels: true}),
		says: func(a Analysis) string {
			return fmt.Sprintf("which predicts the label, %s", a.Options)
		},
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

func (o ClassifierOptions) Encode(e *schema.Encoder) {
	e.Whole("analysis.folds", o.Folds)
	e.Whole("analysis.epochs", o.Epochs)
	e.Real("analysis.cost", o.Cost)
	e.Text("analysis.loss", string(o.Loss))
	e.Real("analysis.penalty", o.Penalty)
}
