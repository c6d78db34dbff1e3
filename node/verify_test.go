package node_test

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Requirements of a release, however often it was interrupted.

// stored returns party a's release, header first, or nil if there is none.
func (b *bench) stored() [][]byte {
	b.t.Helper()
	st := b.open("a")
	defer st.Close()
	header, err := st.ReleaseHeader(b.study.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	check(b.t, err)
	f, err := st.OpenReleaseFile(b.study.ID, "sketch-0.bin")
	check(b.t, err)
	defer f.Close()
	data := make([]byte, f.Size())
	_, err = f.ReadAt(data, 0)
	check(b.t, err)
	return [][]byte{header, data}
}

// verify checks for one debit, no secret left, and equal bytes: as stored before a crash, as stored
// now, and as received.
func (b *bench) verify(before [][]byte) {
	b.t.Helper()
	for _, fault := range b.faults(before) {
		b.t.Error(fault)
	}
}

// faults lists what verify finds wrong.
func (b *bench) faults(before [][]byte) (out []string) {
	b.t.Helper()
	now := b.stored()
	if now == nil {
		b.t.Fatal("no release is stored")
	}
	if before != nil && b.attempt(before[0]) == b.attempt(now[0]) && (string(before[0]) != string(now[0]) || string(before[1]) != string(now[1])) {
		out = append(out, redrawn)
	}
	st := b.open("a")
	defer st.Close()
	entries, err := st.Ledger()
	check(b.t, err)
	attempt := b.attempt(now[0])
	if want := b.debits(attempt); len(entries) != want {
		out = append(out, fmt.Sprintf("the ledger holds %d debits, want %d", len(entries), want))
	}
	for a := range attempt {
		if _, err := st.Secret(b.study.ID, a+1); !errors.Is(err, store.ErrNotFound) {
			out = append(out, fmt.Sprintf("the study's secrets are still there: %v", err))
		}
	}
	agg := b.open("agg")
	defer agg.Close()
	var received []byte
	for i := range (len(now[1]) + protocol.ChunkSize - 1) / protocol.ChunkSize {
		chunk, err := agg.Chunk(b.study.ID, peerID(b.t, st), int(b.lost(attempt))*study.MaxSketches, i)
		check(b.t, err)
		received = append(received, chunk...)
	}
	if string(received) != string(now[1]) {
		out = append(out, "the aggregator received other bytes than were stored")
	}
	return out
}

// attempt returns the attempt of a stored release.
func (b *bench) attempt(header []byte) uint32 {
	b.t.Helper()
	e, err := wire.DecodeEnvelope(header)
	check(b.t, err)
	return e.Attempt
}

// lost is the number of masked sums before a release's attempt that became void.
func (b *bench) lost(attempt uint32) uint32 {
	if b.study.Masked() {
		return attempt - 1
	}
	return 0
}

// debits is how many entries a release in an attempt leaves in the ledger, of one dataset.
func (b *bench) debits(attempt uint32) int {
	return len(b.study.Sketches) * int(1+b.lost(attempt))
}

const redrawn = "the release changed after it was stored"
