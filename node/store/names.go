package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
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
	ErrNotFound  = errors.New("not in this store")
	ErrConflict  = errors.New("contradicts what is stored")
	ErrLocked    = errors.New("another process serves this study (a serve or run on the same state directory: leave it to that one, or stop that one first)")
	ErrServed    = errors.New("another serve works on this state directory (stop it first, or name another directory with --state)")
	ErrBusy      = errors.New("another process works on it")
	ErrAmbiguous = errors.New("ambiguous")
	ErrReadOnly  = errors.New("store is open for reading only")

	// ErrNoStore reports a directory that was never initialised.
	ErrNoStore = errors.New("no state directory")

	// ErrLayout reports a state directory that another version of the program made.
	ErrLayout = errors.New("the state directory is of another version")

	// ErrLedgerMissing reports that the directory has an identity but not the ledger
	// that was made with it. It is a refusal to start: a fresh ledger would forget
	// what was spent.
	ErrLedgerMissing = errors.New("the privacy ledger of this identity is missing")
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
	resultsDir   = "results"
	locksDir     = "locks"
	tokensDir    = "tokens"
)

// InboxDir is where files wait in an aggregator's state directory that package inbox hands over.
const InboxDir = "inbox"

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
