package console

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol/show"
)

// ReportCommand writes a result as a page.
type ReportCommand struct {
	Study   string `arg:"" help:"The beginning of the study's id."`
	Further string `placeholder:"NAME" help:"A further result instead of the study's own: the beginning of its name, which the result lists."`
	Output  string `short:"o" required:"" placeholder:"FILE" help:"The page to write, like report.html."`

	Role store.Role `kong:"-"` // role of the state directory; set by the program
}

// Help describes the command's other effects.
func (cmd ReportCommand) Help() string {
	return "Verifies the aggregator's signature, and writes the result with its figures as one HTML file that needs nothing else.\n\nExample: " + string(cmd.Role) + " report 5f0c1b0e -o report.html"
}

// Run writes the page.
func (cmd ReportCommand) Run(c *Console, g *Globals) error {
	st, err := g.OpenReadOnly(cmd.Role)
	if err != nil {
		return err
	}
	defer st.Close()
	d, err := FindDocument(st, cmd.Role, cmd.Study, cmd.Further)
	if err != nil {
		return err
	}
	return d.Report(c, st, cmd.Output)
}

// Report writes a document as a page.
func (d Document) Report(c *Console, st *store.Store, path string) error {
	taken, err := stored.Taken(st, d.Study)
	if err != nil {
		return err
	}
	page := show.Document{Result: d.Result, Board: stored.BoardShown(d.Study, taken), Signed: d.signature(), Made: Now().String() + " by cosketch " + Version()}
	if err := WriteFileAtomic(path, func(w io.Writer) error {
		return present.HTML(w, present.Page{Title: page.Title(), Kicker: page.Kicker(), Headline: show.Headline(d.Result), Footer: show.Footer, Blocks: page.Blocks()})
	}); err != nil {
		return err
	}
	return c.Print(listing{Study: d.Study.ID.String(), Files: []string{path}}, func(w io.Writer) {
		fmt.Fprintln(w, path)
		c.Say("%s", d.verified())
		c.Say("Next: open it in any browser; it loads nothing from anywhere.")
	})
}
