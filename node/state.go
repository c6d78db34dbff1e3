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

// State is what both drivers need of durable state; *store.Store has it.
//
// For every method that writes: when it returns nil, what it wrote survives a kill and
// the loss of power. When it returns an error, it has happened wholly or not at all,
// and the caller cannot know which. So a driver that gets an error stops serving the
// study, and whoever takes it up again believes what is stored alone: every write is
// one that can be found there, or be repeated with the same effect.
//
// What is not there is store.ErrNotFound. Methods may be called concurrently.
type State interface {
	// Identity is the node's private key, and Dir a directory on the same disk for
	// files that do not outlive their use. Both are the same for as long as the state
	// exists.
	Identity() ed25519.PrivateKey
	Dir() string

	// LockStudy excludes all other writers of a study, of this process and others, until
	// unlock or the end of the process; it is store.ErrLocked at once where there is
	// one. What the drivers do to one study they do under its lock.
	LockStudy(study protocol.StudyID) (unlock func(), err error)
	// Study returns the study file's bytes, which never change.
	Study(study protocol.StudyID) ([]byte, error)

	// AppendBoard appends to a board that holds from envelopes, and replaces its head by
	// one that is not nil: both or neither. Where the board has another length, as
	// after the same call before, it is store.ErrConflict and nothing happens. Board
	// returns what was appended, in order and without gaps.
	AppendBoard(study protocol.StudyID, from uint64, raws [][]byte, head []byte) error
	Board(study protocol.StudyID, from uint64, limit int) ([][]byte, error)

	// PutStatus and PutResult replace a whole snapshot or file by a whole one; the same
	// again changes nothing. Results names the files that there are.
	PutStatus(study protocol.StudyID, json []byte) error
	Status(study protocol.StudyID) ([]byte, error)
	PutResult(study protocol.StudyID, name string, data []byte) error
	Result(study protocol.StudyID, name string) ([]byte, error)
	Results(study protocol.StudyID) ([]string, error)
	// NewResult begins a file that Keep names, as PutResult would have put it there; OpenResult
	// reads one; DropResult removes one that nothing speaks of any more.
	NewResult(study protocol.StudyID) (store.NewFile, error)
	OpenResult(study protocol.StudyID, name string) (*store.File, error)
	DropResult(study protocol.StudyID, name string) error

	// Note appends to the journal, in which decisions and what leaves stand before they
	// take effect. What PutOwn, Debit and the store's decisions make durable is in it by
	// themselves.
	Note(journal.Entry) error
}

// PartyState is what a party's driver needs of durable state, under the contract of
// State. Here an error decides what a party tells others, and what it spends.
type PartyState interface {
	State

	// Decision is the steward's newest; once it is to withdraw it stays so.
	Decision(study protocol.StudyID) (store.Decision, protocol.Instant, error)

	// Cosignatures are the lines by which others said yes to a study, beside the steward.
	Cosignatures(study protocol.StudyID) ([]string, error)

	// PutOwn keeps what this party has signed, one envelope of a kind and attempt for
	// good: the same bytes again change nothing, others are store.ErrConflict. So a
	// party that may have stored an envelope can sign no second one in its place.
	PutOwn(study protocol.StudyID, kind protocol.Kind, attempt uint32, raw []byte) error
	Own(study protocol.StudyID) ([]store.Own, error)
	// BoardCount and Head are of the board that AppendBoard keeps.
	BoardCount(study protocol.StudyID) (uint64, error)
	Head(study protocol.StudyID) ([]byte, error)

	// PutSecret replaces the secrets of an attempt, and the destroying calls overwrite
	// and remove them, of one attempt or of all. One of several may be gone after an
	// error; destroying again, also what is gone, finishes the work.
	PutSecret(study protocol.StudyID, attempt uint32, data []byte) error
	Secret(study protocol.StudyID, attempt uint32) ([]byte, error)
	DestroySecret(study protocol.StudyID, attempt uint32) error
	DestroySecrets(study protocol.StudyID) error

	// KeepPeople remembers the people whom a dataset is about, People returns what is remembered of all
	// datasets, and PeopleKey is the key of their samples.
	KeepPeople(dataset string, now people.Sample) error
	People() (map[string]people.Sample, error)
	PeopleKey() ([32]byte, error)

	// PutLook stores the first look that a study's release goes by, Look returns it, and
	// DestroyLook ends it.
	PutLook(study protocol.StudyID, data []byte) error
	Look(study protocol.StudyID) ([]byte, error)
	DestroyLook(study protocol.StudyID) error

	// PutFirst keeps the signed first round of a study of two until it is among the own envelopes.
	PutFirst(study protocol.StudyID, data []byte) error
	First(study protocol.StudyID) ([]byte, error)
	DestroyFirst(study protocol.StudyID) error
	// PutKept replaces what is kept of a study's seed when that is destroyed.
	PutKept(study protocol.StudyID, data []byte) error

	// Held is the sketch that waits for the steward. Whoever changes, releases or
	// destroys it holds LockHeld, which is store.ErrBusy when patience ends.
	Held(study protocol.StudyID) store.Held
	LockHeld(study protocol.StudyID, patience time.Duration) (unlock func(), err error)

	// Debit lets decide see the whole ledger and appends what it returns, with no other
	// writer between: all of it or nothing. After an error it may have been appended:
	// decide finds the entries when it is called again, and returns none.
	Debit(ctx context.Context, decide func([]ledger.Entry) ([]ledger.Entry, error)) ([]ledger.Entry, error)
	Ledger() ([]ledger.Entry, error)

	// SaveRelease stores header and files at once. There is one release of a study for
	// good: an equal header again changes nothing, another one is store.ErrConflict. A
	// ReleaseHeader that was once returned is returned until DropRelease.
	SaveRelease(study protocol.StudyID, release store.Release) error
	ReleaseHeader(study protocol.StudyID) ([]byte, error)
	// DropRelease ends the stored release, whose attempt is void, so that one of a later
	// attempt can be stored; no ReleaseHeader after it finds it. Without one nothing happens.
	DropRelease(study protocol.StudyID) error
	OpenReleaseFile(study protocol.StudyID, name string) (*store.File, error)

	// Kept is what PutKept stored, until it is destroyed.
	Kept(study protocol.StudyID) ([]byte, error)
	// KeptStudies are those of which something is kept, and DestroyKept ends what is.
	KeptStudies() ([]protocol.StudyID, error)
	DestroyKept(study protocol.StudyID) error
	// SaveQuery stores a query of a number at once, as SaveRelease does: there is one of a
	// number for good. Query is where it is then.
	SaveQuery(study protocol.StudyID, number int, query store.Release) error
	Query(study protocol.StudyID, number int) store.ReleaseDir
}

