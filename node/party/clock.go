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

// byClock compares the clocks after an error that a date may have caused. If they agree, or the
// aggregator does not answer, it returns the error unchanged.
func (r *service) byClock(ctx context.Context, err error) error {
	var refusal *p2p.Refusal
	var late *session.DeadlineError
	var stopped *session.StoppedError
	if clock := (*node.ClockError)(nil); errors.As(err, &clock) {
		return err // the clocks were compared before
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
	ahead := node.ClockOffset(r.Now(), hello.Now)
	if max(ahead, -ahead) < node.ClockBlame {
		return err
	}
	return &node.ClockError{Err: err, Ahead: ahead}
}

// instant is the time to tell the machine. Some dates end a study for a party without a release and
// destroy its secrets for good. The machine is not told of such a date before makeSure has checked
// it.
func (r *service) instant() protocol.Instant {
	now := r.Now()
	if date := r.unsure(now); date != 0 {
		return date - 1
	}
	return now
}

// unsure is the first such date that has passed only by this clock, or 0.
func (r *service) unsure(now protocol.Instant) protocol.Instant {
	for _, date := range []protocol.Instant{r.Study.Deadline, r.Study.Closes()} {
		if r.sure < date && date <= now {
			return date
		}
	}
	return 0
}

// makeSure asks the aggregator for its clock if such a date has passed. If the date has not passed
// by the aggregator's clock, one of the two is wrong, and the date is ignored. If the aggregator
// does not answer, this clock is trusted.
func (r *service) makeSure(ctx context.Context) error {
	now := r.Now()
	date := r.unsure(now)
	if date == 0 {
		return nil
	}
	hello, err := r.client.Hello(ctx)
	if ahead := node.ClockOffset(now, hello.Now); err == nil && ahead >= node.ClockBlame && hello.Now < date {
		return &node.ClockError{Err: &session.DeadlineError{What: "this party's release", Until: date}, Ahead: ahead}
	}
	r.sure = now
	return nil
}

// compareEvery is the interval between comparisons of the clocks.
const compareEvery = 10 * time.Minute

// compareClocks checks whether the clocks differ so much that dates come at the wrong time, and
// reports it once. It runs only while a study waits.
func (r *service) compareClocks(ctx context.Context) error {
	if !r.compared.IsZero() && time.Since(r.compared) < compareEvery {
		return nil
	}
	r.compared = time.Now()
	hello, err := r.client.Hello(ctx)
	if err != nil {
		return nil // the next call reports a broken connection; an older aggregator shows no clock
	}
	before := r.ahead
	r.ahead = node.ClockOffset(r.Now(), hello.Now)
	switch {
	case max(r.ahead, -r.ahead) <= node.Harmful:
		r.ahead = 0
	case r.ahead < 0 && before < 0, r.ahead > 0 && before > 0:
		r.ahead = before // reported before
	default:
		r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Clocks, Note: r.clocks()})
	}
	return r.show()
}

// clocks describes the difference of the clocks, or is empty.
func (r *service) clocks() string {
	if r.ahead == 0 {
		return ""
	}
	return fmt.Sprintf("%s, so dates come at different times: let a time service set the wrong clock, for example timedatectl set-ntp true", node.ClockOffsetText(r.ahead))
}
