package stored

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wait"
)

// Snapshot is a study's status as a node last stored it, for status commands that run while the
// node does.
type Snapshot struct {
	Study     string            `json:"study"`
	Name      string            `json:"name"`
	State     string            `json:"state"`
	Wait      wait.Code         `json:"wait,omitempty"`     // the code of what it waits for
	WaitFor   string            `json:"wait_for,omitempty"` // the same in words
	From      []string          `json:"from,omitempty"`     // names
	Until     string            `json:"until,omitempty"`    // RFC 3339, UTC
	Failure   string            `json:"failure,omitempty"`
	Reason    string            `json:"reason,omitempty"`   // if a stop failed it: why, without by whom and when
	Cause     session.StopCause `json:"cause,omitempty"`    // if a stop failed it: the code of the reason
	Trouble   string            `json:"trouble,omitempty"`  // why it is not served for now
	Grace     string            `json:"grace,omitempty"`    // a date has passed that has not taken effect yet
	Clock     string            `json:"clock,omitempty"`    // a party's: the clocks differ, and the remedy
	Results   int               `json:"results,omitempty"`  // an aggregator's: number of results on the board
	Abandoned string            `json:"given_up,omitempty"` // RFC 3339, UTC: when the operator gave up a damaged study here
	Restored  string            `json:"restored,omitempty"` // an aggregator's: its state was restored from a backup, after which the study may have gone on
	Faults    []string          `json:"faults,omitempty"`   // why attempts at agreeing on the seed ended

	Culprits []Culprit `json:"culprits,omitempty"` // of ended attempts, and of a failure
}

// Culprit is who caused the end of an attempt or of the study.
type Culprit struct {
	Name     string `json:"name"`
	ID       string `json:"id"`                // peer id
	Standing string `json:"standing"`          // proved, claimed (by the aggregator) or seen (by this node)
	Kind     string `json:"kind,omitempty"`    // of the wrong or missing message
	Attempt  uint32 `json:"attempt,omitempty"` // at agreeing on the seed
	What     string `json:"what"`
}

// SnapshotOf is the stored form of a machine's status.
func SnapshotOf(s *study.Study, st session.Status) Snapshot {
	out := Snapshot{Study: s.ID.String(), Name: s.Name, State: string(st.State), Wait: st.WaitFor, WaitFor: st.WaitFor.String(), From: sorted(Names(s, st.From)), Faults: st.Faults}
	for _, c := range st.Blame {
		out.Culprits = append(out.Culprits, Culprit{
			Name: Names(s, []protocol.PeerID{c.Node})[0], ID: c.Node.String(),
			Standing: string(c.Standing), Kind: string(c.Kind), Attempt: c.Attempt, What: c.Err.Error(),
		})
	}
	if st.Until != 0 {
		out.Until = st.Until.String()
	}
	if st.Failure != nil {
		out.Failure = st.Failure.Error()
	}
	var stopped *session.StoppedError
	if errors.As(st.Failure, &stopped) {
		out.Reason, out.Cause = stopped.Reason(), stopped.Cause
	}
	return out
}

// Encode encodes it for DecodeSnapshot.
func (s Snapshot) Encode() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic("node: a snapshot holds text alone: " + err.Error())
	}
	return b
}

// DecodeSnapshot reads a stored snapshot.
func DecodeSnapshot(b []byte) (Snapshot, error) {
	var s Snapshot
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("reading status: %w", err)
	}
	return s, nil
}

// TheAggregator stands for the aggregator among the names of a study's parties.
const TheAggregator = "the aggregator"

// Names returns the study's names of peers.
func Names(s *study.Study, ids []protocol.PeerID) []string {
	var out []string
	for _, id := range ids {
		if i, ok := s.PartyIndex(id); ok {
			out = append(out, s.Parties[i].Name)
		} else if id == s.Aggregator.ID {
			out = append(out, TheAggregator)
		} else {
			out = append(out, id.String())
		}
	}
	return out
}

