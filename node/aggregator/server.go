package aggregator

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
)

// server answers what parties ask of a node's studies, by calls and by bundles.
type server struct {
	*studies
	guests *guests

	saying sync.Mutex
	ahead  map[aheadOf]bool // already logged; guarded by saying
}

// aheadOf is a party that has read more of a study's board than there is.
type aheadOf struct {
	study protocol.StudyID
	party protocol.PeerID
}

func newServer(s *shared) *server {
	return &server{studies: newStudies(s), guests: newGuests(s), ahead: map[aheadOf]bool{}}
}

// longestWait bounds how long a call waits for news, or for an answer that is being computed.
const longestWait = 30 * time.Second

// mostWakes bounds how often a call takes up a study that goes to rest while the call finds it.
const mostWakes = 3

// observed answers a call and reports it to the observer.
func (a *server) observed(name string, handle p2p.Handler) p2p.Handler {
	return func(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
		reply, err := handle(ctx, from, request)
		for range mostWakes {
			if !errors.Is(err, errGone) || ctx.Err() != nil {
				break
			}
			reply, err = handle(ctx, from, request) // it had gone to rest: take it up again
		}
		if errors.Is(err, errGone) {
			err = p2p.Refuse(p2p.CodeBusy, "the aggregator is about to take the study up again")
		}
		err = a.disk.unstored(err)
		outcome := "ok"
		var refusal *p2p.Refusal
		switch {
		case errors.As(err, &refusal):
			outcome = refusal.Code.String()
		case err != nil:
			outcome = "failed"
		}
		a.Observe(event.Event{What: event.Called, Call: name, Outcome: outcome})
		return reply, err
	}
}
