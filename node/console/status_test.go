package console

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

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
