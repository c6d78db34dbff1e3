package present

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/block"
)

//go:embed *.tmpl style.css
var source embed.FS

// Page is a self-contained page: it loads nothing and runs no script.
type Page struct {
	Title, Kicker, Headline, Footer string
	Blocks                          []block.Block
}

// HTML writes the page.
func HTML(w io.Writer, p Page) error {
	return write(w, "page.html.tmpl", struct {
		Page
		Body body
	}{p, newBody(p.Blocks, false)})
}

// Main returns blocks as a part of another page, which must include Style and, for the numbers of
// heat maps, a script.
func Main(blocks []block.Block) (template.HTML, error) {
	var out strings.Builder
	err := write(&out, "block.html.tmpl", newBody(blocks, true))
	return template.HTML(out.String()), err
}

// Style is the style sheet of blocks, pages and figures.
func Style() (template.CSS, error) {
	sheet, err := source.ReadFile("style.css")
	return figure.Style() + template.CSS(sheet), err
}

func write(w io.Writer, name string, view any) error {
	t, err := template.New(name).Funcs(template.FuncMap{"style": Style, "tone": toneClass}).ParseFS(source, "*.tmpl")
	if err == nil {
		err = t.Execute(w, view)
	}
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func toneClass(t *block.Text) string {
	return map[block.Tone]string{block.Soft: "soft", block.Warn: "warn"}[t.Tone]
}

// body is blocks as the templates read them: what precedes the first heading, links to all
// headings, and their sections.
type body struct {
	Before   []piece
	Links    []block.Heading
	Sections []section
}

type section struct {
	Heading block.Heading
	Pieces  []piece
}

// piece is a block; exactly one of its fields is set.
type piece struct {
	Heading *block.Heading // within a fold
	Text    *block.Text
	List    *block.List
	Command *block.Command
	Facts   *block.Facts
	Checks  *block.Checks
	Table   *table
	Figure  *asked
	Fold    *fold
}

type asked struct {
	figure.Figure
	Asked bool
}

type fold struct {
	Title  string
	Pieces []piece
}

func newBody(blocks []block.Block, scripted bool) (out body) {
	for _, b := range blocks {
		if h, ok := b.(block.Heading); ok {
			h.Says = minus(h.Says)
			out.Links, out.Sections = append(out.Links, h), append(out.Sections, section{Heading: h})
			continue
		}
		to := &out.Before
		if n := len(out.Sections); n > 0 {
			to = &out.Sections[n-1].Pieces
		}
		*to = append(*to, newPiece(b, scripted))
	}
	return out
}

func newPiece(b block.Block, scripted bool) (out piece) {
	switch b := b.(type) {
	case block.Heading:
		out.Heading = &b
	case block.Text:
		out.Text = &b
	case block.List:
		out.List = &b
	case block.Command:
		out.Command = &b
	case block.Facts:
		out.Facts = &b
	case block.Checks:
		out.Checks = &b
	case block.Table:
		out.Table = newTable(b)
	case block.Figure:
		f := figure.New(b)
		f.Scripted = scripted
		out.Figure = &asked{f, b.Asked}
	case block.Fold:
		out.Fold = &fold{Title: b.Title}
		for _, inner := range b.Blocks {
			out.Fold.Pieces = append(out.Fold.Pieces, newPiece(inner, scripted))
		}
	default:
		panic(fmt.Sprintf("present: a block of type %T", b)) // unreachable: package block has no other
	}
	return out
}

// shortTable is the number of rows up to which a table is shown unfolded.
const shortTable = 12

// table is a table as the templates read it.
type table struct {
	Caption, Caution string
	Columns          []block.Column
	Rows             [][]string
	Folded           bool
	Rest             string // note that rows are left out, and where they are
}

func newTable(t block.Table) *table {
	out := &table{Caption: t.Caption, Caution: t.Caution, Columns: t.Columns}
	for _, row := range t.Rows {
		var cells []string
		for i, cell := range row {
			text := cell.Text
			if cell.Undefined != "" {
				text += ": " + cell.Undefined
			}
			if t.Columns[i].Number {
				text = minus(text)
			}
			cells = append(cells, text)
		}
		out.Rows = append(out.Rows, cells)
	}
	out.Folded = t.HasFigure || t.Folded || len(t.Rows)+t.Omitted(len(t.Rows)) > shortTable
	if t.Omitted(len(t.Rows)) > 0 {
		out.Rest = "Shown are " + shown(t, len(t.Rows)) + "; the result's files have all (result STUDY --format csv -o DIR)."
	}
	return out
}

// shown says how many of a table's rows are shown.
func shown(t block.Table, rows int) string {
	things := t.Things
	if things == "" {
		things = "rows"
	}
	return fmt.Sprintf("%d of %d %s", rows, rows+t.Omitted(rows), things)
}

// minus replaces the hyphens of negative numbers by minus signs.
func minus(text string) string {
	out, before := []rune(text), ' '
	for i, r := range out {
		if r == '-' && strings.ContainsRune(" [e±≤≥", before) && i+1 < len(out) && '0' <= out[i+1] && out[i+1] <= '9' {
			out[i] = '−'
		}
		before = r
	}
	return string(out)
}