// AggregatorState is what an aggregator's driver needs of durable state, under the
// contract of State.
type AggregatorState interface {
	State

	// HPKE is the key to which bundles are sealed.
	HPKE() hpke.PrivateKey
	// Studies lists all studies, also those that another process added.
	Studies() ([]store.StudyEntry, error)

	// PutChunk keeps a chunk of a party's sketch: the same again changes nothing, another
	// one in its place is store.ErrConflict. FirstMissing says where an upload goes on
	// (it is chunks when all are there), Chunk reads one, and DropChunk removes one that is
	// damaged.
	PutChunk(study protocol.StudyID, party protocol.PeerID, sketch, index int, data []byte) error
	FirstMissing(study protocol.StudyID, party protocol.PeerID, sketch, chunks int) (int, error)
	Chunk(study protocol.StudyID, party protocol.PeerID, sketch, index int) ([]byte, error)
	DropChunk(study protocol.StudyID, party protocol.PeerID, sketch, index int) error

	// PutSealed keeps the sealed texts beside a share, in the place of others, before the share is on
	// the board; Sealed reads some of these bytes.
	PutSealed(study protocol.StudyID, sender protocol.PeerID, attempt uint32, texts []byte) error
	Sealed(study protocol.StudyID, sender protocol.PeerID, attempt uint32, from int64, size int) ([]byte, error)

	// Status is the newest snapshot that PutStatus stored.
	Status(study protocol.StudyID) ([]byte, error)

	// Free is how many bytes may still be written to the disk.
	Free() (int64, error)

	// LastNoted is when the journal's newest entry was written, by the clock of then; 0
	// where there is none.
	LastNoted() (protocol.Instant, error)

	// Purged says when a study's sketches were removed, for good; Purge removes them.
	Purged(study protocol.StudyID) (protocol.Instant, error)
	Purge(study protocol.StudyID, at protocol.Instant) (freed int64, err error)

	// KeepLedgerHead keeps a party's head where its count is higher than that of the one
	// kept, and returns the one that is kept then: of all heads that were ever kept it
	// has the highest count.
	KeepLedgerHead(party protocol.PeerID, count uint64, raw []byte) (kept []byte, err error)
	LedgerHead(party protocol.PeerID) ([]byte, error)

	// Invitations lists those that were not revoked, also those that another process made; Invitation is the record of
	// one. PutIntroduction keeps what came under it, for good, unless it was revoked meanwhile, which is
	// store.ErrNotFound: the same again changes nothing, something else is store.ErrConflict.
	Invitations() ([]string, error)
	Invitation(id string) ([]byte, error)
	PutIntroduction(id string, introduction []byte) error
	Introduction(id string) ([]byte, error)
	RemoveInvitation(id string) error
}

// A store has all of it.
var (
	_ PartyState      = (*store.Store)(nil)
	_ AggregatorState = (*store.Store)(nil)
)
