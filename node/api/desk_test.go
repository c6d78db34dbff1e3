package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// desktop is a desk that records requests, and fails when told to.
type desktop struct {
	mu    sync.Mutex
	asked []string
	err   error
	hold  chan struct{} // not nil: Host blocks until it is closed
}

func (d *desktop) note(what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, what)
	return d.err
}

func (d *desktop) Draft(r DraftRequest) (Draft, error) {
	return Draft{File: "x", Parties: []DraftParty{{Name: "a"}}, Open: []string{}, Decided: []string{}}, d.note("draft " + r.Name)
}

func (d *desktop) Check(source []byte) (Hosted, error) {
	return Hosted{Forecast: []ForecastItem{{Analysis: "mean"}}}, d.note("check " + string(source))
}

func (d *desktop) Host(source []byte) (Hosted, error) {
	err := d.note("host " + string(source))
	if d.hold != nil {
		<-d.hold
	}
	return Hosted{Forecast: []ForecastItem{}}, err
}

func (d *desktop) Cancel(_ context.Context, id protocol.StudyID, reason string) (Cancelled, error) {
	return Cancelled{Study: id.String()}, d.note("cancel " + id.Short() + " " + reason)
}

// posted is a writing request.
type posted struct{ path, media, body, says string }

func posts(id string) []posted {
	return []posted{
		{prefix + "/draft", mediaJSON, `{"name": "x", "partition": "vertical", "lists": [], "ask": []}`, "draft x"},
		{prefix + "/check", mediaYAML, "cosketch: study/2", "check cosketch: study/2"},
		{prefix + "/studies", mediaYAML, "cosketch: study/2", "host cosketch: study/2"},
		{prefix + "/studies/" + id + "/cancel", mediaJSON, `{"reason": "the wrong year"}`, "cancel " + id[:8] + " the wrong year"},
	}
}

func (p posted) with(token string, change func(*http.Request)) func(*http.Request) {
	return func(r *http.Request) {
		r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(p.body)), int64(len(p.body))
		r.Header.Set("Content-Type", p.media)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if change != nil {
			change(r)
		}
	}
}

// newDesk serves with a desk, and returns a token that may write.
func newDesk(t *testing.T, change func(*Options)) (*Server, *desktop, kept, string) {
	t.Helper()
	d, tokens := &desktop{}, kept{}
	s, _ := newServer(t, newFake(t), func(o *Options) {
		o.Desk, o.Tokens = d, tokens.find
		if change != nil {
			change(o)
		}
	})
	return s, d, tokens, tokens.add(t, 0, StudiesWrite)
}

// Writing requests reach the desk, and each answer matches the document.
func TestWriting(t *testing.T) {
	s, d, _, token := newDesk(t, nil)
	document, _ := described(t, s)
	for _, p := range posts(s.Views.(*fake).studies[0].File.ID.String()) {
		w := ask(s, p.path, p.with(token, nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != mediaJSON || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %s", p.path, w.Code, w.Header(), w.Body)
		}
		if said := d.asked[len(d.asked)-1]; said != p.says {
			t.Errorf("%s: the desk was asked %q, want %q", p.path, said, p.says)
		}
		for path, item := range document["paths"].(object) {
			if post, ok := item.(object)["post"].(object); ok && (path == p.path || strings.HasSuffix(path, "/cancel") && strings.HasSuffix(p.path, "/cancel")) {
				answer := post["responses"].(object)["200"].(object)["content"].(object)[mediaJSON].(object)["schema"].(object)
				holds(t, document, path, answer, w.Body.Bytes())
				if asked := post["requestBody"].(object)["content"].(object)[p.media].(object)["schema"].(object); p.media == mediaJSON {
					holds(t, document, path+", asked", asked, []byte(p.body))
				}
			}
		}
	}
	if len(d.asked) != 4 {
		t.Errorf("asked: %q", d.asked)
	}
}

// Nobody can write without a token of this scope in the header: neither where readers need none,
// nor with a cookie.
func TestWritingNeedsAToken(t *testing.T) {
	s, d, tokens, token := newDesk(t, nil)
	cookie := func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: cookieNamePlain, Value: s.sessions.open(Token{Scopes: Scopes()}, s.Now())})
	}
	for _, p := range posts(s.Views.(*fake).studies[0].File.ID.String()) {
		problemOf(t, ask(s, p.path, p.with("", nil)), http.StatusUnauthorized)
		problemOf(t, ask(s, p.path, p.with("", cookie)), http.StatusUnauthorized)
		problemOf(t, ask(s, p.path, p.with("wrong", cookie)), http.StatusUnauthorized)
		problemOf(t, ask(s, p.path, p.with(tokens.add(t, 0, readScopes()...), cookie)), http.StatusForbidden)
		problemOf(t, ask(s, p.path, p.with(tokens.add(t, 5000, StudiesWrite), nil)), http.StatusUnauthorized)
		elsewhere := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
		if w := ask(s, p.path, p.with(token, elsewhere)); w.Code != http.StatusForbidden {
			t.Errorf("%s, from another site: %d", p.path, w.Code)
		}
	}
	if len(d.asked) > 0 {
		t.Errorf("the desk was asked %q", d.asked)
	}
	if one, err := s.tokenOf(strings.TrimPrefix(s.Link(), "/signin?key=")); err != nil || one.Has(StudiesWrite) {
		t.Errorf("the link opens %v, %v", one.Scopes, err)
	}
}

