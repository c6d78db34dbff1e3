package api

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// fake are views of studies that a test changes.
type fake struct {
	mu      sync.Mutex
	studies []Study
	raw     []byte
	news    chan struct{}
	down    error
}

func (f *fake) Studies() ([]Listed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Listed
	for _, s := range f.studies {
		out = append(out, Listed{s.File.ID, s.Added})
	}
	return out, f.down
}

func (f *fake) Study(id protocol.StudyID) (Study, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.studies {
		if s.File.ID == id {
			return s, nil
		}
	}
	return Study{}, fmt.Errorf("study %s: %w", id, ErrNotFound)
}

func (f *fake) Document(id protocol.StudyID, name protocol.Digest) (Document, error) {
	s, err := f.Study(id)
	if err != nil {
		return Document{}, err
	}
	for _, st := range s.Results {
		if st.Document.Hash == name {
			r, err := analysis.Decode(f.raw, id)
			return Document{st, f.raw, r}, err
		}
	}
	return Document{}, ErrNotFound
}

func (f *fake) Messages(id protocol.StudyID, from uint64, limit int) ([]Message, error) {
	s, err := f.Study(id)
	var out []Message
	for n := from; n < s.Messages && len(out) < limit; n++ {
		out = append(out, Message{Number: n, Kind: protocol.KindApprove, From: "a", Bytes: 34})
	}
	return out, err
}

func (f *fake) News(protocol.StudyID) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.news
}

func (f *fake) Ready() error { return f.down }

