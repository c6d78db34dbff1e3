package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// world is a test's store and clocks: pauses end at once and advance the monotonic clock.
type world struct {
	mu     sync.Mutex
	where  map[protocol.StudyID]State
	now    protocol.Instant
	up     time.Duration
	counts map[Outcome]int
	left   int
	came   chan Outcome // of each message
	pauses []time.Duration
	log    bytes.Buffer
}

func newWorld() *world {
	return &world{where: map[protocol.StudyID]State{}, now: 1_800_000_000, counts: map[Outcome]int{}, came: make(chan Outcome, 100_000)}
}

// await waits until so many more messages had an outcome.
func (w *world) await(t *testing.T, what Outcome, n int) {
	t.Helper()
	for n > 0 {
		select {
		case o := <-w.came:
			if o == what {
				n--
			}
		case <-t.Context().Done():
			t.Fatalf("%d messages are not %s", n, what)
		}
	}
}

func (w *world) put(id protocol.StudyID, s State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.where[id] = s
}

func (w *world) Studies() (ids []protocol.StudyID, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.where {
		ids = append(ids, id)
	}
	return ids, nil
}

func (w *world) Standing(id protocol.StudyID) (State, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.where[id]
	return s, ok, nil
}

func (w *world) options(dir string, hooks ...Hook) Options {
	return Options{
		Hooks: hooks, Dir: dir, Studies: w, Version: "test",
		Now:     func() protocol.Instant { w.mu.Lock(); defer w.mu.Unlock(); return w.now },
		Log:     slog.New(slog.NewTextHandler(&w.log, nil)),
		Count:   func(o Outcome) { w.mu.Lock(); defer w.mu.Unlock(); w.counts[o]++; w.came <- o },
		Waiting: func(by int) { w.mu.Lock(); defer w.mu.Unlock(); w.left += by },
		Uptime:  func() time.Duration { w.mu.Lock(); defer w.mu.Unlock(); return w.up },
		After: func(d time.Duration) <-chan time.Time {
			if d == lookEvery {
				return nil // nobody else changes studies here
			}
			w.mu.Lock()
			w.up += d
			w.now += protocol.Instant(d / time.Second)
			w.pauses = append(w.pauses, d)
			w.mu.Unlock()
			c := make(chan time.Time, 1)
			c <- time.Time{}
			return c
		},
	}
}

// received is a request that a receiver got.
type received struct {
	id, at, signature string
	body              []byte
	message           Message
}

// receiver records requests, and answers as told.
type receiver struct {
	*httptest.Server
	got    chan received
	answer func(n int, w http.ResponseWriter, r *http.Request) // nil: 200
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	r := &receiver{got: make(chan received, 10_000), answer: answer}
	n := 0
	var mu sync.Mutex
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		one := received{q.Header.Get("Webhook-Id"), q.Header.Get("Webhook-Timestamp"), q.Header.Get("Webhook-Signature"), body, Message{}}
		if err := json.Unmarshal(body, &one.message); err != nil {
			t.Errorf("body %s: %v", body, err)
		}
		mu.Lock()
		n++
		mine := n
		mu.Unlock()
		if r.answer != nil {
			r.answer(mine, w, q)
		}
		r.got <- one
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(t *testing.T) received {
	t.Helper()
	select {
	case one := <-r.got:
		return one
	case <-t.Context().Done():
		t.Fatal("nothing arrived")
	}
	return received{}
}

func hook(t *testing.T, name, url string, moves ...Event) Hook {
	secret, err := ParseSecret([]byte(NewSecret() + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return Hook{Name: name, URL: url, Secret: secret, Moves: moves}
}

func start(t *testing.T, o Options) (*Sender, func()) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx) }()
	stop := sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return s, stop
}

func study(n byte) (id protocol.StudyID) { id[0] = n; return id }

