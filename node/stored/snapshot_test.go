package stored

import (
	"fmt"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// A stopped study is described only in the aggregator's words, whatever wraps the stop.
func TestSnapshotOfAStoppedStudy(t *testing.T) {
	stopped := &session.StoppedError{Stop: protocol.Stop{At: 1_800_000_000, Reason: "0 of 3 parties approved"}}
	got := SnapshotOf(&study.Study{Name: "trial"}, session.Status{State: session.Stopped, Failure: fmt.Errorf("running: %w", stopped)})
	if got.Reason != "0 of 3 parties approved" || got.Failure != "running: "+stopped.Error() {
		t.Errorf("reason %q of failure %q", got.Reason, got.Failure)
	}
	if back, err := DecodeSnapshot(got.Encode()); err != nil || !back.Equal(got) {
		t.Errorf("read again: %+v, %v", back, err)
	}
	failed := SnapshotOf(&study.Study{Name: "trial"}, session.Status{State: session.Failed, Failure: session.ErrRolledBack})
	if failed.Reason != "" || failed.Equal(got) {
		t.Errorf("a study that failed has the reason %q", failed.Reason)
	}
}
