package pages_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/pages"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/views"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study/file"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// site serves the pages of an aggregator with a number of studies.
func site(t testing.TB, studies int) http.Handler {
	t.Helper()
	source, err := os.ReadFile("../../protocol/study/testdata/hospitals.yaml")
	check(t, err)
	dir := filepath.Join(t.TempDir(), "agg")
	check(t, store.Create(dir, store.Aggregator, rand.Reader))
	st, err := store.Open(dir, store.Aggregator, store.Options{})
	check(t, err)
	t.Cleanup(func() { st.Close() })
	nonce := regexp.MustCompile(`(?m)^nonce: .*$`)
	for range studies {
		var fresh [16]byte
		rand.Read(fresh[:])
		s, err := file.Parse(nonce.ReplaceAll(source, []byte(fmt.Sprintf("nonce: %q", hex.EncodeToString(fresh[:])))))
		check(t, err)
		check(t, st.PutStudy(s.ID, s.Source, 1_790_000_000))
	}
	server, err := api.New(api.Options{Views: views.New(st), Now: func() protocol.Instant { return 1_790_000_000 }, Metrics: &metrics.Registry{}, Loopback: true, WithoutTokens: true})
	check(t, err)
	check(t, pages.Add(server))
	return server
}

func get(t testing.TB, from http.Handler, path string) string {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	request.RemoteAddr = "127.0.0.1:40000"
	answer := httptest.NewRecorder()
	from.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// The first page is small, with all the studies that it lists and everything that it loads.
func TestFirstPageIsSmall(t *testing.T) {
	from := site(t, 60)
	html := get(t, from, "/")
	if rows := strings.Count(html, `role="rowheader"`); rows != 50 || !strings.Contains(html, "Older studies") {
		t.Fatalf("%d of 60 studies on the first page", rows)
	}
	if !strings.Contains(html, "50 of the 50 studies on this page go on, of 60 in all") {
		t.Errorf("the headline counts other studies than the page lists:\n%.2000s", html)
	}
	total, loads := len(html), regexp.MustCompile(`(?:href|src)="(/assets/[^"]*)"`).FindAllStringSubmatch(html, -1)
	for _, asset := range loads {
		total += len(get(t, from, asset[1]))
	}
	if len(loads) != 3 || total > 150_000 {
		t.Errorf("the first page and the %d files that it loads have %d bytes, at most 150000 allowed", len(loads), total)
	}
}

// Signing in leads back to the requested page, and to the same part of it.
func TestSigningInLeadsBack(t *testing.T) {
	request := httptest.NewRequest(http.MethodGet, "http://localhost/?before=abc", nil)
	answer := httptest.NewRecorder()
	site(t, 0).ServeHTTP(answer, request) // not from loopback, and so without a token
	if at := answer.Header().Get("Location"); answer.Code != http.StatusSeeOther || at != "/signin?next=%2F%3Fbefore%3Dabc" {
		t.Errorf("%d, to %q", answer.Code, at)
	}
}

// The link that serve prints leads to a button, and only the button signs in, so that link previews
// do not use it up. A link's content stays text.
func TestTheLinkLeadsToAButton(t *testing.T) {
	answer := httptest.NewRecorder()
	site(t, 0).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/signin?key="+url.QueryEscape(`a"><script>`), nil))
	page := answer.Body.String()
	if !strings.Contains(page, `name="token" value="a&#34;&gt;&lt;script&gt;"`) || strings.Contains(page, `type="password"`) || len(answer.Result().Cookies()) > 0 {
		t.Errorf("%d, %s", answer.Code, page)
	}
}

// BenchmarkFirstPage measures the server's part of loading the list of studies.
func BenchmarkFirstPage(b *testing.B) {
	for _, studies := range []int{0, 1, 50, 300} {
		b.Run(fmt.Sprintf("studies=%d", studies), func(b *testing.B) {
			from := site(b, studies)
			get(b, from, "/")
			for b.Loop() {
				get(b, from, "/")
			}
		})
	}
}
