// Package block has what people are shown, as data: blocks are made where a thing is known, and drawn as text or as
// a page by package node/present. Numbers, intervals and sizes get their words here alone. Tables for programs are
// none of this: they are the reflection of a document, exact.
package block

import "strings"

// A Block is a piece of what people are shown.
type Block interface{ block() }

// Heading begins a section.
type Heading struct {
	ID   string // unique on a page, where links lead to it
	Text string // what the section is
	Of   string // of what, in names that somebody gave
	Says string // what comes out, in a phrase
}

// Title is the heading without what comes out.
func (h Heading) Title() string {
	if h.Of == "" {
		return h.Text
	}
	return h.Text + " of " + h.Of
}

// Tone is how a text is to be taken.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Soft       // what explains the rest
	Warn       // what is to be read first
)

// Text is a paragraph.
type Text struct {
	Tone Tone
	Lead string // a word or two before it that say what it is, like Caution
	Text string
}

// List is points, each a paragraph.
type List struct{ Items []string }

// Command is lines to type, or to write into a file, as they are.
type Command struct{ Lines []string }

// Facts are names with what they stand for, like hashes.
type Facts struct{ Items []Fact }

// Fact is one of them.
type Fact struct {
	Name, Text, More string
	Code             bool // Text is to be read letter by letter
}

// Checks are what was looked at, each with its verdict.
type Checks struct{ Items []Check }

// Check is one of them.
type Check struct {
	Verdict string // a short word in capitals
	Text    string
	Fix     string // what to do; empty: nothing
}

// Fold is what a page shows when asked. A text leaves it out.
type Fold struct {
	Title  string
	Blocks []Block
}

// Table is rows of cells. It has no more rows than anybody shows; Of counts all.
type Table struct {
	Caption string
	Caution string // to be read before the numbers by whoever copies the table
	Columns []Column
	Rows    [][]Cell // cells by Columns
	Of      int      // rows that there are; 0: Rows is all
	Things  string   // what Of counts and in which order, like "pairs, the clearest first"; empty: rows
	Drawn   bool     // a figure shows the numbers too: a page has the table behind a line to open
	Whole   bool     // a text has every row: so many were asked for
	Asked   bool     // it is for who wants to know more: a page has it behind a line to open, a text leaves it out
}

// MostRows bounds the rows of a table of blocks.
const MostRows = 150

// Omitted is how many rows are left out if so many are shown.
func (t Table) Omitted(shown int) int { return max(t.Of, len(t.Rows)) - shown }

// Column heads a column.
type Column struct {
	Name   string
	Number bool // aligned to the right
	Aside  bool // a page has room for it, a text has not
	Whole  bool // a text shows each cell whole, however long, for who looks in it for something
}

// Words and Numbers are columns of text and of numbers.
func Words(name string) Column   { return Column{Name: name} }
func Numbers(name string) Column { return Column{Name: name, Number: true} }

// Headed are columns by their names; a ">" before a name makes a column of numbers.
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
	Undefined string // why there is no number, where that is to be said once for all cells
}

// Cells are cells of text alone.
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
	Description string // what it shows, for who cannot see it; what is left out is added
	Caption     string // what it means; so is what is left out
	Asked       bool   // a page has it behind a line to open
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
