package drive_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/session/drive"
	"github.com/cosketch/cosketch/protocol/wait"
	"github.com/cosketch/cosketch/seed"
)

// disk is a party's store in memory.
type disk struct {
	own     []protocol.Verified
	secrets map[uint32][]byte
	board   session.Board
	persist []string // types of the durable records
	fail    func(n int) error
	shown   []session.Status
	unshown error // error of Show
}

func (d *disk) Restored() (session.PartyRestored, error) {
	out := session.PartyRestored{Own: slices.Clone(d.own), Secrets: map[uint32]seed.Hidden{}}
	for attempt, data := range d.secrets {
		out.Secrets[attempt] = seed.Hide(data)
	}
	return out, nil
}

func (d *disk) Board() (session.Board, error) { return d.board, nil }

func (d *disk) Persist(r session.Record) error {
	if d.fail != nil {
		if err := d.fail(len(d.persist)); err != nil {
			return err
		}
	}
	d.persist = append(d.persist, fmt.Sprintf("%T", r))
	switch r := r.(type) {
	case session.SaveEnvelope:
		d.own = append(d.own, r.Envelope)
	case session.SaveSecrets:
		d.secrets[r.Attempt] = slices.Clone(r.Data.Reveal())
	case session.DestroySecrets:
		clear(d.secrets)
	case session.AppendBoard:
		if r.From == uint64(len(d.board.Envelopes)) {
			d.board.Envelopes, d.board.Head = append(d.board.Envelopes, r.Envelopes...), r.Head
		}
	}
	return nil
}

func (d *disk) Show(s session.Status) error {
	d.shown = append(d.shown, s)
	return d.unshown
}

// line is a transport to the aggregator.
type line struct {
	board        protocoltest.Board
	posted       []protocol.Verified
	refused, err error
	reads        int
	lost         error // error of reads
}

func (l *line) Post(_ context.Context, e []protocol.Verified) (refused, err error) {
	l.posted = append(l.posted, e...)
	return l.refused, l.err
}

func (l *line) Read(_ context.Context, from uint64, _ uint32) (session.Board, error) {
	l.reads++
	return l.board.Stretch(int(from), len(l.board.Envelopes)), l.lost
}

// work does all jobs with one function.
type work func(session.Job) (session.Event, error)

func (w work) Run(_ context.Context, job session.Job) (session.Event, error) { return w(job) }

