package file

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

const maxRidge = 1000

// ridge reads the key of that name.
func (o object) ridge() study.Ridge {
	n := o.Values["ridge"]
	if n == nil || n.Kind == yaml.ScalarNode && n.Value == "auto" {
		return study.Ridge{Auto: true}
	}
	return study.Ridge{By: o.Number("ridge")}
}

// checkRidge reports a ridge that is out of range.
func checkRidge(d study.Ridge, r *reader, path string) {
	if d.By < 0 || d.By > maxRidge {
		r.Fail(path+".ridge", "%g is not between 0 and %d", d.By, maxRidge).Hint = "leave it out for what the noise asks for"
	}
}

var regressionEntry = entry{
	kind: study.Regression,
	keys: []string{"target", "on", "ridge"},
	read: func(o object) study.Options {
		out := study.RegressionOptions{Target: o.Text("target"), Ridge: o.ridge()}
		for _, it := range o.Items("on", study.MaxColumns) {
			out.On = append(out.On, o.reader.Text(it))
		}
		return out
	},
	check: checkRegression,
}

func checkRegression(r *reader, s *study.Study, a study.Analysis, path string) {
	o, _ := a.Options.(study.RegressionOptions)
	if !r.Given(path + ".target") {
		r.Fail(path+".target", "is missing").Hint = "the column to explain"
	} else if c, ok := r.knownColumn(s, path+".target", o.Target); ok && c.Kind == study.Categorical {
		r.Fail(path+".target", "%q is categorical", o.Target).Hint = "explain a numeric or binary column"
	}
	r.validateOn(s, o.On, o.Target, "the target itself", path)
	if len(s.Columns) < 2 {
		r.Fail(path, "a regression needs another column beside its target")
	}
	checkRidge(o.Ridge, r, path)
}

// validateOn checks the columns by which another one, itself none of them, is explained.
func (r *reader) validateOn(s *study.Study, on []string, explained, what, path string) {
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
func (r *reader) knownColumn(s *study.Study, path, name string) (study.Column, bool) {
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
	return study.Column{}, false
}
