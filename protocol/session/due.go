package session

import "github.com/cosketch/cosketch/protocol"

// Due is the earliest date, after the time that the machine was told last, at which the study
// may move on as it stands: with the date itself, or with a message that comes after it. It
// is 0 where there is none. A driver that finds it passed when it takes a study up can let
// parties come first, by telling the time up to the moment before it.
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
