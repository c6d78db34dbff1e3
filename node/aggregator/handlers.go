package aggregator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/cosketch/cosketch/node/aggregator/upload"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// The aggregator's handlers. Each finds the study, checks that the caller is one of its parties,
// and answers only about the caller's own data or the board: no answer can hold another party's
// sketch.

// post admits the caller's envelopes to the board, in order, and answers which it has passed over.
// A party can post only its own messages.
func (a *server) post(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	passed, err := a.postAll(ctx, from, request)
	if err != nil {
		return nil, err
	}
	return calls.EncodePassed(passed), nil
}

// postAll admits envelopes and returns those passed over because their turn has passed. Any other
// refusal ends the request; the envelopes before it stay on the board.
func (a *server) postAll(ctx context.Context, from protocol.PeerID, request []byte) (passed []protocol.Verified, err error) {
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

// post admits an envelope, or passes over it if its turn has passed.
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

// fits refuses the header of a release that is larger than the quotas allow, and a share whose
// texts exceed the quotas or the disk. An envelope already on the board is not checked again.
func (h *hosted) fits(v protocol.Verified) error {
	switch v.Kind() {
	case protocol.KindRelease:
		return h.fitsRelease(v)
	case protocol.KindShare:
		return h.fitsSealed(v)
	}
	return nil
}

func (h *hosted) fitsSealed(v protocol.Verified) error {
	texts, _ := v.Beside()
	if len(texts) == 0 || h.machine.Holds(v) {
		return nil
	}
	if err := h.Quotas.AdmitSealed(h.study); err != nil {
		h.refusals.Warn(v.Sender().String(), "refused sealed texts that do not fit", "study", h.study.ID.Short(), "error", err)
		return p2p.Refuse(p2p.CodeTooLarge, "%v: its operator may allow more", err)
	}
	n := len(h.study.Parties)
	return h.disk.roomFor(int64(n) * int64(agree.TextSize(n)))
}

func (h *hosted) fitsRelease(v protocol.Verified) error {
	if _, posted := h.machine.Release(v.Sender()); posted {
		return nil
	}
	header, err := wire.DecodeRelease(v.Payload())
	if err != nil {
		return nil // the machine reports what is wrong with it
	}
	party, _ := h.study.PartyIndex(v.Sender())
	err = h.Quotas.Admit(h.study, party, header.Records)
	var tooLarge *analysis.QuotaError
	if errors.As(err, &tooLarge) {
		h.refusals.Warn(v.Sender().String(), "refused a release that is too large", "study", h.study.ID.Short(), "error", err)
		return p2p.Refuse(p2p.CodeTooLarge, "%v: its operator may allow more, and the study file say how many records each party has", err)
	}
	if err != nil {
		return nil
	}
	var size int64
	for _, s := range header.Sketches {
		size += s.Size()
	}
	return h.disk.roomFor(size)
}

// refusalCode maps an error of the machine to a refusal code.
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

func (a *server) read(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
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
			reply, err = h.board(q.From, from)
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

// sawMore logs, once, that a party claims to have read messages that this board lacks. That party
// refuses the board, and nothing else would tell the operator.
func (a *server) sawMore(q wire.Read, from protocol.PeerID, count uint64) {
	if q.From <= count {
		return
	}
	a.saying.Lock()
	defer a.saying.Unlock()
	if key := (aheadOf{q.Study, from}); !a.ahead[key] {
		a.ahead[key] = true
		a.Log.Error("a party says that it has read more of the board than this aggregator has: if the state directory was restored from an old backup, the study cannot continue",
			"study", q.Study.Short(), "party", from.String(), "read", q.From, "here", count, "fix", "aggregator cancel "+q.Study.Short()+", and a new study")
	}
}

func (a *server) chunk(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
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
		unacceptable, _ = h.checks.Known(header.ID)
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
		return nil, p2p.Refuse(p2p.CodeInvalid, "the release has no chunk %d of sketch %d", c.Index+1, c.Sketch+1)
	}
	sk := header.Release.Sketches[c.Sketch]
	want := min(protocol.ChunkSize, sk.Size()-int64(c.Index)*protocol.ChunkSize)
	if int64(len(c.Data)) != want || sha256.Sum256(c.Data) != sk.Chunks[c.Index] {
		a.refusals.Warn(from.String(), "refused a chunk", "study", h.study.ID.Short(), "sketch", c.Sketch, "chunk", c.Index)
		return nil, p2p.Refuse(p2p.CodeInvalid, "chunk %d of sketch %d does not match the release's header", c.Index+1, c.Sketch+1)
	}
	if gone, err := stored.Purged(a.Store, c.Study); err != nil || gone {
		return nil, cmp.Or(err, error(p2p.Refuse(p2p.CodeRefused, "%v", stored.ErrPurged)))
	}
	if err := a.disk.roomFor(int64(len(c.Data))); err != nil {
		return nil, err
	}
	if err := a.Store.PutChunk(c.Study, from, stored.Uploaded(header, c.Sketch), c.Index, c.Data); err != nil {
		return nil, h.do(ctx, func() error { return err }) // the study's service ends, as with every write that fails
	}
	a.Observe(event.Event{What: event.ChunkKept, Study: c.Study, Bytes: int64(len(c.Data))})
	_, err = h.arrived(ctx, from)
	return nil, err
}

// arrived reports what is missing of a party's release, or if it is complete, the outcome of
// checking it, which may take a while.
func (h *hosted) arrived(ctx context.Context, party protocol.PeerID) (progress wire.Progress, err error) {
	for {
		var unacceptable error
		var checked <-chan struct{}
		if err := h.do(ctx, func() (err error) {
			progress, checked, err = h.collect(h.life, party)
			if errors.Is(err, upload.ErrUnacceptable) {
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

func (a *server) progress(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
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

// hello returns values that a party of the study compares with its own.
func (a *server) hello(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
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

// namesake finds an unfinished study of the caller with a name: the caller may have another file of
// it. It is zero if there is none.
func (a *server) namesake(ctx context.Context, name string, caller protocol.PeerID) (id protocol.StudyID) {
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
