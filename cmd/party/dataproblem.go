package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/plain"
	"github.com/cosketch/cosketch/protocol/block"
)

// shownProblem is a problem of data for programs.
type shownProblem struct {
	Column  string   `json:"column,omitempty"` // none: rows as a whole
	What    string   `json:"what"`
	Count   int64    `json:"count"`
	Where   []string `json:"where"` // the first few
	Hint    string   `json:"hint,omitempty"`
	Options string   `json:"options,omitempty"` // that read the values
	Stops   bool     `json:"stops"`             // nothing is read as long as it is there
}

// problems are what was found in data, with the command that mends what can be mended.
type problems struct {
	list    []dataset.Problem
	command string // that takes options for how the data are read
}

// mending is the command that takes options for how data are read: of a dataset of the site file the one that
// changes it, of a file the one that was given.
func mending(given string, d config.Dataset) string {
	if d.Name != "" {
		return "party data change " + console.Word(d.Name)
	}
	said, _ := options(dataset.Reading{CSV: d.Source.CSV, Words: d.Source.Words})
	return given + said
}

// described reads data to their end. What a program says that fails is told here alone: it may quote values.
func described(ctx context.Context, c *console.Console, d config.Dataset, o dataset.DescribeOptions) (dataset.Description, error) {
	held, err := dataset.Describe(ctx, d.Source, o)
	if failed := (*dataset.CommandError)(nil); errors.As(err, &failed) && failed.Said != "" {
		c.Say("The program says, for your eyes alone:")
		for line := range strings.Lines(failed.Said) {
			c.Say("  %s", plain.Line(strings.TrimRight(line, "\r\n")))
		}
	}
	if absent := (*dataset.AbsentError)(nil); errors.As(err, &absent) {
		const most = 20
		names, more := absent.Header, ""
		if len(names) > most {
			names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
		}
		c.Say("The first row has, for your eyes alone: %s%s", plain.Line(fmt.Sprintf("%q", names)), more)
	}
	return held, err
}

// document is the list for programs.
func (p problems) document() []shownProblem {
	out := []shownProblem{}
	for _, one := range p.list {
		with, _ := options(one.Mend)
		out = append(out, shownProblem{one.Column, one.What, one.Count, one.Where, one.Hint, with, one.Stops})
	}
	return out
}

// mend is the command that has values read which now are not, or else what to do; empty where nothing is known.
func (p problems) mend() (command, otherwise string) {
	mend := dataset.Mend(p.list)
	if mend.IsZero() {
		return "", ""
	}
	with, all := options(mend)
	if !all {
		return "", "A value with a comma or a colon has no place in an option: say in the site file, under values, what it is."
	}
	return p.command + with, ""
}

// tell says the list on the error stream.
func (p problems) tell(c *console.Console) {
	for _, one := range p.list {
		c.Say("  %s", one)
	}
	switch command, otherwise := p.mend(); {
	case command != "":
		c.Say("To have them read: %s", command)
	case otherwise != "":
		c.Say("%s", otherwise)
	}
}

// blocks are the list among others.
func (p problems) blocks() (out []block.Block) {
	if len(p.list) == 0 {
		return nil
	}
	out = append(out, block.Text{Text: "A study would refuse:"})
	for _, one := range p.list {
		out = append(out, block.Text{Text: "- " + one.String()})
	}
	switch command, otherwise := p.mend(); {
	case command != "":
		out = append(out, block.Text{Text: "To have them read:"}, block.Command{Lines: []string{command}})
	case otherwise != "":
		out = append(out, block.Text{Text: otherwise})
	}
	return out
}

// stopping is the error of data of which nothing can be read; nil where they can be.
func (p problems) stopping(source dataset.Source) error {
	stops := 0
	var first dataset.Problem
	for _, one := range p.list {
		if one.Stops {
			if stops++; stops == 1 {
				first = one
			}
		}
	}
	if stops == 0 {
		return nil
	}
	e := &dataset.Error{File: source.String(), Message: first.String()}
	if stops > 1 {
		e.Message = fmt.Sprintf("nothing can be read of it, for %d reasons", stops)
	}
	return e
}
