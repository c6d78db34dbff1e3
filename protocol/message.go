package protocol

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed/agree"
)

// Approve is a party's consent to a study. It states the meaning that the party read.
type Approve struct {
	Meaning Digest // of the parsed study; all approvals of a roster must have the same
}

// Roster fixes the members of an attempt: the senders of the approvals it lists.
type Roster struct {
	Approvals []Digest // envelope ids, in the order of the senders' raw public keys
	Faults    []Digest // ids of the envelopes that justify each removal since the previous attempt, in the board's order
}

// Cause is what a member is accused of. The first two causes are proved by the evidence in the
// accusation; for the others there is only the aggregator's word.
type Cause string

const (
	CauseConflict Cause = "conflict" // proved: two different messages of one kind in one attempt
	CauseInvalid  Cause = "invalid"  // proved: a message that no board can accept

	CauseMissing Cause = "missing" // claimed: the aggregator did not receive the message
	CauseDiffers Cause = "differs" // claimed: the message fits a board other than the aggregator's
)

// Proved reports whether the evidence convinces everybody.
func (c Cause) Proved() bool { return c == CauseConflict || c == CauseInvalid }

// Accusation says what one member did, or failed to do, in an attempt.
type Accusation struct {
	Culprit  PeerID
	Cause    Cause
	Kind     Kind       // of the message: commit, share or confirm
	Evidence []Envelope // signed by the culprit: two for a conflict, none for a missing message, else one
}

// Accusations is the aggregator's dated statement that an attempt is over.
type Accusations struct {
	At      Instant
	Against []Accusation // one for each culprit, by raw public key
}

// Certificate is every confirmation of an attempt, in roster order.
type Certificate struct{ Confirms []Envelope }

// Join asks for the seed of an attempt that was agreed on without its sender. It is also the late
// party's approval.
type Join struct {
	Meaning      Digest
	EphemeralKey []byte // MLKEM768-X25519 public key
}

// Welcome answers a Join.
type Welcome struct {
	Join   Digest // id of the Join's envelope
	Sealed []byte // the seed
}

// Close ends a study that took late parties.
type Close struct{ At Instant }

// Confirm is the agreement's third message, with the newest board head that its sender holds. It
// reveals to parties that they were shown different boards.
type Confirm struct {
	agree.Confirm
	Count uint64 // envelopes on the board as its sender saw it
	Chain Digest // the hash chain at Count
}

// Release is the signed header of everything one party ships in a study.
type Release struct {
	T2        Digest // transcript of the agreement whose seed was used
	Records   int64  // records sketched; public
	Sketches  []ReleasedSketch
	Published [][32]byte // the row keys that the study publishes, in its order
}

// First is a party's first round in a study of two rounds: the noised sketches of that round,
// complete. Its release contains the same sketches again, unchanged.
type First struct {
	T2       Digest // as in a Release
	Records  int64
	Sketches []ReleasedSketch // of the first round, in the study's order; one chunk each
	Data     [][]byte         // the chunk of each sketch
}

// Interim is the aggregator's answer to the first round. It is the only thing said by the
// aggregator that the second round depends on. The sensitivity of a sketch does not depend on it.
type Interim struct {
	T2     Digest   // as in a Release
	Firsts []Digest // ids of the first rounds it was computed from, by their senders' raw public keys
	Basis
}

// Basis is the input to a second round: a codebook or, for moments, how records are shifted and
// clipped.
type Basis struct {
	Codebook sketch.Codebook   // in a study with side codes; else empty
	Clips    []int64           // in one with side look: the clip of each sketch of the second round, in the study's order
	Moves    []sketch.Standard // in one whose numbers are shifted and scaled: by entry of its moments; else nil
}

// ReleasedSketch describes one noised sketch: its shape, how its integers are
// written, and the hash of each chunk.
type ReleasedSketch struct {
	Side   sketch.Side
	Rows   int64
	Cols   int64
	Width  int      // bytes of one little-endian two's complement entry, the smallest that fits all
	Chunks []Digest // SHA-256 of each ChunkSize bytes of the row-major encoding followed by the row columns
	Masked int      // number of members whose masks cancel in the sum over all of them; 0: not masked

	RowColumns []RowColumn // data of each row beside its entries; the study fixes which
}

// RowColumn describes bytes that a sketch holds for each of its rows, such as pseudonyms. They are
// stored one row after another, after the entries of the sketch.
type RowColumn struct {
	Name  string
	Width int // bytes for each row
}

// ChunkSize is the length of every chunk in bytes, except a sketch's last.
const ChunkSize = 4 << 20

// Entries returns the length in bytes of the encoded entries, which come first.
func (s ReleasedSketch) Entries() int64 { return s.Rows * s.Cols * int64(s.Width) }

// Size returns the encoded sketch's length in bytes, row columns included.
func (s ReleasedSketch) Size() int64 {
	size := s.Entries()
	for _, c := range s.RowColumns {
		size += s.Rows * int64(c.Width)
	}
	return size
}

// Result is the aggregator's signed statement of what it computed and from what.
type Result struct {
	Count     uint64   // board length at the time of the result
	Chain     Digest   // hash chain at Count
	T2        Digest   // transcript of the agreement
	Releases  []Digest // ids of the release headers used
	Document  Document // the result that every party may read
	PerParty  []PartyDocument
	Completed bool // the result includes every member of the roster
	FirstOnly bool // too few parties released the second round: Releases are the first rounds that the interim names
}

// Document names a file by its hash.
type Document struct {
	Hash Digest // SHA-256
	Size int64  // bytes
}

// PartyDocument is a document for one party alone, such as its records' labels.
type PartyDocument struct {
	Party PeerID
	Document
}

// Stop is the aggregator's dated statement that a study cannot go on. Missing names those from whom
// it did not receive what it waited for: a claim, not a proof.
type Stop struct {
	Reason  string
	At      Instant
	Missing []PeerID
}
