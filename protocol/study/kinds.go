package study

import (
	"sync"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// AnalysisKind names an analysis.
type AnalysisKind string

// Analysis is one question that the study asks.
type Analysis struct {
	Kind      AnalysisKind
	Intervals Intervals // empty for kinds without intervals; default IntervalsEach
	Options   Options   // nil for kinds that have none
}

// Kind is what the study file knows of one kind of analysis. Each stands in a file of its own.
type Kind struct {
	Name AnalysisKind
	Bare bool // its answers have no intervals
	// needs lists what sketches answer it, the best first; options may be nil, and then stand
	// for the defaults.
	Needs func(options Options) []Needs
	// says goes on after the kind's name in the explanation to stewards; nil: nothing.
	says func(a Analysis) string
	// keys are those of its options; nil: it has none.
	keys     OptionKeys
	complete func(r *schema.Reader, answering Sketch, options Options, path string) Options
	check    func(r *schema.Reader, s *Study, a Analysis, path string)
	// label marks what is about the label, which then has to have classes.
	Label bool
	// vertical marks what has an answer in vertical studies alone, and why.
	vertical string
	// horizontal marks what has an answer in horizontal studies alone, and why.
	horizontal string
	// Counts are the tables that a draft has a counts sketch count for it, of columns that are described so far; nil: it
	// asks nothing of counts.
	Counts func(options Options, columns []Column) []Table
}

// Elsewhere is why a kind has no answer in a study of this partition; empty where it has.
func (k Kind) Elsewhere(p Partition) string {
	if p == Vertical {
		return k.horizontal
	}
	return k.vertical
}

// allKinds is kinds, made once: they are asked for at every turn.
var allKinds = sync.OnceValue(kinds)

// KindOf returns the kind of an analysis; ok is false for one that this version has not.
func KindOf(name AnalysisKind) (k Kind, ok bool) {
	for _, k := range allKinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Known reports whether this version has the analysis.
func (k AnalysisKind) Known() bool {
	_, ok := KindOf(k)
	return ok
}

// Kinds are the kinds of analysis of this version, in the order in which they are listed.
func Kinds() (out []AnalysisKind) {
	for _, k := range allKinds() {
		out = append(out, k.Name)
	}
	return out
}

// Needs says what a sketch must have to answer an analysis.
type Needs struct {
	Side          sketch.Side
	Ones, squares bool
	labels        bool
	sums          bool // moments without products answer it
	// tables reports whether the tables of a counts sketch answer it, and with says what they have to have; nil: any do.
	tables func(of []Table) bool
	with   string
}

// met reports whether a sketch has it.
func (n Needs) met(sk Sketch) bool {
	return sk.Side == n.Side && (sk.Helpers.Ones > 0 || !n.Ones) && (sk.Helpers.Squares || !n.squares) && (sk.Labels != LabelsNone || !n.labels) &&
		(sk.Side != sketch.Moments || n.sums || sk.Moments.Sums > 0) && (n.tables == nil || n.tables(sk.Tables))
}

// String says it in the words of the study file.
func (n Needs) String() string {
	out := "side " + string(n.Side)
	if n.Ones {
		out += " with helpers.ones above 0"
	}
	if n.squares {
		out += " and helpers.squares: true"
	}
	if n.Side == sketch.Moments && !n.sums {
		out += " with products"
	}
	if n.with != "" {
		out += " with " + n.with
	}
	if n.labels {
		out += " with labels: plain or labels: randomised"
	}
	return out
}

// one returns a kind's needs that options do not change.
func one(n Needs) func(Options) []Needs {
	return func(Options) []Needs { return []Needs{n} }
}

// SketchFor returns the index of the sketch that answers an analysis: the first that has the
// best of what the kind can use.
func (s *Study) SketchFor(a Analysis) (int, bool) {
	k, ok := KindOf(a.Kind)
	if !ok || k.Elsewhere(s.Partition) != "" || k.Label && !s.HasClasses() {
		return 0, false
	}
	for _, n := range k.Needs(a.Options) {
		for i, sk := range s.Sketches {
			if n.met(sk) {
				return i, true
			}
		}
	}
	return 0, false
}

// Answerable returns every kind of analysis that some sketch of the study answers.
func (s *Study) Answerable() []AnalysisKind {
	var out []AnalysisKind
	for _, k := range allKinds() {
		if _, ok := s.SketchFor(Analysis{Kind: k.Name}); ok {
			out = append(out, k.Name)
		}
	}
	return out
}

// Name is the kind, with the estimator where there is a choice of them.
func (a Analysis) Name() string {
	if e := a.Estimator(); e != "" {
		return string(a.Kind) + " by " + string(e)
	}
	return string(a.Kind)
}

// explain says what is computed, for stewards.
func (a Analysis) explain() string {
	text := string(a.Kind)
	if k, ok := KindOf(a.Kind); ok && k.says != nil {
		text += ", " + k.says(a)
	}
	if a.Intervals == IntervalsAll {
		text += ", with intervals that hold all together"
	}
	return text
}

// Intervals says what the level of an analysis's intervals is about.
type Intervals string

const (
	IntervalsEach Intervals = "each" // each interval holds at the level, by itself
	IntervalsAll  Intervals = "all"  // all intervals of the analysis hold together at the level
)
