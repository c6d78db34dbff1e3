package aggregator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
)

// query receives a query of the caller and answers it, or lists the caller's kept queries. The
// request is study ‖ statement ‖ rows, or the study alone. The list is number ‖ id of each query.
// An answer is its statement, by which its document is then fetched.
func (a *server) query(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	var id protocol.StudyID
	if len(request) < len(id) {
		return nil, p2p.Refuse(p2p.CodeInvalid, "a query begins with a study's id of %d bytes", len(id))
	}
	rest := request[copy(id[:], request):]
	h, err := a.find(ctx, id, from)
	if err != nil {
		return nil, err
	}
	if _, ok := h.study.QuerySketch(); !ok {
		return nil, p2p.Refuse(p2p.CodeRefused, "the study admits no queries")
	}
	if len(rest) == 0 {
		return h.keptQueries(from)
	}
	if len(rest) < protocol.QuerySize {
		return nil, p2p.Refuse(p2p.CodeInvalid, "a query of %d bytes is cut off", len(rest))
	}
	q, err := protocol.DecodeQuery(id, from, rest[:protocol.QuerySize])
	if err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	answer, err := h.asked(ctx, q, rest[protocol.QuerySize:])
	var refusal *p2p.Refusal
	if errors.As(err, &refusal) && refusal.Code != p2p.CodeBusy {
		a.refusals.Warn(from.String(), "refused a query", "study", id.Short(), "query", q.Number, "error", err)
	}
	return answer, err
}

// keptQueries lists a party's kept queries.
func (h *hosted) keptQueries(party protocol.PeerID) ([]byte, error) {
	var out []byte
	for number := range h.study.Queries.Releases {
		q, err := h.keptQuery(party, uint32(number)+1)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		id := q.ID()
		out = append(binary.BigEndian.AppendUint32(out, q.Number), id[:]...)
	}
	return out, nil
}

func (h *hosted) keptQuery(party protocol.PeerID, number uint32) (protocol.Query, error) {
	raw, err := h.Store.Result(h.study.ID, filename.Query(party, number))
	if err != nil {
		return protocol.Query{}, err
	}
	return protocol.DecodeQuery(h.study.ID, party, raw)
}

