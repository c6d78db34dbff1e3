package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// confirmed refuses an answer that is not the beginning of the study's id.
func confirmed(answer string, s *study.Study) error {
	if len(answer) < 8 || !strings.HasPrefix(s.ID.String(), strings.ToLower(answer)) {
		return fail.WrongID.New(answer, s.Name)
	}
	return nil
}

// show prints what would be released before the id is asked for. It refuses a wrong id, and a
// console that cannot ask.
func show(c *console.Console, id string, s *study.Study, party int) error {
	switch {
	case id != "":
		return confirmed(id, s)
	case !c.Interactive():
		return fail.NoTerminal.New()
	}
	present.Text(c.Stderr(), s.Explain(party))
	fmt.Fprintln(c.Stderr())
	return nil
}

// ask asks for the id unless it was given.
func ask(ctx context.Context, c *console.Console, id string, s *study.Study) error {
	if id != "" {
		return nil
	}
	id, err := c.Ask(ctx, fmt.Sprintf("\nThe study's id is %s.\nTo approve, type its first eight characters; anything else leaves it undecided.", s.ID), func(string) error { return nil })
	if err != nil {
		return fail.Refused.Of(fmt.Errorf("not approved: %w", err))
	}
	return confirmed(id, s)
}
