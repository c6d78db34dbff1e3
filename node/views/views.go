package views

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// PublicState is the part of an aggregator's durable state from which views are made. It gives
// access to no key and to no bytes of a sketch.
type PublicState interface {
	Studies() ([]store.StudyEntry, error)
	Study(study protocol.StudyID) ([]byte, error)
	Status(study protocol.StudyID) ([]byte, error)
	Board(study protocol.StudyID, from uint64, limit int) ([][]byte, error)
	Results(study protocol.StudyID) ([]string, error)
	Result(study protocol.StudyID, name string) ([]byte, error)
	OpenResult(study protocol.StudyID, name string) (*store.File, error)
	FirstMissing(study protocol.StudyID, party protocol.PeerID, sketch, chunks int) (int, error)
	Purged(study protocol.StudyID) (protocol.Instant, error)
	Noted(after uint64) ([]store.Noted, uint64, error)
	Free() (int64, error)
}

var (
	_ PublicState = (*store.Store)(nil)
	_ api.Views   = (*Views)(nil)
)

// Views shows an aggregator's studies to readers: what all their parties may see. It only reads the
// store, so an aggregator may serve in another process. It shows progress and news only of an
// aggregator in this process that calls its Observe.
type Views struct {
	state PublicState

	mu     sync.Mutex
	boards map[protocol.StudyID]*shownBoard // guarded by mu
	doing  map[protocol.StudyID]analysis.Progress
	news   map[protocol.StudyID]chan struct{}
	kinds  map[protocol.Digest][]study.AnalysisKind // of result documents, which never change
	down   map[protocol.StudyID]bool
	since  map[protocol.StudyID]protocol.Instant            // when studies were added
	noted  map[protocol.StudyID]map[uint64]protocol.Instant // when messages arrived, by their number
	read   uint64                                           // journal entries that noted is made of
}

// New makes views of a state.
func New(state PublicState) *Views {
	return &Views{state: state, boards: map[protocol.StudyID]*shownBoard{}, doing: map[protocol.StudyID]analysis.Progress{},
		news: map[protocol.StudyID]chan struct{}{}, kinds: map[protocol.Digest][]study.AnalysisKind{}, down: map[protocol.StudyID]bool{}, since: map[protocol.StudyID]protocol.Instant{}, noted: map[protocol.StudyID]map[uint64]protocol.Instant{}}
}

// Observe receives the events of the aggregator in this process.
func (v *Views) Observe(h event.Event) {
	if h.What == event.Called {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch h.What {
	case event.Analysing:
		v.doing[h.Study] = h.Progress
	case event.Computed, event.Uncomputed:
		delete(v.doing, h.Study)
	case event.TakenDown:
		if !h.Damaged { // lists show which study is damaged
			v.down[h.Study] = true
		}
		delete(v.doing, h.Study)
	case event.TakenUp:
		delete(v.down, h.Study)
	}
	if news := v.news[h.Study]; news != nil {
		close(news)
		delete(v.news, h.Study)
	}
}

// News returns a channel that is closed at the next observed change of a study.
func (v *Views) News(id protocol.StudyID) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.news[id] == nil {
		v.news[id] = make(chan struct{})
	}
	return v.news[id]
}

