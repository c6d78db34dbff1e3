package report

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Section is the answer of one analysis: figures, the tables they were drawn from, and what
// holds for both.
type Section struct {
	ID        string // unique in a result; figures' begin with it
	Title     string
	Caution   string // to be read before the numbers
	Nothing   string // that nothing stands out of the noise, and of what
	Summary   string // what comes out, in a phrase
	Terms     string // what intervals and estimates hold for
	Undefined string // why there is no answer
	Figures   []figure.Figure
	Asked     []figure.Figure // those behind a line to open
	Open      []Grid          // short tables
	Folded    []Grid          // those behind a line to open
	Notes     []string

	skipped map[string]bool // tables of the result that the section holds in another form
}

// Sections are the answers of a result that Decode let pass, one for each analysis, in
// their order. Titles that are there before are numbered, so that each leads to one place.
func Sections(r analysis.Result) (out []Section) {
	titled := map[string]int{}
	for i, a := range r.Analyses {
		s := newSection(fmt.Sprintf("a%d", i), a, r.Analyses)
		if titled[s.Title]++; titled[s.Title] > 1 {
			s.Title += fmt.Sprintf(" (%d)", titled[s.Title])
		}
		out = append(out, s)
	}
	return out
}

// HTML is the section as an element of a page that has Style.
func (s Section) HTML() (template.HTML, error) {
	var out bytes.Buffer
	err := write(&out, "section.html.tmpl", s)
	return template.HTML(out.String()), err
}

// newSection draws what suits an analysis: a heat map where numbers have the scale of
// correlations, pictures that its kind has, and else intervals. Kinds that have no figure
// of their own are tables, and intervals where those hold numbers.
func newSection(id string, a analysis.Analysis, beside []analysis.Analysis) Section {
	s := Section{ID: id, Title: title(a), Caution: a.Warned(), Nothing: a.Nothing(), Terms: terms(a), Undefined: a.Undefined}
	if a.Undefined != "" {
		return s
	}
	if len(a.Pairs) > 0 {
		s.pairs(a)
	}
	if a.Dense != nil {
		s.dense(a)
	}
	if len(a.Shifts) > 0 {
		s.Figures = append(s.Figures, forest(id+"-shift", "Squared distances between mean records", entriesOfPairs(a, a.Clearest(a.Shifts)), true, "squared distance between the mean records of two parties"))
		s.Folded = append(s.Folded, pairGrid("Squared distances between the parties' mean records", a, a.Shifts))
	}
	s.kind(id, a, beside)
	if a.Repaired != nil {
		s.Notes = append(s.Notes, repairedText(*a.Repaired))
		s.skip("repaired", "repaired_matrix")
	}
	s.skip("features") // they stand beside their numbers
	if a.Cut != nil {
		s.Notes = append(s.Notes, cutText(a))
		s.skip("cut")
	}
	for _, t := range a.Tables() {
		if s.skipped[t.Name] {
			continue
		}
		t = withoutParts(t)
		caption := strings.ReplaceAll(t.Name, "_", " ")
		if kind := strings.ReplaceAll(string(a.Kind), "-", "_"); strings.HasPrefix(t.Name, kind) { // k-means, not k means
			caption = string(a.Kind) + strings.ReplaceAll(strings.TrimPrefix(t.Name, kind), "_", " ")
		}
		if entries := entriesOf(t); len(entries) > 1 {
			s.Figures = append(s.Figures, forest(id+"-"+strings.ReplaceAll(t.Name, "_", "-"), caption, entries, ofOneSize(entries), ""))
		}
		s.table(gridOf(caption, t))
	}
	s.warn()
	return s
}

// warn begins the captions of figures and tables with the caution: they are copied without
// what stands around them.
func (s *Section) warn() {
	if s.Caution == "" {
		return
	}
	for _, figures := range [][]figure.Figure{s.Figures, s.Asked} {
		for i := range figures {
			figures[i].Caption = s.Caution + " " + figures[i].Caption
		}
	}
	for _, grids := range [][]Grid{s.Open, s.Folded} {
		for i := range grids {
			grids[i].Caution = s.Caution
		}
	}
}

