// Package block represents what people are shown, as data. Blocks are made where a thing is known;
// package node/present renders them as text or as a page. Only this package words numbers,
// intervals and sizes. Tables for programs are not blocks: they reflect a document exactly.
package block

import "strings"

// A Block is a piece of what people are shown.
type Block interface{ block() }

// Heading begins a section.
type Heading struct {
	ID   string // unique on a page; links lead to it
	Text string // what the section is
	Of   string // subject, in names that somebody gave
	Says string // result, in a phrase
}

// Title returns the heading without the result.
func (h Heading) Title() string {
	if h.Of == "" {
		return h.Text
	}
	return h.Text + " of " + h.Of
}

// Tone says how a text is meant.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Soft       // explains the rest
	Warn       // must be read first
)

// Text is a paragraph.
type Text struct {
	Tone Tone
	Lead string // a word or two in front that say what it is, like Caution
	Text string
}

// List is a list of points, each a paragraph.
type List struct{ Items []string }

// Command is lines to type, or to write into a file, verbatim.
type Command struct{ Lines []string }

// Facts are names with their values, like hashes.
type Facts struct{ Items []Fact }

// Fact is one of the facts.
type Fact struct {
	Name, Text, More string
	Code             bool // Text is an identifier to be compared letter by letter
}

// Checks are things that were checked, each with its verdict.
type Checks struct{ Items []Check }

// Check is one of the checks.
type Check struct {
	Verdict string // a short word in capitals
	Text    string
	Fix     string // what to do; empty: nothing
}

// Fold is what a page shows on request. A text leaves it out.
type Fold struct {
	Title  string
	Blocks []Block
}

// Table is rows of cells. It holds only as many rows as can be shown; Of counts all.
type Table struct {
	Caption   string
	Caution   string // for anyone who copies the table: to be read before the numbers
	Columns   []Column
	Rows      [][]Cell // cells by Columns
	Of        int      // number of all rows; 0: Rows holds all
	Things    string   // what Of counts and in which order, like "pairs, the clearest first"; empty: rows
	HasFigure bool     // a figure shows the numbers too: a page folds the table
	AllRows   bool     // a text shows every row, because so many were requested
	Folded    bool     // details: a page folds it, a text leaves it out
}

// MostRows limits the rows of a table of blocks.
const MostRows = 150

// Omitted returns how many rows are left out if so many are shown.
func (t Table) Omitted(shown int) int { return max(t.Of, len(t.Rows)) - shown }

// Column is the head of a column.
type Column struct {
	Name       string
	Number     bool // align to the right
	PageOnly   bool // shown on a page but not in a text, which has no room for it
	NoTruncate bool // a text shows each cell in full, however long
}

// Words and Numbers return columns of text and of numbers.
func Words(name string) Column   { return Column{Name: name} }
func Numbers(name string) Column { return Column{Name: name, Number: true} }

// Headed returns columns with these names; a ">" before a name makes a column of numbers.
func Headed(names ...string) (out []Column) {
	for _, name := range names {
		name, number := strings.CutPrefix(name, ">")
		out = append(out, Column{Name: name, Number: number})
	}
	return out
}

// Cell is a cell of a table.
type Cell struct {
	Text      string
	Undefined string // why there is no number, if that is to be said once for all cells
}

// Cells returns cells with text only.
func Cells(texts ...string) (out []Cell) {
	for _, text := range texts {
		out = append(out, Cell{Text: text})
	}
	return out
}

// Figure is a picture.
type Figure struct {
	ID          string // unique on its page
	Title       string
	Description string // what it shows, for people who cannot see it; what is left out is appended
	Caption     string // what it means; what is left out is appended
	Asked       bool   // a page folds it
	Plot        Plot
}

func (Heading) block() {}
func (Text) block()    {}
func (List) block()    {}
func (Command) block() {}
func (Facts) block()   {}
func (Checks) block()  {}
func (Fold) block()    {}
func (Table) block()   {}
func (Figure) block()  {}
