package report

import (
	"html/template"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Parts of the page, for pages of another layout that show a result.

// Headline answers what most readers of a result want to know first, in a line.
func Headline(r analysis.Result) string { return headline(r) }

// Main returns what answers first, in a line, and the page between its header and its
// footer, with figures that a script can read. Without a time in Made it does not change while the result does not.
func Main(p Page) (headline string, main template.HTML, err error) {
	var out strings.Builder
	v := newView(p)
	for _, s := range v.Sections {
		for _, figures := range [][]figure.Figure{s.Figures, s.Asked} {
			for i := range figures {
				figures[i].Scripted = true
			}
		}
	}
	if err := write(&out, "main", v); err != nil {
		return "", "", err
	}
	return v.Headline, template.HTML(out.String()), nil
}
