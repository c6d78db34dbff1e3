package node

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Errors on which callers decide.
var (
	// ErrNotApproved reports a study that the steward has not approved.
	ErrNotApproved error = fail.NotApproved

	// ErrWithdrawn reports a study that this party withdrew from.
	ErrWithdrawn error = fail.Withdrawn

	// ErrReleased reports a change that comes after the release.
	ErrReleased error = fail.Released

	// ErrNobodyLeft reports a held sketch from which every record was withdrawn.
	ErrNobodyLeft error = fail.NobodyLeft

	// ErrNoSeed reports work on a sketch whose seed this party does not hold.
	ErrNoSeed error = fail.NoSeed
)

// NotApprovedError is ErrNotApproved, of a study.
type NotApprovedError struct{ Study protocol.StudyID }

func (e *NotApprovedError) Error() string { return e.Fail().Error() }

func (e *NotApprovedError) Fail() *fail.Error { return fail.NotApproved.New(e.Study.Short()) }

// Unwrap returns ErrNotApproved.
func (e *NotApprovedError) Unwrap() error { return ErrNotApproved }

// StrangeIdentityError refuses to work on a state directory whose identity is not the one
// that signed what is stored there.
type StrangeIdentityError struct {
	Signed, Here protocol.PeerID
}

func (e *StrangeIdentityError) Error() string { return e.Fail().Error() }

func (e *StrangeIdentityError) Fail() *fail.Error { return fail.OtherIdentity.New(e.Signed, e.Here) }

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

// PeopleError refuses a dataset whose people have a budget under another name already.
type PeopleError struct {
	Dataset, Other string
	Why            people.Likeness
}

func (e *PeopleError) Error() string { return e.Fail().Error() }

func (e *PeopleError) Fail() *fail.Error { return fail.SamePeople.New(e.Dataset, e.Other, e.Why) }

// AnswerError reports an answer of the aggregator that cannot be read, or is larger than its call's may be. Another
// version of its program may send such, or one that means harm.
type AnswerError struct {
	Aggregator protocol.PeerID
	Call       string
	Err        error
}

func (e *AnswerError) Error() string { return e.Fail().Error() }

func (e *AnswerError) Fail() *fail.Error { return fail.BadAnswer.Of(e.Err, e.Aggregator, e.Call) }

func (e *AnswerError) Unwrap() error { return e.Err }

// CosignError reports a study that waits for a second person's yes.
type CosignError struct {
	Study protocol.StudyID
	Site  string // the file that asks for it
}

func (e *CosignError) Error() string { return e.Fail().Error() }

func (e *CosignError) Fail() *fail.Error { return fail.SecondPerson.New(e.Study.Short(), e.Site) }

// NoBudgetError refuses a release from a dataset for which the site file allows nothing.
type NoBudgetError struct {
	Dataset string
	Unit    dp.Unit // of the study that asks
}

func (e *NoBudgetError) Error() string { return e.Fail().Error() }

func (e *NoBudgetError) Fail() *fail.Error { return fail.NoBudget.New(e.Dataset, e.Unit) }

// LedgerRolledBackError refuses to go on with a privacy ledger that lacks what this
// party has already signed for: a state directory was restored from a backup.
type LedgerRolledBackError struct {
	Aggregator protocol.PeerID
	Signed     uint64 // releases to the aggregator in the head that this party signed
	Held       uint64 // releases to it that the ledger holds
}

func (e *LedgerRolledBackError) Error() string { return e.Fail().Error() }

func (e *LedgerRolledBackError) Fail() *fail.Error {
	return fail.LedgerRolledBack.New(e.Aggregator, e.Signed, e.Held)
}

// WaitError reports that something did not happen within the time that the
// caller gave. Err is the last reason, when there is one.
type WaitError struct {
	For string
	Err error
}

func (e *WaitError) Error() string { return e.Fail().Error() }

func (e *WaitError) Fail() *fail.Error { return fail.Waited.Of(e.Err, e.For) }

func (e *WaitError) Unwrap() error { return e.Err }

// SiteError reports that the site file does not answer the study.
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
