package protocoltest

import (
	"os"
	"testing"
)

// Random schedules with random adversaries: every invariant holds in each of them.
func TestRandomSchedules(t *testing.T) {
	schedules := uint64(300)
	if os.Getenv("COSKETCH_FULL") == "1" {
		schedules = 10_000
	}
	for seed := range schedules {
		if _, err := Random(seed); err != nil {
			t.Fatal(err)
		}
	}
}
