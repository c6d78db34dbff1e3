package aggregator

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// A study is taken up again from what is stored when its store fails, or when this program panics.
// The first retry is at once, since that failure may have been the only one; the later ones back
// off. The log says once that it is down, once for each new reason, and once that it is back.

// The pause between retries grows from one second to five minutes. It is a quarter of that if the
// disk is at fault, because somebody repairs it and then waits.
const (
	mostPause     protocol.Instant = 300
	mostDiskPause protocol.Instant = 15
)

// outage is a study's history of failures.
type outage struct {
	down     bool   // it is not served
	told     bool   // and the log has said so
	failures int    // in a row
	why      string // the last one
	disk     string // the fault of the disk, if it is one
	defect   bool   // a defect of this program
	again    protocol.Instant
	served   protocol.Instant // when it was last taken up
	damaged  bool             // it cannot be read
}

// pause is the backoff after this many failures.
func (s *outage) pause() protocol.Instant {
	if s.failures < 2 {
		return 0
	}
	most := mostPause
	if s.disk != "" {
		most = mostDiskPause
	}
	return min(1<<min(s.failures-2, 16), most)
}

// outages are the setbacks of a node's studies.
type outages struct {
	state   node.AggregatorState
	now     func() protocol.Instant
	log     *slog.Logger
	observe event.AggregatorObserver

	mu sync.Mutex
	of map[protocol.StudyID]*outage // studies that have failed; guarded by mu
}

// known reports whether a study has ever failed.
func (b *outages) known(id protocol.StudyID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[id] != nil
}

// due reports whether a study may be taken up now.
func (b *outages) due(id protocol.StudyID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.of[id]
	return s == nil || !s.down || b.now() >= s.again
}

// add notes that a study cannot be served, and logs it if that is new. If the study was served for
// longer than the last pause, the pauses start again with the shortest.
func (b *outages) add(id protocol.StudyID, err error) outage {
	var damage *stored.DamagedError
	damaged := errors.As(err, &damage)
	b.observe(event.Event{What: event.TakenDown, Study: id, Damaged: damaged})
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.of[id]
	if s == nil {
		s = &outage{}
		b.of[id] = s
	}
	if !s.down && b.now()-s.served > max(s.pause(), 1) {
		s.failures = 0
	}
	why := fail.Text(err)
	news := !s.told || s.why != why
	s.failures++
	var mistake *node.PanicError
	s.down, s.told, s.why, s.disk, s.defect = true, true, why, diskTrouble(err), errors.As(err, &mistake)
	s.damaged = damaged
	s.again = b.now() + s.pause()
	if news {
		b.log.Error("study is not served; it is taken up again from the store", "study", id.Short(), "error", why, "again", s.again.String())
	}
	return *s
}

// back notes that a study is served again.
func (b *outages) back(id protocol.StudyID) {
	b.observe(event.Event{What: event.TakenUp, Study: id})
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.of[id]
	if s == nil || !s.down {
		return
	}
	b.log.Info("study is served again", "study", id.Short(), "failures", s.failures)
	s.down, s.told, s.served = false, false, b.now()
}

// outOfService returns the refusal for a study that is down, or nil.
func (b *outages) outOfService(id protocol.StudyID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.of[id]
	if s == nil || !s.down {
		return nil
	}
	if s.damaged {
		if ended, ok := stored.Abandoned(b.state, id); ok {
			return p2p.Refuse(p2p.CodeRefused, "study %s was damaged at the aggregator, and is over: %s", id.Short(), ended.Failure)
		}
		return p2p.Refuse(p2p.CodeRefused, "study %s is damaged at the aggregator: its operator has to restore it, or to give it up", id.Short())
	}
	if s.defect {
		return p2p.Refuse(p2p.CodeBusy, "the aggregator has an internal error at study %s; it tries again from time to time", id.Short())
	}
	because := ""
	if s.disk != "" {
		because = ": its disk " + s.disk
	}
	return p2p.Refuse(p2p.CodeBusy, "the aggregator's store fails at study %s%s; it tries again from time to time", id.Short(), because)
}

// trouble is the text for a status.
func (s outage) trouble() string {
	if s.defect {
		return fmt.Sprintf("%s; tried again at %s", s.why, s.again)
	}
	return fmt.Sprintf("the store failed: %s; tried again at %s", s.why, s.again)
}

// showDamage writes to the status, once, that a study is damaged.
func (b *outages) showDamage(s outage, err error) {
	var d *stored.DamagedError
	if !errors.As(err, &d) || s.failures != 1 {
		return
	}
	if _, over := stored.Abandoned(b.state, d.Study); over {
		return
	}
	if err := b.state.PutStatus(d.Study, stored.DamagedSnapshot(b.state, d).Encode()); err != nil {
		b.log.Error("its status cannot be stored", "study", d.Study.Short(), "error", err)
	}
}
