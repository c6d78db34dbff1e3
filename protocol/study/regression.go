package study

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Regression predicts one column from others, with an intercept: by moments over the union,
// otherwise over the records that the columns' parties have in common.
const Regression AnalysisKind = "regression"

// RegressionOptions are the options of Regression.
type RegressionOptions struct {
	Target string   // the response column; required
	On     []string // the predictor columns; default all others. Of a categorical one, the first value is the reference for its other values
	Ridge  Ridge
}

// Ridge is the fraction by which the variance of each predictor is raised; 0 is least squares.
// Auto, the default, keeps the answer defined under the noise of moments, and is 0 elsewhere: see
// release.Plan.Ridge.
type Ridge struct {
	Auto bool
	By   float64 // without Auto only: 0 to 1000
}

const autoText = "auto"

// says explains a ridge, after the rest of a sentence.
func (d Ridge) says() string {
	switch {
	case d.Auto:
		return ", with a ridge as large as the noise requires, which raises each variance (ridge: auto)"
	case d.By > 0:
		return fmt.Sprintf(", with each variance raised by %g of itself (ridge)", d.By)
	}
	return ""
}

// option returns the key with its value, or "" for the default.
func (d Ridge) option() string {
	if d.Auto {
		return ""
	}
	return fmt.Sprintf("ridge: %g", d.By)
}

const maxRidge = 1000

// ridgeKey is the row of option ridge.
func ridgeKey[T any](of func(*T) *Ridge) schema.Key[T] {
	auto := func(o *T) { *of(o) = Ridge{Auto: true} }
	by := schema.Between(func(o *T) *float64 { return &of(o).By }, 0, maxRidge)
	return schema.Key[T]{
		Name: "ridge", Path: "analysis.ridge", Unset: autoText, Doc: "raises each explaining column's variance by this part; or `auto`: by what the noise of moments asks for",
		Hint: "leave it out for what the noise asks for",
		Form: schema.Or(autoText, by, auto).Absent(auto).Encoded(func(e *schema.Encoder, path string, o *T) {
			if d := of(o); d.Auto {
				e.Text(path, autoText)
			} else {
				e.Real(path, d.By)
			}
		}),
	}
}

// onKey is the row of the predictor columns.
func onKey[T any](of func(*T) *[]string) schema.Key[T] {
	return schema.Key[T]{
		Name: "on", Path: "analysis.on", Doc: "the explaining columns", Unset: "all others",
		Form: schema.List(of, schema.Text(schema.Itself[string], nil), 0, MaxColumns).Encoded(func(e *schema.Encoder, path string, o *T) {
			schema.Texts(e, path, *of(o))
		}),
	}
}

func ofRegression() Kind {
	return Kind{
		Name: Regression,
		Needs: func(Options) []Needs {
			return []Needs{{Side: sketch.Moments}, {Side: sketch.Columns, Ones: true}}
		},
		says: func(a Analysis) string {
			o, _ := a.Options.(RegressionOptions)
			on := "all other columns"
			if len(o.On) > 0 {
				on = strings.Join(o.On, ", ")
			}
			return fmt.Sprintf("%s explained by %s", o.Target, on) + o.Ridge.says() + "; of a categorical column, its first value is what the others are compared with"
		},
		keys: optionKeys[RegressionOptions]{Keys: regressionKeys},
		check: func(r *schema.Reader, s *Study, a Analysis, path string) {
			o, _ := a.Options.(RegressionOptions)
			if c, ok := s.known(r, path+".target", o.Target); ok && c.Kind == Categorical {
				r.Fail(path+".target", "%q is categorical", o.Target).Hint = "explain a numeric or binary column"
			}
			checkOn(r, s, o.On, o.Target, "the target itself", path)
			if len(s.Columns) < 2 {
				r.Fail(path, "a regression needs another column beside its target")
			}
		},
	}
}

var regressionKeys = schema.Keys[RegressionOptions]{
	{
		Name: "target", Path: "analysis.target", Required: true, Doc: "the column to explain, not a categorical one", Hint: "the column to explain",
		Form: schema.Text(func(o *RegressionOptions) *string { return &o.Target }, nil),
	},
	onKey(func(o *RegressionOptions) *[]string { return &o.On }),
	ridgeKey(func(o *RegressionOptions) *Ridge { return &o.Ridge }),
}

func (o RegressionOptions) String() string {
	text := "target: " + o.Target
	if len(o.On) > 0 {
		text += ", on: [" + strings.Join(o.On, ", ") + "]"
	}
	if ridge := o.Ridge.option(); ridge != "" {
		text += ", " + ridge
	}
	return text
}

func (o RegressionOptions) Encode(e *schema.Encoder) {
	regressionKeys.Encode(e, &o)
}
