package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

// newAsker asks at the terminal, or takes answers from a file.
func newAsker(c *console.Console, answers string) (joining.Asker, error) {
	switch {
	case answers != "":
		script, err := config.LoadAnswers(answers)
		if err != nil {
			return nil, fail.Usage.Of(err)
		}
		return read{script, c}, nil
	case !c.Interactive():
		return nil, fail.Usage.Of(errors.New("there is no terminal to ask at: answer by --answers FILE (party join --help shows one)"))
	}
	return typed{c}, nil
}

// typed are the answers of a person at the terminal.
type typed struct{ c *console.Console }

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
	c *console.Console
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
func put(c *console.Console, q joining.Question) {
	out := []block.Block{block.Text{Tone: block.Warn, Lead: "Question", Text: q.Asks}, block.Text{Text: q.Why}}
	if len(q.Forms) > 0 {
		out = append(out, block.List{Items: q.Forms})
	}
	if q.Open != "" {
		out = append(out, block.Text{Lead: "Open", Text: q.Open})
	}
	display(c, append(out, plainly(q.Commands...)...)...)
}

// takeLine reads a line as arguments and flags of a command. A line that names a file is that file, also with spaces.
func takeLine(into any, line string) error {
	words, err := wordsOf(line)
	if _, there := os.Stat(line); there == nil {
		words, err = []string{line}, nil
	}
	if err != nil {
		return err
	}
	if err := console.ParseWords(into, words); err != nil {
		return fmt.Errorf("%.80q: %w", line, err)
	}
	return nil
}
