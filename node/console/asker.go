package console

import (
	"context"
	"fmt"
	"os"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

// NewAsker returns an Asker for a command's questions, at the terminal or from a file of answers.
func NewAsker(c *Console, of joining.Command, answers string) (joining.Asker, error) {
	switch {
	case answers != "":
		script, err := config.LoadAnswers(answers, of)
		if err != nil {
			return nil, fail.Usage.Of(err)
		}
		return read{script, c}, nil
	case !c.Interactive():
		return nil, fail.Usage.Of(fmt.Errorf("there is no terminal to ask at: answer by --answers FILE (%s --help shows one)", of))
	}
	return typed{c}, nil
}

// typed asks a person at the terminal.
type typed struct{ c *Console }

// Ready returns nil: a person can answer every question.
func (typed) Ready(...joining.ID) error { return nil }

// Answer asks the person.
func (t typed) Answer(ctx context.Context, q joining.Question, wrong error) (string, error) {
	if wrong != nil {
		t.c.Say("%v", fail.Text(wrong))
	} else {
		put(t.c, q)
	}
	prompt := "Answer"
	if q.Proposed != "" {
		prompt = "Answer (Enter: " + q.Proposed + ")"
	}
	return t.c.AskOnce(ctx, prompt)
}

// read takes answers from a file, and prints them with their questions.
type read struct {
	*joining.Script
	c *Console
}

// Answer returns the file's answer.
func (r read) Answer(ctx context.Context, q joining.Question, wrong error) (string, error) {
	if wrong == nil {
		put(r.c, q)
	}
	line, err := r.Script.Answer(ctx, q, wrong)
	if err == nil {
		told := line
		if line == "" {
			told = q.Proposed
		}
		r.c.Say("> %s", told)
	}
	return line, err
}

// put shows a question with its reason.
func put(c *Console, q joining.Question) {
	out := []block.Block{block.Text{Tone: block.Warn, Lead: "Question", Text: q.Asks}, block.Text{Text: q.Why}}
	if len(q.Forms) > 0 {
		out = append(out, block.List{Items: q.Forms})
	}
	if q.Open != "" {
		out = append(out, block.Text{Lead: "Open", Text: q.Open})
	}
	if len(q.Commands) > 0 {
		out = append(out, Plainly(q.Commands...)...)
	}
	c.Show(out...)
}

// TakeLine parses an answer as arguments and flags of a command. If the whole line names an
// existing file, it is that file, even with spaces.
func TakeLine(into any, line string) error {
	words, err := WordsOf(line)
	if _, there := os.Stat(line); there == nil {
		words, err = []string{line}, nil
	}
	if err != nil {
		return err
	}
	if err := ParseWords(into, words); err != nil {
		return fmt.Errorf("%.80q: %w", line, err)
	}
	return nil
}

// Plainly shows the equivalent commands without questions.
func Plainly(commands ...string) []block.Block {
	return []block.Block{block.Text{Tone: block.Soft, Text: "By plain commands:"}, block.Command{Lines: commands}}
}

// Step announces the next step, and the command that does the same.
func (c *Console) Step(title, command string) {
	out := []block.Block{block.Heading{Text: title}}
	if command != "" {
		out = append(out, Plainly(command)...)
	}
	c.Show(out...)
}

// Show shows blocks to a person; programs get only the result.
func (c *Console) Show(blocks ...block.Block) {
	if c.Format == Text {
		present.Text(c.Stderr(), blocks)
		fmt.Fprintln(c.Stderr())
	}
}

// AskedError is the error of a question that was not answered. Unless it has a code of its own, it
// is a usage error.
func AskedError(err error) error {
	if err != nil && fail.Find(err).Exit == fail.Internal {
		return fail.Usage.Of(err)
	}
	return err
}
