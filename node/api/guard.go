package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cosketch/cosketch/protocol/fail"
)

// cookieName is the cookie set by signing in. Browsers accept a name that begins with __Host- only
// over HTTPS, and send it only to this very host.
const (
	cookieName       = "__Host-cosketch"
	cookieNamePlain  = "cosketch" // over plain HTTP on the loopback interface
	mostAtOnce       = 64         // requests, apart from streams
	requestShares    = 2          // one address may have 1/2 of them
	longestFormBytes = 4 << 10

	// contentPolicy lets a page load only what this server has, and forbids scripts and styles
	// within the page.
	contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// guard checks every request before its handler.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &watched{ResponseWriter: w}
		began := time.Now()
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				s.Logger.Error("a handler panicked", "route", r.Pattern, "panic", p)
				if out.status == 0 {
					s.writeProblem(out, r, problem(fail.APIFailed.New()))
				}
			}
			s.counted(r, out.status, time.Since(began))
		}()
		headers(out.Header())
		if !s.named(r.Host) {
			s.writeProblem(out, r, problem(fail.APIWrongHost.New(r.Host)))
			return
		}
		next.ServeHTTP(out, r)
	})
}

// headers restricts what browsers may do with any answer: they load only from this server.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// named reports whether a Host header names this server. So a page of another name whose DNS points
// here (DNS rebinding) cannot read it.
func (s *Server) named(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if slices.Contains(s.Hosts, name) {
		return true
	}
	return s.Loopback && loopbackName(name)
}

func loopbackName(name string) bool {
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// open reports whether a request needs no token. The operator must have waived tokens, and the
// request must come from this machine to a loopback listener, under a loopback name. A proxy's
// requests can look the same, so no request is open unless the operator says so. Requests that show
// signs of a proxy still need a token.
func (s *Server) open(r *http.Request) bool {
	if !s.WithoutTokens || !s.Loopback || len(s.Hosts) > 0 {
		return false
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	if !r.ProtoAtLeast(1, 1) { // clients use HTTP/1.1, but some proxies speak 1.0
		return false
	}
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && loopbackName(from)
}

// allow checks that a request has a scope. The error is a *Problem that says what is missing.
func (s *Server) allow(r *http.Request, scope Scope) error {
	if scope == "" || s.open(r) {
		return nil
	}
	_, err := s.allowed(r, scope)
	return err
}

// allowed returns the token of a request if it has a scope. The error is a *Problem or that of
// shown.
func (s *Server) allowed(r *http.Request, scope Scope) (Token, error) {
	token, err := s.shown(r)
	switch {
	case errors.Is(err, errToken):
		return Token{}, problem(fail.APIBadToken.New())
	case errors.Is(err, errSession):
		return Token{}, problem(fail.APISessionOver.New())
	case err != nil:
		return Token{}, err
	case !token.Has(scope):
		return Token{}, problem(fail.APIForbidden.New(scopeList(token.Scopes), scope))
	}
	return token, nil
}

// shown returns the token in a request's header, or the one with which its cookie's session was
// opened.
func (s *Server) shown(r *http.Request) (Token, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, text, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return Token{}, problem(fail.APINoToken.New())
		}
		return s.Tokens.verify(strings.TrimSpace(text), s.Now())
	}
	if id := sessionOf(r); id != "" {
		return s.signedIn(id)
	}
	return Token{}, problem(fail.APINoToken.New())
}

// sessionOf returns the session id in a request's cookie, or "".
func sessionOf(r *http.Request) string {
	for _, name := range []string{cookieName, cookieNamePlain} {
		if c, err := r.Cookie(name); err == nil {
			return c.Value
		}
	}
	return ""
}

// SignIn checks a typed token, or the key of the link, and opens a session, whose id is set in a
// cookie. The error is a *Problem.
func (s *Server) SignIn(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return badRequest("%v", err)
	}
	token, err := s.tokenOf(strings.TrimSpace(r.PostForm.Get("token")))
	if errors.Is(err, errToken) {
		return problem(fail.APIBadToken.New())
	} else if err != nil {
		return err
	}
	s.sessions.end(sessionOf(r))
	s.setCookie(w, r, s.sessions.open(token, s.Now()), int(signedInFor/time.Second))
	return nil
}

// SignOut ends the session and deletes the cookie.
func (s *Server) SignOut(w http.ResponseWriter, r *http.Request) {
	s.sessions.end(sessionOf(r))
	s.setCookie(w, r, "", -1)
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	c := &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode}
	name, _, err := net.SplitHostPort(r.Host)
	if err == nil && s.Loopback && loopbackName(name) && r.TLS == nil {
		c.Name, c.Secure = cookieNamePlain, false
	}
	http.SetCookie(w, c)
}

