package aggregator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// The aggregator's answers. Each finds the study, checks that the caller is one
// of its parties, and answers about the caller's own things or the board alone:
// no answer can hold another party's sketch.

// post admits the caller's envelopes to the board, in order, and answers which it has passed
// over. A party can carry nobody's messages but its own.
func (a *Aggregator) post(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	passed, err := a.postAll(ctx, from, request)
	if err != nil {
		return nil, err
	}
	return calls.EncodePassed(passed), nil
}

// postAll admits envelopes, and returns those that it has passed over: their turn has passed.
// What is refused else ends the request; those before it stay on the board.
func (a *Aggregator) postAll(ctx context.Context, from protocol.PeerID, request []byte) (passed []protocol.Verified, err error) {
	envelopes, err := wire.DecodePost(request)
	if err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	for _, e := range envelopes {
		if e.Sender != from {
			return nil, p2p.Refuse(p2p.CodeRefused, "%s is not the caller's own", e.Kind)
		}
		h, err := a.find(ctx, e.Study, from)
		if err != nil {
			return nil, err
		}
		v, err := stored.Verify(h.study, e, a.ID())
		if err != nil {
			a.refusals.Warn(from.String(), "refused a message", "study", h.study.ID.Short(), "error", err)
			return nil, p2p.Refuse(refusalCode(err), "%v", err)
		}
		taken, err := h.post(ctx, v)
		if err != nil {
			return nil, err
		}
		if !taken {
			passed = append(passed, v)
		}
	}
	return passed, nil
}

// post admits an envelope, or passes over it, if its turn has passed.
func (h *hosted) post(ctx context.Context, v protocol.Verified) (taken bool, err error) {
	var refused error
	var unfit *p2p.Refusal
	err = h.doSettled(ctx, func() error {
		if err := h.step(h.life, session.Tick{Now: h.instant()}); err != nil {
			return err
		}
		if refused = h.fits(v); refused != nil {
			return nil
		}
		no, err := h.take(h.life, session.Post{Envelope: v})
		refused = no
		return err
	})
	switch {
	case err != nil:
		return false, err
	case refused == nil || errors.Is(refused, session.ErrPosted):
		return true, nil
	case errors.Is(refused, session.ErrPassed):
		h.refusals.Warn(v.Sender().String(), "passed over a message", "study", h.study.ID.Short(), "reason", refused)
		return false, nil
	case errors.As(refused, &unfit):
		return false, unfit
	}
	h.refusals.Warn(v.Sender().String(), "refused a message", "study", h.study.ID.Short(), "error", refused)
	return false, p2p.Refuse(refusalCode(refused), "%v", refused)
}

// refusalCode says which kind of refusal an error of the machine is.
func refusalCode(err error) p2p.Code {
	var d *protocol.Disagreement
	switch {
	case errors.As(err, &d) && d.On == protocol.OnVersion:
		return p2p.CodeVersion
	case errors.Is(err, session.ErrMeaning):
		return p2p.CodeVersion
	case errors.Is(err, session.ErrConflict), errors.Is(err, session.ErrBoards), errors.Is(err, session.ErrOtherSeed), errors.Is(err, agree.ErrTranscript):
		return p2p.CodeConflict
	case errors.Is(err, session.ErrPremature):
		return p2p.CodeRefused
	}
	return p2p.CodeInvalid
}

// longestWait bounds how long a read waits for news.
const longestWait = 30 * time.Second

func (a *Aggregator) read(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	q, err := wire.DecodeRead(request)
	if err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	h, err := a.find(ctx, q.Study, from)
	if err != nil {
		return nil, err
	}
	h.waiting.Add(1)
	defer h.waiting.Add(-1)
	wait, cancel := context.WithTimeout(ctx, min(time.Duration(q.Wait)*time.Second, longestWait))
	defer cancel()
	for {
		var reply wire.BoardReply
		var news chan struct{}
		if err := h.do(ctx, func() (err error) {
			news = h.news
			reply, err = h.board(q.From)
			return err
		}); err != nil {
			return nil, err
		}
		a.sawMore(q, from, reply.Head.Count)
		if len(reply.Envelopes) > 0 || wait.Err() != nil {
			return wire.EncodeBoardReply(reply), nil
		}
		select {
		case <-news:
		case <-wait.Done():
		case <-h.ended:
			return nil, errGone
		}
	}
}

