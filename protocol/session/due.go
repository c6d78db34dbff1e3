package session

import "github.com/cosketch/cosketch/protocol"

// Due returns the earliest date after the machine's time at which the study may advance without
// further messages, or with a message that comes after that date. It is 0 if there is none. If a
// driver finds the date passed when it resumes a study, it can let parties come first by setting
// the time to just before it.
func (a *Aggregator) Due() protocol.Instant {
	var dates []protocol.Instant
	switch v, t := a.view, a.view.current(); {
	case v.ended() || a.failure != nil:
	case t == nil:
		dates = append(dates, a.study.Expires)
	case v.certified() == nil || a.study.Masked():
		dates = append(dates, a.study.AgreeBy(t.number), a.study.Deadline)
	case v.certified().between():
		dates = append(dates, a.study.FirstBy(), a.study.Deadline)
	case v.result() == nil:
		dates = append(dates, a.study.Deadline, a.study.LateUntil)
	default:
		dates = append(dates, a.study.LateUntil)
	}
	for _, date := range dates {
		if date > a.now {
			return date
		}
	}
	return 0
}
