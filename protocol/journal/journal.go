// Package journal is a node's audit log. It records what the steward or operator decided, the byte
// count of everything that left and, at an aggregator, when each message came on a board. Entries
// form a hash chain: if one is removed or changed, Verify fails. Only a cut at the end goes
// unnoticed, so the newest hash can be noted elsewhere and compared.
//
// The package is pure: entries and their chain. Package node/store keeps the entries, if possible
// in the transaction that makes durable what they record.
package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Event names what happened.
type Event string

// Decisions of a steward or an operator, and events of the node itself.
const (
	Created      Event = "created"    // the state directory, or this log in an older one
	Added        Event = "added"      // a study
	Approved     Event = "approved"   // a study
	Cosigned     Event = "cosigned"   // a study, by a second person; Note says who
	Declined     Event = "declined"   // a study
	Withdrawn    Event = "withdrawn"  // an approval
	HeldReleased Event = "let go"     // a held sketch, to be released unchanged
	Debited      Event = "debited"    // the privacy ledger; Note names the dataset
	TokenMade    Event = "token made" // of the HTTP API; Note is its id
	TokenRevoked Event = "token revoked"

	InvitationMade    Event = "invitation made" // Note is its id, as in the two below
	InvitationUsed    Event = "introduction came"
	InvitationRevoked Event = "invitation revoked"

	Retired   Event = "retired"   // this identity; Note names its successor
	Inherited Event = "inherited" // a retired identity's ledger
	Restored  Event = "restored"  // the state directory, from a backup
	BackedUp  Event = "backed up" // the state directory, to a file of Bytes
	Purged    Event = "purged"    // data that a study no longer needs
	Cancelled Event = "cancelled" // a study, by its operator
)

// What left the node, or was about to.
const (
	Signed     Event = "signed"     // a message for the board; Note is its kind, Bytes its size
	Posting    Event = "posting"    // signed messages to the aggregator
	Uploading  Event = "uploading"  // a release: Bytes are yet to be sent
	Uploaded   Event = "uploaded"   // a release: Bytes were sent, including repeats
	Exported   Event = "exported"   // a sealed file to be carried by hand
	Introduced Event = "introduced" // this node, to an aggregator; Note is the invitation's id, Bytes its size
	Asked      Event = "asked"      // requests that carry no data, summed up
)

// OnBoard is a message on a board that this node hosts: Note names its number there, Bytes its
// size. The sender does not sign the time of posting; At is the clock of the board's host.
const OnBoard Event = "on the board"

// Entry is one line of the log.
type Entry struct {
	Sequence uint64           `json:"sequence"` // from 1; set by Append
	At       protocol.Instant `json:"at"`
	Event    Event            `json:"event"`
	Study    string           `json:"study,omitempty"` // id in hexadecimal
	To       string           `json:"to,omitempty"`    // the receiver of what left
	Bytes    int64            `json:"bytes,omitempty"` // size of what left or came on the board
	Note     string           `json:"note,omitempty"`  // a few words; never data
	Previous string           `json:"previous"`        // hash of the previous entry, empty in the first; set by Append
}

// Encode returns the bytes that are stored and hashed.
func (e Entry) Encode() ([]byte, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encoding journal entry %d: %w", e.Sequence, err)
	}
	return raw, nil
}

// Decode reads what Encode wrote.
func Decode(raw []byte) (Entry, error) {
	var e Entry
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&e)
	if err == nil && decoder.More() {
		err = errors.New("something follows it")
	}
	if err != nil {
		return Entry{}, fmt.Errorf("decoding a journal entry: %w", err)
	}
	return e, nil
}

// Hash identifies an encoded entry and, through Previous, all entries before it.
func Hash(raw []byte) protocol.Digest {
	return sha256.Sum256(append([]byte("cosketch journal\x00"), raw...))
}

// Append returns the encoding of the entry that follows the last one; last is nil for the first
// entry.
func Append(last []byte, next Entry) ([]byte, error) {
	next.Sequence, next.Previous = 1, ""
	if last != nil {
		before, err := Decode(last)
		if err != nil {
			return nil, err
		}
		next.Sequence, next.Previous = before.Sequence+1, Hash(last).String()
	}
	return next.Encode()
}

// Broken is the error of a log that was changed after it was written.
type Broken struct {
	Sequence uint64 // of the first entry that does not follow from those before it
	Err      error
}

func (b *Broken) Error() string { return b.Fail().Error() }

// Fail returns the catalogue entry of a broken log.
func (b *Broken) Fail() *fail.Error { return fail.LogBroken.Of(b.Err, b.Sequence) }

func (b *Broken) Unwrap() error { return b.Err }

// Verify reads a whole log in order. A gap, a change or a stray entry is a *Broken error, returned
// with the entries before it.
func Verify(raws [][]byte) ([]Entry, error) {
	var entries []Entry
	previous := ""
	for i, raw := range raws {
		e, err := Decode(raw)
		switch {
		case err != nil:
		case e.Sequence != uint64(i)+1:
			err = fmt.Errorf("its number is %d: entries are missing, or not in order", e.Sequence)
		case e.Previous != previous:
			err = errors.New("it does not follow from the one before: that one was changed, or this one is not of this log")
		}
		if err != nil {
			return entries, &Broken{uint64(i) + 1, err}
		}
		entries, previous = append(entries, e), Hash(raw).String()
	}
	return entries, nil
}
