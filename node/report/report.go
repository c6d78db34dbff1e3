package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

//go:embed page.html.tmpl
var source embed.FS

// Page is what a report is about.
type Page struct {
	Study   *study.Study      // required
	Result  analysis.Result   // required, of the study
	Signed  *Signature        // nil: nobody has signed it
	Steps   []string          // of a party in a study, in order
	Taken   []map[string]bool // which of them each party of the study has taken; nil where that is not known
	Made    protocol.Instant  // when the page is made
	Version string            // of the program
}

// Signature says who stands for the result.
type Signature struct {
	Aggregator string // peer id
	Message    string // the signed message, in words
	Document   string // SHA-256 of the result
}

// HTML writes the page.
func HTML(w io.Writer, p Page) error {
	page, err := parsed()
	if err == nil {
		err = page.Execute(w, newView(p))
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func parsed() (*template.Template, error) {
	return template.New("page.html.tmpl").Funcs(template.FuncMap{"brief": brief, "bytes": bytesText}).ParseFS(source, "page.html.tmpl")
}

// view is what the template reads.
type view struct {
	Page
	Headline string
	Bare     bool
	Stepper  bool
	Parties  []partyRow
	Sections []section
	Promise  []string // distinct statements
	Explain  string
	Style    template.CSS // of figures
}

type partyRow struct {
	Name           string
	In             bool
	Records, Bytes string
	Release        string
	Steps          []bool
}

// section is one analysis.
type section struct {
	ID, Title, Summary, Terms string
	Undefined                 string
	Figures                   []figure.Figure
	Open, Folded              []grid // short tables, and those behind a line to open
	Notes                     []string
}

func newView(p Page) view {
	v := view{Page: p, Headline: headline(p.Result), Bare: bare(p.Result), Stepper: p.Taken != nil, Explain: p.Study.Explain(study.Everyone), Style: figure.Style()}
	for i, listed := range p.Study.Parties {
		row := partyRow{Name: listed.Name, Records: "–", Bytes: "–"}
		if at := slices.IndexFunc(p.Result.Parties, func(in analysis.Party) bool { return in.Name == listed.Name }); at >= 0 {
			in := p.Result.Parties[at]
			row.In, row.Records, row.Bytes, row.Release = true, fmt.Sprint(in.Records), bytesText(in.Bytes), in.Release
		}
		for _, step := range p.Steps {
			row.Steps = append(row.Steps, i < len(p.Taken) && p.Taken[i][step])
		}
		v.Parties = append(v.Parties, row)
	}
	for _, s := range p.Result.Sketches {
		if !slices.Contains(v.Promise, s.Statement) {
			v.Promise = append(v.Promise, s.Statement)
		}
	}
	for i, a := range p.Result.Analyses {
		v.Sections = append(v.Sections, newSection(fmt.Sprintf("a%d", i), a))
	}
	return v
}

// newSection draws what suits an analysis: a heat map where numbers have the scale of
// correlations, a picture where records were clustered, and else intervals. Sections of
// kinds that have no figure of their own are tables, and intervals where those hold numbers.
func newSection(id string, a analysis.Analysis) section {
	s := section{ID: id, Title: title(a), Terms: terms(a), Undefined: a.Undefined}
	if a.Undefined != "" {
		return s
	}
	if len(a.Pairs) > 0 {
		s.pairs(a)
	}
	if len(a.Shifts) > 0 {
		s.Figures = append(s.Figures, forest(id+"-shift", "Squared distances between mean records", entriesOfPairs(a, clearest(a.Shifts)), true, "squared distance between the mean records of two parties"))
		s.Folded = append(s.Folded, pairGrid("Squared distances between the parties' mean records", a, a.Shifts))
	}
	drawn := map[string]bool{}
	if a.KMeans != nil {
		s.clusters(*a.KMeans, drawn)
	}
	if a.Repaired != nil {
		s.Notes = append(s.Notes, repairedText(*a.Repaired))
		drawn["repaired"], drawn["repaired_matrix"] = true, true
	}
	for _, t := range a.Tables() {
		if drawn[t.Name] {
			continue
		}
		caption := strings.ReplaceAll(t.Name, "_", " ")
		if kind := strings.ReplaceAll(string(a.Kind), "-", "_"); strings.HasPrefix(t.Name, kind) { // k-means, not k means
			caption = string(a.Kind) + strings.ReplaceAll(strings.TrimPrefix(t.Name, kind), "_", " ")
		}
		if entries := entriesOf(t); len(entries) > 1 {
			s.Figures = append(s.Figures, forest(id+"-"+strings.ReplaceAll(t.Name, "_", "-"), caption, entries, ofOneSize(entries), ""))
		}
		if len(t.Rows) <= shortTable {
			s.Open = append(s.Open, gridOf(caption, t))
		} else {
			s.Folded = append(s.Folded, gridOf(caption, t))
		}
	}
	return s
}

// shortTable is up to how many rows a table is shown without being asked for.
const shortTable = 12

// pairs draws the numbers of pairs.
func (s *section) pairs(a analysis.Analysis) {
	s.Summary = standing(a)
	columns := a.Features[0].Column != ""
	scaled := a.Kind == study.Correlation || a.Kind == study.Cosine
	if scaled && len(a.Features) > 1 && len(a.Features) <= mostHeat {
		s.Figures = append(s.Figures, heatMap(s.ID+"-heat", a))
	}
	shown, what := across(a), " across parties"
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
		s.Figures = append(s.Figures, forest(s.ID+"-pairs", title(a)+what, entriesOfPairs(a, clearest(shown)), scaled || !columns, unit))
	}
	s.Folded = append(s.Folded, pairGrid(title(a)+" of every pair", a, a.Pairs))
}

func entriesOfPairs(a analysis.Analysis, pairs []analysis.Pair) []entry {
	var out []entry
	for _, p := range pairs {
		name := a.Features[p.I].Name()
		if p.I != p.J {
			name += ", " + a.Features[p.J].Name()
		}
		out = append(out, entry{name, p.Number})
	}
	return out
}

// clusters draws clustered records.
func (s *section) clusters(k analysis.KMeans, drawn map[string]bool) {
	total := 0
	for _, n := range k.Sizes {
		total += n
	}
	s.Summary = fmt.Sprintf("%d records in %d clusters, the best of %d starts.", total, k.Clusters, k.Restarts)
	if k.Scatter != nil {
		s.Figures = append(s.Figures, scatterPlot(s.ID+"-scatter", k))
	}
	sizes := grid{Caption: "Records in each cluster", Columns: []gridColumn{{"cluster", true}, {"records", true}, {"share", true}}}
	for c, n := range k.Sizes[:min(len(k.Sizes), mostRows)] {
		sizes.Rows = append(sizes.Rows, []string{fmt.Sprint(c), fmt.Sprint(n), fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(total, 1)))})
	}
	sizes.Omitted = len(k.Sizes) - len(sizes.Rows)
	s.Open = append(s.Open, sizes)
	for _, name := range []string{"k_means_sizes", "k_means_scatter", "k_means_scatter_points", "k_means_scatter_variance", "k_means_scatter_centres"} {
		drawn[name] = true
	}
}

// repairedText says that there is a repaired matrix, and what it must not be taken for.
func repairedText(r analysis.Repaired) string {
	if r.Undefined != "" {
		return fmt.Sprintf("%s is undefined: %s.", r.Name, r.Undefined)
	}
	if r.Negative == 0 {
		return fmt.Sprintf("The estimates have no negative eigenvalue: %s is equal to them. %s", r.Name, r.Statement)
	}
	return fmt.Sprintf("%s, in the document, is the nearest matrix without negative eigenvalues; the estimates have %d, and it is %.2g %% of their size away. %s",
		r.Name, r.Negative, 100*r.Moved/r.Norm, r.Statement)
}
