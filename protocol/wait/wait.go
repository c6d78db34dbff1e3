// Package wait has codes for what a study waits for, and their texts. Decisions are made on the
// codes.
package wait

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol"
)

// Code is what a study waits for. A code never changes; its text may be reworded. The empty code
// means that the study waits for nothing.
type Code string

// What the state machines wait for and, from Serving on, what their nodes wait for.
const (
	Approval    Code = "approval" // this party's
	Approvals   Code = "approvals"
	Roster      Code = "roster"
	NextRoster  Code = "next roster"
	Commits     Code = "commits"
	Shares      Code = "shares"
	Confirms    Code = "confirms"
	Abandons    Code = "abandons"
	AttemptEnd  Code = "end of attempt"
	Board       Code = "newest board" // at a party that knows the board only from its store
	Seed        Code = "seed"         // a late party's
	Welcome     Code = "welcome"
	First       Code = "first round" // this party's
	Firsts      Code = "first rounds"
	Interim     Code = "interim"
	Sketch      Code = "sketch"
	Sending     Code = "sending"
	Fetching    Code = "fetching"
	OwnWelcome  Code = "own welcome"
	Late        Code = "late parties"
	Close       Code = "close"
	Result      Code = "result"
	Releases    Code = "releases"
	AllReleases Code = "all releases" // a masked sum's
	Analyses    Code = "analyses"

	Leaving  Code = "leaving"          // at a party that has withdrawn and not yet told the aggregator
	Serving  Code = "serving"          // of a study that was never served
	Decision Code = "decision"         // like Serving, at a party
	Steward  Code = "steward"          // while a sketch is on hold
	Release  Code = "release, decided" // a held sketch that its steward has released
)

// texts has the text of each code. If owes is set, it is the text for a party that the study waits
// for.
var texts = map[Code]struct{ says, owes string }{
	Approval:    {"this party's approval", "owes its approval"},
	Approvals:   {"approvals", "owes its approval"},
	Roster:      {"the roster", ""},
	NextRoster:  {"the next roster", ""},
	Commits:     {"commit messages", "owes its commit message"},
	Shares:      {"share messages", "owes its share message"},
	Confirms:    {"confirm messages", "owes its confirm message"},
	Abandons:    {"abandon messages", "owes its abandon message"},
	AttemptEnd:  {"the end of this attempt", ""},
	Board:       {"the newest board", ""},
	Seed:        {"the others' seed", ""},
	Welcome:     {"a welcome", ""},
	First:       {"making the first round", ""},
	Firsts:      {"first rounds", "owes its first round"},
	Interim:     {"the answer to the first rounds", ""},
	Sketch:      {"making the sketch", ""},
	Sending:     {"sending the release", ""},
	Fetching:    {"fetching the result", ""},
	OwnWelcome:  {"a welcome by this party's site file", ""},
	Late:        {"late parties", "may still come late"},
	Close:       {"the close", ""},
	Result:      {"the result", ""},
	Releases:    {"releases", "owes its release"},
	AllReleases: {"the masked release of every member", "owes its masked release"},
	Analyses:    {"the analyses", ""},
	Serving:     {"being served", ""},
	Leaving:     {"telling the others, which party run does", ""},
	Decision:    {"its steward's decision", ""},
	Steward:     {"the steward's release", ""},
	Release:     {"being served: its release is decided", ""},
}

// All returns the codes that have a text, in alphabetical order.
func All() []Code { return slices.Sorted(maps.Keys(texts)) }

// String returns the text of the code; of an unknown code, the code itself.
func (w Code) String() string {
	if text, ok := texts[w]; ok {
		return text.says
	}
	return string(w)
}

// Owed returns the text for a party that the study waits for.
func (w Code) Owed() string {
	if owes := texts[w].owes; owes != "" {
		return owes
	}
	return "owes " + w.String()
}

// mostNamed bounds the names in a text. If there are more, the last place says how many.
const mostNamed = 8

// From says what the study waits for and, if there are names, from whom.
func (w Code) From(names []string) string {
	if len(names) == 0 {
		return w.String()
	}
	return w.String() + " from " + joined(names)
}

// joined joins names for a sentence, and counts those beyond mostNamed.
func joined(names []string) string {
	n := len(names)
	switch {
	case n > mostNamed:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed-1], ", "), n-mostNamed+1)
	case n > 1:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// Messages returns the wait for a kind of message of the agreement; for any other kind, Abandons.
func Messages(kind protocol.Kind) Code {
	switch kind {
	case protocol.KindCommit:
		return Commits
	case protocol.KindShare:
		return Shares
	case protocol.KindConfirm:
		return Confirms
	}
	return Abandons
}
