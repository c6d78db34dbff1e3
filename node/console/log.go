package console

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/journal"
)

// LogCommands show and verify the node's audit log.
type LogCommands struct {
	Show   logShow   `cmd:"" help:"Show every decision, and every byte count that left."`
	Verify logVerify `cmd:"" help:"Check that the log is what was written, and print its head."`

	Role store.Role `kong:"-"` // role of the state directory; set by the program
}

type logShow struct {
	Study string `arg:"" optional:"" help:"The beginning of a study's id. Default: everything."`
}

// Help has an example.
func (logShow) Help() string { return "Example: ${name} advanced log show 5f0c1b0e" }

// Run prints the log; if it is broken, up to the break.
func (cmd logShow) Run(c *Console, g *Globals, of *LogCommands) error {
	st, err := g.OpenReadOnly(of.Role)
	if err != nil {
		return err
	}
	defer st.Close()
	only := ""
	if cmd.Study != "" {
		id, err := findID(st, cmd.Study)
		if err != nil {
			return err
		}
		only = id.String()
	}
	entries, broken := st.Journal()
	shown := []journal.Entry{}
	for _, e := range entries {
		if only == "" || e.Study == only {
			shown = append(shown, e)
		}
	}
	err = c.Print(shown, func(w io.Writer) {
		t := block.Table{Columns: []block.Column{
			block.Numbers("no"), block.Words("time"), block.Words("what"), block.Words("study"), block.Numbers("bytes"), {Name: "note", NoTruncate: true},
		}, AllRows: true}
		for _, e := range shown {
			t.Rows = append(t.Rows, block.Cells(fmt.Sprint(e.Sequence), e.At.String(), string(e.Event), e.Study[:min(8, len(e.Study))], bytesOf(e), e.Note))
		}
		present.Text(w, []block.Block{t})
	})
	return errors.Join(err, broken)
}

func bytesOf(e journal.Entry) string {
	if e.Bytes == 0 {
		return ""
	}
	return fmt.Sprint(e.Bytes)
}

type logVerify struct {
	Head string `placeholder:"N:HASH" help:"A head that verify printed before and you kept elsewhere: the log must still begin with it."`
}

// Help has an example.
func (logVerify) Help() string {
	return "Examples: ${name} advanced log verify > head.txt, ${name} advanced log verify --head \"$(cat head.txt)\""
}

type logHead struct {
	Entries int    `json:"entries"`
	Head    string `json:"head"` // number of entries and hash of the last, joined by a colon
}

// Run verifies the chain, and that it extends a head noted earlier.
func (cmd logVerify) Run(c *Console, g *Globals, of *LogCommands) error {
	st, err := g.OpenReadOnly(of.Role)
	if err != nil {
		return err
	}
	defer st.Close()
	entries, err := st.Journal()
	if err != nil {
		return err
	}
	heads, err := st.JournalHeads()
	if err != nil {
		return err
	}
	if cmd.Head != "" {
		var number int
		var hash string
		if n, _ := fmt.Sscanf(cmd.Head, "%d:%s", &number, &hash); n != 2 || number < 1 {
			return fail.Usage.Of(fmt.Errorf("head %.100q: want NUMBER:HASH, as advanced log verify prints it", cmd.Head))
		}
		switch {
		case number > len(heads):
			return fail.Usage.Of(fmt.Errorf("the log has %d entries, and had %d when that head was noted: its end was cut off, or an old backup was restored", len(heads), number))
		case heads[number-1].String() != hash:
			return fail.Usage.Of(fmt.Errorf("entry %d is not the one that was noted: the log was rewritten", number))
		}
	}
	out := logHead{Entries: len(entries)}
	if len(heads) > 0 {
		out.Head = fmt.Sprintf("%d:%s", len(heads), heads[len(heads)-1])
	}
	return c.Print(out, func(w io.Writer) {
		fmt.Fprintln(w, out.Head)
		c.Say("%d entries, the chain holds. Note the head elsewhere: advanced log verify --head then also notices a log whose end was cut off.", len(entries))
	})
}
