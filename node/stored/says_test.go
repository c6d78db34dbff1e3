package stored_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol/block"
)

func TestStatuses(t *testing.T) {
	id := func(digit string) string { return strings.Repeat(digit, 64) }
	written := func(all []stored.Snapshot) string {
		var out strings.Builder
		present.Text(&out, stored.Statuses(all, 1_799_999_400))
		return out.String()
	}
	got := written([]stored.Snapshot{
		{Study: id("a"), Name: "registry", State: "done"},
		{Study: id("b"), Name: "income", State: "shared", WaitFor: "share messages", From: []string{"north", "south"}, Until: "2027-01-15T08:00:00Z"},
		{Study: id("c"), Name: "wards", State: "failed", Failure: "the aggregator stopped the study", Culprits: []stored.Culprit{
			{Name: "north", Standing: "proved", Kind: "share", Attempt: 1, What: "its share does not open"},
			{Name: "north", Standing: "proved", Kind: "share", Attempt: 2, What: "its share does not open"},
			{Name: "south", Standing: "claimed", Kind: "confirm", Attempt: 2},
		}},
		{Study: id("d"), Name: "costs", State: "open", Wait: "approvals", Trouble: "the store failed: disk full; tried again at 2027-01-15T08:00:00Z", Faults: []string{"attempt 1 ended: x left"},
			Grace: "by this machine's clock a date passed", Restored: "of a backup"},
	})
	const want = `  study     state   name
  aaaaaaaa  done    registry
  bbbbbbbb  shared  income
  cccccccc  failed  wards
  dddddddd  open    costs

  bbbbbbbb waits for share messages from north and south, until 08:00 UTC (in 10 min)
  cccccccc failed: the aggregator stopped the study
  cccccccc blames north, as signed messages prove: its share does not open
  cccccccc blames south, as the aggregator claims
  dddddddd waits for approvals
  dddddddd is not served: the store failed: disk full; tried again at 2027-01-15T08:00:00Z
  dddddddd goes on: by this machine's clock a date passed
  dddddddd may be older here than at its parties: of a backup
  dddddddd tried to agree on a seed; attempt 1 ended: x left
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := written(nil); got != "no studies\n" {
		t.Errorf("without studies: %q", got)
	}
}

// A study's state is the same everywhere: what blocks it comes before what it waits for, and a stop
// is described only in the aggregator's words.
func TestStands(t *testing.T) {
	for _, c := range []struct {
		of          stored.Snapshot
		why, stands string
	}{
		{stored.Snapshot{State: "done"}, "", "done"},
		{stored.Snapshot{State: "approved", Wait: "approvals", From: []string{"a", "b"}, Until: "2027-01-15T08:00:00Z"},
			"waits for approvals from a and b, until 08:00 UTC (in 10 min)", "approved, waits for approvals from a and b"},
		{stored.Snapshot{State: "open", Wait: "approvals", Trouble: "the disk is full"}, "is not served: the disk is full", "open, is not served: the disk is full"},
		{stored.Snapshot{State: "stopped", Failure: "the aggregator stopped it: too few", Reason: "too few"}, "too few", "stopped: too few"},
		{stored.Snapshot{State: "failed", Failure: "rolled back"}, "rolled back", "failed: rolled back"},
	} {
		if why, stands := c.of.Why(1_799_999_400), c.of.Stands(); why != c.why || stands != c.stands {
			t.Errorf("%+v: %q, %q; want %q, %q", c.of, why, stands, c.why, c.stands)
		}
	}
}

// Everything in a snapshot for people is shown, the same on a page and on a terminal.
func TestEveryTroubleIsSaid(t *testing.T) {
	s := stored.Snapshot{State: "stopped", Failure: "f1", Trouble: "t2", Grace: "g3", Clock: "c4", Restored: "r5", Faults: []string{"a6"}, Culprits: []stored.Culprit{{Name: "n7", Standing: "seen", What: "w8"}}}
	said := s.Says()
	for _, text := range []string{"f1", "t2", "g3", "c4", "r5", "a6", "n7", "w8"} {
		if !slices.ContainsFunc(said, func(b block.Text) bool { return strings.Contains(b.Text, text) }) {
			t.Errorf("%s is not said: %+v", text, said)
		}
	}
}
