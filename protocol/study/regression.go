package study

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

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

const maxRidge = 1000

const autoText = "auto"

// ridge reads the key of that name.
func (o object) ridge() Ridge {
	n := o.Values["ridge"]
	if n == nil || n.Kind == yaml.ScalarNode && n.Value == "auto" {
		return Ridge{Auto: true}
	}
	return Ridge{By: o.Number("ridge")}
}

// checkRidge reports a ridge that is out of range.
func checkRidge(d Ridge, r *reader, path string) {
	if d.By < 0 || d.By > maxRidge {
		r.Fail(path+".ridge", "%g is not between 0 and %d", d.By, maxRidge).Hint = "leave it out for what the noise asks for"
	}
}

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

func (d Ridge) encode(e *schema.Encoder) {
	if d.Auto {
		e.Text("analysis.ridge", autoText)
		return
	}
	e.Real("analysis.ridge", d.By)
}

var regression = kind{
	name: Regression,
	needs: func(Options) []needs {
		return []needs{{side: sketch.Moments}, {side: sketch.Columns, ones: true}}
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

var regressionEntry = entry{
	kind: Regression,
	keys: []string{"target", "on", "ridge"},
	read: func(o object) Options {
		out := RegressionOptions{Target: o.Text("target"), Ridge: o.ridge()}
		for _, it := range o.Items("on", MaxColumns) {
			out.On = append(out.On, o.reader.Text(it))
		}
		return out
	},
	check: checkRegression,
}

func checkRegression(r *reader, s *Study, a Analysis, path string) {
	o, _ := a.Options.(RegressionOptions)
	if !r.Given(path + ".target") {
		r.Fail(path+".target", "is missing").Hint = "the column to explain"
	} else if c, ok := r.knownColumn(s, path+".target", o.Target); ok && c.Kind == Categorical {
		r.Fail(path+".target", "%q is categorical", o.Target).Hint = "explain a numeric or binary column"
	}
	r.validateOn(s, o.On, o.Target, "the target itself", path)
	if len(s.Columns) < 2 {
		r.Fail(path, "a regression needs another column beside its target")
	}
	checkRidge(o.Ridge, r, path)
}

// validateOn checks the columns by which another one, itself none of them, is explained.
func (r *reader) validateOn(s *Study, on []string, explained, what, path string) {
	if r.Given(path+".on") && len(on) == 0 {
		r.Fail(path+".on", "is empty").Hint = "leave it out for all other columns"
	}
	for i, name := range on {
		at := fmt.Sprintf("%s.on[%d]", path, i)
		switch {
		case name == explained:
			r.Fail(at, "%q is %s", name, what)
		case slices.Contains(on[:i], name):
			r.Fail(at, "%q appears twice", name)
		default:
			r.knownColumn(s, at, name)
		}
	}
}

// knownColumn finds a column by its name, or says that there is none.
func (r *reader) knownColumn(s *Study, path, name string) (Column, bool) {
	var names []string
	for _, c := range s.Columns {
		if c.Name == name {
			return c, true
		}
		names = append(names, c.Name)
	}
	e := r.Fail(path, "the study has no column %q", name)
	if near := schema.Closest(name, names); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return Column{}, false
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

func (o RegressionOptions) encode(e *schema.Encoder) {
	e.Text("analysis.target", o.Target)
	schema.Texts(e, "analysis.on", o.On)
	o.Ridge.encode(e)
}
