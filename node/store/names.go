package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Role is what a node is. A directory belongs to one role.
type Role string

// The two roles.
const (
	Party      Role = "party"
	Aggregator Role = "aggregator"
)

// Errors on which callers decide.
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

	// ErrLayout reports a state directory that another version of the program made.
	ErrLayout error = fail.OtherLayout

	// ErrLedgerMissing reports that the directory has an identity but not the ledger
	// that was made with it. It is a refusal to start: a fresh ledger would forget
	// what was spent.
	ErrLedgerMissing error = fail.LedgerMissing
)

// ledgerLost is the way out for who lost a ledger. There is no other: what was spent
// is known to nobody else.
func ledgerLost(role Role) string {
	hint := fmt.Sprintf("restore the directory from its newest backup; if there is none, make a new identity with `%s init --state NEWDIR`", role)
	if role == Party {
		hint += " and lower the caps in its site file by what was spent"
	}
	return hint
}

// Names in a state directory.
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

// InboxDir is where files wait in an aggregator's state directory that package inbox hands over.
const InboxDir = "inbox"

// WebhooksDir is where an aggregator keeps what webhooks were told. Backups leave it out.
const WebhooksDir = "webhooks"

// ledgerID ties an identity to the one ledger that was made with it.
type ledgerID [32]byte

func (id ledgerID) String() string { return hex.EncodeToString(id[:]) }

func parseLedgerID(text []byte) (ledgerID, error) {
	raw, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(raw) != len(ledgerID{}) {
		return ledgerID{}, fmt.Errorf("%s is damaged: want 64 hexadecimal digits", ledgerFile)
	}
	return ledgerID(raw), nil
}
