package api

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cosketch/cosketch/protocol"
)

// streamed reads events of a stream.
type streamed struct {
	t     *testing.T
	lines *bufio.Scanner
}

// listen serves on a real connection and opens a stream of the first study.
func listen(t *testing.T, s *Server, last string, change ...func(*http.Request)) (*streamed, context.CancelFunc, chan error) {
	t.Helper()
	l, loopback, err := Listen("127.0.0.1:0")
	check(t, err)
	if !loopback {
		t.Fatal("127.0.0.1 is not on the loopback interface")
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, s, nil, slog.New(slog.DiscardHandler)) }()
	request, err := http.NewRequest(http.MethodGet, "http://"+l.Addr().String()+prefix+"/studies/"+s.Views.(*fake).studies[0].File.ID.String()+"/events", nil)
	check(t, err)
	request.Header.Set("Last-Event-ID", last)
	for _, c := range change {
		c(request)
	}
	answer, err := http.DefaultClient.Do(request)
	check(t, err)
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	return &streamed{t, bufio.NewScanner(answer.Body)}, stop, ended
}

// next returns the next event; its name is empty at the end of the stream.
func (s *streamed) next() (name, id, data string) {
	s.t.Helper()
	for s.lines.Scan() {
		switch field, value, _ := strings.Cut(s.lines.Text(), ": "); field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if name != "" {
				return name, id, data
			}
		}
	}
	return "", "", ""
}

// A stream first reports a study's state, then its changes, and ends with the study. A client that
// reconnects gets only what is new.
func TestStream(t *testing.T) {
	f := newFake(t)
	s, _ := newServer(t, f, nil)
	stream, stop, ended := listen(t, s, "")
	name, id, data := stream.next()
	var first eventAnswer
	check(t, json.Unmarshal([]byte(data), &first))
	if name != "study" || id == "" || first.Status.State != "collecting" {
		t.Fatalf("first %s %s: %s", name, id, data)
	}
	f.change(func(s *Study) { s.Status.State = "computing" })
	if name, again, data := stream.next(); name != "study" || again == id || !strings.Contains(data, `"computing"`) {
		t.Errorf("then %s: %s", name, data)
	}
	f.change(func(s *Study) { s.Status.State = "closed" })
	_, last, _ := stream.next()
	if name, _, _ := stream.next(); name != "end" {
		t.Errorf("at the end: %q", name)
	}
	if name, _, _ := stream.next(); name != "" {
		t.Errorf("after the end: %q", name)
	}
	stop()
	check(t, <-ended)
	stream, stop, ended = listen(t, s, last)
	if name, _, _ := stream.next(); name != "end" {
		t.Errorf("who has seen everything hears %q", name)
	}
	stop()
	check(t, <-ended)
}

// A stopping server does not wait for its streams.
func TestStreamEndsWithTheServer(t *testing.T) {
	s, _ := newServer(t, newFake(t), nil)
	stream, stop, ended := listen(t, s, "")
	stream.next()
	stop()
	if name, _, _ := stream.next(); name != "" {
		t.Errorf("then %q", name)
	}
	check(t, <-ended)
}

// A revoked or expired token is shown nothing more: a stream that it opened also ends.
func TestStreamEndsWithItsToken(t *testing.T) {
	f := newFake(t)
	var now atomic.Int64
	now.Store(5000)
	tokens := kept{}
	token := tokens.add(t, 5001, StudiesRead)
	s, _ := newServer(t, f, func(o *Options) {
		o.Tokens, o.WithoutTokens, o.Now = tokens.find, false, func() protocol.Instant { return protocol.Instant(now.Load()) }
	})
	stream, stop, ended := listen(t, s, "", bearer(token))
	if name, _, _ := stream.next(); name != "study" {
		t.Fatalf("with a token: %q", name)
	}
	now.Store(5001)
	f.change(func(s *Study) { s.Status.State = "computing" })
	if name, _, data := stream.next(); name != "" {
		t.Errorf("after the token: %s: %s", name, data)
	}
	stop()
	check(t, <-ended)
}

// Streams have their own limit: other requests are still answered.
func TestStreamsAreBounded(t *testing.T) {
	f := newFake(t)
	s, registry := newServer(t, f, func(o *Options) { o.Streams = 1 })
	stream, stop, ended := listen(t, s, "")
	stream.next()
	path := prefix + "/studies/" + f.studies[0].File.ID.String()
	w := ask(s, path+"/events", nil)
	problemOf(t, w, http.StatusServiceUnavailable)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if w := ask(s, path, nil); w.Code != http.StatusOK {
		t.Errorf("beside a stream: %d", w.Code)
	}
	var out strings.Builder
	check(t, registry.Write(&out))
	if !strings.Contains(out.String(), "\ncosketch_http_streams 1\n") {
		t.Errorf("metrics do not count the stream:\n%s", out.String())
	}
	stop()
	stream.next()
	check(t, <-ended)
}
