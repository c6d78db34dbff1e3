package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/outcome"
)

//go:embed report.html.tmpl figures.html.tmpl
var pageSource embed.FS

var page = template.Must(template.New("report.html.tmpl").Funcs(template.FuncMap{
	"bytes":   bytes,
	"style":   figure.Style,
	"percent": percent,
	"seconds": func(s outcome.Study) string { return fmt.Sprintf("%.1f s", s.Elapsed.Seconds()) },
	"sketch":  func(s outcome.Study) string { return sketchLine(s.Scenario) },
	"promise": promise,
	"spent":   spentLine,
	"bare":    func(s outcome.Study) bool { return s.Scenario.Mechanism == dp.None },
}).ParseFS(pageSource, "*.tmpl"))

// HTML writes the run as one page: style and figures inside, no script, no
// request to anywhere.
func HTML(w io.Writer, run Run) error {
	view := pageView{Run: run, Headline: headline(run)}
	for _, s := range run.Studies {
		view.Sections = append(view.Sections, newSection(s))
	}
	if err := page.Execute(w, view); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// pageView is what the template reads.
type pageView struct {
	Run      Run
	Headline string
	Sections []section
}

type section struct {
	outcome.Study
	Parties  []partyLine
	Matrices []matrixView
	Scatter  *clusterPlot
}

type partyLine struct {
	Name    string
	Records int64
	Bytes   string
	Release string
	Ledger  string
}

// matrixView is one analysis of pairs in all its figures.
type matrixView struct {
	Title     string
	Error     string
	Coverage  string
	Heat      *heatMap // of columns; nil where parties as a whole are compared
	Truth     *truthPlot
	Intervals *intervalPlot // of parties as a whole
	Rows      []pairRow
}

// pairRow is one line of a table; Heading is set where another first feature begins.
type pairRow struct {
	Heading, Other             string
	Truth, Estimate, Low, High string
	Missed                     bool
	Undefined                  string
}

func newSection(s outcome.Study) section {
	out := section{Study: s}
	for _, p := range s.Result.Parties {
		out.Parties = append(out.Parties, partyLine{
			Name: p.Name, Records: p.Records, Bytes: bytes(p.Bytes), Release: p.Release, Ledger: ledgerLine(s, p.Name),
		})
	}
	for _, m := range s.Matrices {
		out.Matrices = append(out.Matrices, newMatrixView(s, m))
	}
	// More pictures of the same patients would say no more, and the page is to stay small.
	if s.Clusters != nil && len(s.Scenario.Sketches) == 0 && s.Scenario.Partition == study.Horizontal {
		out.Scatter = newClusterPlot(s.Scenario.Name, *s.Clusters)
	}
	return out
}

func newMatrixView(s outcome.Study, m outcome.Matrix) matrixView {
	view := matrixView{
		Title:    title(m.Kind),
		Error:    rmse(m),
		Coverage: coverage(m),
	}
	if m.Features[0].Column != "" {
		view.Heat, view.Truth = newHeatMap(s.Scenario.Name, m), newTruthPlot(s.Scenario.Name, m)
	} else {
		view.Intervals = newIntervalPlot(s.Scenario.Name, m)
	}
	pairs := m.Cross()
	for i, p := range pairs {
		heading := ""
		if i == 0 || pairs[i-1].I != p.I {
			heading = featureLabel(m.Features[p.I])
		}
		view.Rows = append(view.Rows, pairRow{
			Heading: heading, Other: featureLabel(m.Features[p.J]),
			Truth: number(m.Kind, p.Truth), Estimate: number(m.Kind, p.Estimate),
			Low: number(m.Kind, p.Low), High: number(m.Kind, p.High),
			Missed: p.Undefined == "" && !p.Covered(), Undefined: p.Undefined,
		})
	}
	return view
}

// headline answers the question of the page in a sentence.
func headline(run Run) string {
	covered, pairs := 0, 0
	for _, c := range run.Verdict.Checks {
		covered += c.Covered
		pairs += c.Pairs
	}
	text := fmt.Sprintf("%d %s ran between three parties and one aggregator", len(run.Studies), studies(len(run.Studies)))
	if pairs > 0 {
		text += fmt.Sprintf("; %d of %d intervals contain the truth", covered, pairs)
	}
	if !run.Verdict.OK() {
		return text + ". The estimates are further from the truth than their intervals allow."
	}
	if pairs > 0 {
		text += ", as their level allows"
	}
	return text + "."
}

func studies(n int) string {
	if n == 1 {
		return "study"
	}
	return "studies"
}
