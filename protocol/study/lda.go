package study

import (
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// LDA is the linear discriminant that tells the classes of the label apart, by moments: of
// the union, and without any label that travels.
const LDA AnalysisKind = "lda"

// LDAOptions are those of LDA.
type LDAOptions struct {
	On    []string // the columns that tell the classes apart; default all but the label. Of a categorical one, the first value is left out
	Ridge Ridge    // within classes
}

var lda = kind{
	name: LDA, needs: one(needs{side: sketch.Moments}),
	label: true,
	says: func(a Analysis) string {
		o, _ := a.Options.(LDAOptions)
		on := "all other columns"
		if len(o.On) > 0 {
			on = strings.Join(o.On, ", ")
		}
		return "the classes of the label told apart by " + on + o.Ridge.says() + ": their means, the spread within them, and scores that predict the class of a record, which each party works out for its own"
	},
	horizontal: "of a record, its parties have a part each, and moments sum over whole ones",
}

var ldaEntry = entry{
	kind: LDA,
	keys: []string{"on", "ridge"},
	read: func(o object) Options {
		out := LDAOptions{Ridge: o.ridge()}
		for _, it := range o.Items("on", MaxColumns) {
			out.On = append(out.On, o.reader.Text(it))
		}
		return out
	},
	check: func(r *reader, s *Study, a Analysis, path string) {
		o, _ := a.Options.(LDAOptions)
		label, _ := s.Label()
		r.validateOn(s, o.On, label.Name, "the label itself", path)
		checkRidge(o.Ridge, r, path)
		if len(s.Columns) < 2 {
			r.Fail(path, "lda needs another column beside the label")
		}
	},
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

func (o LDAOptions) encode(e *schema.Encoder) {
	schema.Texts(e, "analysis.on", o.On)
	o.Ridge.encode(e)
}
