package protocoltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/session"
)

// Summary counts random schedules and their outcomes.
type Summary struct {
	Schedules, Actions, Crashes int
	Played                      map[string]int        // schedules in which a role was played
	Proved, Claimed, Refused    int                   // faults on boards, and refused messages
	Ends                        map[session.State]int // final states of the aggregator
	Again                       int                   // schedules with more than one attempt
	Late                        int                   // schedules that took late parties
	Masked                      int                   // schedules of masked sums
	Rounds, First               int                   // schedules of two rounds, and those that ended with the first alone
}

// Add counts one schedule.
func (s *Summary) Add(r Report) {
	if s.Played == nil {
		s.Played, s.Ends = map[string]int{}, map[session.State]int{}
	}
	s.Schedules++
	s.Actions += r.Actions
	s.Crashes += r.Crashes
	s.Proved += r.Proved
	s.Claimed += r.Claimed
	s.Refused += r.Refused
	s.Ends[r.Ends]++
	if r.Attempts > 1 {
		s.Again++
	}
	if r.Terms.Masked {
		s.Masked++
	}
	if r.Terms.Late {
		s.Late++
	}
	if r.Terms.Rounds {
		s.Rounds++
	}
	if r.First {
		s.First++
	}
	for _, role := range r.Roles {
		_, name, _ := strings.Cut(role, ": ")
		s.Played[name]++
	}
}

// String returns the summary as a page of text.
func (s *Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schedules            %d, of which %d took late parties, %d masked their sums and %d had two rounds (%d ended with the first alone)\n", s.Schedules, s.Late, s.Masked, s.Rounds, s.First)
	for _, end := range slices.Sorted(maps.Keys(s.Ends)) {
		fmt.Fprintf(&b, "  %-18s %d\n", end, s.Ends[end])
	}
	fmt.Fprintf(&b, "several attempts     %d\n", s.Again)
	fmt.Fprintf(&b, "actions, crashes     %d, %d\n", s.Actions, s.Crashes)
	fmt.Fprintf(&b, "faults proved        %d\n", s.Proved)
	fmt.Fprintf(&b, "faults claimed       %d\n", s.Claimed)
	fmt.Fprintf(&b, "messages refused     %d\n", s.Refused)
	fmt.Fprintf(&b, "adversaries          %d kinds\n", len(s.Played))
	for _, name := range slices.Sorted(maps.Keys(s.Played)) {
		fmt.Fprintf(&b, "  %-28s %d\n", name, s.Played[name])
	}
	return b.String()
}
