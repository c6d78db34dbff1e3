package node

import (
	"context"
	"crypto/ed25519"
	"crypto/hpke"
	"time"

	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// HeldPatience is how long a command, or the destruction of a held sketch, waits for another use of
// that sketch. A running node locks it for a moment every few seconds, to see whether the steward
// has decided.
const HeldPatience = 10 * time.Second

// State is the durable state that both drivers need; *store.Store implements it.
//
// If a writing method returns nil, the write survives a kill and a power loss. If it returns an
// error, the write happened wholly or not at all, and the caller cannot know which. So a driver
// that gets an error stops serving the study. Whoever takes the study up again trusts only what is
// stored: every write can be found there, or be repeated with the same effect.
//
// Missing data is store.ErrNotFound. Methods are safe for concurrent use.
type State interface {
	// Identity is the node's private key. Dir is a directory on the same disk for temporary files.
	// Both stay the same for the lifetime of the state.
	Identity() ed25519.PrivateKey
	Dir() string

	// LockStudy excludes all other writers of a study, in this process and others, until unlock or
	// the end of the process. If another holds the lock, it returns store.ErrLocked at once. The
	// drivers change a study only under its lock.
	LockStudy(study protocol.StudyID) (unlock func(), err error)
	// Study returns the study file's bytes, which never change.
	Study(study protocol.StudyID) ([]byte, error)

	// AppendBoard appends to a board that holds from envelopes and replaces its head, unless head
	// is nil. Both happen or neither. If the board has another length, as after the same call
	// before, it returns store.ErrConflict and changes nothing. Board returns the envelopes in
	// order and without gaps.
	AppendBoard(study protocol.StudyID, from uint64, raws [][]byte, head []byte) error
	Board(study protocol.StudyID, from uint64, limit int) ([][]byte, error)

	// PutStatus and PutResult replace a whole snapshot or file; they are idempotent. Results lists
	// the files.
	PutStatus(study protocol.StudyID, json []byte) error
	Status(study protocol.StudyID) ([]byte, error)
	PutResult(study protocol.StudyID, name string, data []byte) error
	Result(study protocol.StudyID, name string) ([]byte, error)
	Results(study protocol.StudyID) ([]string, error)
	// NewResult begins a file; Keep names it and stores it as PutResult would. OpenResult reads a
	// file. DropResult removes one to which nothing refers any more.
	NewResult(study protocol.StudyID) (store.NewFile, error)
	OpenResult(study protocol.StudyID, name string) (*store.File, error)
	DropResult(study protocol.StudyID, name string) error

	// Note appends to the journal. Decisions and whatever leaves the node are noted before they
	// take effect. PutSigned, Debit and the store's decisions write their own journal entries.
	Note(journal.Entry) error
}

// PartyState is the durable state that a party's driver needs, under the contract of State. An
// error here decides what a party tells others and what it spends.
type PartyState interface {
	State

	// Decision is the steward's newest decision. A withdrawal is final.
	Decision(study protocol.StudyID) (store.Decision, protocol.Instant, error)

	// Cosignatures are the lines by which others approved a study, besides the steward.
	Cosignatures(study protocol.StudyID) ([]string, error)

	// PutSigned keeps the envelope that this party signed, one for each kind and attempt, for good.
	// The same bytes again change nothing; others are store.ErrConflict. So a party that may have
	// stored an envelope can never sign a second one in its place.
	PutSigned(study protocol.StudyID, kind protocol.Kind, attempt uint32, raw []byte) error
	Own(study protocol.StudyID) ([]store.SignedEnvelope, error)
	// BoardCount and Head describe the board that AppendBoard keeps.
	BoardCount(study protocol.StudyID) (uint64, error)
	Head(study protocol.StudyID) ([]byte, error)

	// PutSecret replaces the secrets of an attempt. DestroySecret and its like overwrite and remove
	// those of one attempt or of all. After an error some of them may be gone; destroying again
	// finishes the work, even for those already gone.
	PutSecret(study protocol.StudyID, attempt uint32, data []byte) error
	Secret(study protocol.StudyID, attempt uint32) ([]byte, error)
	DestroySecret(study protocol.StudyID, attempt uint32) error
	DestroySecrets(study protocol.StudyID) error

	// PutPeopleSample remembers the people of a dataset. People returns what is remembered of all
	// datasets. PeopleKey is the key of their samples.
	PutPeopleSample(dataset string, now people.Sample) error
	People() (map[string]people.Sample, error)
	PeopleKey() ([32]byte, error)

	// PutLook stores the first look on which a study's release depends. Look returns it, and
	// DestroyLook removes it.
	PutLook(study protocol.StudyID, data []byte) error
	Look(study protocol.StudyID) ([]byte, error)
	DestroyLook(study protocol.StudyID) error

	// PutFirst keeps the signed first round of a study of two until it is among the own envelopes.
	PutFirst(study protocol.StudyID, data []byte) error
	First(study protocol.StudyID) ([]byte, error)
	DestroyFirst(study protocol.StudyID) error
	// PutKept replaces what is kept of a study's seed when the seed is destroyed.
	PutKept(study protocol.StudyID, data []byte) error

	// Held is the sketch that waits for the steward. Whoever changes, releases or destroys it holds
	// LockHeld, which returns store.ErrBusy when patience runs out.
	Held(study protocol.StudyID) store.Held
	LockHeld(study protocol.StudyID, patience time.Duration) (unlock func(), err error)

	// Debit shows decide the whole ledger and appends the entries that it returns, all or none,
	// with no other writer in between. After an error they may have been appended: called again,
	// decide finds them and returns none.
	Debit(ctx context.Context, decide func([]ledger.Entry) ([]ledger.Entry, error)) ([]ledger.Entry, error)
	Ledger() ([]ledger.Entry, error)

	// SaveRelease stores header and files at once. A study has one release for good: an equal
	// header again changes nothing, another is store.ErrConflict. ReleaseHeader keeps returning the
	// same header until DropRelease.
	SaveRelease(study protocol.StudyID, release store.Release) error
	ReleaseHeader(study protocol.StudyID) ([]byte, error)
	// DropRelease removes the stored release, whose attempt is void, so that a later attempt's can
	// be stored. It does nothing if there is none.
	DropRelease(study protocol.StudyID) error
	OpenReleaseFile(study protocol.StudyID, name string) (*store.File, error)

	// Kept returns what PutKept stored, until it is destroyed.
	Kept(study protocol.StudyID) ([]byte, error)
	// KeptStudies lists the studies of which something is kept. DestroyKept destroys it.
	KeptStudies() ([]protocol.StudyID, error)
	DestroyKept(study protocol.StudyID) error
	// SaveQuery stores a query under its number at once, as SaveRelease does, one for each number
	// for good. Query says where it is.
	SaveQuery(study protocol.StudyID, number int, query store.Release) error
	Query(study protocol.StudyID, number int) store.ReleaseDir
}

// AggregatorState is the durable state that an aggregator's driver needs, under the contract of
// State.
type AggregatorState interface {
	State

	// HPKE is the key to which bundles are sealed.
	HPKE() hpke.PrivateKey
	// Studies lists all studies, including those that another process added.
	Studies() ([]store.StudyEntry, error)

	// PutChunk keeps a chunk of a party's sketch: the same bytes again change nothing, others are
	// store.ErrConflict. FirstMissing says where an upload continues (it equals chunks when all are
	// there). Chunk reads one, and DropChunk removes a damaged one.
	PutChunk(study protocol.StudyID, party protocol.PeerID, sketch, index int, data []byte) error
	FirstMissing(study protocol.StudyID, party protocol.PeerID, sketch, chunks int) (int, error)
	Chunk(study protocol.StudyID, party protocol.PeerID, sketch, index int) ([]byte, error)
	DropChunk(study protocol.StudyID, party protocol.PeerID, sketch, index int) error

	// PutSealed keeps the sealed texts beside a share, replacing any others, before the share is on
	// the board. Sealed reads part of these bytes.
	PutSealed(study protocol.StudyID, sender protocol.PeerID, attempt uint32, texts []byte) error
	Sealed(study protocol.StudyID, sender protocol.PeerID, attempt uint32, from int64, size int) ([]byte, error)

	// Status is the newest snapshot that PutStatus stored.
	Status(study protocol.StudyID) ([]byte, error)

	// Free is the number of bytes that may still be written to the disk.
	Free() (int64, error)

	// LastNoted is when the journal's newest entry was written, by the clock at the time, or 0 if
	// there is none.
	LastNoted() (protocol.Instant, error)

	// Purged says when a study's sketches were removed for good. Purge removes them. Purgeable reports
	// whether there are any.
	Purged(study protocol.StudyID) (protocol.Instant, error)
	Purgeable(study protocol.StudyID) (bool, error)
	Purge(study protocol.StudyID, at protocol.Instant) (freed int64, err error)

	// KeepLedgerHead keeps a party's head if its count is higher than that of the one kept. It
	// returns the head that is then kept, which has the highest count ever kept.
	KeepLedgerHead(party protocol.PeerID, count uint64, raw []byte) (kept []byte, err error)
	LedgerHead(party protocol.PeerID) ([]byte, error)

	// Invitations lists those that were not revoked, including those of another process. Invitation
	// is the record of one. PutIntroduction keeps for good what came under it, unless it was
	// revoked meanwhile, which is store.ErrNotFound. The same again changes nothing; something else
	// is store.ErrConflict.
	Invitations() ([]string, error)
	Invitation(id string) ([]byte, error)
	PutIntroduction(id string, introduction []byte) error
	Introduction(id string) ([]byte, error)
	RemoveInvitation(id string) error
}

// *store.Store implements both.
var (
	_ PartyState      = (*store.Store)(nil)
	_ AggregatorState = (*store.Store)(nil)
)
