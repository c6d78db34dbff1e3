package console

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

func TestUntil(t *testing.T) {
	const at = protocol.Instant(1_800_000_000) // 2027-01-15T08:00:00Z
	for _, c := range []struct {
		left int64 // seconds
		want string
	}{
		{0, "over"}, {-5, "over"}, {1, "in 1 s"}, {119, "in 119 s"}, {120, "in 2 min"}, {7199, "in 119 min"},
		{7200, "in 2 h"}, {48*3600 - 1, "in 47 h"}, {48 * 3600, "in 2 days"}, {400 * 24 * 3600, "in 400 days"}, {300 * 366 * 24 * 3600, "in 109800 days"},
	} {
		want := "until 2027-01-15T08:00:00Z (" + c.want + ")"
		if got := Until(at, at-protocol.Instant(c.left)); got != want {
			t.Errorf("with %d s left: %q, want %q", c.left, got, want)
		}
	}
}

func TestAClockBeforeAllDates(t *testing.T) {
	for _, now := range []protocol.Instant{0, 1, 1_800_000_000} {
		if err := checkClock(now); err != nil {
			t.Error(err)
		}
	}
	if err := checkClock(-8_204_660_629); fail.Find(err).Exit != fail.Usage || !strings.Contains(err.Error(), "clock says 1710-01-02T") {
		t.Errorf("error %v", err)
	}
}

func TestWriteSnapshots(t *testing.T) {
	id := func(digit string) string { return strings.Repeat(digit, 64) }
	var out strings.Builder
	writeSnapshots(&out, []stored.Snapshot{
		{Study: id("a"), Name: "registry", State: "done"},
		{Study: id("b"), Name: "income", State: "shared", WaitFor: "share messages", From: []string{"north", "south"}, Until: "2027-01-15T08:00:00Z"},
		{Study: id("c"), Name: "wards", State: "failed", Failure: "the aggregator stopped the study", Culprits: []stored.Culprit{
			{Name: "north", Standing: "proved", Kind: "share", Attempt: 1}, {Name: "north", Standing: "proved", Kind: "share", Attempt: 2},
			{Name: "south", Standing: "claimed", Kind: "confirm", Attempt: 2},
		}},
		{Study: id("d"), Name: "costs", State: "open", WaitFor: "approvals", Trouble: "the store failed: disk full; tried again at 2027-01-15T08:00:00Z"},
	}, 1_799_999_400)
	const want = `  study     state   name
  aaaaaaaa  done    registry
  bbbbbbbb  shared  income
  cccccccc  failed  wards
  dddddddd  open    costs

  bbbbbbbb waits for share messages from north and south, until 2027-01-15T08:00:00Z (in 10 min)

  cccccccc failed: the aggregator stopped the study

  cccccccc blames north (proved), south (claimed)

  dddddddd waits for approvals

  dddddddd is not served: the store failed: disk full; tried again at 2027-01-15T08:00:00Z
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	writeSnapshots(&out, nil, 0)
	if out.String() != "no studies\n" {
		t.Errorf("without studies: %q", out.String())
	}
}
