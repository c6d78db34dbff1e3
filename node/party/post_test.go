package party

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/store/storetest"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/session/drive"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// answers is an aggregator that answers posts as told, and reads from its board.
type answers struct {
	board  protocoltest.Board
	passes []protocol.Verified
	refuse error
	shows  bool // posts appear on the board
	reads  int
}

func (a *answers) Call(_ context.Context, name string, request []byte) ([]byte, error) {
	if name == calls.Read {
		a.reads++
		q, err := wire.DecodeRead(request)
		if err != nil {
			return nil, err
		}
		reply := wire.BoardReply{From: q.From, Head: a.board.Head(len(a.board.Envelopes))}
		for _, e := range a.board.Envelopes[q.From:] {
			reply.Envelopes = append(reply.Envelopes, e.Envelope())
		}
		return wire.EncodeBoardReply(reply), nil
	}
	posted, err := wire.DecodePost(request)
	if err != nil || a.refuse != nil {
		return nil, errors.Join(err, a.refuse)
	}
	for _, plain := range posted {
		e, err := protocol.Verify(plain)
		if err != nil {
			return nil, err
		}
		if a.shows {
			a.board.Envelopes = append(a.board.Envelopes, e)
		}
	}
	return calls.EncodePassed(a.passes), nil
}

// serving opens a study of a party that has approved it, with such an aggregator.
func serving(t *testing.T, terms protocoltest.Terms) (*service, *answers) {
	t.Helper()
	st := storetest.New(t, store.Party)
	s, err := protocoltest.NewStudy(terms)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.PutStudy(s.ID, s.Source, protocoltest.Start); err != nil {
		t.Fatal(err)
	}
	a := &answers{board: protocoltest.Board{Study: s.ID, Keeper: protocoltest.Identity("aggregator")}}
	env := node.PartyEnv{Now: func() protocol.Instant { return protocoltest.Start }}.OrDefaults()
	r := &service{Source: source.Source{Env: env, Store: st, Signer: protocoltest.Identity("party 0"), Study: s}, client: calls.Client{Carrier: a, Study: s}}
	r.machine, err = drive.Open(session.PartyConfig{Study: s, Signer: r.Signer, Entropy: rand.Reader}, disk{r}, r.instant)
	if err == nil {
		err = r.machine.Step(session.Consent{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, a
}

// Whatever an aggregator answers to a post, its board shows what happened.
func TestTheBoardSaysWhatWasPosted(t *testing.T) {
	r, a := serving(t, protocoltest.Terms{})
	due, _ := r.machine.Due()
	if len(due) != 1 {
		t.Fatalf("%d messages are due", len(due))
	}
	busy, no := p2p.Refuse(p2p.CodeBusy, "later"), p2p.Refuse(p2p.CodeConflict, "no")
	var refusal *p2p.Refusal
	for _, c := range []struct {
		name   string
		refuse error
		passes []protocol.Verified
		reads  int
		is     func(error) bool
	}{
		{"later", busy, nil, 0, func(err error) bool { return errors.Is(err, busy) && transient(err) }},
		{"no", no, nil, 1, func(err error) bool { return errors.Is(err, no) && !transient(err) }},
		{"taken, and not shown", nil, nil, 1, func(err error) bool { return errors.Is(err, errUnseen) && transient(err) }},
		{"passed over", nil, due, 1, func(err error) bool { return errors.As(err, &refusal) && refusal.Code == p2p.CodeRefused }},
	} {
		a.refuse, a.passes, a.reads = c.refuse, c.passes, 0
		if err := r.post(t.Context(), len(due)); !c.is(err) || a.reads != c.reads {
			t.Errorf("%s: %v after %d reads", c.name, err, a.reads)
		}
		if still, _ := r.machine.Due(); len(still) != 1 {
			t.Errorf("%s: %d messages are due", c.name, len(still))
		}
	}
	a.refuse, a.passes, a.shows = nil, nil, true
	if err := r.post(t.Context(), len(due)); err != nil {
		t.Error(err)
	}
	if still, _ := r.machine.Due(); len(still) != 0 {
		t.Errorf("%d messages are due", len(still))
	}
}

// Only after these errors of jobs may the board show that the job is obsolete.
func TestSupersededJobs(t *testing.T) {
	gone, no := p2p.Refuse(p2p.CodeNotFound, "not here"), p2p.Refuse(p2p.CodeRefused, "no such document")
	other := errors.New("another hash")
	for _, c := range []struct {
		name   string
		job    session.Job
		failed error
		late   bool
		stale  bool
		again  bool // the error is to be retried
	}{
		{"an upload without a header", session.Upload{}, gone, false, true, true},
		{"an upload that is refused", session.Upload{}, no, false, false, false},
		{"a document that is not here yet", session.FetchResult{}, gone, false, false, true},
		{"a document that is refused", session.FetchResult{}, no, false, true, false},
		{"a document that may be replaced", session.FetchResult{}, other, true, true, true},
		{"a release", session.MakeRelease{}, no, false, false, false},
	} {
		r := &service{Source: source.Source{Study: &study.Study{}}}
		if c.late {
			r.Study.LateUntil = protocoltest.LateUntil
		}
		err := r.superseded(c.job, c.failed)
		var stale *drive.StaleError
		if errors.As(err, &stale) != c.stale || transient(err) != c.again || !errors.Is(err, c.failed) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
