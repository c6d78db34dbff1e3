package stored

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/session"
)

// The sentences of a status, the same on every terminal and page. They have no subject, which is
// the study.

// Deadline is when the wait ends, or 0 if no date ends it.
func (s Snapshot) Deadline() protocol.Instant {
	at, err := protocol.ParseInstant(s.Until)
	if err != nil {
		return 0
	}
	return at
}

// Awaiting says what a study waits for and from whom. It is empty if the study waits for nothing.
func (s Snapshot) Awaiting() string {
	if s.Waits() == "" {
		return ""
	}
	return "waits for " + s.WaitText()
}

// Waiting is Awaiting with the deadline.
func (s Snapshot) Waiting(now protocol.Instant) string {
	return s.dated(s.Awaiting(), now)
}

// Owing says what a party that is waited for must do, and by when.
func (s Snapshot) Owing(now protocol.Instant) string { return s.dated(s.Waits().Owed(), now) }

func (s Snapshot) dated(text string, now protocol.Instant) string {
	if at := s.Deadline(); text != "" && at != 0 {
		text += ", " + node.Until(at, now)
	}
	return text
}

// Why explains the state in a phrase: why the study does not go on, or else what it waits for and
// until when.
func (s Snapshot) Why(now protocol.Instant) string {
	switch {
	case s.Failure != "":
		return cmp.Or(s.Reason, s.Failure)
	case s.Trouble != "":
		return notServed + s.Trouble
	}
	return s.Waiting(now)
}

// Stands says where a study stands, in a line that does not change as time passes.
func (s Snapshot) Stands() string {
	s.Until = ""
	why := s.Why(0)
	switch {
	case why == "":
		return s.State
	case s.Failure != "":
		return s.State + ": " + why
	}
	return s.State + ", " + why
}

const notServed = "is not served: "

// Says returns the sentences about a study besides what it waits for: what blocks it, and who is to
// blame.
func (s Snapshot) Says() (out []block.Text) {
	say := func(tone block.Tone, before, text string) {
		if text != "" {
			out = append(out, block.Text{Tone: tone, Text: before + text})
		}
	}
	say(block.Warn, notServed, s.Trouble)
	say(block.Warn, "goes on: ", s.Grace)
	say(block.Warn, "has dates that two clocks judge: ", s.Clock)
	say(block.Warn, "may be older here than at its parties: ", s.Restored)
	say(block.Warn, s.State+": ", s.Failure)
	for _, fault := range s.Faults {
		say(block.Plain, "tried to agree on a seed; ", fault)
	}
	for _, one := range s.blames() {
		say(block.Plain, "blames ", one)
	}
	return out
}

// blames lists each culprit once, with what it did and how well that is known.
func (s Snapshot) blames() (out []string) {
	for _, c := range s.Culprits {
		known := map[session.Standing]string{
			session.Proved: "as signed messages prove", session.Claimed: "as the aggregator claims", session.Seen: "as this node has seen, and nobody else can check",
		}[session.Standing(c.Standing)]
		text := fmt.Sprintf("%s, %s", c.Name, cmp.Or(known, c.Standing))
		if c.What != "" {
			text += ": " + c.What
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// Statuses lists where studies stand.
func Statuses(all []Snapshot, now protocol.Instant) []block.Block {
	if len(all) == 0 {
		return []block.Block{block.Text{Text: "no studies"}}
	}
	list := block.Table{Columns: block.Headed("study", "state", "name"), AllRows: true}
	var notes block.Checks
	for _, s := range all {
		short := s.Study[:8]
		list.Rows = append(list.Rows, block.Cells(short, s.State, s.Name))
		if text := s.Waiting(now); text != "" {
			notes.Items = append(notes.Items, block.Check{Verdict: short, Text: text})
		}
		for _, one := range s.Says() {
			notes.Items = append(notes.Items, block.Check{Verdict: short, Text: one.Text})
		}
	}
	out := []block.Block{list}
	if len(notes.Items) > 0 {
		out = append(out, notes)
	}
	return out
}

// Lost warns of results that can no longer be read here.
func Lost(reasons []string) (out []block.Block) {
	for _, why := range reasons {
		out = append(out, block.Text{Tone: block.Warn, Lead: "A result is lost", Text: why + ". The aggregator's operator restores a backup, or publishes the same question again."})
	}
	return out
}
