package aggregator

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

// attempts counts the attempts at a result during which the process ended.
type attempts struct {
	Tries int `json:"tries"` // in a row
}

// Pauses before retrying a computation that ended the process.
const (
	firstTry  protocol.Instant = 5
	mostTries protocol.Instant = 3600
)

func (t attempts) pause() protocol.Instant {
	if t.Tries == 0 {
		return 0
	}
	return min(firstTry<<min(2*(t.Tries-1), 20), mostTries)
}

// trouble is the text for a status.
func (t attempts) trouble(again protocol.Instant) string {
	if t.Tries == 0 {
		return ""
	}
	return fmt.Sprintf("this node stopped %s while it computed the result; it retries at %s, with no other computation beside it; a possible cause: the machine has less free memory than analysis: memory_mib", times(t.Tries), again)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times in a row", n)
}

// marks record durably which results are being computed. A mark found later was left by a process
// that ended during the computation.
type marks struct {
	state node.AggregatorState

	mu  sync.Mutex
	own map[protocol.StudyID]bool // studies that this process has marked; guarded by mu
}

// unfinished reads the mark that another process left.
func (m *marks) unfinished(id protocol.StudyID) (out attempts, err error) {
	m.mu.Lock()
	own := m.own[id]
	m.mu.Unlock()
	if own { // this process is alive
		return out, nil
	}
	raw, err := m.state.Result(id, filename.Computing)
	if errors.Is(err, store.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if json.Unmarshal(raw, &out) != nil || out.Tries < 1 { // truncated, but there
		out.Tries = 1
	}
	return out, nil
}

// begin records durably that a computation begins.
func (m *marks) begin(id protocol.StudyID, before attempts) error {
	raw, err := json.Marshal(attempts{before.Tries + 1})
	if err != nil {
		return fmt.Errorf("marking a computation: %w", err)
	}
	m.mu.Lock()
	m.own[id] = true
	m.mu.Unlock()
	return m.state.PutResult(id, filename.Computing, raw)
}

// end records durably that a computation has ended without ending the process.
func (m *marks) end(id protocol.StudyID) error { return m.state.DropResult(id, filename.Computing) }
