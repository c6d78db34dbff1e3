package study

import (
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// LDA is the linear discriminant of the classes of the label, by moments of the union. It needs no
// labels that travel.
const LDA AnalysisKind = "lda"

// LDAOptions are the options of LDA.
type LDAOptions struct {
	On    []string // the predictor columns; default all but the label. Of a categorical one, the first value is left out
	Ridge Ridge    // on the variances within classes
}

func ofLDA() Kind {
	return Kind{
		Name: LDA, Needs: one(Needs{Side: sketch.Moments}),
		Label: true,
		says: func(a Analysis) string {
			o, _ := a.Options.(LDAOptions)
			on := "all other columns"
			if len(o.On) > 0 {
				on = strings.Join(o.On, ", ")
			}
			return "the classes of the label told apart by " + on + o.Ridge.says() + ": their means, the spread within them, and scores that predict the class of a record, which each party works out for its own"
		},
		keys: optionKeys[LDAOptions]{Keys: ldaKeys},
		check: func(r *schema.Reader, s *Study, a Analysis, path string) {
			o, _ := a.Options.(LDAOptions)
			label, _ := s.Label()
			checkOn(r, s, o.On, label.Name, "the label itself", path)
			if len(s.Columns) < 2 {
				r.Fail(path, "lda needs another column beside the label")
			}
		},
		horizontal: "of a record, its parties have a part each, and moments sum over whole ones",
	}
}

var ldaKeys = schema.Keys[LDAOptions]{
	onKey(func(o *LDAOptions) *[]string { return &o.On }),
	ridgeKey(func(o *LDAOptions) *Ridge { return &o.Ridge }),
}

func (o LDAOptions) String() string {
	var out []string
	if len(o.On) > 0 {
		out = append(out, "on: ["+strings.Join(o.On, ", ")+"]")
	}
	if ridge := o.Ridge.option(); ridge != "" {
		out = append(out, ridge)
	}
	return strings.Join(out, ", ")
}

func (o LDAOptions) Encode(e *schema.Encoder) {
	ldaKeys.Encode(e, &o)
}
