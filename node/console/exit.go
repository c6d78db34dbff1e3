package console

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/agree"
)

// Code is a process exit code.
type Code int

// The exit codes of party and aggregator.
const (
	OK           Code = 0
	Failed       Code = 1 // the study failed, a plan finds nothing usable, or an audit tells nothing
	Connection   Code = 2 // refused by the other side, or absent where waiting was not asked for
	Absent       Code = 3 // something was not there before the deadline or --wait
	Usage        Code = 4 // arguments, configuration, study file or data
	Internal     Code = 5
	Refused      Code = 6 // refused by policy, or not approved
	Budget       Code = 7 // the privacy budget refuses
	Disagreement Code = 8 // parties disagree on version, study or seed
)

// Codes are all exit codes, in order.
func Codes() []Code {
	return []Code{OK, Failed, Connection, Absent, Usage, Internal, Refused, Budget, Disagreement}
}

// Meaning says what an exit code tells the caller.
func (c Code) Meaning() string {
	switch c {
	case OK:
		return "done"
	case Failed:
		return "the study failed, or nothing in a plan is usable"
	case Connection:
		return "refused by the other side, or not there and --wait 0"
	case Absent:
		return "not there before the deadline or --wait"
	case Usage:
		return "arguments, configuration, study file or data"
	case Refused:
		return "refused by policy, or not approved"
	case Budget:
		return "the privacy budget refuses"
	case Disagreement:
		return "parties disagree on version, study or seed"
	}
	return "internal error"
}

// coded is an error whose exit code its maker knows.
type coded struct {
	code Code
	err  error
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

// WithCode gives an error an exit code.
func WithCode(code Code, err error) error { return &coded{code, err} }

// CodeOf returns the exit code that an error means.
func CodeOf(err error) Code {
	var c *coded
	switch {
	case err == nil:
		return OK
	case errors.As(err, &c):
		return c.code
	case isAny[*ledger.Exceeded](err), isAny[*node.NoBudgetError](err), isAny[*node.LedgerRolledBackError](err):
		return Budget
	case isOneOf(err, node.ErrNotApproved, node.ErrWithdrawn, node.ErrReleased, node.ErrNobodyLeft, stored.ErrPurged, session.ErrAnswered, store.ErrRetired, party.ErrNoQueries, party.ErrQueriesAsked), isAny[*local.NotEndedError](err), isAny[*node.CosignError](err), isAny[*node.ReconstructionError](err), isAny[*node.PeopleError](err),
		isAny[*study.NotLaterError](err), isAny[*aggregator.SecretMatrixError](err):
		return Refused
	case disagreement(err):
		return Disagreement
	case isAny[*node.WaitError](err):
		return waitCode(err)
	case isAny[*session.DeadlineError](err), isOneOf(err, node.ErrNoSeed, held.ErrEmpty, node.ErrNothingKept, node.ErrKeptNoMore):
		return Absent
	case turnedAway(err), isAny[*node.AnswerError](err), isOneOf(err, p2p.ErrUnreachable, p2p.ErrRefusedPeer, p2p.ErrInterrupted):
		return Connection
	case isAny[*session.StoppedError](err), isAny[*protocol.Fault](err), isAny[*p2p.Refusal](err), isAny[*party.BadResultError](err),
		isOneOf(err, session.ErrRolledBack, session.ErrBoardRewritten, stored.ErrUnsigned, party.ErrQueryLost, party.ErrFullOfFurther):
		return Failed
	case isAny[*schema.Error](err), isAny[schema.Errors](err), isAny[*dataset.Error](err), isAny[*node.SiteError](err), isAny[*aggregator.MemoryError](err), isAny[*node.StrangeIdentityError](err), isAny[*held.StaleError](err), isAny[*job.SizeError](err), isAny[*ledger.BrokenChain](err), isAny[*protocol.MailboxError](err), isAny[*stored.DamagedError](err), isAny[*aggregator.InboxError](err),
		isOneOf(err, bundle.ErrNoBundle, bundle.ErrDamaged, bundle.ErrTruncated, bundle.ErrElsewhere, bundle.ErrTooMuch, store.ErrBackup, store.ErrNotFound, store.ErrDamaged, store.ErrNoStore, store.ErrLayout, store.ErrLedgerMissing, store.ErrAmbiguous, store.ErrLocked, store.ErrServed, store.ErrBusy, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, store.ErrConflict, party.ErrRecordsChanged, stored.ErrStudyChanged):
		return Usage
	case analysis.Unanswerable(err):
		return Usage
	case isOneOf(err, context.Canceled, context.DeadlineExceeded):
		return Absent
	case isAny[*node.FailedError](err):
		return Failed
	}
	return Internal
}

func isAny[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func isOneOf(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// refused returns the code of a peer's refusal, 0 when err is none.
func refused(err error) p2p.Code {
	var r *p2p.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return 0
}

func disagreement(err error) bool {
	switch refused(err) {
	case p2p.CodeVersion, p2p.CodeConflict:
		return true
	}
	return isAny[*protocol.Disagreement](err) || isOneOf(err, session.ErrMeaning, session.ErrBoards, session.ErrOtherSeed, agree.ErrTranscript, agree.ErrConfirmTag, agree.ErrPublished)
}

// turnedAway reports a peer that answered and does not serve this node, or not now.
func turnedAway(err error) bool {
	switch refused(err) {
	case p2p.CodeRefused, p2p.CodeUnknownStudy, p2p.CodeNotFound, p2p.CodeBusy:
		return true
	}
	return false
}

// waitCode: a peer that does not admit this node is a refused connection however
// long one waited; everything else was not there in time.
func waitCode(err error) Code {
	if errors.Is(err, p2p.ErrRefusedPeer) {
		return Connection
	}
	return Absent
}
