package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// entry is how an analysis of one kind is read. Each stands in a file of its kind.
type entry struct {
	kind study.AnalysisKind
	// keys are those of its options, which read reads, complete completes, where a default
	// depends on the sketch that answers, and check checks.
	keys     []string
	read     func(o object) study.Options
	complete func(r *reader, answering study.Sketch, options study.Options, path string) study.Options
	check    func(r *reader, s *study.Study, a study.Analysis, path string)
}

// entries are those of the kinds that have options, in the order of the kinds.
func entries() []entry {
	return []entry{
		correlationEntry, kMeansEntry, recordDistanceEntry, neighborsEntry, outliersEntry,
		perceptronEntry, votedPerceptronEntry, svmEntry, ridgeEntry, ldaEntry,
		pcaEntry, regressionEntry, clusteringEntry,
	}
}

// entryOf returns the entry of a kind; that of a kind without options is empty.
func entryOf(kind study.AnalysisKind) entry {
	for _, e := range entries() {
		if e.kind == kind {
			return e
		}
	}
	return entry{}
}

// analysis reads one entry of analyses. A key of another kind's options is no slip of
// spelling, and the error says whose it is.
func (r *reader) analysis(it schema.Item) study.Analysis {
	known := []string{"kind", "intervals"}
	for _, k := range entries() {
		for _, key := range k.keys {
			if !slices.Contains(known, key) {
				known = append(known, key)
			}
		}
	}
	o := r.object(it.Node, it.Path, known...)
	o.Require("kind")
	a := study.Analysis{
		Kind:      schema.Choice(o.Object, "kind", analysisWords(), study.AnalysisKind("")),
		Intervals: schema.Choice(o.Object, "intervals", intervals, study.Intervals("")),
	}
	k, ok := study.KindOf(a.Kind)
	if !ok {
		return a // said already
	}
	switch {
	case k.Bare && o.Has("intervals"):
		o.forbid("intervals", "belongs to answers with intervals, which "+string(k.Name)+" has not")
	case !k.Bare && a.Intervals == "":
		a.Intervals = study.IntervalsEach
	}
	e := entryOf(a.Kind)
	for _, key := range known[2:] {
		if o.Has(key) && !slices.Contains(e.keys, key) {
			o.forbid(key, "is an option of "+strings.Join(takers(key), ", "))
		}
	}
	if e.read != nil {
		a.Options = e.read(o)
	}
	return a
}

// takers are the kinds that have an option.
func takers(key string) (out []string) {
	for _, e := range entries() {
		if slices.Contains(e.keys, key) {
			out = append(out, string(e.kind))
		}
	}
	return out
}

// completeAnalysis fills in the defaults of options that depend on the sketch that answers.
func (r *reader) completeAnalysis(s *study.Study, i int) {
	a := &s.Analyses[i]
	if e := entryOf(a.Kind); e.complete != nil {
		if index, ok := s.SketchFor(*a); ok {
			a.Options = e.complete(r, s.Sketches[index], a.Options, fmt.Sprintf("analyses[%d]", i))
		}
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
		encodeAnalysis(e, a)
		if seen[string(e.Bytes)] {
			r.Fail(path, "the same analysis appears twice")
		}
		seen[string(e.Bytes)] = true
		if entry := entryOf(a.Kind); entry.check != nil {
			entry.check(r, s, a, path)
		}
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
		return // said already
	}
	if why := k.Elsewhere(s.Partition); why != "" {
		r.Fail(path, "%s has no answer in a %s study", k.Name, s.Partition).Hint = why
		return
	}
	if k.Label && !s.HasClasses() {
		r.Fail(path, "%s tells the classes of the label apart, and no column is a label with 2 to %d classes", k.Name, study.MaxClasses).Hint = "write role: label in a binary or categorical column"
		return
	}
	var ways []string
	for _, n := range k.Needs(a.Options) {
		if !n.Side.Sums() || s.Partition == study.Horizontal {
			ways = append(ways, n.String())
		}
	}
	r.Fail(path, "no sketch of the study answers %s", a.Name()).Hint = "it needs a sketch of " + strings.Join(ways, ", or of ")
}
