package study

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol/schema"
)

// Options are the options of one kind of analysis, a struct next to the kind with every default
// filled in. String returns them as in the study file, like "clusters: 2, restarts: 10".
type Options interface {
	fmt.Stringer
	Encode(e *schema.Encoder) // encodes into the study's meaning, each under "analysis." and its key
}

// OptionKeys are the keys of a kind's options in an entry of analyses.
type OptionKeys interface {
	Names() []string
	Rows() []schema.Row
	Read(o schema.Object) Options // reads an entry that may have other keys as well
}

// optionKeys are the keys of options of type T.
type optionKeys[T Options] struct {
	schema.Keys[T]
	finish func(o *T, has func(key string) bool) // fills in defaults that depend on other options; nil: there are none
}

// Read reads the options, with their defaults.
func (ks optionKeys[T]) Read(o schema.Object) Options {
	var out T
	if ks.Take(o, &out); ks.finish != nil {
		ks.finish(&out, o.Has)
	}
	return out
}

// Keys returns the keys of a kind's options, empty if it has none.
func (k Kind) Keys() OptionKeys {
	if k.keys == nil {
		return optionKeys[none]{}
	}
	return k.keys
}

// none stands for the options of a kind without options.
type none struct{}

func (none) String() string         { return "" }
func (none) Encode(*schema.Encoder) {}

// Read reads the options of an entry of analyses; nil for a kind that has none.
func (k Kind) Read(o schema.Object) Options {
	if k.keys == nil {
		return nil
	}
	return k.keys.Read(o)
}

// Complete sets or removes the options that depend on the sketch that answers.
func (k Kind) Complete(r *schema.Reader, answering Sketch, options Options, path string) Options {
	if k.complete == nil {
		return options
	}
	return k.complete(r, answering, options, path)
}

// Check refuses options that this study cannot answer for other reasons than its sketches.
func (k Kind) Check(r *schema.Reader, s *Study, a Analysis, path string) {
	if k.check != nil {
		k.check(r, s, a, path)
	}
}

// checkOn checks the predictor columns of another column, which must not be among them.
func checkOn(r *schema.Reader, s *Study, on []string, explained, what, path string) {
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
			s.known(r, at, name)
		}
	}
}

// known returns the column with this name, or reports that there is none.
func (s *Study) known(r *schema.Reader, path, name string) (Column, bool) {
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