// change changes the first study and signals news.
func (f *fake) change(to func(*Study)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	to(&f.studies[0])
	close(f.news)
	f.news = make(chan struct{})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newFake has three studies, the first of which has a result.
func newFake(t *testing.T) *fake {
	t.Helper()
	source, err := os.ReadFile("../../protocol/study/testdata/hospitals.yaml")
	check(t, err)
	f := &fake{news: make(chan struct{})}
	for i := range 3 {
		s, err := file.Parse(append(source, strings.Repeat("#\n", i)...))
		check(t, err)
		one := Study{File: s, Added: protocol.Instant(1000 + i), Status: Status{Snapshot: stored.Snapshot{State: "collecting", Wait: "releases", From: []string{s.Parties[1].Name}, Until: s.Deadline.String()}}, Messages: 7}
		for _, p := range s.Parties {
			one.Parties = append(one.Parties, Party{Name: p.Name, ID: p.ID, Steps: []string{"approved"}})
		}
		f.studies = append(f.studies, one)
	}
	first := &f.studies[0]
	first.Parties[0].Release = &Release{Records: 5, Bytes: 96, Sketches: []protocol.ReleasedSketch{{Side: "columns", Rows: 4, Cols: 3, Width: 8, Chunks: make([]protocol.Digest, 1)}}}
	first.Parties[0].Received = 96
	first.Status.Culprits = []stored.Culprit{{Name: "x", ID: "y", Standing: "claimed", What: "nothing came"}}
	x, low, high := 0.5, 0.25, 0.75
	number := analysis.Number{Estimate: &x, StandardError: &low, Low: &low, High: &high}
	f.raw, err = json.Marshal(analysis.Result{Format: analysis.ResultFormat, Study: first.File.ID.String(), Name: first.File.Name, Completeness: analysis.Full,
		T2: strings.Repeat("0", 64), Partition: study.Vertical, Parties: []analysis.Party{{Name: "a"}}, Sketches: []analysis.Sketch{{Side: "columns"}},
		Analyses: []analysis.Analysis{{Kind: study.Correlation, Level: 0.95, Intervals: study.IntervalsEach, Features: []analysis.Feature{{Party: "a", Column: "x"}, {Party: "b", Column: "y"}},
			Pairs: []analysis.Pair{{I: 0, J: 1, Number: number}}}}})
	check(t, err)
	first.Results = []Statement{{Document: protocol.Document{Hash: sha256.Sum256(f.raw), Size: int64(len(f.raw))}, Complete: true, Kinds: []study.AnalysisKind{study.Correlation}, Signed: []byte("signed")}}
	return f
}

// newServer serves fake views on the loopback interface; change alters its options.
func newServer(t *testing.T, f *fake, change func(*Options)) (*Server, *metrics.Registry) {
	t.Helper()
	registry := &metrics.Registry{}
	o := Options{Views: f, Version: "test", Now: func() protocol.Instant { return 5000 }, Metrics: registry, Loopback: true, WithoutTokens: true}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	check(t, err)
	return s, registry
}

// ask asks for a path of http://127.0.0.1 from this machine; change alters the request.
func ask(s http.Handler, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7480"+path, nil)
	r.RemoteAddr = "127.0.0.1:5555"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// ids lists the ids of the catalogue of errors.
func ids() (out []fail.ID) {
	for _, r := range fail.Rows() {
		out = append(out, r.ID)
	}
	return out
}

// problemOf reads an answer, which must be a problem with a status.
func problemOf(t *testing.T, w *httptest.ResponseRecorder, status int) Problem {
	t.Helper()
	var p Problem
	if w.Code != status || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%d %s, want a problem %d:\n%s", w.Code, w.Header().Get("Content-Type"), status, w.Body)
	}
	check(t, json.Unmarshal(w.Body.Bytes(), &p))
	if row := fail.Find(p.ID); p.Status != status || p.Title == "" || p.Detail == "" || !slices.Contains(ids(), p.ID) || p.Hint != "" && !strings.Contains(p.Detail, p.Hint) || (row.Hint == "") != (p.Hint == "") {
		t.Errorf("problem %+v", p)
	}
	return p
}

func TestPagesOfStudies(t *testing.T) {
	f := newFake(t)
	s, _ := newServer(t, f, nil)
	var seen []string
	for path, n := prefix+"/studies?limit=2", 0; path != ""; n++ {
		var page studiesAnswer
		check(t, json.Unmarshal(ask(s, path, nil).Body.Bytes(), &page))
		for _, one := range page.Studies {
			seen = append(seen, one.ID)
		}
		if path = ""; page.Next != nil {
			path = prefix + "/studies?limit=2&cursor=" + *page.Next
		}
		if n == 0 { // a new study does not shift the pages
			source := append(f.studies[0].File.Source, "# another\n"...)
			another, err := file.Parse(source)
			check(t, err)
			f.studies = append(f.studies, Study{File: another})
		}
	}
	if len(seen) != 3 || seen[0] != f.studies[2].File.ID.String() || seen[2] != f.studies[0].File.ID.String() {
		t.Errorf("seen in pages: %q", seen)
	}
	for _, query := range []string{"limit=0", "limit=201", "limit=x", "cursor=AAAA", "limt=2", "limit=1&limit=2", "a;b"} {
		problemOf(t, ask(s, prefix+"/studies?"+query, nil), http.StatusBadRequest)
	}
}

func TestEntityTags(t *testing.T) {
	f := newFake(t)
	s, _ := newServer(t, f, nil)
	id := f.studies[0].File.ID.String()
	for _, path := range []string{prefix + "/studies", prefix + "/studies/" + id, prefix + "/studies/" + id + "/results/current", openAPIPath} {
		first := ask(s, path, nil)
		tag := first.Header().Get("ETag")
		if first.Code != http.StatusOK || tag == "" {
			t.Fatalf("%s: %d with tag %q", path, first.Code, tag)
		}
		for _, list := range []string{tag, `"other", W/` + tag, "*"} {
			again := ask(s, path, func(r *http.Request) { r.Header.Set("If-None-Match", list) })
			if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
				t.Errorf("%s with If-None-Match %s: %d and %d bytes", path, list, again.Code, again.Body.Len())
			}
		}
		if other := ask(s, path, func(r *http.Request) { r.Header.Set("If-None-Match", `"other"`) }); other.Code != http.StatusOK {
			t.Errorf("%s with another tag: %d", path, other.Code)
		}
		head := ask(s, path, func(r *http.Request) { r.Method = http.MethodHead })
		if head.Code != http.StatusOK || head.Body.Len() > 0 || head.Header().Get("ETag") != tag || head.Header().Get("Content-Length") != fmt.Sprint(first.Body.Len()) {
			t.Errorf("HEAD %s: %d, %d bytes, %v", path, head.Code, head.Body.Len(), head.Header())
		}
	}
	f.change(func(s *Study) { s.Messages++ })
	before := ask(s, prefix+"/studies/"+id, nil).Header().Get("ETag")
	f.change(func(s *Study) { s.Messages++ })
	if after := ask(s, prefix+"/studies/"+id, nil).Header().Get("ETag"); after == before {
		t.Error("the tag stays when the study changes")
	}
}

