package node_test

import (
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/protocol"
)

func TestWhen(t *testing.T) {
	const at = protocol.Instant(1_800_000_000) // 2027-01-15T08:00:00Z
	for _, c := range []struct {
		left         int64 // seconds
		until, apart string
	}{
		{0, "until 08:00 UTC (over)", "in 0 s"},
		{-5, "until 08:00 UTC (over)", "5 s ago"},
		{-7200, "until 08:00 UTC (over)", "2 h ago"},
		{1, "until 08:00 UTC (in 1 s)", "in 1 s"},
		{119, "until 08:00 UTC (in 119 s)", "in 119 s"},
		{120, "until 08:00 UTC (in 2 min)", "in 2 min"},
		{7199, "until 08:00 UTC (in 119 min)", "in 119 min"},
		{7200, "until 08:00 UTC (in 2 h)", "in 2 h"},
		{9 * 3600, "until 15 Jan 2027, 08:00 UTC (in 9 h)", "in 9 h"},
		{48*3600 - 1, "until 15 Jan 2027, 08:00 UTC (in 47 h)", "in 47 h"},
		{48 * 3600, "until 15 Jan 2027, 08:00 UTC (in 2 days)", "in 2 days"},
		{300 * 366 * 24 * 3600, "until 15 Jan 2027, 08:00 UTC (in 109800 days)", "in 109800 days"},
	} {
		now := at - protocol.Instant(c.left)
		if got := node.Until(at, now); got != c.until {
			t.Errorf("with %d s left: %q, want %q", c.left, got, c.until)
		}
		if got := node.Distance(at, now); got != c.apart {
			t.Errorf("with %d s left: %q, want %q", c.left, got, c.apart)
		}
	}
}
