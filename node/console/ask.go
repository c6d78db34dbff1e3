package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cosketch/cosketch/protocol/fail"
)

// errNoAnswer reports a question without an answer: input ended, or an interrupt came first.
var errNoAnswer error = fail.NoAnswer

// Ask asks a person a question and returns the answer without surrounding spaces. It needs an
// interactive console. It asks again if the answer is empty or check returns an error. If input or
// ctx ends, it returns errNoAnswer.
func (c *Console) Ask(ctx context.Context, question string, check func(answer string) error) (string, error) {
	for {
		line, err := c.AskOnce(ctx, question)
		if err != nil {
			return "", err
		}
		if line == "" {
			continue
		}
		wrong := check(line)
		if wrong == nil {
			return line, nil
		}
		fmt.Fprintf(c.Stderr(), "%v\n\n", wrong)
	}
}

// AskOnce asks a person a question and returns the answer, which may be empty. If input or ctx
// ends, it returns errNoAnswer.
func (c *Console) AskOnce(ctx context.Context, question string) (string, error) {
	if c.answers == nil {
		c.answers = bufio.NewReader(c.In)
	}
	fmt.Fprintf(c.Stderr(), "%s\n> ", question)
	line, err := c.answer(ctx)
	if line = strings.TrimSpace(line); err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		fmt.Fprintln(c.Err) // the cursor is after the prompt
		return "", errNoAnswer
	}
	return line, nil
}

// answer reads a line. Reading a terminal cannot be interrupted: an abandoned read lasts until the
// program ends.
func (c *Console) answer(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := c.answers.ReadString('\n')
		done <- read{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-done:
		return r.line, r.err
	}
}
