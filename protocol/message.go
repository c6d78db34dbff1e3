package protocol

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed/agree"
)

// Approve is a party's consent: it read the study as having this meaning.
type Approve struct {
	Meaning Digest // of the parsed study; a roster needs equal meanings
}

// Roster fixes the members of an attempt: those whose approvals it lists.
type Roster struct {
	Approvals []Digest // envelope ids, in the order of the senders' raw public keys
	Faults    []Digest // ids of the envelopes that justify each removal since the attempt before, in the board's order
}

// Cause is what a member is accused of. Those of the first two kinds are proved by
// the evidence that stands beside them; the others are the aggregator's word.
type Cause string

const (
	CauseConflict Cause = "conflict" // proved: two different messages of one kind in one attempt
	CauseInvalid  Cause = "invalid"  // proved: a message that no board can take

	CauseMissing Cause = "missing" // claimed: the aggregator did not receive the message
	CauseDiffers Cause = "differs" // claimed: the message fits another board than the aggregator's
)

// Proved reports whether the evidence convinces everybody.
func (c Cause) Proved() bool { return c == CauseConflict || c == CauseInvalid }

// Accusation says what one member did, or did not, in an attempt.
type Accusation struct {
	Culprit  PeerID
	Cause    Cause
	Kind     Kind       // of the message: commit, share or confirm
	Evidence []Envelope // signed by the culprit: two for a conflict, none for a missing message, else one
}

// Accusations is the aggregator's dated statement that an attempt is over.
type Accusations struct {
	At      Instant
	Against []Accusation // one a culprit, by raw public key
}

// Certificate is every confirmation of an attempt, in roster order.
type Certificate struct{ Confirms []Envelope }

// Join asks for the seed of an attempt that was agreed on without its sender. It is
// the late party's approval, too.
type Join struct {
	Meaning      Digest
	EphemeralKey []byte // MLKEM768-X25519 public key
}

// Welcome answers a Join.
type Welcome struct {
	Join   Digest // id of the envelope
	Sealed []byte // the seed
}

// Close ends a study that took late parties.
type Close struct{ At Instant }

// Confirm is the agreement's third message with the newest board head that its
// sender holds: parties that were shown different boards find out from it.
type Confirm struct {
	agree.Confirm
	Count uint64 // envelopes on the board as its sender saw it
	Chain Digest // the hash chain there
}

// Release is the signed header of everything one party ships in a study.
type Release struct {
	T2        Digest // transcript of the agreement whose seed was used
	Records   int64  // records sketched; public
	Sketches  []ReleasedSketch
	Published [][32]byte // the row keys that the study publishes, in its order
}

// First is a party's first round in a study of two: the noised sketches of that round, whole. Its release has
// the same sketches again, as they are here.
type First struct {
	T2       Digest // as of a Release
	Records  int64
	Sketches []ReleasedSketch // of the first round, in the study's order; a chunk each
	Data     [][]byte         // of each, what that chunk is
}

// Interim is the aggregator's answer to the first round. What the second one does hangs on it, and on
// nothing else that the aggregator says; how far one record moves a sketch does not.
type Interim struct {
	T2     Digest   // as of a Release
	Firsts []Digest // ids of the first rounds that it is made from, by their senders' raw public keys
	Basis
}

// Basis is what a second round goes by: a codebook or, of moments, how records are moved and cut.
type Basis struct {
	Codebook sketch.Codebook   // of a study with side codes; else empty
	Clips    []int64           // of one with side look: the clip of each sketch of the second round, in the study's order
	Moves    []sketch.Standard // of one whose numbers are moved and scaled: by entry of its moments; else nil
}

// ReleasedSketch describes one noised sketch: its shape, how its integers are
// written, and the hash of each chunk.
type ReleasedSketch struct {
	Side   sketch.Side
	Rows   int64
	Cols   int64
	Width  int      // bytes of one little-endian two's complement entry, the least that holds all
	Chunks []Digest // SHA-256 of each ChunkSize bytes of the row-major encoding and the row columns after it
	Masked int      // of how many members the masks cancel in the sum over all of them; 0: not masked

	RowColumns []RowColumn // what is known of each row beside its entries; the study fixes which
}

// RowColumn describes bytes that a sketch has for each of its rows, such as pseudonyms:
// those of all rows after each other, after the entries of the sketch.
type RowColumn struct {
	Name  string
	Width int // bytes for each row
}

// ChunkSize is the length of every chunk but a sketch's last, in bytes.
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
	Count     uint64   // board length when the result was made
	Chain     Digest   // hash chain there
	T2        Digest   // of the agreement
	Releases  []Digest // ids of the release headers used
	Document  Document // the result that every party may read
	PerParty  []PartyDocument
	Completed bool // every member of the roster is in it
	FirstOnly bool // too few released the second round: Releases are the first rounds that the interim names
}

// Document is a file named by its hash.
type Document struct {
	Hash Digest // SHA-256
	Size int64  // bytes
}

// PartyDocument is a document for one party alone, such as its records' labels.
type PartyDocument struct {
	Party PeerID
	Document
}

// Stop is the aggregator's dated statement that a study cannot go on. Missing
// names those from whom it did not receive what it waited for: a claim, no proof.
type Stop struct {
	Reason  string
	At      Instant
	Missing []PeerID
}
