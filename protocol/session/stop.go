package session

// StopCause is a stable code for why a study was stopped; the aggregator's reason is for people.
type StopCause string

// What can end a study without a result. Causes are derived from the board, not from the
// aggregator's text. A stop for which the board shows no other cause is the operator's.
const (
	StopApprovals StopCause = "approvals" // too few parties approved in time, or too many withdrew
	StopAgreement StopCause = "agreement" // the parties did not agree on a seed
	StopReleases  StopCause = "releases"  // too few releases arrived, or not all of a masked sum
	StopOperator  StopCause = "operator"  // it was cancelled
)

// stopCause returns the cause for a stopped study.
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
