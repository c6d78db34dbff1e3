package api

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/protocol"
)

// kept are tokens in a map.
type kept map[string][]byte

func (k kept) find(id string) ([]byte, error) {
	if record, ok := k[id]; ok {
		return record, nil
	}
	return nil, ErrNotFound
}

func (k kept) add(t *testing.T, expires protocol.Instant, scopes ...Scope) string {
	t.Helper()
	token, secret, err := NewToken("test", scopes, 1, expires)
	check(t, err)
	k[token.ID] = token.Encode()
	return secret.Reveal()
}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// A scope allows what it names and nothing else. Every invalid token allows nothing and gets the
// same answer.
func TestScopes(t *testing.T) {
	tokens := kept{}
	s, _ := newServer(t, newFake(t), func(o *Options) { o.Tokens, o.WithoutTokens = tokens.find, false })
	id := s.Views.(*fake).studies[0].File.ID.String()
	paths := map[Scope]string{StudiesRead: prefix + "/studies/" + id + "/board", ResultsRead: prefix + "/studies/" + id + "/results/current", MetricsRead: "/metrics"}
	for _, has := range Scopes() {
		token := tokens.add(t, 0, has)
		for needs, path := range paths {
			want := http.StatusForbidden
			if has == needs {
				want = http.StatusOK
			}
			if w := ask(s, path, bearer(token)); w.Code != want {
				t.Errorf("%s with %s: %d, want %d", path, has, w.Code, want)
			}
		}
	}
	good := tokens.add(t, 5001, StudiesRead)
	if w := ask(s, paths[StudiesRead], bearer(good)); w.Code != http.StatusOK {
		t.Errorf("a second before it expires: %d", w.Code)
	}
	over := tokens.add(t, 5000, StudiesRead)
	revoked := tokens.add(t, 0, StudiesRead)
	delete(tokens, strings.Split(revoked, "_")[1])
	other := tokens.add(t, 0, StudiesRead)
	mixed := good[:len("cosketch_00000000_")] + other[len("cosketch_00000000_"):]
	said := map[string]bool{}
	for _, wrong := range []string{over, revoked, mixed, good + "A", good[:len(good)-1], "", "x", strings.ToUpper(good)} {
		w := ask(s, paths[StudiesRead], bearer(wrong))
		if w.Header().Get("WWW-Authenticate") == "" {
			t.Error("no WWW-Authenticate")
		}
		said[problemOf(t, w, http.StatusUnauthorized).Detail] = true
	}
	if len(said) != 1 {
		t.Errorf("the answers tell how a token is wrong: %v", said)
	}
	problemOf(t, ask(s, paths[StudiesRead], nil), http.StatusUnauthorized)
	problemOf(t, ask(s, paths[StudiesRead], func(r *http.Request) { r.SetBasicAuth("a", good) }), http.StatusUnauthorized)
	problemOf(t, ask(s, paths[StudiesRead]+"?token="+good, nil), http.StatusUnauthorized)
}

