package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// section collects the blocks of one analysis.
type section struct {
	id      string
	a       analysis.Analysis
	beside  []analysis.Analysis // all analyses of the result
	heading block.Heading
	figures []block.Figure
	notes   []string
	tables  []block.Table
	skipped map[string]bool // tables of the result that the section shows in another form
}

// Analysis returns an answer as blocks: what it is and what comes out, what must be read before the
// numbers, their assumptions, and then figures, explanations and tables. The identifiers of its
// parts begin with id; beside are all answers of the result.
func Analysis(id string, a analysis.Analysis, beside []analysis.Analysis) []block.Block {
	s := &section{id: id, a: a, beside: beside, heading: block.Heading{ID: id, Text: title(a.Kind)}}
	if err := a.Sound(); err != nil {
		return []block.Block{s.heading, block.Text{Tone: block.Warn, Lead: "Not shown", Text: "The document is inconsistent here: " + err.Error() + "."}}
	}
	if a.Undefined != "" {
		return append(s.begin(), block.Text{Tone: block.Warn, Lead: "No answer", Text: capital(a.Undefined)})
	}
	s.skip("assumes") // codes of assumptions, which terms says in words
	s.pairs()
	if own := kindOf(a.Kind).own; own != nil {
		own(s)
	}
	s.joined()
	s.repaired()
	s.cut()
	s.rest()
	out := s.begin()
	for _, f := range s.figures {
		out = append(out, s.warnedFigure(f))
	}
	for _, text := range s.notes {
		out = append(out, block.Text{Tone: block.Soft, Text: text})
	}
	for _, t := range s.tables {
		t.Caution = a.Warned()
		out = append(out, t)
	}
	return out
}

// begin returns the blocks that come before what was computed.
func (s *section) begin() []block.Block {
	out := []block.Block{s.heading}
	if caution := s.a.Warned(); caution != "" {
		out = append(out, block.Text{Tone: block.Warn, Lead: "Caution", Text: caution})
	}
	if nothing := s.a.Nothing(); nothing != "" {
		out = append(out, block.Text{Tone: block.Warn, Text: nothing})
	}
	if terms := terms(s.a); terms != "" {
		out = append(out, block.Text{Tone: block.Soft, Text: terms})
	}
	return out
}

// warnedFigure puts the caution before the caption, because figures are copied without the text
// around them.
func (s *section) warnedFigure(f block.Figure) block.Figure {
	if caution := s.a.Warned(); caution != "" {
		f.Caption = strings.TrimSpace(caution + " " + f.Caption)
	}
	return f
}

func (s *section) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// figure adds a figure; its identifier begins with the section's.
func (s *section) figure(name string, f block.Figure) {
	f.ID = s.id + "-" + name
	s.figures = append(s.figures, f)
}

// forest adds a figure of intervals.
func (s *section) forest(name, what string, plot block.Forest) {
	s.figure(name, block.Figure{Title: what + ", with intervals", Plot: plot})
}

// skip marks tables of the result that are not to be shown by rest.
func (s *section) skip(names ...string) {
	if s.skipped == nil {
		s.skipped = map[string]bool{}
	}
	for _, name := range names {
		s.skipped[name] = true
	}
}

// estimates returns a table of named numbers with their intervals.
func estimates(what, of string, rows []block.ForestRow) block.Table {
	people := slices.ContainsFunc(rows, func(r block.ForestRow) bool { return r.People })
	t := block.Table{Columns: append([]block.Column{block.Words(what)}, block.Estimates(of, people)...), Of: len(rows)}
	for _, r := range rows[:min(len(rows), block.MostRows)] {
		t.Rows = append(t.Rows, append(block.Cells(r.Name), r.Cells(people)...))
	}
	return t
}

// ofOneSize reports whether numbers, such as shares, are of similar size, so that one axis can show
// them.
func ofOneSize(rows []block.ForestRow) bool {
	for _, r := range rows {
		low, high := r.Outer()
		if r.Undefined == "" && max(high, r.Value, -low, -r.Value) > 1 {
			return false
		}
	}
	return true
}

// leftOut names features that have no part in the answer.
func (s *section) leftOut(features []analysis.Feature, why string) {
	if len(features) > 0 {
		s.note("Left out, as %s: %s.", why, names(features))
	}
}

// faint is why a column is left out of an answer that divides by its variance.
const faint = "their variance does not stand out of its error"

// names joins the names of features.
func names(features []analysis.Feature) string {
	const most = 20
	var out []string
	for _, f := range features[:min(len(features), most)] {
		out = append(out, f.Name())
	}
	if more := len(features) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// compared says with which values of categorical columns the others are compared.
func (s *section) compared(reference []analysis.Feature) {
	if len(reference) > 0 {
		s.note("Other values of these columns are compared with %s.", names(reference))
	}
}

// joined says which records an answer is about, and out of how many.
func (s *section) joined() {
	if s.a.Joined == nil {
		return
	}
	j, parts := *s.a.Joined, []string(nil)
	for i, n := range j.In {
		switch {
		case i == len(j.In)-1:
			parts = append(parts, fmt.Sprintf("%d in all %d", n, i+1))
		case i == 0:
			parts = append(parts, fmt.Sprintf("%d in one party's release alone", n))
		default:
			parts = append(parts, fmt.Sprintf("%d in those of %d", n, i+1))
		}
	}
	about := "records that every party has"
	if j.Join == study.JoinAny {
		about = "records that some party has; for a party that lacks one, its columns count as their centres"
	}
	s.notes = slices.Insert(s.notes, 0, fmt.Sprintf("About %d records: %s. There are %s.", j.Records, about, strings.Join(parts, ", ")))
	s.skip("joined", "joined_in")
}

// repaired says that there is a repaired matrix, and how far it is from the estimates, for which it
// must not be mistaken. Its entries are in the document.
func (s *section) repaired() {
	if s.a.Repaired == nil {
		return
	}
	s.skip("repaired", "repaired_matrix")
	r := *s.a.Repaired
	switch {
	case r.Undefined != "":
		s.note("%s is undefined: %s.", r.Name, r.Undefined)
	case r.Negative == 0:
		s.note("%s, in the document, equals the estimates, which have no negative eigenvalue. %s", r.Name, r.Statement)
	default:
		s.note("%s, in the document, is the nearest matrix without negative eigenvalues. The estimates have %d, the least %s. The two matrices differ by %s, %.2g %% of the estimates (Frobenius norm, encoded units). %s",
			r.Name, r.Negative, block.Digits(r.Least, 3), block.Digits(r.Moved, 3), 100*r.Moved/r.Norm, r.Statement)
	}
}

// cut says how many records were cut, and from how many on that matters.
func (s *section) cut() {
	if s.a.Cut == nil {
		return
	}
	s.skip("cut")
	c, were, allowed := *s.a.Cut, "were longer than the clip", "Intervals of means and covariances allow for it. "
	switch {
	case c.Beyond:
		were, allowed = "were longer than the clip or had a value beyond three spreads", ""
	case s.a.CellMeans != nil:
		allowed = "Intervals of the means of clusters do not allow for it. "
	}
	s.note("Of %d records, about %s %s, by a noisy count. %sFrom %.3g records on, this is noticeable beside the noise.",
		c.Of, c.Records.Shown(), were, allowed, ceil(c.Noticeable*float64(c.Of)))
}
