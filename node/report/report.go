package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

//go:embed *.tmpl style.css
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
	Message    string // id of the signed message on the board; empty: none
	Beside     string // when it was signed beside the board; empty: it was not
	Document   string // SHA-256 of the result
}

// HTML writes the page.
func HTML(w io.Writer, p Page) error { return write(w, "page.html.tmpl", newView(p)) }

// write executes one of the templates.
func write(w io.Writer, name string, view any) error {
	t, err := template.New(name).Funcs(template.FuncMap{"brief": brief, "bytes": bytesText, "style": Style}).ParseFS(source, "*.tmpl")
	if err == nil {
		err = t.Execute(w, view)
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// Style is the style sheet of sections and pages, with that of figures.
func Style() (template.CSS, error) {
	sheet, err := source.ReadFile("style.css")
	return figure.Style() + template.CSS(sheet), err
}

// view is what the template reads.
type view struct {
	Page
	Headline string
	Bare     bool
	Stepper  bool
	Parties  []partyRow
	Sections []Section
	Promise  []string
	Explain  string
}

type partyRow struct {
	Name           string
	In             bool
	Records, Bytes string
	Release        string
	Steps          []bool
}

func newView(p Page) view {
	v := view{Page: p, Sections: Sections(p.Result), Headline: headline(p.Result), Bare: bare(p.Result), Stepper: p.Taken != nil, Explain: p.Study.Explain(study.Everyone)}
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
	v.Promise = p.Result.Promises()
	return v
}