// aheadOf is a party that has read more of a study's board than there is.
type aheadOf struct {
	study protocol.StudyID
	party protocol.PeerID
}

// sawMore tells the operator, once, that a party says to have read messages of a board that are
// not here: it refuses the board, and nobody else would say so.
func (a *Aggregator) sawMore(q wire.Read, from protocol.PeerID, count uint64) {
	if q.From <= count {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if key := (aheadOf{q.Study, from}); !a.ahead[key] {
		if a.ahead == nil {
			a.ahead = map[aheadOf]bool{}
		}
		a.ahead[key] = true
		a.Logger.Error("a party says that it has read more of the board than there is: if the state directory was restored from an old backup, the study cannot go on",
			"study", q.Study.Short(), "party", from.String(), "read", q.From, "here", count, "fix", "aggregator cancel "+q.Study.Short()+", and a new study")
	}
}

func (a *Aggregator) chunk(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	c, err := wire.DecodeChunk(request)
	if err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	h, err := a.find(ctx, c.Study, from)
	if err != nil {
		return nil, err
	}
	var header session.Header
	var posted, whole bool
	var unacceptable error
	if err := h.do(ctx, func() error {
		header, posted = h.machine.Release(from)
		whole = h.machine.Collected(from)
		unacceptable = h.verdicts.known[header.ID]
		return nil
	}); err != nil {
		return nil, err
	}
	switch {
	case !posted:
		return nil, p2p.Refuse(p2p.CodeRefused, "a chunk came before the release's header")
	case whole:
		return nil, nil
	case unacceptable != nil:
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", unacceptable)
	case c.Sketch >= len(header.Release.Sketches) || c.Index >= len(header.Release.Sketches[c.Sketch].Chunks):
		return nil, p2p.Refuse(p2p.CodeInvalid, "the release has no chunk %d of sketch %d", c.Index, c.Sketch)
	}
	sk := header.Release.Sketches[c.Sketch]
	want := min(protocol.ChunkSize, sk.Size()-int64(c.Index)*protocol.ChunkSize)
	if int64(len(c.Data)) != want || sha256.Sum256(c.Data) != sk.Chunks[c.Index] {
		a.refusals.Warn(from.String(), "refused a chunk", "study", h.study.ID.Short(), "sketch", c.Sketch, "chunk", c.Index)
		return nil, p2p.Refuse(p2p.CodeInvalid, "chunk %d of sketch %d does not match the release's header", c.Index, c.Sketch)
	}
	if gone, err := stored.Purged(a.Store, c.Study); err != nil || gone {
		return nil, cmp.Or(err, error(p2p.Refuse(p2p.CodeRefused, "%v", stored.ErrPurged)))
	}
	if err := a.roomFor(int64(len(c.Data))); err != nil {
		return nil, err
	}
	if err := a.Store.PutChunk(c.Study, from, stored.Uploaded(header, c.Sketch), c.Index, c.Data); err != nil {
		return nil, h.do(ctx, func() error { return err }) // the study's service ends, as with every write that fails
	}
	a.Observe(event.Happening{What: event.ChunkKept, Study: c.Study, Bytes: int64(len(c.Data))})
	_, err = h.arrived(ctx, from)
	return nil, err
}

// arrived says what is still missing of a party's release, or when it is whole, what came of
// checking it, which may take a while.
func (h *hosted) arrived(ctx context.Context, party protocol.PeerID) (progress wire.Progress, err error) {
	for {
		var unacceptable error
		var checked <-chan struct{}
		if err := h.do(ctx, func() (err error) {
			progress, checked, err = h.collect(h.life, party)
			if errors.Is(err, errUnacceptable) {
				unacceptable, err = err, nil
			}
			return err
		}); err != nil {
			return progress, err
		}
		switch {
		case unacceptable != nil:
			return progress, p2p.Refuse(p2p.CodeInvalid, "%v", unacceptable)
		case checked == nil:
			return progress, nil
		}
		select {
		case <-checked:
		case <-h.ended:
			return progress, errGone
		case <-ctx.Done():
			return progress, ctx.Err()
		}
	}
}

func (a *Aggregator) progress(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	id, err := wire.DecodeProgressRequest(request)
	if err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	h, err := a.find(ctx, id, from)
	if err != nil {
		return nil, err
	}
	progress, err := h.arrived(ctx, from)
	if err != nil {
		return nil, err
	}
	if !progress.Complete && progress.Missing == nil {
		return nil, p2p.Refuse(p2p.CodeNotFound, "no release header of the caller is on the board")
	}
	return wire.EncodeProgress(progress), nil
}

func (a *Aggregator) document(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	q, err := wire.DecodeDocumentRequest(request)
	if err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	h, err := a.find(ctx, q.Study, from)
	if err != nil {
		return nil, err
	}
	var name string
	if err := h.do(ctx, func() error {
		name = h.documentName(q.Hash, from)
		return nil
	}); err != nil {
		return nil, err
	}
	if name == "" {
		if name, err = h.tableName(q.Hash); err != nil {
			return nil, err
		}
	}
	if name == "" {
		if name, err = h.furtherName(q.Hash, from); err != nil {
			return nil, err
		}
	}
	if name == "" {
		if name, err = h.answerName(q.Hash, from); err != nil {
			return nil, err
		}
	}
	if name == "" {
		return nil, p2p.Refuse(p2p.CodeRefused, "no result document of the caller has this hash")
	}
	piece, err := pieceOf(a.Store, q, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, p2p.Refuse(p2p.CodeNotFound, "the result document is not here")
	}
	return piece, err
}

// pieceOf reads the asked piece of a stored document.
func pieceOf(st node.State, q wire.DocumentRequest, name string) ([]byte, error) {
	f, err := st.OpenResult(q.Study, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	piece := make([]byte, max(0, min(calls.PieceSize, f.Size()-q.Offset)))
	if _, err := f.ReadAt(piece, q.Offset); err != nil && len(piece) > 0 {
		return nil, fmt.Errorf("reading result %q: %w", name, err)
	}
	return wire.EncodeDocumentReply(piece), nil
}

// hello tells a party of the study what it can compare with its own.
func (a *Aggregator) hello(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	q, err := wire.DecodeHelloRequest(request)
	if err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	out := wire.Hello{Now: a.Now(), Version: a.Version}
	if _, err := a.find(ctx, q.Study, from); err != nil {
		if out.Other = a.namesake(ctx, q.Name, from); out.Other == (protocol.StudyID{}) {
			return nil, err
		}
	}
	return wire.EncodeHello(out), nil
}

// namesake finds a study of the caller's that goes on and has a name: the caller may
// have another file of it. It is zero where there is none.
func (a *Aggregator) namesake(ctx context.Context, name string, caller protocol.PeerID) (id protocol.StudyID) {
	a.mu.Lock()
	var same []*hosted
	for _, h := range a.hosted {
		if _, lists := h.study.PartyIndex(caller); lists && h.study.Name == name {
			same = append(same, h)
		}
	}
	a.mu.Unlock()
	for _, h := range same {
		ended := true
		h.do(ctx, func() error { ended = h.machine.Status().Terminal(); return nil })
		if !ended {
			return h.study.ID
		}
	}
	return id
}

// documentName finds the file of a document that the caller may see: everybody's
// result, and the caller's own labels.
func (h *hosted) documentName(hash protocol.Digest, caller protocol.PeerID) string {
	r, ok := h.machine.Result()
	if !ok {
		return ""
	}
	if r.Document.Hash == hash {
		return filename.Result
	}
	for _, p := range r.PerParty {
		if p.Party == caller && p.Hash == hash {
			return filename.PartyLabels(caller)
		}
	}
	return ""
}
