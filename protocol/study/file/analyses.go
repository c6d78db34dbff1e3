package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// analysisWords returns the names of all kinds.
func analysisWords() schema.Words {
	return schema.Words{What: "analysis", Has: words(study.Kinds()), Meant: map[string]string{
		"median": string(study.QuantileKind), "percentile": string(study.QuantileKind), "quartile": string(study.QuantileKind), "average": string(study.Mean),
		"variance": string(study.Covariance), "histogram": string(study.QuantileKind), "count": string(study.CountsTable), "crosstab": string(study.CountsTable),
	}}
}

// analysisForm returns the form of an entry of analyses.
func analysisForm() schema.Form[study.Analysis] {
	return schema.Custom("keys: below", func(r *schema.Reader, at schema.Item, a *study.Analysis) { *a = readAnalysis(r, at) }).
		Encoded(func(e *schema.Encoder, _ string, a *study.Analysis) { encodeAnalysis(e, a) })
}

func encodeAnalysis(e *schema.Encoder, a *study.Analysis) {
	analysisKeys().Encode(e, a)
	if a.Options != nil {
		a.Options.Encode(e)
	}
}

// AnalysisKeys returns the keys that every entry of analyses may have besides the options of its
// kind, for people.
func AnalysisKeys() []schema.Row { return analysisKeys().Rows() }

func analysisKeys() schema.Keys[study.Analysis] {
	type A = study.Analysis
	return schema.Keys[A]{
		{Name: "kind", Required: true, Path: "analysis.kind", Doc: "what is asked", Form: schema.Word(func(a *A) *study.AnalysisKind { return &a.Kind }, analysisWords()).Is("a word of these")},
		{
			Name: "intervals", Path: "analysis.intervals", Unset: string(study.IntervalsEach), Doc: "each holds at 95 % by itself, or all of the analysis together",
			Forbidden: func(a *A) string {
				if k, _ := study.KindOf(a.Kind); k.Bare {
					return "it belongs to answers with intervals, which " + string(k.Name) + " has not"
				}
				return ""
			},
			Form: schema.Word(func(a *A) *study.Intervals { return &a.Intervals }, schema.WordsOf("intervals", study.IntervalsEach, study.IntervalsAll)).Absent(func(a *A) {
				if k, known := study.KindOf(a.Kind); known && !k.Bare {
					a.Intervals = study.IntervalsEach
				}
			}),
		},
	}
}

// readAnalysis reads one entry of analyses. A key that belongs to another kind's options is not
// reported as misspelt: the error names the kinds that have it.
func readAnalysis(r *schema.Reader, it schema.Item) (a study.Analysis) {
	own := analysisKeys()
	known := own.Names()
	for _, name := range study.Kinds() {
		for _, key := range keysOf(name) {
			if !slices.Contains(known, key) {
				known = append(known, key)
			}
		}
	}
	o := r.Object(it.Node, it.Path, known...)
	own.Take(o, &a)
	k, ok := study.KindOf(a.Kind)
	if !ok {
		return a // reported already
	}
	for _, key := range known[len(own):] {
		if o.Has(key) && !slices.Contains(keysOf(a.Kind), key) {
			o.Fail(key, "does not belong here: it is an option of %s", strings.Join(takers(key), ", ")).Hint = "remove the key"
		}
	}
	a.Options = k.Read(o)
	return a
}

// keysOf returns the option keys of a kind.
func keysOf(name study.AnalysisKind) []string {
	k, _ := study.KindOf(name)
	return k.Keys().Names()
}

// takers returns the kinds that have an option.
func takers(key string) (out []string) {
	for _, name := range study.Kinds() {
		if slices.Contains(keysOf(name), key) {
			out = append(out, string(name))
		}
	}
	return out
}

// completeAnalysis fills in the defaults of options that depend on the sketch that answers.
func (r *reader) completeAnalysis(s *study.Study, i int) {
	a := &s.Analyses[i]
	if index, ok := s.SketchFor(*a); ok {
		k, _ := study.KindOf(a.Kind)
		a.Options = k.Complete(r.Reader, s.Sketches[index], a.Options, fmt.Sprintf("analyses[%d]", i))
	}
}

func (r *reader) validateAnalyses(s *study.Study) {
	if len(s.Analyses) == 0 {
		r.Fail("analyses", "lists no analysis").Hint = "like [{kind: correlation}]"
	}
	seen := map[string]bool{}
	for i, a := range s.Analyses {
		path := fmt.Sprintf("analyses[%d]", i)
		e := &schema.Encoder{}
		encodeAnalysis(e, &a)
		if seen[string(e.Bytes)] {
			r.Fail(path, "the same analysis appears twice")
		}
		seen[string(e.Bytes)] = true
		k, _ := study.KindOf(a.Kind)
		k.Check(r.Reader, s, a, path)
		r.validateAnswer(s, a, path)
	}
	unique(r, "later", s.Later)
	for i, kind := range s.Later {
		r.validateAnswer(s, study.Analysis{Kind: kind}, fmt.Sprintf("later[%d]", i))
	}
}

// validateAnswer refuses a question that no sketch of the study answers.
func (r *reader) validateAnswer(s *study.Study, a study.Analysis, path string) {
	if _, ok := s.SketchFor(a); ok {
		return
	}
	k, ok := study.KindOf(a.Kind)
	if !ok {
		return // reported already
	}
	if why := k.WhyNotIn(s.Partition); why != "" {
		r.Fail(path, "%s has no answer in a %s study", k.Name, s.Partition).Hint = why
		return
	}
	if k.Label && !s.HasClasses() {
		r.Fail(path, "%s separates the classes of a label, and no column is a label with 2 to %d classes", k.Name, study.MaxClasses).Hint = "write role: label in a binary or categorical column"
		return
	}
	var ways []string
	for _, n := range k.Needs(a.Options) {
		if !n.Side.Sums() || s.Partition == study.Horizontal {
			ways = append(ways, n.String())
		}
	}
	if len(ways) == 0 {
		r.Fail(path, "no sketch of a %s study answers %s", s.Partition, a.Name()).Hint = "parties that have the same columns answer it, in a horizontal study"
		return
	}
	r.Fail(path, "no sketch of the study answers %s", a.Name()).Hint = "it needs a sketch of " + strings.Join(ways, ", or of ")
}