// Ready returns why this aggregator cannot serve: its store does not answer or has no room, or
// an error of the store or a panic keeps studies from being served.
func (v *Views) Ready() error {
	if _, err := v.state.Studies(); err != nil {
		return err
	}
	if free, err := v.state.Free(); err == nil && free < stored.MinFree {
		return fmt.Errorf("the disk is full: %s are left", block.Bytes(free))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := len(v.down); n > 0 {
		return fmt.Errorf("studies not served because of an error: %d", n)
	}
	return nil
}

// Studies lists the studies, oldest first.
func (v *Views) Studies() ([]api.Listed, error) {
	entries, err := v.state.Studies()
	if err != nil {
		return nil, err
	}
	out := make([]api.Listed, len(entries))
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, e := range entries {
		out[i] = api.Listed{ID: e.ID, Added: e.Added}
		v.since[e.ID] = e.Added
	}
	return out, nil
}

// Study returns the state of one study.
func (v *Views) Study(id protocol.StudyID) (api.Study, error) {
	out, err := v.study(id)
	if err != nil {
		return api.Study{}, fmt.Errorf("showing study %s: %w", id.Short(), absent(err))
	}
	return out, nil
}

func (v *Views) study(id protocol.StudyID) (out api.Study, err error) {
	if out.Added, err = v.added(id); err != nil {
		return out, err
	}
	board, err := v.board(id)
	var d *stored.DamagedError
	switch {
	case errors.As(err, &d):
		return v.damaged(out, d)
	case err != nil:
		return out, err
	}
	out.File, out.Messages, out.Chain = board.study, uint64(len(board.messages)), board.chain
	if out.Status, err = v.status(board.study); err != nil {
		return out, err
	}
	if out.Purged, err = stored.Purged(v.state, id); err != nil {
		return out, err
	}
	for i, p := range board.study.Parties {
		shown := api.Party{Name: p.Name, ID: p.ID, Release: board.releases[p.ID]}
		if shown.Release != nil {
			if shown.Received, err = v.received(id, p.ID, *shown.Release); err != nil {
				return out, err
			}
		}
		for _, step := range stored.Steps() {
			if board.taken[i][step] || step == stored.StepReleased && shown.Whole() {
				shown.Steps = append(shown.Steps, string(step))
			}
		}
		out.Parties = append(out.Parties, shown)
	}
	out.Results, out.Lost, err = v.statements(board)
	return out, err
}

// damaged returns what is known of a study that cannot be read.
func (v *Views) damaged(out api.Study, d *stored.DamagedError) (api.Study, error) {
	out.Damaged, out.File = true, stored.FileOf(v.state, d.Study)
	if out.File == nil {
		out.File = &study.Study{ID: d.Study, Name: stored.NameOf(nil)}
	}
	for _, p := range out.File.Parties {
		out.Parties = append(out.Parties, api.Party{Name: p.Name, ID: p.ID})
	}
	out.Status.Snapshot = stored.DamagedSnapshot(v.state, d)
	return out, nil
}

// added returns when a study was added. That never changes, so the list is read again only for an
// unknown study.
func (v *Views) added(id protocol.StudyID) (protocol.Instant, error) {
	known := func() (protocol.Instant, bool) {
		v.mu.Lock()
		defer v.mu.Unlock()
		at, ok := v.since[id]
		return at, ok
	}
	if at, ok := known(); ok {
		return at, nil
	}
	if _, err := v.Studies(); err != nil {
		return 0, err
	}
	if at, ok := known(); ok {
		return at, nil
	}
	return 0, store.ErrNotFound
}

// status reads the stored snapshot. For a study that was never served it says what the study waits
// for.
func (v *Views) status(s *study.Study) (api.Status, error) {
	raw, err := v.state.Status(s.ID)
	shot := stored.Unserved(s, store.Aggregator, "")
	if err == nil {
		shot, err = stored.DecodeSnapshot(raw)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return api.Status{}, err
	}
	if free, unknown := v.state.Free(); unknown == nil {
		shot.OnDisk("this aggregator", free)
	}
	out := api.Status{Snapshot: shot}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p, ok := v.doing[s.ID]; ok && shot.State == string(session.Computing) {
		out.Doing = &api.Doing{Analysis: p.Analysis + 1, Of: len(s.Analyses), Kind: p.Kind, Done: p.Done, Total: p.Total}
	}
	return out, nil
}

// received counts the bytes of a release that have arrived.
func (v *Views) received(id protocol.StudyID, party protocol.PeerID, r api.Release) (total int64, err error) {
	for i, s := range r.Sketches {
		first, err := v.state.FirstMissing(id, party, i, len(s.Chunks))
		if err != nil {
			return 0, err
		}
		total += min(int64(first)*protocol.ChunkSize, s.Size())
	}
	return total, nil
}

// Messages returns messages of a study's board.
func (v *Views) Messages(id protocol.StudyID, from uint64, limit int) ([]api.Message, error) {
	board, err := v.board(id)
	if err != nil {
		return nil, fmt.Errorf("reading the board of study %s: %w", id.Short(), absent(err))
	}
	rest := board.messages[min(from, uint64(len(board.messages))):]
	out := slices.Clone(rest[:min(len(rest), limit)])
	noted, read, err := v.state.Noted(v.readTo())
	if err != nil {
		return nil, fmt.Errorf("reading the board of study %s: %w", id.Short(), err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range noted {
		if v.noted[n.Study] == nil {
			v.noted[n.Study] = map[uint64]protocol.Instant{}
		}
		v.noted[n.Study][n.Number] = n.At
	}
	v.read = max(v.read, read)
	for i := range out {
		out[i].Noted = v.noted[id][out[i].Number]
	}
	return out, nil
}

// readTo is the number of journal entries read.
func (v *Views) readTo() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.read
}

// Document returns a published result.
func (v *Views) Document(id protocol.StudyID, name protocol.Digest) (api.Document, error) {
	d, err := v.document(id, name)
	if err != nil {
		return api.Document{}, fmt.Errorf("reading result %.8s of study %s: %w", name.String(), id.Short(), absent(err))
	}
	return d, nil
}

func (v *Views) document(id protocol.StudyID, name protocol.Digest) (out api.Document, err error) {
	board, err := v.board(id)
	if err != nil {
		return out, err
	}
	all, _, err := v.statements(board)
	if err != nil {
		return out, err
	}
	at := slices.IndexFunc(all, func(s api.Statement) bool { return s.Document.Hash == name })
	if at < 0 {
		return out, store.ErrNotFound
	}
	out.Statement = all[at]
	file := filename.Result
	if out.Statement.Further {
		file = filename.Further(name) + ".json"
	}
	if out.Raw, err = v.state.Result(id, file); err != nil {
		return out, err
	}
	if stored.DocumentOf(out.Raw) != out.Statement.Document { // replaced since
		return out, store.ErrNotFound
	}
	out.Result, err = analysis.Decode(out.Raw, id)
	out.Result = out.Result.With(stored.Tables{Documents: v.state, Study: id})
	return out, err
}

// statements returns the statements of results whose documents are intact here. lost explains those
// that are not.
func (v *Views) statements(board *shownBoard) (out []api.Statement, lost []string, err error) {
	s := board.study
	raw, err := v.state.Result(s.ID, filename.Result)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, nil, err
	}
	if err == nil {
		for _, own := range slices.Backward(board.results) {
			if own.Document == stored.DocumentOf(raw) {
				if own.Kinds, err = v.kindsOf(s.ID, own.Document.Hash, raw); err != nil {
					return nil, nil, err
				}
				out = append(out, own)
				break
			}
		}
	}
	kept, damaged, err := stored.Statements(v.state, s)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range kept {
		raw, err := stored.ReadFurther(v.state, s, f)
		if errors.Is(err, stored.ErrUnsigned) {
			damaged = append(damaged, err)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		further := api.Statement{Document: f.Document, Further: true, At: f.At, Complete: true, Signed: f.Encode()}
		if further.Kinds, err = v.kindsOf(s.ID, f.Document.Hash, raw); err != nil {
			damaged = append(damaged, fmt.Errorf("further result %s: %w", f.Document.Hash.String()[:8], err))
			continue
		}
		out = append(out, further)
	}
	for _, err := range damaged {
		lost = append(lost, err.Error())
	}
	return out, lost, nil
}

// kindsOf returns the kinds of the analyses in a document.
func (v *Views) kindsOf(id protocol.StudyID, name protocol.Digest, raw []byte) ([]study.AnalysisKind, error) {
	v.mu.Lock()
	kinds, known := v.kinds[name]
	v.mu.Unlock()
	if known {
		return kinds, nil
	}
	r, err := analysis.Decode(raw, id)
	if err != nil {
		return nil, err
	}
	for _, a := range r.Analyses {
		kinds = append(kinds, a.Kind)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kinds[name] = kinds
	return kinds, nil
}

// absent maps an error to one that readers know.
func absent(err error) error {
	var d *stored.DamagedError
	switch {
	case errors.As(err, &d):
		return fmt.Errorf("%w: %w", api.ErrDamaged, err)
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%w: %w", api.ErrNotFound, err)
	}
	return err
}

// shownBoard is the view of a study's board. A board only grows, and every envelope is verified
// once. A shownBoard is never changed, so it can be shared.
type shownBoard struct {
	study    *study.Study
	messages []api.Message
	chain    protocol.Digest
	taken    []map[stored.Step]bool
	releases map[protocol.PeerID]*api.Release
	results  []api.Statement
}

// board returns the board of a study as stored now.
func (v *Views) board(id protocol.StudyID) (*shownBoard, error) {
	v.mu.Lock()
	before := v.boards[id]
	v.mu.Unlock()
	if before == nil {
		source, err := v.state.Study(id)
		if err != nil {
			return nil, err
		}
		s, err := stored.Parse(id, source)
		if err != nil {
			return nil, err
		}
		before = &shownBoard{study: s, taken: stored.NewTaken(len(s.Parties)), releases: map[protocol.PeerID]*api.Release{}}
	}
	raws, err := v.state.Board(id, uint64(len(before.messages)), 1<<20)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if len(raws) == 0 && before.messages != nil {
		return before, nil
	}
	now, err := before.with(raws)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if kept := v.boards[id]; kept == nil || len(kept.messages) < len(now.messages) {
		v.boards[id] = now
	}
	return now, nil
}

// with returns the board with more envelopes.
func (b *shownBoard) with(raws [][]byte) (*shownBoard, error) {
	out := &shownBoard{study: b.study, messages: slices.Clone(b.messages), chain: b.chain, taken: make([]map[stored.Step]bool, len(b.taken)),
		releases: maps.Clone(b.releases), results: slices.Clone(b.results)}
	for i, taken := range b.taken {
		out.taken[i] = maps.Clone(taken)
	}
	for _, raw := range raws {
		e, err := stored.DecodeVerified(raw)
		if err != nil {
			return nil, stored.DamagedBoard(b.study.ID, fmt.Errorf("envelope %d: %w", len(out.messages), err))
		}
		if err := out.take(e); err != nil {
			return nil, stored.DamagedBoard(b.study.ID, fmt.Errorf("envelope %d: %w", len(out.messages), err))
		}
	}
	return out, nil
}

// take adds one envelope.
func (b *shownBoard) take(e protocol.Verified) error {
	b.chain = protocol.ExtendChain(b.chain, e.ID())
	b.messages = append(b.messages, api.Message{
		Number: uint64(len(b.messages)), ID: e.ID(), Kind: e.Kind(), Attempt: e.Attempt(), Sender: e.Sender(),
		From: stored.Names(b.study, []protocol.PeerID{e.Sender()})[0], Bytes: len(e.Payload()),
	})
	if i, listed := b.study.PartyIndex(e.Sender()); listed && stored.StepOf(e.Kind()) != "" {
		b.taken[i][stored.StepOf(e.Kind())] = true
	}
	switch e.Kind() {
	case protocol.KindRelease:
		r, err := wire.DecodeRelease(e.Payload())
		if err != nil {
			return err
		}
		shown := &api.Release{ID: e.ID(), Records: r.Records, Sketches: r.Sketches}
		for _, s := range r.Sketches {
			shown.Bytes += s.Size()
		}
		b.releases[e.Sender()] = shown
	case protocol.KindResult:
		r, err := wire.DecodeResult(e.Payload())
		if err != nil {
			return err
		}
		for i, p := range b.study.Parties {
			if release := b.releases[p.ID]; release != nil && slices.Contains(r.Releases, release.ID) {
				b.taken[i][stored.StepReleased] = true
			}
		}
		b.results = append(b.results, api.Statement{Document: r.Document, Message: e.ID(), Complete: r.Completed, Signed: wire.EncodeEnvelope(e.Envelope())})
	}
	return nil
}
