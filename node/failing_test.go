package node_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/wire"
)

// failing is a node's state in which one durable write fails. Otherwise it behaves like the store.
type failing struct {
	*store.Store
	writes *writes
}

// A failing store has the same contracts as the real one.
var (
	_ node.PartyState      = failing{}
	_ node.AggregatorState = failing{}
)

// state is a node's state: its store, with failures if the test wants them.
func (b *bench) state(name string, st *store.Store) interface {
	node.PartyState
	node.AggregatorState
} {
	if w := b.writes[name]; w != nil {
		return failing{st, w}
	}
	return st
}

// nth is the nth write of a name, counted from 1.
type nth struct {
	name string
	n    int
}

func (w nth) String() string { return fmt.Sprintf("%s %d", w.name, w.n) }

// outcome is how a write fails.
type outcome string

const (
	notPersisted   outcome = "not persisted"
	unacknowledged outcome = "persisted, not acknowledged"
)

var errDisk = errors.New("the disk fails")

// writes counts the durable writes of a node, over all its runs, and makes one fail.
type writes struct {
	fail   nth // zero: none
	how    outcome
	then   string // after the first failure, writes of this name fail too
	forget bool   // a mutant: debits see an empty ledger

	broken atomic.Bool  // every write of a study fails
	why    error        // the error; nil: errDisk
	looks  atomic.Int64 // how often the aggregator has listed its studies
	tried  atomic.Int64 // writes while broken

	mu     sync.Mutex
	most   int // largest piece of a result written at once, in bytes
	seen   []nth
	counts map[string]int
	failed bool
}

// write does one durable write, unless it is to fail.
func (w *writes) write(name string, do func() error) error {
	if w.broken.Load() && !strings.HasPrefix(name, "KeepLedgerHead") { // otherwise no message would reach the board
		w.tried.Add(1)
		return cmp.Or(w.why, errDisk)
	}
	if !w.due(name) {
		return do()
	}
	if w.how == unacknowledged {
		if err := do(); err != nil {
			return err
		}
	}
	return errDisk
}

// due counts a write and reports whether it is to fail.
func (w *writes) due(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.counts == nil {
		w.counts = map[string]int{}
	}
	w.counts[name]++
	this := nth{name, w.counts[name]}
	w.seen = append(w.seen, this)
	if w.failed && w.then == name {
		w.then = ""
		return true
	}
	w.failed = w.failed || this == w.fail
	return this == w.fail
}

// large records how much of a result was written at once.
func (w *writes) large(size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most = max(w.most, size)
}

// hasFailed reports whether the failing write was reached.
func (w *writes) hasFailed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (f failing) Studies() ([]store.StudyEntry, error) {
	f.writes.looks.Add(1)
	return f.Store.Studies()
}

func (f failing) PutStatus(study protocol.StudyID, json []byte) error {
	return f.writes.write("PutStatus", func() error { return f.Store.PutStatus(study, json) })
}

func (f failing) PutResult(study protocol.StudyID, name string, data []byte) error {
	kind, _, _ := strings.Cut(name, "-") // labels-… at the aggregator
	f.writes.large(len(data))
	return f.writes.write("PutResult "+kind, func() error { return f.Store.PutResult(study, name, data) })
}

func (f failing) NewResult(study protocol.StudyID) (store.NewFile, error) {
	file, err := f.Store.NewResult(study)
	return &failingResult{file, f.writes, 0}, err
}

// failingResult becomes durable when it gets its name, or fails to.
type failingResult struct {
	store.NewFile
	writes *writes
	size   int
}

func (f *failingResult) Write(p []byte) (int, error) {
	f.size += len(p)
	return f.NewFile.Write(p)
}

func (f *failingResult) Keep(name string) error {
	f.writes.large(f.size)
	return f.writes.write("NewResult", func() error { return f.NewFile.Keep(name) })
}

func (f failing) DropResult(study protocol.StudyID, name string) error {
	return f.writes.write("DropResult", func() error { return f.Store.DropResult(study, name) })
}

func (f failing) PutDecision(study protocol.StudyID, decision store.Decision, at protocol.Instant) error {
	return f.writes.write("PutDecision", func() error { return f.Store.PutDecision(study, decision, at) })
}

func (f failing) PutSigned(study protocol.StudyID, kind protocol.Kind, attempt uint32, raw []byte) error {
	name, _, _ := strings.Cut(string(kind), " ") // a welcome's kind is followed by the join's id
	return f.writes.write("PutSigned "+name, func() error { return f.Store.PutSigned(study, kind, attempt, raw) })
}

// AppendBoard counts, at the aggregator, by the kind it appends. A party receives the board in
// stretches that depend on timing.
func (f failing) AppendBoard(study protocol.StudyID, from uint64, raws [][]byte, head []byte) error {
	name := "AppendBoard"
	for _, raw := range raws {
		if e, err := wire.DecodeEnvelope(raw); err == nil && head == nil {
			name += " " + string(e.Kind)
		}
	}
	return f.writes.write(name, func() error { return f.Store.AppendBoard(study, from, raws, head) })
}

