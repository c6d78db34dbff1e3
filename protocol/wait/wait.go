// Package wait has the codes of what a study waits for, and says each in words. Decisions are made on the codes.
package wait

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol"
)

// Wait is what a study waits for: a code that stays as it is, while its text may be worded
// anew. The empty one is no wait.
type Wait string

// What the machines wait for, and, from WaitServing on, what their nodes do.
const (
	WaitApproval    Wait = "approval" // this party's
	WaitApprovals   Wait = "approvals"
	WaitRoster      Wait = "roster"
	WaitNextRoster  Wait = "next roster"
	WaitCommits     Wait = "commits"
	WaitShares      Wait = "shares"
	WaitConfirms    Wait = "confirms"
	WaitAbandons    Wait = "abandons"
	WaitAttemptEnd  Wait = "end of attempt"
	WaitBoard       Wait = "newest board" // a party's that knows the board from its store alone
	WaitSeed        Wait = "seed"         // a late party's
	WaitWelcome     Wait = "welcome"
	WaitSketch      Wait = "sketch"
	WaitSending     Wait = "sending"
	WaitFetching    Wait = "fetching"
	WaitOwnWelcome  Wait = "own welcome"
	WaitLate        Wait = "late parties"
	WaitClose       Wait = "close"
	WaitResult      Wait = "result"
	WaitReleases    Wait = "releases"
	WaitAllReleases Wait = "all releases" // a masked sum's
	WaitAnalyses    Wait = "analyses"

	WaitServing  Wait = "serving"          // of a study that was never served
	WaitDecision Wait = "decision"         // the same, at a party
	WaitSteward  Wait = "steward"          // while a sketch is held
	WaitRelease  Wait = "release, decided" // a held sketch that its steward let go
)

// waitTexts says what each is, and, where that is not it, what a party is told that owes it.
var waitTexts = map[Wait]struct{ says, owes string }{
	WaitApproval:    {"this party's approval", "owes its approval"},
	WaitApprovals:   {"approvals", "owes its approval"},
	WaitRoster:      {"the roster", ""},
	WaitNextRoster:  {"the next roster", ""},
	WaitCommits:     {"commit messages", "owes its commit message"},
	WaitShares:      {"share messages", "owes its share message"},
	WaitConfirms:    {"confirm messages", "owes its confirm message"},
	WaitAbandons:    {"abandon messages", "owes its abandon message"},
	WaitAttemptEnd:  {"the end of this attempt", ""},
	WaitBoard:       {"the newest board", ""},
	WaitSeed:        {"the others' seed", ""},
	WaitWelcome:     {"a welcome", ""},
	WaitSketch:      {"making the sketch", ""},
	WaitSending:     {"sending the release", ""},
	WaitFetching:    {"fetching the result", ""},
	WaitOwnWelcome:  {"a welcome by this party's site file", ""},
	WaitLate:        {"late parties", "may still come late"},
	WaitClose:       {"the close", ""},
	WaitResult:      {"the result", ""},
	WaitReleases:    {"releases", "owes its release"},
	WaitAllReleases: {"the masked release of every member", "owes its masked release"},
	WaitAnalyses:    {"the analyses", ""},
	WaitServing:     {"being served", ""},
	WaitDecision:    {"its steward's decision", ""},
	WaitSteward:     {"the steward's release", ""},
	WaitRelease:     {"being served: its release is decided", ""},
}

// All are the waits that have a text, in alphabetical order.
func All() []Wait { return slices.Sorted(maps.Keys(waitTexts)) }

// String says what is waited for; a code that is not known here says itself.
func (w Wait) String() string {
	if text, ok := waitTexts[w]; ok {
		return text.says
	}
	return string(w)
}

// Owed says what a party does that is waited for.
func (w Wait) Owed() string {
	if owes := waitTexts[w].owes; owes != "" {
		return owes
	}
	return "owes " + w.String()
}

// mostNamed of those who owe something are named where it is said.
const mostNamed = 8

// From says what is waited for and from whom, where anybody is named.
func (w Wait) From(names []string) string {
	if len(names) == 0 {
		return w.String()
	}
	return w.String() + " from " + Names(names)
}

// Names joins names for a sentence, and counts those beyond a few.
func Names(names []string) string {
	n := len(names)
	switch {
	case n > mostNamed:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed-1], ", "), n-mostNamed+1)
	case n > 1:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// Messages is the wait for those of a kind, of a round or of its end.
func Messages(kind protocol.Kind) Wait {
	switch kind {
	case protocol.KindCommit:
		return WaitCommits
	case protocol.KindShare:
		return WaitShares
	case protocol.KindConfirm:
		return WaitConfirms
	}
	return WaitAbandons
}