// kind draws what an analysis's own section holds.
func (s *Section) kind(id string, a analysis.Analysis, beside []analysis.Analysis) {
	switch {
	case a.KMeans != nil:
		s.clusters(id, *a.KMeans)
	case a.CellMeans != nil:
		s.cells(id, a)
	case a.PCA != nil && len(a.PCA.Components) > 0:
		s.components(id, a)
	case a.Regression != nil:
		s.regression(id, a)
	case a.Hierarchy != nil:
		s.hierarchy(id, a, beside)
	case a.Classifier != nil:
		s.classifier(id, a)
	case a.Neighbors != nil:
		s.neighbors(id, a)
	case a.Outliers != nil:
		s.outliers(id, a)
	case a.Sums != nil:
		s.sums(id, a)
	case a.Means != nil:
		s.means(id, a)
	case a.LDA != nil:
		s.discriminant(id, a)
	}
}

// skip notes tables of the result that need not be shown as they are.
func (s *Section) skip(names ...string) {
	if s.skipped == nil {
		s.skipped = map[string]bool{}
	}
	for _, name := range names {
		s.skipped[name] = true
	}
}

// table adds a table, behind a line to open where it is long.
func (s *Section) table(g Grid) {
	if len(g.Rows)+g.Omitted <= shortTable {
		s.Open = append(s.Open, g)
	} else {
		s.Folded = append(s.Folded, g)
	}
}

// shortTable is up to how many rows a table is shown without being asked for.
const shortTable = 12

// pairs draws the numbers of pairs.
func (s *Section) pairs(a analysis.Analysis) {
	s.Summary = a.Standing()
	columns := a.Features[0].Column != ""
	scaled := a.Kind == study.Correlation || a.Kind == study.Cosine
	if scaled && len(a.Features) > 1 && len(a.Features) <= mostHeat {
		s.Figures = append(s.Figures, heatMap(s.ID+"-heat", a))
	}
	shown, what := a.Across(), " across parties"
	if len(shown) == 0 || a.Features[0].Party == "" {
		what = ""
	}
	if len(shown) == 0 {
		shown = a.Pairs
	}
	unit := "records"
	switch {
	case scaled:
		unit = string(a.Kind)
	case columns:
		unit = ""
	case a.Units != "":
		units, _, _ := strings.Cut(a.Units, ":")
		unit = "in " + units + " units"
		shown, what = a.Pairs, ""
	}
	if scaled || columns || len(shown) > 0 {
		s.Figures = append(s.Figures, forest(s.ID+"-pairs", title(a)+what, entriesOfPairs(a, a.Clearest(shown)), scaled || !columns, unit))
	}
	s.Folded = append(s.Folded, pairGrid(title(a)+" of every pair", a, a.Pairs))
}

// dense draws the clearest numbers of a dense table, which are all that its document has.
func (s *Section) dense(a analysis.Analysis) {
	g := a.Dense.Gist
	s.Summary = fmt.Sprintf("%d of %d pairs of different %s clearly differ from 0", g.Clear, g.Compared, a.Compared())
	if g.Undefined > 0 {
		s.Summary += fmt.Sprintf("; %d undefined", g.Undefined)
	}
	if len(g.Clearest) > 0 {
		caption := title(a) + " of the clearest pairs"
		s.Figures = append(s.Figures, forest(s.ID+"-pairs", caption, entriesOfPairs(a, g.Clearest), a.Units == "", ""))
		s.Folded = append(s.Folded, pairGrid(caption, a, g.Clearest))
	}
	s.Notes = append(s.Notes, fmt.Sprintf("All %d pairs are in files beside the document, %s.", a.Dense.Pairs, bytesText(a.Dense.Bytes())))
	s.skip("dense", "dense_fields", "dense_undefined", "dense_parts", "dense_gist_clearest")
}

func entriesOfPairs(a analysis.Analysis, pairs []analysis.Pair) []entry {
	var out []entry
	for _, p := range pairs {
		name := a.Features[p.I].Name()
		if p.I != p.J {
			name += ", " + a.Features[p.J].Name()
		}
		out = append(out, entry{name, p.Number, a.Unanswered(p.Number)})
	}
	return out
}

// repairedText says that there is a repaired matrix, and what it must not be taken for.
func repairedText(r analysis.Repaired) string {
	if r.Undefined != "" {
		return fmt.Sprintf("%s is undefined: %s.", r.Name, r.Undefined)
	}
	if r.Negative == 0 {
		return fmt.Sprintf("The estimates have no negative eigenvalue, so %s equals them. %s", r.Name, r.Statement)
	}
	return fmt.Sprintf("%s, in the document, is the nearest matrix without negative eigenvalues. The estimates have %d; the two matrices differ by %.2g %% of the estimates. %s",
		r.Name, r.Negative, 100*r.Moved/r.Norm, r.Statement)
}