// Without a token there is an answer only if the operator waived tokens, and then only for callers
// on this machine, under a loopback name, and through no proxy.
func TestLoopbackWithoutToken(t *testing.T) {
	for name, c := range map[string]struct {
		options func(*Options)
		request func(*http.Request)
		want    int
	}{
		"loopback":                         {nil, nil, http.StatusOK},
		"localhost":                        {nil, func(r *http.Request) { r.Host = "localhost:7480" }, http.StatusOK},
		"IPv6":                             {nil, func(r *http.Request) { r.Host, r.RemoteAddr = "[::1]:7480", "[::1]:5555" }, http.StatusOK},
		"another host name":                {nil, func(r *http.Request) { r.Host = "evil.example" }, http.StatusMisdirectedRequest},
		"a similar name":                   {nil, func(r *http.Request) { r.Host = "localhost.evil.example" }, http.StatusMisdirectedRequest},
		"no host name":                     {nil, func(r *http.Request) { r.Host = "" }, http.StatusMisdirectedRequest},
		"through a proxy":                  {nil, func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.1") }, http.StatusUnauthorized},
		"from elsewhere":                   {nil, func(r *http.Request) { r.RemoteAddr = "192.0.2.1:5555" }, http.StatusUnauthorized},
		"as a proxy that says nothing":     {nil, func(r *http.Request) { r.Proto, r.ProtoMinor = "HTTP/1.0", 0 }, http.StatusUnauthorized},
		"unless asked otherwise":           {func(o *Options) { o.WithoutTokens = false }, nil, http.StatusUnauthorized},
		"with hosts":                       {func(o *Options) { o.Hosts = []string{"cosketch.example"} }, nil, http.StatusUnauthorized},
		"under such a name":                {func(o *Options) { o.Hosts = []string{"cosketch.example"} }, func(r *http.Request) { r.Host = "COSKETCH.example:443" }, http.StatusUnauthorized},
		"not on loopback":                  {func(o *Options) { o.Loopback, o.Hosts = false, []string{"cosketch.example"} }, func(r *http.Request) { r.Host = "cosketch.example" }, http.StatusUnauthorized},
		"a loopback name, not on loopback": {func(o *Options) { o.Loopback = false }, nil, http.StatusMisdirectedRequest},
	} {
		s, _ := newServer(t, newFake(t), c.options)
		if w := ask(s, prefix+"/studies", c.request); w.Code != c.want {
			t.Errorf("%s: %d, want %d", name, w.Code, c.want)
		}
	}
}

// Every answer, including refusals, has the headers that restrict browsers.
func TestHeaders(t *testing.T) {
	s, _ := newServer(t, newFake(t), nil)
	for _, path := range []string{"/healthz", prefix + "/studies", prefix + "/nothing"} {
		h := ask(s, path, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }).Header()
		if policy := h.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Access-Control-Allow-Origin": ""} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
}

func TestSignIn(t *testing.T) {
	tokens := kept{}
	s, _ := newServer(t, newFake(t), func(o *Options) { o.Tokens, o.Hosts = tokens.find, []string{"cosketch.example"} })
	s.Page("POST /signin", "", s.SignIn, func(w http.ResponseWriter, _ *http.Request, p *Problem) { w.WriteHeader(p.Status) })
	token := tokens.add(t, 0, StudiesRead)
	post := func(host, origin, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "http://"+host+"/signin", strings.NewReader(url.Values{"token": {token}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	if w := post("cosketch.example", "https://evil.example", token); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
		t.Errorf("from another site: %d", w.Code)
	}
	if w := post("cosketch.example", "https://cosketch.example", token[:len(token)-1]); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) > 0 {
		t.Errorf("with a wrong token: %d", w.Code)
	}
	for host, want := range map[string]struct {
		name   string
		secure bool
	}{"cosketch.example": {cookieName, true}, "127.0.0.1:7480": {cookieNamePlain, false}} {
		cookies := post(host, "http://"+host, token).Result().Cookies()
		if len(cookies) != 1 {
			t.Fatalf("%s: cookies %v", host, cookies)
		}
		c := cookies[0]
		if c.Name != want.name || c.Secure != want.secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge <= 0 {
			t.Errorf("%s: %+v", host, c)
		}
		if w := ask(s, prefix+"/studies", func(r *http.Request) { r.AddCookie(c) }); w.Code != http.StatusOK {
			t.Errorf("%s: with the cookie %d", host, w.Code)
		}
	}
}

// entrance is a server with a sign-in page, and a browser's requests to it.
type entrance struct {
	t      *testing.T
	s      *Server
	tokens kept
	now    protocol.Instant
}

func newEntrance(t *testing.T) *entrance {
	e := &entrance{t: t, tokens: kept{}, now: 5000}
	e.s, _ = newServer(t, newFake(t), func(o *Options) {
		o.Tokens, o.WithoutTokens, o.Now = e.tokens.find, false, func() protocol.Instant { return e.now }
	})
	failed := func(w http.ResponseWriter, _ *http.Request, p *Problem) { w.WriteHeader(p.Status) }
	e.s.Page("POST /signin", "", e.s.SignIn, failed)
	e.s.Page("POST /signout", "", func(w http.ResponseWriter, r *http.Request) error { e.s.SignOut(w, r); return nil }, failed)
	return e
}

// post sends a form with a text, and returns the status and the new cookie.
func (e *entrance) post(path, text string, cookie *http.Cookie) (int, *http.Cookie) {
	w := ask(e.s, path, func(r *http.Request) {
		body := url.Values{"token": {text}}.Encode()
		r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if cookie != nil {
			r.AddCookie(cookie)
		}
	})
	if cookies := w.Result().Cookies(); len(cookies) == 1 {
		return w.Code, cookies[0]
	}
	return w.Code, nil
}

func (e *entrance) signIn(text string) *http.Cookie {
	e.t.Helper()
	code, cookie := e.post("/signin", text, nil)
	if code != http.StatusOK || cookie == nil {
		e.t.Fatalf("signing in: %d, cookie %v", code, cookie)
	}
	return cookie
}

func (e *entrance) sees(cookie *http.Cookie) int {
	return ask(e.s, prefix+"/studies", func(r *http.Request) { r.AddCookie(cookie) }).Code
}

// The cookie belongs to a session, which ends after a time, with its token, and by signing out. It
// is useless for anything else.
func TestSession(t *testing.T) {
	e := newEntrance(t)
	token := e.tokens.add(t, 0, StudiesRead)
	first, second := e.signIn(token), e.signIn(token)
	if first.Value == second.Value || strings.Contains(token, first.Value) || strings.Contains(first.Value, strings.SplitN(token, "_", 3)[2]) {
		t.Errorf("the cookies %q and %q of token %q", first.Value, second.Value, token)
	}
	if code := ask(e.s, prefix+"/studies", bearer(first.Value)).Code; code != http.StatusUnauthorized {
		t.Errorf("a session as a token: %d", code)
	}
	if code := e.sees(&http.Cookie{Name: cookieNamePlain, Value: token}); code != http.StatusUnauthorized {
		t.Errorf("a token as a cookie: %d", code)
	}
	if code := ask(e.s, "/metrics", func(r *http.Request) { r.AddCookie(first) }).Code; code != http.StatusForbidden {
		t.Errorf("beyond the token's scopes: %d", code)
	}
	if code, gone := e.post("/signout", "", first); code != http.StatusOK || gone.MaxAge >= 0 {
		t.Errorf("signing out: %d, %v", code, gone)
	}
	if e.sees(first) != http.StatusUnauthorized || e.sees(second) != http.StatusOK {
		t.Error("signing out ends another session, or not its own")
	}
	third := e.signIn(token)
	e.now += protocol.Instant(signedInFor/time.Second) - 1
	if code := e.sees(third); code != http.StatusOK {
		t.Errorf("just before twelve hours: %d", code)
	}
	e.now++
	if code := e.sees(third); code != http.StatusUnauthorized {
		t.Errorf("after twelve hours: %d", code)
	}
	fourth := e.signIn(token)
	delete(e.tokens, strings.Split(token, "_")[1])
	if code := e.sees(fourth); code != http.StatusUnauthorized {
		t.Errorf("after its token was revoked: %d", code)
	}
}

// Signing in repeatedly holds a limited number of sessions, and ends nobody else's.
func TestSessionsAreBounded(t *testing.T) {
	e := newEntrance(t)
	mine, others := e.tokens.add(t, 0, StudiesRead), e.tokens.add(t, 0, StudiesRead)
	other := e.signIn(others)
	var cookies []*http.Cookie
	for range mostSessions + 2 {
		cookies = append(cookies, e.signIn(mine))
	}
	for n, c := range cookies {
		if ok := e.sees(c) == http.StatusOK; ok != (n >= 2) {
			t.Errorf("session %d of %d: %v", n, len(cookies), ok)
		}
	}
	if code := e.sees(other); code != http.StatusOK || len(e.s.sessions.by) != mostSessions+1 {
		t.Errorf("another token's session: %d; %d are kept", code, len(e.s.sessions.by))
	}
}

// The link signs in once, within an hour.
func TestLink(t *testing.T) {
	e := newEntrance(t)
	key := func() string { return strings.TrimPrefix(e.s.Link(), "/signin?key=") }
	if code, _ := e.post("/signin", "", nil); code != http.StatusUnauthorized {
		t.Errorf("without a link: %d", code)
	}
	old, text := key(), key()
	if code, _ := e.post("/signin", old, nil); code != http.StatusUnauthorized {
		t.Errorf("an older link: %d", code)
	}
	if code := ask(e.s, prefix+"/studies", bearer(text)).Code; code != http.StatusUnauthorized {
		t.Errorf("the link as a token: %d", code)
	}
	cookie := e.signIn(text)
	if code := e.sees(cookie); code != http.StatusOK {
		t.Errorf("signed in by the link: %d", code)
	}
	if code, _ := e.post("/signin", text, nil); code != http.StatusUnauthorized {
		t.Errorf("a second time: %d", code)
	}
	text = key()
	e.now += protocol.Instant(linkFor / time.Second)
	if code, _ := e.post("/signin", text, nil); code != http.StatusUnauthorized {
		t.Errorf("after an hour: %d", code)
	}
}

// Only Reveal shows a token.
func TestTokenIsNotPrinted(t *testing.T) {
	record, secret, err := NewToken("x", Scopes(), 0, 0)
	check(t, err)
	text := secret.Reveal()
	tail := text[len("cosketch_00000000_"):]
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{secret, &secret, struct{ inner Secret }{secret}, []Secret{secret}} {
			if said := fmt.Sprintf(verb, value); strings.Contains(said, tail) || strings.Contains(said, fmt.Sprintf("%x", tail)) {
				t.Errorf("%s of %T shows it", verb, value)
			}
		}
	}
	if _, err := secret.MarshalText(); err == nil {
		t.Error("it can be marshalled")
	}
	if strings.Contains(string(record.Encode()), tail) {
		t.Error("its record holds it")
	}
	if _, _, err := NewToken("x", []Scope{"all"}, 0, 0); err == nil {
		t.Error("a scope that there is not")
	}
	if _, _, err := NewToken("x", nil, 0, 0); err == nil {
		t.Error("no scope")
	}
}
