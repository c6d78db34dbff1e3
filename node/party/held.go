package party

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wait"
)

// errUndecided reports a held sketch that the steward has not released, or that a command is using.
var errUndecided = job.ErrUndecided

// lockHeld locks the held sketch against commands while it is made or released. It returns
// errUndecided while a command holds the lock.
func (r *service) lockHeld() (unlock func(), err error) {
	unlock, err = r.Store.LockHeld(r.Study.ID, 0)
	if errors.Is(err, store.ErrBusy) {
		return nil, errUndecided
	}
	return unlock, err
}

// heldFor reports, once, that the sketch is held.
func (r *service) heldFor(note string) {
	r.once(event.Held, note)
}

// once reports an event unless it was the last one reported.
func (r *service) once(what event.Milestone, note string) {
	if now := string(what) + note; r.told != now {
		r.told = now
		r.Observe(event.Progress{Study: r.Study.ID, Milestone: what, Note: note})
	}
}

// taken returns the held sketches in the form that a release needs.
func taken(set *held.Set) (job.Records, error) {
	all, err := set.Exact()
	if err != nil {
		return job.Records{}, err
	}
	if all.Records == 0 {
		return job.Records{}, node.ErrNobodyLeft
	}
	return job.Records{Count: all.Records, IDs: all.IDs, Held: all.Sketches, Look: set.Look}, nil
}

// heldText describes what is held, in counts.
func heldText(s held.Summary) string {
	text := fmt.Sprintf("%d records of %d shards", s.Records, len(s.Shards))
	if len(s.Shards) == 1 {
		text = fmt.Sprintf("%d records", s.Records)
	}
	if s.Withdrawn > 0 {
		text += fmt.Sprintf(", %d withdrawn", s.Withdrawn)
	}
	for i, n := range s.Clipped {
		if n > 0 {
			text += fmt.Sprintf("; sketch %d: %d records clipped", i+1, n)
		}
	}
	return text
}

// stewardWait is the duration of one read of the board while waiting for the steward, in seconds.
// Then the decision is checked again.
const stewardWait = 3

// awaitSteward reads the board, which may end the wait, until the steward's decision is to be
// checked again.
func (r *service) awaitSteward(ctx context.Context) error {
	r.asking = true
	if err := r.show(); err != nil {
		return err
	}
	return r.read(ctx, stewardWait)
}

// status is the machine's status as shown.
func (r *service) status() session.Status { return r.asked(r.machine.Status()) }

// asked adds to the machine's status what the machine does not know: that the study waits for the
// steward.
func (r *service) asked(s session.Status) session.Status {
	if r.asking && s.State == session.Seeded {
		s.WaitFor = wait.Steward
	}
	return s
}

// destroyHeld destroys the held sketch. It is destroyed together with the seed, because each is
// useless without the other.
func (r *service) destroyHeld() error {
	unlock, err := r.Store.LockHeld(r.Study.ID, node.HeldPatience)
	if err != nil {
		return err
	}
	defer unlock()
	return r.Store.Held(r.Study.ID).Destroy()
}