func SignedIn(r *http.Request) bool { return sessionOf(r) != "" }

// counted counts an answer under the pattern of its route.
func (s *Server) counted(r *http.Request, status int, took time.Duration) {
	route := r.Pattern
	if route == "" {
		route = "none"
	}
	if status == 0 {
		status = http.StatusOK
	}
	s.requests.Add(1, route, strconv.Itoa(status))
	if !strings.HasSuffix(route, "/events") {
		s.seconds.Observe(took.Seconds(), route)
	}
}

// watched records the status of an answer.
type watched struct {
	http.ResponseWriter
	status int
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// atOnce limits concurrent requests. The form is read before the request takes a place, so that
// slow senders do not keep others out.
func (s *Server) atOnce(slots *limiter, handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := readForm(w, r); err != nil {
			s.writeProblem(w, r, badRequest("%v", err))
			return
		}
		leave, ok := slots.acquire(r.RemoteAddr)
		if !ok {
			w.Header().Set("Retry-After", "2")
			s.writeProblem(w, r, problem(fail.APITooManyRequests.New(slots.most, slots.each)))
			return
		}
		defer leave()
		handle(w, r)
	}
}

// readForm reads the body of a request that may have one, with its own timeout.
func readForm(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost || r.Body == nil {
		return nil
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(formWithin)) // it fails only without a connection
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestFormBytes))
	if err != nil {
		w.Header().Set("Connection", "close") // do not wait for the rest
		return err
	}
	control.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// writing answers a route that changes something. The token is checked first, and only in the
// header: another site's page can make a browser send a cookie, but not this header. Without a
// token, this process buffers no body.
func (s *Server) writing(slots *limiter, route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.written(w, r, slots, route); err != nil {
			s.sendError(w, r, err)
		}
	}
}

func (s *Server) written(w http.ResponseWriter, r *http.Request, slots *limiter, route route) error {
	if r.Header.Get("Authorization") == "" {
		return problem(fail.APINoToken.New())
	}
	token, err := s.allowed(r, route.scope)
	if err != nil {
		return err
	}
	leave, ok := slots.acquire(r.RemoteAddr)
	if !ok {
		w.Header().Set("Retry-After", "2")
		return problem(fail.APITooManyRequests.New(slots.most, slots.each))
	}
	defer leave()
	if _, _, err := queries(r); err != nil {
		return err
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != route.takes {
		return badRequest("Content-Type %.80q: want %s", r.Header.Get("Content-Type"), route.takes)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, route.most))
	if err != nil {
		w.Header().Set("Connection", "close") // do not wait for the rest
		if errors.As(err, new(*http.MaxBytesError)) {
			return badRequest("the body has more than %d bytes", route.most)
		}
		return badRequest("%v", err)
	}
	answer, err := route.write(r, body)
	if err != nil {
		return refusal(err)
	}
	s.Logger.Info("a program asked", "route", r.Pattern, "token", token.ID)
	text, err := json.MarshalIndent(answer, "", " ")
	if err != nil {
		return fmt.Errorf("encoding an answer: %w", err)
	}
	w.Header().Set("Content-Type", mediaJSON)
	w.Header().Set("Cache-Control", "no-store")
	w.Write(append(text, '\n')) // an error means that the caller is gone
	return nil
}

// refusal makes a problem of an error that the caller can fix, with the text that the commands
// give. Other errors are returned unchanged; their text is not sent.
func refusal(err error) error {
	if errors.As(err, new(*Problem)) {
		return err
	}
	found := fail.Find(err)
	status := writeStatus(found.ID)
	if status == 0 {
		return err
	}
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fail.Text(err), ID: found.ID, Hint: found.Hint}
}

// usage is the id of an error without an id of its own that the caller can fix.
const usage = fail.ID("usage")

// writeStatus is the HTTP status of an error that the caller can fix, or 0.
func writeStatus(id fail.ID) int {
	switch id {
	case usage, fail.StudyFile, fail.ConfigFile, fail.Expired, fail.OtherAggregator, fail.NoSketch, fail.MemoryLimit, fail.Quota:
		return http.StatusUnprocessableEntity
	case fail.NotInStore:
		return http.StatusNotFound
	case fail.ResultStands, fail.StudyDamaged:
		return http.StatusConflict
	}
	return 0
}