func TestHooksAreToldEveryMoveInOrder(t *testing.T) {
	w, to := newWorld(), newReceiver(t, nil)
	h := hook(t, "portal", to.URL)
	s, _ := start(t, w.options(t.TempDir(), h))
	steps := []struct {
		now  State
		want string
	}{
		{State{State: session.Open, WaitsFor: "approvals", From: []string{"north", "south"}, Until: "2027-01-01T00:00:00Z"}, "study.hosted"},
		{State{State: session.Open, WaitsFor: "approvals", From: []string{"south"}}, ""},
		{State{State: session.Agreeing}, "study.approved"},
		{State{State: session.Collecting}, "study.committed"},
		{State{State: session.Agreeing}, "study.renewed"},
		{State{State: session.Collecting}, "study.committed"},
		{State{State: session.Computing}, "study.released"},
		{State{State: session.Collecting}, "study.halfway"},
		{State{State: session.Computing}, "study.released"},
		{State{State: session.Answered, Results: 1}, "study.result"},
		{State{State: session.Computing, Results: 1}, "study.released"},
		{State{State: session.Answered, Results: 2}, "study.superseded"},
		{State{State: session.Closed, Results: 2}, "study.closed"},
	}
	before, number := "", 0
	for _, step := range steps {
		step.now.Name = "bones"
		w.put(study(1), step.now)
		s.Look(study(1))
		if step.want == "" {
			continue
		}
		number++
		got := to.take(t)
		want := MoveData{Aggregator: s.Aggregator.String(), Study: study(1).String(), Name: "bones", Number: number, Before: before, After: string(step.now.State), WaitsFor: step.now.WaitsFor, From: step.now.From, Until: step.now.Until}
		if want.From == nil {
			want.From = []string{}
		}
		if got.message.Type != step.want || fmt.Sprint(got.message.Data) != fmt.Sprint(want) || got.message.Timestamp != w.now.String() {
			t.Errorf("got %s %+v\nwant %s %+v", got.message.Type, got.message.Data, step.want, want)
		}
		mac := hmac.New(sha256.New, h.Secret())
		mac.Write([]byte(got.id + "." + got.at + "." + string(got.body)))
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); got.signature != want {
			t.Errorf("signature %s, want %s", got.signature, want)
		}
		before = string(step.now.State)
	}
	for cause, want := range map[bool]string{true: "study.cancelled", false: "study.stopped"} {
		id := study(2)
		if cause {
			id = study(3)
		}
		w.put(id, State{State: session.Stopped, Cancelled: cause})
		s.Look(id)
		if got := to.take(t); got.message.Type != want {
			t.Errorf("got %s, want %s", got.message.Type, want)
		}
	}
}

func TestAHookIsToldOfItsEventsAlone(t *testing.T) {
	w, to := newWorld(), newReceiver(t, nil)
	s, _ := start(t, w.options(t.TempDir(), hook(t, "portal", to.URL, Result)))
	for _, now := range []State{{State: session.Open}, {State: session.Computing}, {State: session.Closed, Results: 1}} {
		w.put(study(1), now)
		s.Look(study(1))
	}
	if got := to.take(t); got.message.Type != "study.result" || got.message.Data.Before != "computing" || got.message.Data.Number != 1 {
		t.Errorf("got %+v", got.message)
	}
}

