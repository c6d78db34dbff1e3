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

// Kind describes one kind of analysis. Each kind has a file of its own.
type Kind struct {
	Name AnalysisKind
	Bare bool // its answers have no intervals
	// Needs lists which sketches answer it, the best first; nil options mean the defaults.
	Needs func(options Options) []Needs
	// says continues after the kind's name in the explanation to stewards; nil: nothing.
	says func(a Analysis) string
	// keys are the keys of its options; nil: it has none.
	keys     OptionKeys
	complete func(r *schema.Reader, answering Sketch, options Options, path string) Options
	check    func(r *schema.Reader, s *Study, a Analysis, path string)
	// Label marks kinds about the label, which must then have classes.
	Label bool
	// vertical is set for kinds that only vertical studies can answer, and says why.
	vertical string
	// horizontal is set for kinds that only horizontal studies can answer, and says why.
	horizontal string
	// Counts returns the tables that a draft puts into a counts sketch for this kind, from the
	// columns described so far; nil: the kind needs no counts.
	Counts func(options Options, columns []Column) []Table
}

// WhyNotIn says why a study of this partition cannot answer the kind; empty if it can.
func (k Kind) WhyNotIn(p Partition) string {
	if p == Vertical {
		return k.horizontal
	}
	return k.vertical
}

// allKinds caches kinds, which are needed often.
var allKinds = sync.OnceValue(kinds)

// KindOf returns the kind of an analysis; ok is false if this version does not have it.
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

// Kinds returns the kinds of analysis of this version, in the order in which they are listed.
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
	sums          bool // moments without products suffice
	// tables reports whether the tables of a counts sketch answer it; with says what they must
	// have. nil: any do.
	tables func(of []Table) bool
	with   string
}

// met reports whether a sketch meets the needs.
func (n Needs) met(sk Sketch) bool {
	return sk.Side == n.Side && (sk.Helpers.Ones > 0 || !n.Ones) && (sk.Helpers.Squares || !n.squares) && (sk.Labels != LabelsNone || !n.labels) &&
		(sk.Side != sketch.Moments || n.sums || sk.Moments.Sums > 0) && (n.tables == nil || n.tables(sk.Tables))
}

// String returns the needs in the words of the study file.
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

// one returns needs that do not depend on options.
func one(n Needs) func(Options) []Needs {
	return func(Options) []Needs { return []Needs{n} }
}

// SketchFor returns the index of the sketch that answers an analysis: the first that meets the
// earliest of the kind's needs that is met at all.
func (s *Study) SketchFor(a Analysis) (int, bool) {
	k, ok := KindOf(a.Kind)
	if !ok || k.WhyNotIn(s.Partition) != "" || k.Label && !s.HasClasses() {
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

// Name returns the kind, with the estimator if there is a choice.
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

// Intervals says what the confidence level of an analysis's intervals refers to.
type Intervals string

const (
	IntervalsEach Intervals = "each" // each interval by itself
	IntervalsAll  Intervals = "all"  // all intervals of the analysis simultaneously
)