func simulate(t *testing.T, terms protocoltest.Terms) *protocoltest.Simulation {
	t.Helper()
	st, err := protocoltest.NewStudy(terms)
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocoltest.New(protocoltest.Options{Study: st, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// until runs a simulation until its first party waits for something.
func until(t *testing.T, s *protocoltest.Simulation, waits wait.Code) {
	t.Helper()
	if err := s.RunUntil(func() bool { return s.Parties[0].Status().WaitFor == waits }); err != nil {
		t.Fatal(err)
	}
	if got := s.Parties[0].Status(); got.WaitFor != waits {
		t.Fatalf("it waits for %s", got.WaitFor)
	}
}

// first returns a copy of what the simulation's first party has stored.
func first(s *protocoltest.Simulation) *disk {
	p := s.Parties[0]
	d := &disk{own: slices.Clone(p.Store.Own), secrets: map[uint32][]byte{}, board: session.Board{Envelopes: slices.Clone(p.Store.Board), Head: p.Store.Head}}
	maps.Copy(d.secrets, p.Store.Secrets)
	return d
}

func open(t *testing.T, s *protocoltest.Simulation, d *disk) *drive.Party {
	t.Helper()
	p, err := drive.Open(session.PartyConfig{Study: s.Study, Signer: s.Parties[0].Signer, Entropy: rand.NewChaCha8([32]byte{9})}, d, func() protocol.Instant { return s.Now })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Nothing is due before the records it depends on are durable. After an error of the store the
// machine is not used any more, and a new one continues from what is stored.
func TestDueIsDurable(t *testing.T) {
	s := simulate(t, protocoltest.Terms{})
	d := first(s)
	broken := errors.New("no room")
	d.fail = func(int) error { return broken }
	p := open(t, s, d)
	if err := p.Step(session.Consent{}); !errors.Is(err, broken) {
		t.Fatalf("ended with %v", err)
	}
	if post, run := p.Due(); len(post)+len(run) > 0 {
		t.Error("something is due that is not durable")
	}
	d.fail = nil
	if err := p.Step(session.Consent{}); !errors.Is(err, broken) || len(d.persist) > 0 {
		t.Errorf("the machine went on: %v, %v", err, d.persist)
	}
	p = open(t, s, d)
	if err := p.Step(session.Consent{}); err != nil {
		t.Fatal(err)
	}
	post, _ := p.Due()
	if len(post) != 1 || len(d.own) != 1 || post[0].ID() != d.own[0].ID() {
		t.Errorf("due %v, stored %v", post, d.own)
	}
}

// The status is shown after each step whose records are durable, and after no other.
func TestStatusIsShown(t *testing.T) {
	s := simulate(t, protocoltest.Terms{})
	d := first(s)
	p := open(t, s, d)
	if len(d.shown) > 0 {
		t.Error("a status is shown before the first step")
	}
	d.fail = func(int) error { return errors.New("no room") }
	if err := p.Step(session.Consent{}); err == nil || len(d.shown) > 0 {
		t.Errorf("%v: the status of what is not durable is shown: %v", err, d.shown)
	}
	d.fail = nil
	p = open(t, s, d)
	d.unshown = errors.New("not shown")
	if err := p.Step(session.Consent{}); err != d.unshown || len(d.own) != 1 || len(d.shown) != 1 || d.shown[0].State != p.Status().State {
		t.Errorf("%v, %d stored, shown %v", err, len(d.own), d.shown)
	}
	l := &line{board: s.Aggregator.Board()}
	if err := p.Read(t.Context(), l, 0); err != d.unshown || len(d.shown) != 2 {
		t.Errorf("%v, shown %d times", err, len(d.shown))
	}
	if post, _ := p.Due(); len(post) != 1 {
		t.Errorf("%d due", len(post))
	}
}

// Every record of a step is made durable, in the machine's order, up to the one at which the store
// fails.
func TestEveryRecordIsPersisted(t *testing.T) {
	s := simulate(t, protocoltest.Terms{})
	if err := s.ApproveAll(); err != nil {
		t.Fatal(err)
	}
	l := &line{}
	if err := s.RunUntil(func() bool { return s.Aggregator.Status().State == session.Agreeing }); err != nil {
		t.Fatal(err)
	}
	l.board = s.Aggregator.Board()
	want := []string{"session.AppendBoard", "session.SaveEnvelope", "session.SaveSecrets"}
	for at := range 4 {
		d := first(s)
		failed := errors.New("no room")
		p := open(t, s, d)
		d.persist, d.fail = nil, func(n int) error {
			if n == at {
				return failed
			}
			return nil
		}
		before, _ := p.Due()
		err := p.Read(t.Context(), l, 0)
		post, _ := p.Due()
		if at < 3 {
			if !errors.Is(err, failed) || len(post) != len(before) || len(d.persist) != at {
				t.Errorf("failing at %d: %v, %d due, stored %v", at, err, len(post), d.persist)
			}
			continue
		}
		if err != nil || len(post) != 1 || post[0].Kind() != protocol.KindCommit || !slices.Equal(slices.Sorted(slices.Values(d.persist)), want) {
			t.Errorf("%v, %d due, stored %v", err, len(post), d.persist)
		}
		if slices.Index(d.persist, "session.SaveSecrets") > slices.Index(d.persist, "session.SaveEnvelope") {
			t.Errorf("the commitment is stored before its secrets: %v", d.persist)
		}
	}
}

func TestPost(t *testing.T) {
	s := simulate(t, protocoltest.Terms{})
	d := first(s)
	p := open(t, s, d)
	if err := p.Step(session.Consent{}); err != nil {
		t.Fatal(err)
	}
	l := &line{board: s.Aggregator.Board(), err: errors.New("lost")}
	due := func() int { post, _ := p.Due(); return len(post) }
	if refused, err := p.Post(t.Context(), l, 0); refused != nil || err != l.err || due() != 1 {
		t.Errorf("what is lost: %v, %v", refused, err)
	}
	l.err, l.refused = nil, errors.New("not now")
	if refused, err := p.Post(t.Context(), l, 9); refused != l.refused || err != nil || due() != 1 || l.reads != 1 {
		t.Errorf("refused for no reason that the board has: %v, %v", refused, err)
	}
	l.lost = errors.New("lost, too")
	if refused, err := p.Post(t.Context(), l, 9); refused != nil || err != l.lost {
		t.Errorf("the board cannot be read: %v, %v", refused, err)
	}
	l.lost = nil
	post, _ := p.Due()
	l.board = l.board.With(0, post...)
	if refused, err := p.Post(t.Context(), l, 9); refused != nil || err != nil || due() != 0 {
		t.Errorf("refused for it is on the board: %v, %v, %d due", refused, err, due())
	}
	l.refused, l.posted = nil, nil
	if refused, err := p.Post(t.Context(), l, 9); refused != nil || err != nil || len(l.posted) > 0 {
		t.Errorf("nothing is due: %v, %v", refused, err)
	}
}

// The argument most bounds what is posted at once, and only what was posted leaves the list.
func TestPostsSome(t *testing.T) {
	s := simulate(t, protocoltest.Terms{})
	d := first(s)
	p := open(t, s, d)
	if err := p.Step(session.Consent{}); err != nil {
		t.Fatal(err)
	}
	if err := p.Step(session.Retract{}); err != nil {
		t.Fatal(err)
	}
	before, _ := p.Due()
	l := &line{}
	if _, err := p.Post(t.Context(), l, 1); err != nil || len(before) < 2 {
		t.Fatal(err, len(before))
	}
	after, _ := p.Due()
	if len(l.posted) != 1 || len(after) != len(before)-1 || l.posted[0].ID() != before[0].ID() || after[0].ID() != before[1].ID() {
		t.Errorf("posted %v of %v, left %v", l.posted, before, after)
	}
}

// An event that the machine refuses does not change what is due.
func TestRefusedEvent(t *testing.T) {
	s := simulate(t, protocoltest.Terms{})
	if err := s.ApproveAll(); err != nil {
		t.Fatal(err)
	}
	until(t, s, wait.Shares)
	p := open(t, s, first(s))
	l := &line{board: s.Aggregator.Board()}
	if err := p.Read(t.Context(), l, 0); err != nil {
		t.Fatal(err)
	}
	before, _ := p.Due()
	if err := p.Step(session.Retract{}); err == nil {
		t.Fatal("a member has taken its approval back")
	}
	if after, _ := p.Due(); len(after) != len(before) {
		t.Errorf("%d due, then %d", len(before), len(after))
	}
}

func TestWork(t *testing.T) {
	s := simulate(t, protocoltest.Terms{})
	if err := s.ApproveAll(); err != nil {
		t.Fatal(err)
	}
	until(t, s, wait.Sketch)
	p := open(t, s, first(s))
	l := &line{board: s.Aggregator.Board()}
	never := work(func(session.Job) (session.Event, error) { t.Error("a job runs"); return nil, nil })
	if err := p.Work(t.Context(), never, l); err != nil { // nothing is drawn before the board was read again
		t.Fatal(err)
	}
	if err := p.Read(t.Context(), l, 0); err != nil {
		t.Fatal(err)
	}
	due := func() int { _, run := p.Due(); return len(run) }
	if due() != 1 {
		t.Fatalf("%d jobs are due", due())
	}
	failed := errors.New("no room")
	fails := func(err error) drive.Jobs {
		return work(func(session.Job) (session.Event, error) { return nil, err })
	}
	if err := p.Work(t.Context(), fails(failed), l); err != failed || due() != 1 || l.reads != 1 {
		t.Errorf("a job that fails: %v, %d due", err, due())
	}
	if err := p.Work(t.Context(), fails(&drive.StaleError{Err: failed}), l); err != failed || due() != 1 || l.reads != 2 {
		t.Errorf("a job that fails, and is not stale: %v, %d due", err, due())
	}
	done := work(func(session.Job) (session.Event, error) { return session.JobFailed{Err: failed}, nil })
	if err := p.Work(t.Context(), done, l); err != nil || due() != 0 || p.Status().State != session.Failed {
		t.Errorf("a job that cannot be done: %v, %d due, %v", err, due(), p.Status())
	}
}

// If a result cannot be fetched and a later one has replaced it, the job is dropped.
func TestSupersededJobIsDropped(t *testing.T) {
	s := simulate(t, protocoltest.Terms{Parties: 3, Quorum: 2, Late: true})
	for _, p := range s.Parties {
		p.Welcome = func(protocol.PeerID) bool { return true }
	}
	if err := s.Restart(); err != nil { // the rule is read at the start
		t.Fatal(err)
	}
	for _, p := range s.Parties[:2] {
		if err := p.Approve(); err != nil {
			t.Fatal(err)
		}
	}
	for _, date := range []protocol.Instant{protocoltest.Expires, protocoltest.Deadline} {
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if date == protocoltest.Expires {
			if err := s.Advance(date); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := s.Aggregator.Board()
	if err := s.Parties[2].Approve(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	d, l := first(s), &line{board: before} // no document is stored
	d.board = session.Board{Envelopes: slices.Clone(before.Envelopes), Head: before.Head(len(before.Envelopes))}
	p := open(t, s, d)
	if err := p.Read(t.Context(), l, 0); err != nil {
		t.Fatal(err)
	}
	fetches := func() (out []session.FetchResult) {
		_, run := p.Due()
		for _, job := range run {
			if f, ok := job.(session.FetchResult); ok {
				out = append(out, f)
			}
		}
		return out
	}
	uploads := work(func(job session.Job) (session.Event, error) {
		if _, ok := job.(session.Upload); !ok {
			t.Fatalf("a %T is due", job)
		}
		return session.ReleaseUploaded{}, nil
	})
	if err := p.Work(t.Context(), uploads, l); err != nil || len(fetches()) != 1 {
		t.Fatal(err, len(fetches()))
	}
	old := fetches()[0]
	gone := work(func(session.Job) (session.Event, error) {
		return nil, &drive.StaleError{Err: errors.New("no such document")}
	})
	if err := p.Work(t.Context(), gone, l); err == nil || len(fetches()) != 1 {
		t.Fatalf("there is no later result: %v", err)
	}
	l.board = s.Aggregator.Board()
	if err := p.Work(t.Context(), gone, l); err != nil {
		t.Fatal(err)
	}
	if now := fetches(); len(now) != 1 || now[0].Result.Document == old.Result.Document {
		t.Errorf("%d results are to be fetched", len(now))
	}
}

// shelf keeps a board in memory.
type shelf struct {
	board []protocol.Verified
	fail  error
}

func (s *shelf) Append(e []protocol.Verified) error {
	if s.fail == nil {
		s.board = append(s.board, e...)
	}
	return s.fail
}

func TestAggregator(t *testing.T) {
	s := simulate(t, protocoltest.Terms{Parties: 2})
	signer := protocoltest.Identity("aggregator")
	kept := &shelf{}
	a, err := drive.OpenAggregator(session.AggregatorConfig{Study: s.Study, Signer: signer}, nil, kept)
	if err != nil {
		t.Fatal(err)
	}
	if _, refused, broken := a.Step(session.Tick{Now: s.Now}); refused != nil || broken != nil {
		t.Fatal(refused, broken)
	}
	if err := s.ApproveAll(); err != nil {
		t.Fatal(err)
	}
	approval := s.Parties[0].Store.Own[0]
	if _, refused, broken := a.Step(session.Post{Envelope: approval}); refused != nil || broken != nil || len(kept.board) != 1 {
		t.Fatal(refused, broken, len(kept.board))
	}
	if _, refused, broken := a.Step(session.Post{Envelope: approval}); !errors.Is(refused, session.ErrPosted) || broken != nil {
		t.Errorf("twice: %v, %v", refused, broken)
	}
	kept.fail = errors.New("no room")
	if _, refused, broken := a.Step(session.Post{Envelope: s.Parties[1].Store.Own[0]}); refused != nil || broken != kept.fail {
		t.Errorf("the board is not kept: %v, %v", refused, broken)
	}
	kept.fail = nil
	if _, _, broken := a.Step(session.Tick{Now: s.Now}); broken == nil || len(kept.board) != 1 {
		t.Errorf("the machine went on: %v, %d on the board", broken, len(kept.board))
	}
	a, err = drive.OpenAggregator(session.AggregatorConfig{Study: s.Study, Signer: signer}, kept.board, kept)
	if err != nil {
		t.Fatal(err)
	}
	if _, refused, broken := a.Step(session.Post{Envelope: s.Parties[1].Store.Own[0]}); refused != nil || broken != nil || a.Status().State != session.Agreeing {
		t.Errorf("%v, %v, %s", refused, broken, a.Status().State)
	}
}
