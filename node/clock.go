package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// ClockError reports a date that ended or refused something, between two nodes whose clocks
// differ: one of them is wrong, and that may be all that is.
type ClockError struct {
	Err   error // what the date did
	Ahead int64 // seconds by which this clock is ahead of the aggregator's; negative: behind
}

func (e *ClockError) Error() string {
	then := "try again"
	var stopped *session.StoppedError
	if errors.As(e.Err, &stopped) {
		then = "make a new study"
	}
	return fmt.Sprintf("%v (%s: let a time service set the one that is wrong, such as timedatectl set-ntp true, and %s)", e.Err, clocksDiffer(e.Ahead), then)
}

// Unwrap returns what the date did.
func (e *ClockError) Unwrap() error { return e.Err }

func clocksDiffer(ahead int64) string {
	word := "ahead of"
	if ahead < 0 {
		ahead, word = -ahead, "behind"
	}
	return fmt.Sprintf("this clock is %s %s the aggregator's", inWords(ahead), word)
}

// inWords is a number of seconds in words. A time.Duration ends at 292 years.
func inWords(seconds int64) string {
	const day, year = 24 * 60 * 60, 365.2425
	switch days := seconds / day; {
	case days < 10:
		return (time.Duration(seconds) * time.Second).String()
	case days < 2*365:
		return fmt.Sprintf("%d days", days)
	default:
		return fmt.Sprintf("about %.0f years", float64(days)/year)
	}
}

// farthest bounds what two clocks are taken to differ by, in seconds.
const farthest = 1 << 50

// apart is how many seconds one clock is ahead of another, negative where it is behind. The
// other is a peer's, and may be any number.
func apart(here, there protocol.Instant) int64 {
	within := func(t protocol.Instant) int64 { return min(max(int64(t), -farthest), farthest) }
	return within(here) - within(there)
}

// tellingDifference is how far clocks may lie apart before a date's refusal is laid to
// them, in seconds.
const tellingDifference = 300

// byClock compares the clocks after an error that a date may have caused. Where they agree,
// or the aggregator does not say, the error is returned as it is.
func (r *service) byClock(ctx context.Context, err error) error {
	var refusal *p2p.Refusal
	var late *session.DeadlineError
	var stopped *session.StoppedError
	if clock := (*ClockError)(nil); errors.As(err, &clock) {
		return err // it was compared
	}
	refused := errors.As(err, &refusal) && refusal.Code == p2p.CodeRefused
	if !refused && !errors.As(err, &late) && !errors.As(err, &stopped) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	hello, helloErr := r.client.hello(ctx)
	if helloErr != nil {
		return err
	}
	ahead := apart(r.Now(), hello.Now)
	if max(ahead, -ahead) < tellingDifference {
		return err
	}
	return &ClockError{err, ahead}
}

// Clocks may differ by a little; deadlines are minutes and days.
const (
	noticeable = 5   // seconds
	harmful    = 120 // seconds
)

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
	for _, date := range []protocol.Instant{r.study.Deadline, r.study.Closes()} {
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
	hello, err := r.client.hello(ctx)
	if ahead := apart(now, hello.Now); err == nil && ahead >= tellingDifference && hello.Now < date {
		return &ClockError{&session.DeadlineError{What: "this party's release", Until: date}, ahead}
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
	hello, err := r.client.hello(ctx)
	if err != nil {
		return nil // what is wrong with the way the next call says; an older aggregator shows no clock
	}
	before := r.ahead
	r.ahead = apart(r.Now(), hello.Now)
	switch {
	case max(r.ahead, -r.ahead) <= harmful:
		r.ahead = 0
	case r.ahead < 0 && before < 0, r.ahead > 0 && before > 0:
		r.ahead = before // it was said
	default:
		r.Observe(Progress{Study: r.study.ID, Milestone: Clocks, Note: r.clocks()})
	}
	return r.show()
}

// clocks says that the clocks differ, where they do.
func (r *service) clocks() string {
	if r.ahead == 0 {
		return ""
	}
	return fmt.Sprintf("%s, and dates come at different times: let a time service set the one that is wrong, such as timedatectl set-ntp true", clocksDiffer(r.ahead))
}

func clock(addr string, here, there protocol.Instant) Finding {
	f := Finding{Check: "clock", Subject: addr, Verdict: Pass, Said: "the two clocks agree"}
	ahead := apart(here, there)
	if max(ahead, -ahead) <= noticeable {
		return f
	}
	f.Verdict, f.Said = Warn, clocksDiffer(ahead)
	f.Fix = "let a time service set it (timedatectl set-ntp true); deadlines are the aggregator's"
	if max(ahead, -ahead) > harmful {
		f.Verdict = Fail
	}
	return f
}
