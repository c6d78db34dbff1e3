package aggregator

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

// disk refuses, for now, data for which the aggregator's disk has no room, and logs it for the
// operator.
type disk struct {
	state node.AggregatorState
	free  int64 // bytes that no release may take; 0: not checked
	now   func() protocol.Instant
	log   *slog.Logger

	mu        sync.Mutex
	saidAgain protocol.Instant // when the log may repeat that nothing can be stored; guarded by mu
}

// sayAgain is how often the log repeats that nothing can be stored, in seconds.
const sayAgain = 300

// say logs at most once every sayAgain seconds, not at every call.
func (d *disk) say(text string, about ...any) {
	d.mu.Lock()
	news := d.now() >= d.saidAgain
	if news {
		d.saidAgain = d.now() + sayAgain
	}
	d.mu.Unlock()
	if news {
		d.log.Error(text, about...)
	}
}

// roomFor refuses, for now, data that would take the disk's reserve.
func (d *disk) roomFor(size int64) error {
	free, enough, err := d.enough(size)
	if err != nil || enough {
		return err
	}
	d.say("no room for uploads; parties retry (free some disk space, or lower uploads: free_mib)", "free", free, "kept_free", d.free)
	return p2p.Refuse(p2p.CodeBusy, "the aggregator's disk has no room for %s more: its operator has to free space", block.Bytes(int64(size)))
}

// enough returns the free bytes, and whether size fits besides the reserve. Without a reserve
// nothing is checked: the disk itself reports when it is full.
func (d *disk) enough(size int64) (free int64, _ bool, err error) {
	if d.free == 0 {
		return 0, true, nil
	}
	free, err = d.state.Free()
	return free, err == nil && free-d.free >= size, err
}

// roomToCompute applies the limit of roomFor to records that are gathered on the disk.
func (d *disk) roomToCompute(size int64) error {
	_, enough, err := d.enough(size)
	if err != nil || enough {
		return err
	}
	return fmt.Errorf("gathering records on the disk, with uploads: free_mib left: %w", fail.DiskFull.New())
}

// unstored turns a failure of the disk into a refusal that the caller retries for as long as it
// waits anyway. Other errors stay as they are.
func (d *disk) unstored(err error) error {
	var refusal *p2p.Refusal
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	trouble := diskTrouble(err)
	if trouble == "" {
		return err
	}
	d.say("nothing can be stored; parties retry", "error", fail.Text(err))
	return p2p.Refuse(p2p.CodeBusy, "the aggregator's disk %s: its operator has to fix it", trouble)
}

// diskTrouble describes a fault of the disk in words that other nodes may read. It is empty for any
// other error.
func diskTrouble(err error) string {
	switch {
	case fail.Has(err, fail.DiskFull):
		return "is full"
	case fail.Has(err, fail.DiskReadOnly):
		return "is read-only"
	case fail.Has(err, fail.DiskFails):
		return "fails"
	}
	return ""
}