func TestAFailingHookIsTriedAgainWithTheSameIDAndLongerPauses(t *testing.T) {
	w := newWorld()
	to := newReceiver(t, func(n int, w http.ResponseWriter, r *http.Request) {
		switch {
		case n == 1:
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case n == 2:
			w.WriteHeader(http.StatusInternalServerError)
			w.Write(bytes.Repeat([]byte("x"), 1<<20)) // more than is read
		case n < 6:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	s, stop := start(t, w.options(t.TempDir(), hook(t, "portal", to.URL)))
	w.put(study(1), State{State: session.Open})
	s.Look(study(1))
	first := to.take(t)
	for range 4 {
		to.take(t)
	}
	last := to.take(t)
	if last.id != first.id || !bytes.Equal(last.body, first.body) || last.at == first.at || last.signature == first.signature {
		t.Errorf("the first try was %+v, the last %+v", first, last)
	}
	w.put(study(1), State{State: session.Agreeing})
	s.Look(study(1))
	if next := to.take(t); next.message.Type != "study.approved" {
		t.Errorf("got %+v", next.message)
	}
	w.await(t, Delivered, 2)
	stop()
	if want := []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9}; !slices.Equal(w.pauses, want) {
		t.Errorf("pauses %v, want %v", w.pauses, want)
	}
	if w.counts[Failed] != 5 || w.counts[Delivered] != 2 || w.counts[Dropped] != 0 || w.left != 0 {
		t.Errorf("counts %v, %d pending", w.counts, w.left)
	}
	if log := w.log.String(); strings.Count(log, "a webhook failed") != 2 || !strings.Contains(log, "left_out=4") || strings.Contains(log, to.URL) {
		t.Errorf("the log says\n%s", log)
	}
}

func TestADeadHookIsGivenUpAndHindersNobody(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	w, to := newWorld(), newReceiver(t, nil)
	s, stop := start(t, w.options(t.TempDir(), hook(t, "dead", dead.URL), hook(t, "portal", to.URL)))
	w.put(study(0), State{State: session.Open})
	s.Look(study(0))
	w.await(t, Dropped, 1)
	to.take(t)
	for n := byte(1); n < 20; n++ { // the dead one is retried meanwhile
		w.put(study(n), State{State: session.Open})
		s.Look(study(n))
		to.take(t)
	}
	stop()
	if !slices.Contains(w.pauses, mostPause) || slices.Max(w.pauses) > mostPause {
		t.Errorf("the longest pause is %v", slices.Max(w.pauses))
	}
}

func TestASlowHookIsBoundedAndLosesTheOldest(t *testing.T) {
	w := newWorld()
	release := make(chan struct{})
	to := newReceiver(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			<-release
		}
	})
	s, stop := start(t, w.options(t.TempDir(), hook(t, "portal", to.URL)))
	move := func(n int) {
		state := session.Agreeing
		if n%2 == 0 {
			state = session.Collecting
		}
		w.put(study(1), State{State: state})
		s.Look(study(1)) // returns even though nobody answers
	}
	const all = 3 * mostMoves
	for n := range all {
		move(n)
	}
	w.mu.Lock()
	early := w.counts[Dropped]
	w.mu.Unlock()
	if early < all-2*mostMoves {
		t.Errorf("%d were dropped of %d", early, all)
	}
	close(release)
	for {
		if got := to.take(t); got.message.Data.Number >= 2 {
			break
		}
	}
	stop()
	if len(s.couriers[0].all[study(1)].Pending) > mostOfStudy {
		t.Errorf("%d are pending", len(s.couriers[0].all[study(1)].Pending))
	}
}

// With the most pending messages, a study's new message replaces its oldest; the move of a study
// without one waits, so that its last state is told in the end.
func TestAFullOutboxLosesNoLastState(t *testing.T) {
	w := newWorld()
	s, err := New(w.options(t.TempDir(), hook(t, "portal", "http://127.0.0.1:1")))
	if err != nil {
		t.Fatal(err)
	}
	c := s.couriers[0]
	move := func(n byte, state session.State) { c.note(observation{study(n), State{State: state}, w.now}) }
	for n := range byte(mostPending / mostOfStudy) {
		for i := range mostOfStudy {
			move(n, []session.State{session.Agreeing, session.Collecting}[i%2])
		}
	}
	if c.count != mostPending || w.left != mostPending {
		t.Fatalf("%d are pending, %d counted", c.count, w.left)
	}
	move(0, session.Closed)
	if p := c.all[study(0)].Pending; len(p) != mostOfStudy || !strings.Contains(string(p[len(p)-1].Body), `"study.closed"`) || w.counts[Dropped] != 1 {
		t.Errorf("%d are pending, %d were dropped, the last is %s", len(p), w.counts[Dropped], p[len(p)-1].Body)
	}
	move(200, session.Open)
	move(200, session.Closed)
	if c.all[study(200)] != nil || c.count != mostPending {
		t.Errorf("one more is pending: %d", c.count)
	}
	if err := c.shift(study(1), c.all[study(1)], c.tries[study(1)]); err != nil {
		t.Fatal(err)
	}
	move(200, session.Closed)
	if r := c.all[study(200)]; r == nil || len(r.Pending) != 1 || r.Announced.State != session.Closed || w.counts[Dropped] != 1 {
		t.Errorf("there is room: %+v", r)
	}
}

