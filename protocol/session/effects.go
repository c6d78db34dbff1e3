package session

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// Effects is what a step asks of its driver, in this order: persist, send, run.
type Effects struct {
	Persist []Record
	Send    []protocol.Verified
	Run     []Job
}

// Record is something to make durable.
type Record interface{ record() }

// SaveSecrets keeps an attempt's secrets in one file, replacing what it held.
type SaveSecrets struct {
	Attempt uint32
	Data    seed.Hidden
}

// Format writes a fixed text for every verb: effects are printed in tests and logs.
func (s SaveSecrets) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "secrets of attempt %d (hidden)", s.Attempt)
}

// SaveEnvelope keeps an own envelope, exactly as signed. For the aggregator it
// also appends it to the board that it hosts: texts that travel beside a share are kept
// beside the board, and each member reads the one that is sealed to it.
type SaveEnvelope struct{ Envelope protocol.Verified }

// AppendBoard puts envelopes on the stored board, with the newest signed head.
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

// Job is heavy work or I/O that the driver runs outside Step; its outcome comes
// back as an event. A job may be offered again after a restart.
type Job interface{ job() }

// MakeRelease asks a party for its sketches: project, debit the ledger durably,
// draw noise, store the release. Answered by Released.
type MakeRelease struct {
	Attempt uint32
	Seed    seed.Seed
	T2      protocol.Digest
	Pairs   agree.Pairs // what masked sums are masked with
	Second  *Second     // of two rounds; else nil
}

// MakeFirst asks a party for its first round: project, debit the ledger durably, draw noise, store. Answered by
// FirstStored.
type MakeFirst struct {
	Attempt uint32
	Seed    seed.Seed
	T2      protocol.Digest
	Pairs   agree.Pairs
}

// Second is what the second round goes by.
type Second struct {
	Own     protocol.First
	Firsts  []First // of all parties that are in the interim
	Interim protocol.Interim
}

// Upload asks a party to send the chunks of its stored release. Answered by Uploaded.
type Upload struct{ Header protocol.Release }

// FetchResult asks a party to fetch and store the result. Answered by ResultStored.
type FetchResult struct{ Result protocol.Result }

// Compute asks the aggregator to run the study's analyses on these releases: answered by Computed. With first
// rounds it asks for what the second round goes by: answered by InterimComputed; with those of an interim, for what
// they answer alone: answered by Computed, too.
type Compute struct {
	Attempt  uint32
	T2       protocol.Digest
	Releases []Header
	Complete bool              // everybody who holds the seed is in
	Interim  *protocol.Interim // that the releases went by; nil where there is one round
	Firsts   []First
}

// Between reports whether what the second round goes by is asked for.
func (c Compute) Between() bool { return c.Firsts != nil && c.Interim == nil }

func (MakeFirst) job()   {}
func (MakeRelease) job() {}
func (Upload) job()      {}
func (FetchResult) job() {}
func (Compute) job()     {}
