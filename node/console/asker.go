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

// NewAsker asks the questions of a command at the terminal, or takes answers from a file.
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

// typed are the answers of a person at the terminal.
type typed struct{ c *Console }

// Ready is true of who is there.
func (typed) Ready(...joining.ID) error { return nil }

// Answer asks.
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

// read are the answers of a file, which are told with their questions.
type read struct {
	*joining.Script
	c *Console
}

// Answer is what the file says.
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

// TakeLine reads an answer as arguments and flags of a command. A line that names a file is that file, also with spaces.
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

// Plainly says which plain commands do the same.
func Plainly(commands ...string) []block.Block {
	return []block.Block{block.Text{Tone: block.Soft, Text: "By plain commands:"}, block.Command{Lines: commands}}
}

// Step says what comes now, and by which plain command it can be done, too.
func (c *Console) Step(title, command string) {
	out := []block.Block{block.Heading{Text: title}}
	if command != "" {
		out = append(out, Plainly(command)...)
	}
	c.Show(out...)
}

// Show shows blocks to a person; programs read the result alone.
func (c *Console) Show(blocks ...block.Block) {
	if c.Format == Text {
		present.Text(c.Talk(), blocks)
		fmt.Fprintln(c.Talk())
	}
}

// AskedError is the error of a question that was not answered: a mistake of who wrote the answers, unless it has a code
// of its own.
func AskedError(err error) error {
	if err != nil && fail.Find(err).Exit == fail.Internal {
		return fail.Usage.Of(err)
	}
	return err
}
