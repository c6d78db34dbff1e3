package party

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// byClock compares the clocks after an error that a date may have caused. Where they agree,
// or the aggregator does not say, the error is returned as it is.
func (r *service) byClock(ctx context.Context, err error) error {
	var refusal *p2p.Refusal
	var late *session.DeadlineError
	var stopped *session.StoppedError
	if clock := (*node.ClockError)(nil); errors.As(err, &clock) {
		return err // it was compared
	}
	refused := errors.As(err, &refusal) && refusal.Code == p2p.CodeRefused
	if !refused && !errors.As(err, &late) && !errors.As(err, &stopped) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	hello, helloErr := r.client.Hello(ctx)
	if helloErr != nil {
		return err
	}
	ahead := node.Apart(r.Now(), hello.Now)
	if max(ahead, -ahead) < node.TellingDifference {
		return err
	}
	return &node.ClockError{Err: err, Ahead: ahead}
}

// instant is the time to tell the machine. The dates that end a study for a party without a
// release destroy its secrets for good, so such a date is not told before makeSure has looked.
func (r *service) instant() protocol.Instant {
	now := r.Now()
	if date := r.unsure(now); date != 0 {
		return date - 1
	}
	return now
}

// unsure is the first of these dates that has passed by this clock alone; 0 where none has.
func (r *service) unsure(now protocol.Instant) protocol.Instant {
	for _, date := range []protocol.Instant{r.Study.Deadline, r.Study.Closes()} {
		if r.sure < date && date <= now {
			return date
		}
	}
	return 0
}

// makeSure asks the aggregator for its clock where such a date has passed. Where by the
// aggregator's clock it has not, one of the two is wrong, and nothing is done about the date.
// Where the aggregator does not answer, this clock is believed.
func (r *service) makeSure(ctx context.Context) error {
	now := r.Now()
	date := r.unsure(now)
	if date == 0 {
		return nil
	}
	hello, err := r.client.Hello(ctx)
	if ahead := node.Apart(now, hello.Now); err == nil && ahead >= node.TellingDifference && hello.Now < date {
		return &node.ClockError{Err: &session.DeadlineError{What: "this party's release", Until: date}, Ahead: ahead}
	}
	r.sure = now
	return nil
}

// compareEvery is how long a comparison of the clocks holds.
const compareEvery = 10 * time.Minute

// compareClocks looks whether the clocks differ by so much that dates come at the wrong time,
// and says so once. Only a study that waits has the time for it.
func (r *service) compareClocks(ctx context.Context) error {
	if !r.compared.IsZero() && time.Since(r.compared) < compareEvery {
		return nil
	}
	r.compared = time.Now()
	hello, err := r.client.Hello(ctx)
	if err != nil {
		return nil // what is wrong with the way the next call says; an older aggregator shows no clock
	}
	before := r.ahead
	r.ahead = node.Apart(r.Now(), hello.Now)
	switch {
	case max(r.ahead, -r.ahead) <= node.Harmful:
		r.ahead = 0
	case r.ahead < 0 && before < 0, r.ahead > 0 && before > 0:
		r.ahead = before // it was said
	default:
		r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Clocks, Note: r.clocks()})
	}
	return r.show()
}

// clocks says that the clocks differ, where they do.
func (r *service) clocks() string {
	if r.ahead == 0 {
		return ""
	}
	return fmt.Sprintf("%s, and dates come at different times: let a time service set the one that is wrong, such as timedatectl set-ntp true", node.ClocksDiffer(r.ahead))
}
