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

// ClassifierOptions are the options of all four kinds; those that a kind does not have are zero.
type ClassifierOptions struct {
	Folds   int     // folds of cross-validation; default 10
	Epochs  int     // perceptrons: passes over the records; default 10
	Cost    float64 // svm: weight of a record's loss against the squared norm of the weights; default 1
	Loss    Loss    // svm; default SquaredHinge
	Penalty float64 // ridge: weight of the squared norm of the weights; default 1
}

// Loss is what a support vector machine minimises.
type Loss string

const (
	Hinge        Loss = "hinge"
	SquaredHinge Loss = "squared-hinge"
)

func ofPerceptron() Kind      { return classifier(Perceptron, "epochs") }
func ofVotedPerceptron() Kind { return classifier(VotedPerceptron, "epochs") }
func ofSVM() Kind             { return classifier(SVM, "cost", "loss") }
func ofRidge() Kind           { return classifier(RidgeClassification, "penalty") }

// classifier returns a kind of classifier with these options and folds.
func classifier(name AnalysisKind, options ...string) Kind {
	return Kind{
		Name: name, Needs: one(Needs{Side: sketch.Records, labels: true}),
		says: func(a Analysis) string {
			return fmt.Sprintf("which predicts the label, %s", a.Options)
		},
		keys: optionKeys[ClassifierOptions]{Keys: slices.DeleteFunc(slices.Clone(classifierKeys), func(k schema.Key[ClassifierOptions]) bool {
			return k.Name != "folds" && !slices.Contains(options, k.Name)
		})},
	}
}

// strength is the form of a numeric option, of any plausible size.
func strength(of func(*ClassifierOptions) *float64) schema.Form[ClassifierOptions] {
	return schema.Between(of, 1e-6, 1e6)
}

// classifierKeys are the option keys of all four kinds.
var classifierKeys = schema.Keys[ClassifierOptions]{
	{
		Name: "folds", Path: "analysis.folds", Default: "10", Doc: "of cross-validation",
		Form: schema.Whole(func(o *ClassifierOptions) *int { return &o.Folds }, 2, 100),
	},
	{
		Name: "epochs", Path: "analysis.epochs", Default: "10", Doc: "passes over the records",
		Form: schema.Whole(func(o *ClassifierOptions) *int { return &o.Epochs }, 1, 1000),
	},
	{
		Name: "cost", Path: "analysis.cost", Default: "1", Doc: "of errors, relative to the mean squared length of rows",
		Form: strength(func(o *ClassifierOptions) *float64 { return &o.Cost }),
	},
	{
		Name: "loss", Path: "analysis.loss", Default: string(SquaredHinge), Doc: "what is made small",
		Form: schema.Word(func(o *ClassifierOptions) *Loss { return &o.Loss }, schema.Words{What: "loss", Has: []string{string(Hinge), string(SquaredHinge)}}),
	},
	{
		Name: "penalty", Path: "analysis.penalty", Default: "1", Doc: "on the squared length of the weights",
		Form: strength(func(o *ClassifierOptions) *float64 { return &o.Penalty }),
	},
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
	classifierKeys.Encode(e, &o)
}
