package aggregator

import (
	"context"
	"errors"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// observed answers a call and tells of it.
func (a *Aggregator) observed(name string, handle p2p.Handler) p2p.Handler {
	return func(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
		reply, err := handle(ctx, from, request)
		err = a.unstored(err)
		outcome := "ok"
		var refusal *p2p.Refusal
		switch {
		case errors.As(err, &refusal):
			outcome = refusal.Code.String()
		case err != nil:
			outcome = "failed"
		}
		a.Observe(event.Happening{What: event.Called, Call: name, Outcome: outcome})
		return reply, err
	}
}

// tellPosted tells of envelopes that are durable.
func (h *hosted) tellPosted(envelopes []protocol.Verified) {
	for _, e := range envelopes {
		h.Observe(event.Happening{What: event.Posted, Study: h.study.ID, Kind: e.Kind()})
	}
}

// sayAgain is how often the log repeats that nothing can be stored, in seconds.
const sayAgain = 300

// unstored is what a caller is told where nothing could be stored: it comes back for as
// long as it waits anyway. The log says it from time to time, and not at every call. Other
// errors stay as they are.
func (a *Aggregator) unstored(err error) error {
	var refusal *p2p.Refusal
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	if errors.Is(err, errGone) {
		return p2p.Refuse(p2p.CodeBusy, "the aggregator is about to take the study up again")
	}
	trouble := diskTrouble(err)
	if trouble == "" {
		return err
	}
	a.mu.Lock()
	news := a.Now() >= a.saidAgain
	if news {
		a.saidAgain = a.Now() + sayAgain
	}
	a.mu.Unlock()
	if news {
		a.Logger.Error("nothing can be stored; parties try again", "error", fail.Text(err))
	}
	return p2p.Refuse(p2p.CodeBusy, "the aggregator's disk %s: its operator has to mend that", trouble)
}

// diskTrouble says what is wrong with a disk, as other nodes may know it; empty where an error
// is of something else.
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
