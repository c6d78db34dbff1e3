package report

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Parts of the page, for pages of another layout that show a result.

// Style writes the page's style sheet.
func Style(w io.Writer) error {
	page, err := parsed()
	if err == nil {
		err = page.ExecuteTemplate(w, "style", view{Style: figure.Style()})
	}
	if err != nil {
		return fmt.Errorf("writing the report's style: %w", err)
	}
	return nil
}

// Headline answers what most readers of a result want to know first, in a line.
func Headline(r analysis.Result) string { return headline(r) }

// Main returns what answers first, in a line, and the page between its header and its
// footer. Without a time in Made it does not change while the result does not.
func Main(p Page) (headline string, main template.HTML, err error) {
	page, err := parsed()
	v := newView(p)
	var out strings.Builder
	if err == nil {
		err = page.ExecuteTemplate(&out, "main", v)
	}
	if err != nil {
		return "", "", fmt.Errorf("writing the report: %w", err)
	}
	return v.Headline, template.HTML(out.String()), nil
}
