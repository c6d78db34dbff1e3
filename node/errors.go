package node

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/protocol"
)

// Errors on which callers decide.
var (
	// ErrNotApproved reports a study that the steward has not approved.
	ErrNotApproved = errors.New("the study is not approved here")

	// ErrWithdrawn reports a study that this party withdrew from.
	ErrWithdrawn = errors.New("this party has withdrawn from the study")

	// ErrReleased reports a change that comes after the release.
	ErrReleased = errors.New("the release is stored, and a stored release cannot be changed: other records need a new study")

	// ErrNobodyLeft reports a held sketch from which every record was withdrawn.
	ErrNobodyLeft = errors.New("no record is left in the held sketch: there is nothing to release")

	// ErrNoSeed reports work on a sketch whose seed this party does not hold.
	ErrNoSeed = errors.New("this party holds no seed of the study: the parties have not agreed on it yet, or the study has ended here")
)

// NotApprovedError is ErrNotApproved, of a study.
type NotApprovedError struct{ Study protocol.StudyID }

func (e *NotApprovedError) Error() string {
	return fmt.Sprintf("%v (party study explain %s, then party study approve %s; an approval is of one file, byte for byte: a file that was edited is another study)",
		ErrNotApproved, e.Study.Short(), e.Study.Short())
}

// Unwrap returns ErrNotApproved.
func (e *NotApprovedError) Unwrap() error { return ErrNotApproved }

// StrangeIdentityError refuses to work on a state directory whose identity is not the one
// that signed what is stored there.
type StrangeIdentityError struct {
	Signed, Here protocol.PeerID
}

func (e *StrangeIdentityError) Error() string {
	return fmt.Sprintf("identity.key is not this directory's: what is stored here was signed by %s, and the key is that of %s (were two nodes' key files swapped? put its own back)", e.Signed, e.Here)
}

// ReconstructionError refuses a release without noise from which records could
// be reconstructed (the rule of package kernel/audit).
type ReconstructionError struct {
	Study    protocol.StudyID
	Reason   string // why the rule refuses
	Exposure string // what the sketch would give away
}

func (e *ReconstructionError) Error() string {
	return fmt.Sprintf("refused to release without noise: %s (%s). Only the steward can overrule this, by accept_reconstruction: true under this study (%s) in the site file",
		e.Reason, e.Exposure, e.Study.Short())
}

// PeopleError refuses a dataset whose people have a budget under another name already.
type PeopleError struct {
	Dataset, Other string
	Why            people.Likeness
}

func (e *PeopleError) Error() string {
	return fmt.Sprintf("dataset %q is about people of dataset %q, of which releases were made: %s. Their budget is kept under that name: use it (party data use %s STUDY). If they are other people, say why under %s in the site file: apart_from: {%s: REASON}",
		e.Dataset, e.Other, e.Why, e.Other, e.Dataset, e.Other)
}

// AnswerError reports an answer of the aggregator that cannot be read, or is larger than its call's may be. Another
// version of its program may send such, or one that means harm.
type AnswerError struct {
	Aggregator protocol.PeerID
	Call       string
	Err        error
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("the answer of aggregator %s to %s is not one: %v (is its program of another version?)", e.Aggregator, e.Call, e.Err)
}

// Unwrap returns what is wrong with it.
func (e *AnswerError) Unwrap() error { return e.Err }

// CosignError reports a study that waits for a second person's yes.
type CosignError struct {
	Study protocol.StudyID
	Site  string // the file that asks for it
}

func (e *CosignError) Error() string {
	return fmt.Sprintf("study %s is approved by one person, and %s asks for a second (one of approval.second): party study cosign %s --key THEIR-KEY, and party study approve %s --cosigned FILE",
		e.Study.Short(), e.Site, e.Study.Short(), e.Study.Short())
}

// NoBudgetError refuses a release from a dataset for which the site file allows nothing.
type NoBudgetError struct {
	Dataset string
	Unit    dp.Unit // of the study that asks
}

func (e *NoBudgetError) Error() string {
	return fmt.Sprintf("dataset %q has no budget: nothing of it is released with noise before it has a cap (party budget cap %s %s EPSILON DELTA)", e.Dataset, e.Dataset, e.Unit)
}

// LedgerRolledBackError refuses to go on with a privacy ledger that lacks what this
// party has already signed for: a state directory was restored from a backup.
type LedgerRolledBackError struct {
	Aggregator protocol.PeerID
	Signed     uint64 // releases to the aggregator in the head that this party signed
	Held       uint64 // releases to it that the ledger holds
}

func (e *LedgerRolledBackError) Error() string {
	return fmt.Sprintf("the privacy ledger here is not the newest: releases to aggregator %s that this party signed for: %d, that this ledger holds of them: %d at most "+
		"(was the state directory restored from a backup?). Nothing was sent. Restore the newest backup; if there is none, what was spent since "+
		"is lost: make a new identity with `party init --state NEWDIR`, and lower the caps in its site file by what those releases spent",
		e.Aggregator, e.Signed, e.Held)
}

// WaitError reports that something did not happen within the time that the
// caller gave. Err is the last reason, when there is one.
type WaitError struct {
	For string
	Err error
}

func (e *WaitError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("waited in vain for %s: %v", e.For, e.Err)
	}
	return "waited in vain for " + e.For
}

func (e *WaitError) Unwrap() error { return e.Err }

// SiteError reports that the site file does not answer the study.
type SiteError struct{ Err error }

func (e *SiteError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with it.
func (e *SiteError) Unwrap() error { return e.Err }

// FailedError reports a study that has failed for good on this node.
type FailedError struct{ Err error }

func (e *FailedError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *FailedError) Unwrap() error { return e.Err }

var (
	ErrNothingKept = errors.New("this party keeps nothing of the study's seed: the study does not say new_records_until, or the parties have not agreed on the seed yet")
	ErrKeptNoMore  = errors.New("the date has passed until which the study lets parties keep what places new records; it is destroyed")
)
