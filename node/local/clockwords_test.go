package local

import (
	"math"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/protocol"
)

// Clocks may differ by more than a time.Duration holds, and a peer's clock may show anything.
func TestDifferencesOfClocks(t *testing.T) {
	const day = 24 * 60 * 60
	for _, c := range []struct {
		here, there protocol.Instant
		want        string
	}{
		{90, 0, "1m30s ahead of"},
		{0, day, "24h0m0s behind"},
		{40 * day, 0, "40 days ahead of"},
		{-8_204_660_629, 1_800_000_000, "about 317 years behind"},
		{math.MaxInt64, math.MinInt64, "years ahead of"},
		{math.MinInt64, math.MaxInt64, "years behind"},
	} {
		ahead := node.ClockOffset(c.here, c.there)
		if got := node.ClockOffsetText(ahead); !strings.Contains(got, c.want) || strings.Contains(got, "-") {
			t.Errorf("%d and %d: %q, want %q", c.here, c.there, got, c.want)
		}
		if f := clock("", c.here, c.there); f.Verdict == Pass {
			t.Errorf("%d and %d agree", c.here, c.there)
		}
	}
}
