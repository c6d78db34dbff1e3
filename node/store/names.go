package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Role is the kind of a node. A directory belongs to one role.
type Role string

// The two roles.
const (
	Party      Role = "party"
	Aggregator Role = "aggregator"
)

// Errors that callers distinguish.
var (
	ErrNotFound  error = fail.NotInStore
	ErrConflict  error = fail.StoreConflict
	ErrLocked    error = fail.StudyServed
	ErrServed    error = fail.StateServed
	ErrBusy      error = fail.Busy
	ErrAmbiguous error = fail.Ambiguous
	ErrReadOnly        = errors.New("store is open for reading only")

	// ErrNoStore reports a directory that was never initialised.
	ErrNoStore error = fail.NoState

	// ErrLayout reports a state directory in the layout of another version of the program.
	ErrLayout error = fail.OtherLayout

	// ErrLedgerMissing reports that the directory has an identity but not the ledger that was made
	// with it. The node must not start then: a fresh ledger would forget what was spent.
	ErrLedgerMissing error = fail.LedgerMissing
)

// ledgerLost is the advice to those who lost a ledger. There is no other way: nobody else knows
// what was spent.
func ledgerLost(role Role) string {
	hint := fmt.Sprintf("restore the directory from its newest backup; if there is none, make a new identity with `%s init --state NEWDIR`", role)
	if role == Party {
		hint += " and lower the caps in its site file by what was spent"
	}
	return hint
}

// Names of files and directories in a state directory.
const (
	identityFile = "identity.key"
	hpkeFile     = "hpke.key"
	ledgerFile   = "ledger.id"
	databaseFile = "state.db"
	secretsDir   = "secrets"
	heldDir      = "held"
	releasesDir  = "releases"
	uploadsDir   = "uploads"
	sealedDir    = "sealed"
	resultsDir   = "results"
	locksDir     = "locks"
	tokensDir    = "tokens"

	invitationsDir = "invitations"
)

// InboxDir is where an aggregator's state directory holds the files that package inbox delivers.
const InboxDir = "inbox"

// WebhooksDir is where an aggregator keeps the outboxes of webhooks. Backups leave it out.
const WebhooksDir = "webhooks"

// ledgerID ties an identity to the ledger that was made with it.
type ledgerID [32]byte

func (id ledgerID) String() string { return hex.EncodeToString(id[:]) }

func parseLedgerID(text []byte) (ledgerID, error) {
	raw, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(raw) != len(ledgerID{}) {
		return ledgerID{}, fmt.Errorf("%s is damaged: want 64 hexadecimal digits", ledgerFile)
	}
	return ledgerID(raw), nil
}
