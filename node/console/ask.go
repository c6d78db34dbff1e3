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

// errNoAnswer reports a question to which there came no answer: input ended, or an
// interrupt came first.
var errNoAnswer error = fail.NoAnswer

// Ask puts a question to a person, who is there (Interactive), and returns the answer
// without the spaces around it. It asks again where the answer is empty, or where check says
// what is wrong with it. errNoAnswer where input or ctx ends.
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
		fmt.Fprintf(c.Talk(), "%v\n\n", wrong)
	}
}

// AskOnce puts a question to a person and returns the answer, which may be empty. errNoAnswer where input or
// ctx ends.
func (c *Console) AskOnce(ctx context.Context, question string) (string, error) {
	if c.answers == nil {
		c.answers = bufio.NewReader(c.In)
	}
	fmt.Fprintf(c.Talk(), "%s\n> ", question)
	line, err := c.answer(ctx)
	if line = strings.TrimSpace(line); err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		fmt.Fprintln(c.Err) // the cursor is behind the prompt
		return "", errNoAnswer
	}
	return line, nil
}

// answer reads a line. A terminal's reads know of no interrupt: one that nobody waits for
// any more ends with the program.
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