func TestWhatIsPendingSurvivesARestart(t *testing.T) {
	dir, w := t.TempDir(), newWorld()
	down := true
	to := newReceiver(t, func(n int, answer http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if down {
			answer.WriteHeader(http.StatusBadGateway)
		}
	})
	h := hook(t, "portal", to.URL)
	w.put(study(9), State{State: session.Closed, Results: 1}) // older than the hook, which is not told of it
	s, stop := start(t, w.options(dir, h))
	w.put(study(1), State{State: session.Open})
	s.Look(study(1))
	first := to.take(t)
	stop()
	w.put(study(1), State{State: session.Stopped, Cancelled: true}) // by another process
	w.mu.Lock()
	down = false
	w.mu.Unlock()
	for len(to.got) > 0 {
		to.take(t)
	}
	_, stop = start(t, w.options(dir, h))
	again, then := to.take(t), to.take(t)
	if again.id != first.id || !bytes.Equal(again.body, first.body) {
		t.Errorf("after the restart came %+v, not %+v", again.message, first.message)
	}
	if then.message.Type != "study.cancelled" || then.message.Data.Before != "open" || then.message.Data.Number != 2 {
		t.Errorf("then came %+v", then.message)
	}
	w.await(t, Delivered, 2)
	stop()
	w.put(study(2), State{State: session.Open})
	_, stop = start(t, w.options(dir, h)) // and nothing is sent twice
	if got := to.take(t); got.message.Data.Study != study(2).String() {
		t.Errorf("got %+v", got.message)
	}
	stop()
	if err := os.WriteFile(filepath.Join(dir, "portal", study(1).String()), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(w.options(dir, h)); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a damaged record: %v", err)
	}
}

func TestAddressesAndSecrets(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://portal.example.org/x?y=z": true, "http://127.0.0.1:8080/x": true, "http://[::1]/x": true,
		"http://portal.example.org": false, "http://localhost.example.org": false, "ftp://127.0.0.1": false, "portal.example.org": false,
		"https://user:word@portal.example.org": false, "https://portal.example.org/#x": false, "https:": false, "://": false,
	} {
		if says := CheckURL(url); (says == "") != ok {
			t.Errorf("%s: %q", url, says)
		}
	}
	for _, text := range []string{"", "whsec_", "whsec_AAAA", strings.TrimPrefix(NewSecret(), "whsec_"), "whsec_" + strings.Repeat("A", 200), "whsec_%%%%"} {
		if _, err := ParseSecret([]byte(text)); err == nil || text != "" && text != "whsec_" && strings.Contains(err.Error(), text) {
			t.Errorf("secret %q: %v", text, err)
		}
	}
	s, err := ParseSecret([]byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
	if err != nil {
		t.Fatal(err)
	}
	// The example of the specification.
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := s.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`)); got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
	if text := fmt.Sprintf("%v %+v %#v", Hook{Secret: s}, Hook{Secret: s}, Hook{Secret: s}); strings.Contains(text, "49 242") {
		t.Errorf("a hook shows its secret: %s", text)
	}
}

func TestATestMessage(t *testing.T) {
	to := newReceiver(t, nil)
	if err := Try(t.Context(), hook(t, "portal", to.URL), protocol.PeerID{}, "test", 1_800_000_000); err != nil {
		t.Fatal(err)
	}
	if got := to.take(t); got.message.Type != "test" || got.at != "1800000000" {
		t.Errorf("got %+v", got)
	}
	to.Close()
	if err := Try(t.Context(), hook(t, "portal", to.URL), protocol.PeerID{}, "test", 1_800_000_000); err == nil || strings.Contains(err.Error(), "http://") {
		t.Errorf("a dead one: %v", err)
	}
}