// asked answers a query, from an earlier answer or by a computation that outlives the call. A
// caller for whom it takes too long is told to ask again.
func (h *hosted) asked(ctx context.Context, q protocol.Query, rows []byte) ([]byte, error) {
	if err := h.admissible(ctx, q, rows); err != nil {
		return nil, err
	}
	if raw, err := h.Store.Result(h.study.ID, filename.Answer(q.Party, q.Number)); !errors.Is(err, store.ErrNotFound) {
		if before, err := h.keptQuery(q.Party, q.Number); err != nil || before.ID() == q.ID() {
			return raw, err
		}
		return nil, errOtherQuery(q)
	}
	if !h.asking.TryLock() {
		return nil, p2p.Refuse(p2p.CodeBusy, "another query of the study is being answered")
	}
	type outcome struct {
		raw []byte
		err error
	}
	done := make(chan outcome, 1)
	if err := h.do(ctx, func() error { // if the study is still served
		h.answers.Go(func() {
			defer h.asking.Unlock()
			raw, err := h.answer(h.life, q, rows)
			done <- outcome{raw, err}
		})
		return nil
	}); err != nil {
		h.asking.Unlock()
		return nil, err
	}
	patience := time.NewTimer(longestWait)
	defer patience.Stop()
	select {
	case out := <-done:
		return out.raw, out.err
	case <-patience.C:
		return nil, p2p.Refuse(p2p.CodeBusy, "the query is being answered")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func errOtherQuery(q protocol.Query) error {
	return p2p.Refuse(p2p.CodeConflict, "there is another query under number %d", q.Number)
}

// admissible checks a query against the study, its dates and its releases.
func (h *hosted) admissible(ctx context.Context, q protocol.Query, rows []byte) error {
	s := h.study
	var result protocol.Result
	var header session.Header
	var answered, posted bool
	if err := h.do(ctx, func() error {
		result, answered = h.machine.Result()
		header, posted = h.machine.Release(q.Party)
		return nil
	}); err != nil {
		return err
	}
	index, _ := s.QuerySketch()
	described := queried(q)
	switch k := s.Sketches[index].Projection.K; {
	case h.Now() >= s.NewRecords:
		return p2p.Refuse(p2p.CodeRefused, "queries closed at %s", s.NewRecords)
	case !answered:
		return p2p.Refuse(p2p.CodeNotFound, "the study has no result yet")
	case q.T2 != result.T2:
		return p2p.Refuse(p2p.CodeConflict, "the query was made under another agreement (T2 differs)")
	case !posted || !slices.Contains(result.Releases, header.ID):
		return p2p.Refuse(p2p.CodeRefused, "no release of the caller is in the study's result")
	case int64(q.Number) > int64(s.Queries.Releases):
		return p2p.Refuse(p2p.CodeRefused, "query %d: the study admits %d", q.Number, s.Queries.Releases)
	case q.Rows > int64(s.Queries.Records) || int64(q.Cols) != int64(k):
		return p2p.Refuse(p2p.CodeInvalid, "%d x %d integers: the study admits %d rows of %d", q.Rows, q.Cols, s.Queries.Records, k)
	case q.Data.Size != described.Size() || int64(len(rows)) != q.Data.Size || sha256.Sum256(rows) != q.Data.Hash:
		return p2p.Refuse(p2p.CodeInvalid, "the rows are not those of the statement")
	}
	if _, err := release.Decode(described, bytes.NewReader(rows)); err != nil {
		return p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	return nil
}

// queried describes the rows of a query as a sketch.
func queried(q protocol.Query) protocol.ReleasedSketch {
	return protocol.ReleasedSketch{Side: sketch.Records, Rows: q.Rows, Cols: int64(q.Cols), Width: int(q.Width), Chunks: []protocol.Digest{q.Data.Hash}}
}

// answer stores a query, answers it and stores the answer. The rows are those of the statement. A
// panic in numerics must cost only this query.
func (h *hosted) answer(ctx context.Context, q protocol.Query, rows []byte) (raw []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			what, stack := node.PanicText(p)
			h.Log.Error("answering a query panicked", "study", h.study.ID.Short(), "panic", what, "stack", stack)
			raw, err = nil, errors.New("internal error")
		}
	}()
	switch before, err := h.keptQuery(q.Party, q.Number); {
	case err == nil && before.ID() != q.ID():
		return nil, errOtherQuery(q)
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return nil, err
	case err != nil:
		if err := h.Store.PutResult(h.study.ID, filename.QuerySent(q.Party, q.Number), rows); err != nil {
			return nil, err
		}
		if err := h.Store.PutResult(h.study.ID, filename.Query(q.Party, q.Number), q.Encode()); err != nil {
			return nil, err
		}
	}
	party, _ := h.study.PartyIndex(q.Party)
	h.Log.Info("answering a query", "study", h.study.ID.Short(), "from", h.study.Parties[party].Name, "query", q.Number, "rows", q.Rows)
	decoded, err := release.Decode(queried(q), bytes.NewReader(rows))
	if err != nil {
		return nil, err
	}
	saved, err := newHosted(h.shared, h.study) // from the store: the machine belongs to another goroutine
	if err != nil {
		return nil, err
	}
	var headers []session.Header
	for _, p := range h.study.Parties {
		if header, posted := saved.machine.Release(p.ID); posted {
			headers = append(headers, header)
		}
	}
	size, err := h.computer().takes(asking(saved.effective()), headers)
	if err != nil {
		return nil, err
	}
	leave, err := h.memory.take(ctx, size)
	if err != nil {
		return nil, err
	}
	defer leave()
	files := h.files()
	defer func() { err = errors.Join(err, files.Close()) }()
	run, _, err := saved.queried(ctx, h.Quotas.Memory, files)
	var tooLarge *MemoryError
	if errors.Is(err, stored.ErrPurged) || errors.As(err, &tooLarge) {
		return nil, p2p.Refuse(p2p.CodeRefused, "%v", err)
	}
	if err != nil {
		return nil, err
	}
	document, err := analysis.AnswerQuery(ctx, run, analysis.OwnQuery{Party: party, Number: int(q.Number), Sketch: decoded})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	name := filename.Answer(q.Party, q.Number)
	if err := h.Store.PutResult(h.study.ID, name+".json", data); err != nil {
		return nil, err
	}
	raw = h.signer.SignAnswer(protocol.Answer{Study: h.study.ID, Party: q.Party, Query: q.ID(), At: h.Now(), Document: stored.DocumentOf(data)}).Encode()
	return raw, h.Store.PutResult(h.study.ID, name, raw)
}
