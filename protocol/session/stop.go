package session

// StopCause is a code for why a study was stopped: it stays as it is, while the aggregator's reason is for people.
type StopCause string

// What can end a study without a result. They are read off the board, and not from what the aggregator wrote: a stop for
// which the board gives no other cause is the operator's.
const (
	StopApprovals StopCause = "approvals" // too few parties approved in time, or too many withdrew
	StopAgreement StopCause = "agreement" // the parties did not agree on a seed
	StopReleases  StopCause = "releases"  // too few releases arrived, or of a masked sum not all
	StopOperator  StopCause = "operator"  // it was cancelled
)

// stopCause is that of a study that was stopped.
func (v *view) stopCause() StopCause {
	at := v.stop.At
	t := v.current()
	switch {
	case v.certified() != nil:
		if at >= v.study.Deadline && v.result() == nil {
			return StopReleases
		}
	case t == nil:
		approved, _ := v.approvals()
		if at >= v.study.Expires && len(approved) < v.study.Quorum || len(v.study.Parties)-len(v.withdrawn) < v.study.Quorum {
			return StopApprovals
		}
	case at >= v.study.Deadline || t.over() && (len(t.survivors()) < v.study.Quorum || int64(t.number) >= int64(v.study.Attempts)):
		return StopAgreement
	}
	return StopOperator
}