// sorted sorts names for people; peers come in the order of their keys.
func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// Await sets what a snapshot waits for, from nobody in particular.
func (s *Snapshot) Await(w wait.Code) { s.Wait, s.WaitFor, s.From = w, w.String(), nil }

// Waits is the code of what a status waits for. A snapshot stored before there were codes has only
// a text.
func (s Snapshot) Waits() wait.Code {
	if s.Wait == "" {
		return wait.Code(s.WaitFor)
	}
	return s.Wait
}

// WaitText says what a status waits for and from whom.
func (s Snapshot) WaitText() string { return s.Waits().From(s.From) }

// WaitText says what a study waits for.
func WaitText(s *study.Study, st session.Status) string { return SnapshotOf(s, st).WaitText() }

// SameStatus reports whether two statuses have equal snapshots.
func SameStatus(a, b session.Status) bool {
	return a.State == b.State && a.WaitFor == b.WaitFor && a.Until == b.Until && slices.Equal(a.From, b.From) &&
		slices.Equal(a.Faults, b.Faults) && len(a.Blame) == len(b.Blame) && (a.Failure == nil) == (b.Failure == nil)
}

// Equal reports whether two snapshots are equal.
func (s Snapshot) Equal(t Snapshot) bool {
	return s.Study == t.Study && s.State == t.State && s.Waits() == t.Waits() && s.Until == t.Until &&
		s.Failure == t.Failure && s.Reason == t.Reason && s.Cause == t.Cause && s.Trouble == t.Trouble && s.Grace == t.Grace && s.Clock == t.Clock && s.Restored == t.Restored && s.Abandoned == t.Abandoned && slices.Equal(s.Faults, t.Faults) && slices.Equal(s.Culprits, t.Culprits) && slices.Equal(s.From, t.From)
}

// MinFree is the free disk space, in bytes, below which a node may be unable to store what a
// study needs next.
const MinFree = 1 << 17

// OnDisk adds to an active study that its disk is full, if free is below MinFree. The node
// itself could not store that, for lack of room.
func (s *Snapshot) OnDisk(dir string, free int64) {
	if s.Active() && s.Trouble == "" && free < MinFree {
		s.Trouble = fmt.Sprintf("the disk of %s is full: make room; what is stored is whole", dir)
	}
}

// PutBack adds to an aggregator's active study that its state was restored from a backup, if the
// study was added before. No other node tells the operator of what came after the backup.
func (s *Snapshot) PutBack(added, restored protocol.Instant) {
	if s.Active() && added <= restored {
		s.Restored = fmt.Sprintf("the state directory was restored from a backup at %s. If the study had gone on after that backup was made, its parties refuse this board, which is too old: aggregator cancel %s ends it, and a new study is made", restored, s.Study[:8])
	}
}

// Active reports whether the study has not ended on this node.
func (s Snapshot) Active() bool { return !session.Status{State: session.State(s.State)}.Terminal() }

// States of a study that was never served, in addition to those of package session.
const (
	Added         = "added"
	ApprovedHere  = "approved here"
	DeclinedHere  = "declined"
	WithdrawnHere = "withdrawn here"
)

// Unserved is the status of a study that was never served: what it waits for depends on the
// decision of a party's steward.
func Unserved(s *study.Study, role store.Role, decision store.Decision) Snapshot {
	out := Snapshot{Study: s.ID.String(), Name: s.Name, State: Added, Until: s.Expires.String()}
	out.Await(wait.Serving)
	switch decision {
	case "":
		if role == store.Party {
			out.Await(wait.Decision)
		}
	case store.Approve:
		out.State = ApprovedHere
	case store.Decline:
		out.State, out.Until = DeclinedHere, ""
		out.Await("")
	case store.Withdraw:
		out.State = WithdrawnHere
		out.Await(wait.Leaving)
	}
	return out
}