// The bytes of a result are those that were signed.
func TestResultIsVerbatim(t *testing.T) {
	f := newFake(t)
	s, _ := newServer(t, f, nil)
	id, name := f.studies[0].File.ID.String(), f.studies[0].Results[0].Document.Hash.String()
	for _, path := range []string{"current", name} {
		w := ask(s, prefix+"/studies/"+id+"/results/"+path, nil)
		if sha256.Sum256(w.Body.Bytes()) != f.studies[0].Results[0].Document.Hash {
			t.Errorf("%s: other bytes than those that were signed", path)
		}
		if kept := strings.Contains(w.Header().Get("Cache-Control"), "immutable"); kept != (path == name) {
			t.Errorf("%s: Cache-Control %q", path, w.Header().Get("Cache-Control"))
		}
	}
	// After somebody signed out, the browser's next user is shown nothing from its cache.
	signedIn := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName, Value: "a token"}) }
	for _, path := range []string{name, name + "/files/numbers.csv"} {
		if policy := ask(s, prefix+"/studies/"+id+"/results/"+path, signedIn).Header().Get("Cache-Control"); policy != "private, no-cache" {
			t.Errorf("%s, signed in: Cache-Control %q", path, policy)
		}
	}
	for _, path := range []string{"labels", strings.Repeat("0", 64), "..%2Fidentity.key", "labels-00.json"} {
		problemOf(t, ask(s, prefix+"/studies/"+id+"/results/"+path, nil), http.StatusNotFound)
	}
	if p := problemOf(t, ask(s, prefix+"/studies/"+f.studies[1].File.ID.String()+"/results/current", nil), http.StatusNotFound); !strings.Contains(p.Detail, "waits for releases from") {
		t.Errorf("no result yet: %s", p.Detail)
	}
	csv := ask(s, prefix+"/studies/"+id+"/results/current/files/numbers.csv", nil)
	if !strings.Contains(csv.Body.String(), "a: x,b: y,0.5,0.25,0.25,0.75") {
		t.Errorf("numbers.csv:\n%s", csv.Body)
	}
	problemOf(t, ask(s, prefix+"/studies/"+id+"/results/current/files/numbers.xlsx", nil), http.StatusNotFound)
}

// An unknown path or method is answered with a problem.
func TestProblems(t *testing.T) {
	f := newFake(t)
	s, _ := newServer(t, f, nil)
	problemOf(t, ask(s, prefix+"/nothing", nil), http.StatusNotFound)
	problemOf(t, ask(s, prefix+"/studies/abc", nil), http.StatusNotFound)
	problemOf(t, ask(s, prefix+"/studies/"+strings.Repeat("0", 64), nil), http.StatusNotFound)
	w := ask(s, prefix+"/studies", func(r *http.Request) { r.Method = http.MethodDelete })
	problemOf(t, w, http.StatusMethodNotAllowed)
	if w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow: %q", w.Header().Get("Allow"))
	}
	f.down = errors.New("the disk at /srv/secret is gone")
	p := problemOf(t, ask(s, prefix+"/studies", nil), http.StatusInternalServerError)
	if strings.Contains(p.Detail, "/srv/secret") {
		t.Errorf("an inner error leaves: %s", p.Detail)
	}
	if w := ask(s, "/readyz", nil); w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "/srv") {
		t.Errorf("/readyz: %d %s", w.Code, w.Body)
	}
	if w := ask(s, "/healthz", nil); w.Code != http.StatusOK {
		t.Errorf("/healthz: %d", w.Code)
	}
}

// A handler's panic affects only its own request.
func TestPanicIsAnAnswer(t *testing.T) {
	s, _ := newServer(t, newFake(t), nil)
	s.Page("GET /broken", "", func(http.ResponseWriter, *http.Request) error { panic("broken") }, nil)
	problemOf(t, ask(s, "/broken", nil), http.StatusInternalServerError)
	if w := ask(s, prefix+"/studies", nil); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d", w.Code)
	}
}

func body(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	b, err := io.ReadAll(w.Result().Body)
	check(t, err)
	return string(b)
}
