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

// shownProblem is a problem of data in JSON.
type shownProblem struct {
	Column  string   `json:"column,omitempty"` // empty: whole rows
	What    string   `json:"what"`
	Count   int64    `json:"count"`
	Where   []string `json:"where"` // the first few
	Hint    string   `json:"hint,omitempty"`
	Options string   `json:"options,omitempty"` // with which the values can be read
	Stops   bool     `json:"stops"`             // nothing can be read until it is solved
}

// problems are the problems of data, with the command that solves those that can be solved.
type problems struct {
	list    []dataset.Problem
	command string // command that takes options for how the data are read
}

// remedyCommand is the command that takes options for how data are read: for a dataset of the site file
// the one that changes it, for a file the given one.
func remedyCommand(given string, d config.Dataset) string {
	if d.Name != "" {
		return "party data change " + console.Word(d.Name)
	}
	said, _ := options(dataset.Reading{CSV: d.Source.CSV, Words: d.Source.Words})
	return given + said
}

// described reads data to their end. A failing program's output is shown only here: it may quote
// values.
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

// document is the list for JSON.
func (p problems) document() []shownProblem {
	out := []shownProblem{}
	for _, one := range p.list {
		with, _ := options(one.Remedy)
		out = append(out, shownProblem{one.Column, one.What, one.Count, one.Where, one.Hint, with, one.Stops})
	}
	return out
}

// remedy is the command with options to read the values that cannot be read now, or else advice; both
// may be empty.
func (p problems) remedy() (command, otherwise string) {
	mend := dataset.Remedy(p.list)
	if mend.IsZero() {
		return "", ""
	}
	with, all := options(mend)
	if !all {
		return "", "A value with a comma or a colon has no place in an option: say in the site file, under values, what it is."
	}
	return p.command + with, ""
}

// tell prints the list on standard error.
func (p problems) tell(c *console.Console) {
	for _, one := range p.list {
		c.Say("  %s", one)
	}
	switch command, otherwise := p.remedy(); {
	case command != "":
		c.Say("To have them read: %s", command)
	case otherwise != "":
		c.Say("%s", otherwise)
	}
}

// blocks shows the list.
func (p problems) blocks() (out []block.Block) {
	if len(p.list) == 0 {
		return nil
	}
	out = append(out, block.Text{Text: "A study would refuse:"})
	for _, one := range p.list {
		out = append(out, block.Text{Text: "- " + one.String()})
	}
	switch command, otherwise := p.remedy(); {
	case command != "":
		out = append(out, block.Text{Text: "To have them read:"}, block.Command{Lines: []string{command}})
	case otherwise != "":
		out = append(out, block.Text{Text: otherwise})
	}
	return out
}

// stopping returns an error if nothing of the data can be read.
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
