package node

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Errors that callers test for.
var (
	// ErrNotApproved reports a study that the steward has not approved.
	ErrNotApproved error = fail.NotApproved

	// ErrWithdrawn reports a study that this party withdrew from.
	ErrWithdrawn error = fail.Withdrawn

	// ErrReleased reports a change that came after the release.
	ErrReleased error = fail.Released

	// ErrNobodyLeft reports a held sketch from which every record was withdrawn.
	ErrNobodyLeft error = fail.NobodyLeft

	// ErrNoSeed reports work on a sketch whose seed this party does not hold.
	ErrNoSeed error = fail.NoSeed
)

// NotApprovedError is ErrNotApproved for one study.
type NotApprovedError struct{ Study protocol.StudyID }

func (e *NotApprovedError) Error() string { return e.Fail().Error() }

func (e *NotApprovedError) Fail() *fail.Error { return fail.NotApproved.New(e.Study.Short()) }

// Unwrap returns ErrNotApproved.
func (e *NotApprovedError) Unwrap() error { return ErrNotApproved }

// IdentityMismatchError refuses a state directory whose identity is not the one that signed its
// stored data.
type IdentityMismatchError struct {
	Signed, Here protocol.PeerID
}

func (e *IdentityMismatchError) Error() string { return e.Fail().Error() }

func (e *IdentityMismatchError) Fail() *fail.Error { return fail.OtherIdentity.New(e.Signed, e.Here) }

// ReconstructionError refuses a release without noise from which records could
// be reconstructed (the rule of package kernel/audit).
type ReconstructionError struct {
	Study    protocol.StudyID
	Reason   string // why the rule refuses
	Exposure string // what the sketch would give away
}

func (e *ReconstructionError) Error() string { return e.Fail().Error() }

func (e *ReconstructionError) Fail() *fail.Error {
	return fail.Reconstruction.New(e.Reason, e.Exposure, e.Study.Short())
}

// PeopleError refuses a dataset whose people already have a budget under another dataset's name.
type PeopleError struct {
	Dataset, Other string
	Why            people.Match
}

func (e *PeopleError) Error() string { return e.Fail().Error() }

func (e *PeopleError) Fail() *fail.Error { return fail.SamePeople.New(e.Dataset, e.Other, e.Why) }

// AnswerError reports an answer of the aggregator that cannot be read or is larger than its call
// allows. The aggregator may run another version, or be malicious.
type AnswerError struct {
	Aggregator protocol.PeerID
	Call       string
	Err        error
}

func (e *AnswerError) Error() string { return e.Fail().Error() }

func (e *AnswerError) Fail() *fail.Error { return fail.BadAnswer.Of(e.Err, e.Aggregator, e.Call) }

func (e *AnswerError) Unwrap() error { return e.Err }

// CosignError reports a study that waits for a second person's approval.
type CosignError struct {
	Study protocol.StudyID
	Site  string // the site file that requires it
}

func (e *CosignError) Error() string { return e.Fail().Error() }

func (e *CosignError) Fail() *fail.Error { return fail.SecondPerson.New(e.Study.Short(), e.Site) }

// NoBudgetError refuses a release from a dataset to which the site file gives no budget.
type NoBudgetError struct {
	Dataset string
	Unit    dp.Unit // of the study
}

func (e *NoBudgetError) Error() string { return e.Fail().Error() }

func (e *NoBudgetError) Fail() *fail.Error { return fail.NoBudget.New(e.Dataset, e.Unit) }

// LedgerRolledBackError refuses a privacy ledger that lacks releases this party has already signed
// for: the state directory was restored from a backup.
type LedgerRolledBackError struct {
	Aggregator protocol.PeerID
	Signed     uint64 // releases to the aggregator in the head that this party signed
	Held       uint64 // releases to it that the ledger holds
}

func (e *LedgerRolledBackError) Error() string { return e.Fail().Error() }

func (e *LedgerRolledBackError) Fail() *fail.Error {
	return fail.LedgerRolledBack.New(e.Aggregator, e.Signed, e.Held)
}

// WaitError reports that something did not happen within the caller's timeout. Err is the last
// reason, or nil.
type WaitError struct {
	For string
	Err error
}

func (e *WaitError) Error() string { return e.Fail().Error() }

func (e *WaitError) Fail() *fail.Error { return fail.Waited.Of(e.Err, e.For) }

func (e *WaitError) Unwrap() error { return e.Err }

// SiteError reports that the site file does not satisfy the study.
type SiteError struct{ Err error }

func (e *SiteError) Error() string { return e.Err.Error() }

func (e *SiteError) Fail() *fail.Error { return fail.SiteFile.Fail() }

func (e *SiteError) Unwrap() error { return e.Err }

// FailedError reports a study that has failed for good on this node.
type FailedError struct{ Err error }

func (e *FailedError) Error() string { return e.Err.Error() }

func (e *FailedError) Fail() *fail.Error { return fail.StudyFailed.Fail() }

func (e *FailedError) Unwrap() error { return e.Err }

var (
	ErrNothingKept error = fail.NothingKept
	ErrKeptNoMore  error = fail.KeptNoMore
)