// A body that is too long, malformed or of another type is refused before it reaches the desk.
func TestWritingIsBounded(t *testing.T) {
	s, d, _, token := newDesk(t, nil)
	id := s.Views.(*fake).studies[0].File.ID.String()
	for _, p := range []posted{
		{path: prefix + "/studies", media: mediaYAML, body: strings.Repeat("#", mostStudy+1), says: "more than 1048576 bytes"},
		{path: prefix + "/draft", media: mediaJSON, body: `{"name": "` + strings.Repeat("a", mostDraft), says: "more than 4194304 bytes"},
		{path: prefix + "/studies/" + id + "/cancel", media: mediaJSON, body: strings.Repeat(" ", mostCancel+1), says: "more than 4096 bytes"},
		{path: prefix + "/studies", media: "application/x-www-form-urlencoded", body: "x", says: "want application/yaml"},
		{path: prefix + "/studies", body: "x", says: "want application/yaml"},
		{path: prefix + "/draft", media: "text/plain", body: "{}", says: "want application/json"},
		{path: prefix + "/draft", media: mediaJSON, body: `{"nme": "x"}`, says: "unknown field"},
		{path: prefix + "/draft", media: mediaJSON, body: `{} {}`, says: "more than one JSON object"},
		{path: prefix + "/draft?x=1", media: mediaJSON, body: `{}`, says: `"x"`},
	} {
		if got := problemOf(t, ask(s, p.path, p.with(token, nil)), http.StatusBadRequest); !strings.Contains(got.Detail, p.says) {
			t.Errorf("%s: %q, want %q", p.path, got.Detail, p.says)
		}
	}
	problemOf(t, ask(s, prefix+"/studies/xyz/cancel", posted{media: mediaJSON, body: "{}"}.with(token, nil)), http.StatusNotFound)
	w := ask(s, prefix+"/draft", nil)
	if problemOf(t, w, http.StatusMethodNotAllowed); w.Header().Get("Allow") != "POST" {
		t.Errorf("Allow: %q", w.Header().Get("Allow"))
	}
	problemOf(t, ask(s, prefix+"/nothing", posted{media: mediaJSON}.with(token, nil)), http.StatusNotFound)
	if len(d.asked) > 0 {
		t.Errorf("the desk was asked %q", d.asked)
	}
}

// An error that the caller can fix is sent as the commands print it; the text of any other error is
// not sent.
func TestRefusals(t *testing.T) {
	s, d, _, token := newDesk(t, nil)
	for _, c := range []struct {
		err    error
		status int
		id     fail.ID
	}{
		{fail.Usage.Of(errors.New("drafting: no")), http.StatusUnprocessableEntity, usage},
		{fmt.Errorf("study file: %w", fail.StudyFile), http.StatusUnprocessableEntity, fail.StudyFile},
		{fmt.Errorf("cancelling: %w", fail.NotInStore), http.StatusNotFound, fail.NotInStore},
		{fmt.Errorf("cancelling: %w", fail.ResultStands), http.StatusConflict, fail.ResultStands},
		{fmt.Errorf("storing /secret/path: %w", fail.DiskFull), http.StatusInternalServerError, fail.APIFailed},
		{errors.New("/secret/path"), http.StatusInternalServerError, fail.APIFailed},
	} {
		d.err = c.err
		w := ask(s, prefix+"/studies", posted{media: mediaYAML, body: "x"}.with(token, nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), `"id":"`+string(c.id)+`"`) || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
	}
}

// Concurrent writes are limited; over the limit the caller is told to try again later.
func TestFewWriteAtOnce(t *testing.T) {
	s, d, _, token := newDesk(t, nil)
	d.hold = make(chan struct{})
	host := posted{path: prefix + "/studies", media: mediaYAML, body: "x"}
	var all sync.WaitGroup
	codes := make(chan int, mostWriters+1)
	for range mostWriters + 1 {
		all.Go(func() {
			w := ask(s, host.path, host.with(token, nil))
			codes <- w.Code
		})
	}
	if code := <-codes; code != http.StatusServiceUnavailable { // the others wait for the desk
		t.Errorf("%d", code)
	}
	close(d.hold)
	all.Wait()
	for range mostWriters {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("%d", code)
		}
	}
}
