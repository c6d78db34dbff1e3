package session

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// Effects lists what a step asks of its driver, in this order: persist, send, run.
type Effects struct {
	Persist []Record
	Send    []protocol.Verified
	Run     []Job
}

// Record is something to be made durable.
type Record interface{ record() }

// SaveSecrets stores an attempt's secrets in one file, replacing its contents.
type SaveSecrets struct {
	Attempt uint32
	Data    seed.Hidden
}

// Format writes a fixed text for every verb: effects are printed in tests and logs.
func (s SaveSecrets) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "secrets of attempt %d (hidden)", s.Attempt)
}

// SaveEnvelope stores an own envelope exactly as signed. The aggregator also appends it to the
// board that it hosts. It stores texts that travel beside a share beside the board, and each member
// reads the one that is sealed to it.
type SaveEnvelope struct{ Envelope protocol.Verified }

// AppendBoard appends envelopes to the stored board, with the newest signed head.
type AppendBoard struct {
	From      uint64
	Envelopes []protocol.Verified
	Head      protocol.Head
}

// DestroySecrets overwrites and removes the secrets of an attempt, or every secret
// of the study.
type DestroySecrets struct{ Attempt uint32 } // 0: all attempts

func (SaveSecrets) record()    {}
func (SaveEnvelope) record()   {}
func (AppendBoard) record()    {}
func (DestroySecrets) record() {}

// Job is heavy work or I/O that the driver runs outside Step. Its outcome comes back as an event. A
// job may be offered again after a restart.
type Job interface{ job() }

// MakeRelease asks a party for its sketches: project, debit the ledger durably, draw noise, store
// the release. Answered by ReleaseStored.
type MakeRelease struct {
	Attempt uint32
	Seed    seed.Seed
	T2      protocol.Digest
	Pairs   agree.Pairs // the secrets of the masks, under masked sums
	Second  *Second     // in a study of two rounds; else nil
}

// MakeFirst asks a party for its first round: project, debit the ledger durably, draw noise, store. Answered by
// FirstStored.
type MakeFirst struct {
	Attempt uint32
	Seed    seed.Seed
	T2      protocol.Digest
	Pairs   agree.Pairs
}

// Second is the input of the second round.
type Second struct {
	Own     protocol.First
	Firsts  []First // of all parties in the interim
	Interim protocol.Interim
}

// Upload asks a party to send the chunks of its stored release. Answered by ReleaseUploaded.
type Upload struct{ Header protocol.Release }

// FetchResult asks a party to fetch and store the result. Answered by ResultStored.
type FetchResult struct{ Result protocol.Result }

// Compute asks the aggregator to run the study's analyses on these releases. Answered by Computed.
// Given first rounds without an interim, it asks for the input of the second round. Answered by
// InterimComputed. Given first rounds with their interim, it asks for the answers of the first
// round alone. Answered by Computed.
type Compute struct {
	Attempt  uint32
	T2       protocol.Digest
	Releases []Header
	Complete bool              // it includes everybody who holds the seed
	Interim  *protocol.Interim // that the releases follow; nil if there is one round
	Firsts   []First
}

// Between reports whether Compute asks for the input of the second round.
func (c Compute) Between() bool { return c.Firsts != nil && c.Interim == nil }

func (MakeFirst) job()   {}
func (MakeRelease) job() {}
func (Upload) job()      {}
func (FetchResult) job() {}
func (Compute) job()     {}
