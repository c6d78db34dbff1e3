package console

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// Answers that do not fit are asked for again. A last line without a newline counts as an answer;
// the end of input and an interrupt do not.
func TestAsk(t *testing.T) {
	var said strings.Builder
	c := &Console{In: strings.NewReader("wrong\n\n  right \nlast"), Err: &said}
	check := func(answer string) error {
		if answer == "wrong" {
			return errors.New("not that")
		}
		return nil
	}
	for _, want := range []string{"right", "last"} {
		if got, err := c.Ask(t.Context(), "Well?", check); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if strings.Count(said.String(), "Well?") != 4 || !strings.Contains(said.String(), "not that\n") {
		t.Errorf("said %q", said.String())
	}
	if _, err := c.Ask(t.Context(), "Well?", check); !errors.Is(err, errNoAnswer) {
		t.Errorf("at the end of input: %v", err)
	}
	never, w := io.Pipe()
	defer w.Close()
	c = &Console{In: never, Err: io.Discard}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Ask(ctx, "Well?", check); !errors.Is(err, errNoAnswer) {
		t.Errorf("after an interrupt: %v", err)
	}
}
