package protocoltest

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// A signed result stands, and a stopped study keeps its reason.
func TestCancelHasItsTime(t *testing.T) {
	st, err := NewStudy(Terms{Parties: 2})
	if err != nil {
		t.Fatal(err)
	}
	answered, err := New(Options{Study: st, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	stopped, err := New(Options{Study: st, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Simulation{answered, stopped} {
		for _, p := range s.Parties {
			if err := p.Approve(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := answered.Run(); err != nil {
		t.Fatal(err)
	}
	if err := answered.Aggregator.Cancel("too late"); !errors.Is(err, session.ErrAnswered) {
		t.Errorf("cancelling after the result: %v", err)
	}
	if err := stopped.Aggregator.Cancel("first"); err != nil {
		t.Fatal(err)
	}
	if err := stopped.Aggregator.Cancel("second"); !errors.Is(err, session.ErrEnded) {
		t.Errorf("cancelling twice: %v", err)
	}
	if err := stopped.Run(); err != nil {
		t.Fatal(err)
	}
	for _, p := range stopped.Parties {
		if err := p.Status().Failure; err == nil || !strings.Contains(err.Error(), `operator: "first"`) {
			t.Errorf("%s was told %v", p.Name, err)
		}
		if told := (*session.StoppedError)(nil); !errors.As(p.Status().Failure, &told) || told.Cause != session.StopOperator {
			t.Errorf("%s was told the cause %+v", p.Name, told)
		}
	}
	if err := errors.Join(answered.Check(), stopped.Check()); err != nil {
		t.Error(err)
	}
}

// A reason cannot act upon the terminal of its reader.
func TestReasonsArePrintable(t *testing.T) {
	err := &session.StoppedError{Stop: protocol.Stop{Reason: "a\x1b[2Jb\u202ec\nd"}}
	if text := err.Error(); !strings.HasSuffix(text, "a·[2Jb·c·d") {
		t.Errorf("a reason reads %q", text)
	}
}
