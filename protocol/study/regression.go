package study

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Regression explains one column by others, with an intercept: over the union by moments,
// otherwise over the records that the columns' parties share.
const Regression AnalysisKind = "regression"

// RegressionOptions are those of Regression.
type RegressionOptions struct {
	Target string   // the column that is explained; required
	On     []string // those that explain it; default all others. Of a categorical one, the first value is the reference that its other values are compared with
	Ridge  Ridge
}

// Ridge is the part by which the variance of each explaining column is raised; 0 is least
// squares. Auto, the default, is what keeps the answer defined under the noise of moments,
// and 0 elsewhere: see release.Plan.Ridge.
type Ridge struct {
	Auto bool
	By   float64 // not Auto alone: 0 to 1000
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

// option is the key with its value, or "" for the default.
func (d Ridge) option() string {
	if d.Auto {
		return ""
	}
	return fmt.Sprintf("ridge: %g", d.By)
}

func (d Ridge) Encode(e *schema.Encoder) {
	if d.Auto {
		e.Text("analysis.ridge", autoText)
		return
	}
	e.Real("analysis.ridge", d.By)
}

var regression = Kind{
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
	e.Text("analysis.target", o.Target)
	schema.Texts(e, "analysis.on", o.On)
	o.Ridge.Encode(e)
}