func (f failing) PutSecret(study protocol.StudyID, attempt uint32, data []byte) error {
	return f.writes.write("PutSecret", func() error { return f.Store.PutSecret(study, attempt, data) })
}

func (f failing) DestroySecret(study protocol.StudyID, attempt uint32) error {
	return f.writes.write("DestroySecret", func() error { return f.Store.DestroySecret(study, attempt) })
}

func (f failing) DestroySecrets(study protocol.StudyID) error {
	return f.writes.write("DestroySecrets", func() error { return f.Store.DestroySecrets(study) })
}

func (f failing) PutLook(study protocol.StudyID, data []byte) error {
	return f.writes.write("PutLook", func() error { return f.Store.PutLook(study, data) })
}

func (f failing) PutFirst(study protocol.StudyID, data []byte) error {
	return f.writes.write("PutFirst", func() error { return f.Store.PutFirst(study, data) })
}

func (f failing) DestroyFirst(study protocol.StudyID) error {
	return f.writes.write("DestroyFirst", func() error { return f.Store.DestroyFirst(study) })
}

func (f failing) DestroyLook(study protocol.StudyID) error {
	return f.writes.write("DestroyLook", func() error { return f.Store.DestroyLook(study) })
}

func (f failing) Debit(ctx context.Context, decide func([]ledger.Entry) ([]ledger.Entry, error)) (out []ledger.Entry, err error) {
	err = f.writes.write("Debit", func() (err error) {
		out, err = f.Store.Debit(ctx, func(entries []ledger.Entry) ([]ledger.Entry, error) {
			if f.writes.forget {
				entries = nil
			}
			return decide(entries)
		})
		return err
	})
	return out, err
}

func (f failing) Note(e journal.Entry) error {
	return f.writes.write("Note "+string(e.Event), func() error { return f.Store.Note(e) })
}

func (f failing) SaveRelease(study protocol.StudyID, release store.Release) error {
	return f.writes.write("SaveRelease", func() error { return f.Store.SaveRelease(study, release) })
}

func (f failing) SaveQuery(study protocol.StudyID, number int, query store.Release) error {
	return f.writes.write("SaveQuery", func() error { return f.Store.SaveQuery(study, number, query) })
}

func (f failing) DropRelease(study protocol.StudyID) error {
	return f.writes.write("DropRelease", func() error { return f.Store.DropRelease(study) })
}

func (f failing) PutChunk(study protocol.StudyID, party protocol.PeerID, sketch, index int, data []byte) error {
	return f.writes.write("PutChunk", func() error { return f.Store.PutChunk(study, party, sketch, index, data) })
}

func (f failing) KeepLedgerHead(party protocol.PeerID, count uint64, raw []byte) (kept []byte, err error) {
	err = f.writes.write(fmt.Sprintf("KeepLedgerHead of %d", count), func() (err error) {
		kept, err = f.Store.KeepLedgerHead(party, count, raw)
		return err
	})
	return kept, err
}

func (f failing) Held(study protocol.StudyID) store.Held {
	return failingHeld{f.Store.Held(study), f.writes}
}

// failingHeld is a held sketch of a failing store.
type failingHeld struct {
	store.Held
	writes *writes
}

func (f failingHeld) Create(name string) (io.WriteCloser, error) {
	w, err := f.Held.Create(name)
	if err != nil {
		return nil, err
	}
	return failingFile{w, f.writes}, nil
}

// failingFile becomes durable when it is closed, or fails to.
type failingFile struct {
	io.WriteCloser
	writes *writes
}

func (f failingFile) Close() error {
	return errors.Join(f.writes.write("Held.Create", func() error { return nil }), f.WriteCloser.Close())
}

func (f failingHeld) Commit(manifest []byte, files []string) error {
	return f.writes.write("Held.Commit", func() error { return f.Held.Commit(manifest, files) })
}

func (f failingHeld) Discard(files []string) error {
	return f.writes.write("Held.Discard", func() error { return f.Held.Discard(files) })
}

func (f failingHeld) Decide() error { return f.writes.write("Held.Decide", f.Held.Decide) }

func (f failingHeld) Destroy() error { return f.writes.write("Held.Destroy", f.Held.Destroy) }

// repeated does something for a node, and repeats it if the failing write has just failed.
func (b *bench) repeated(name string, do func() error) error {
	w := b.writes[name]
	before := w != nil && w.hasFailed()
	err := do()
	if err != nil && w != nil && !before && w.hasFailed() {
		if name == "a" && b.before == nil {
			b.before = b.stored()
		}
		err = do()
	}
	return err
}
