package api

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cookieName is the cookie that signing in sets. Browsers take a name that begins with
// __Host- only over HTTPS and only for this very host.
const (
	cookieName       = "__Host-cosketch"
	cookieNamePlain  = "cosketch" // over plain HTTP on the loopback interface
	signedInFor      = 12 * time.Hour
	mostAtOnce       = 64 // requests, beside streams
	requestShares    = 2  // of one address
	longestFormBytes = 4 << 10

	// contentPolicy lets a page load what this server has, and run and style itself by
	// nothing that stands within it.
	contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// guard is what every request passes before its handler.
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
					s.writeProblem(out, r, problem(http.StatusInternalServerError, "this aggregator could not answer; its log says why"))
				}
			}
			s.counted(r, out.status, time.Since(began))
		}()
		headers(out.Header())
		if !s.named(r.Host) {
			s.writeProblem(out, r, problem(http.StatusMisdirectedRequest, "this server has no name %.80q: its configuration lists those that it answers to, under http: hosts", r.Host))
			return
		}
		next.ServeHTTP(out, r)
	})
}

// headers say what browsers may do with any answer: load what this server has, and
// nothing else.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// named reports whether a Host header names this server. A page of another name that was
// made to point here cannot read it.
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

// open reports whether a request needs no token: it comes to a loopback listener from
// this machine, under a loopback name, through no proxy, and the operator asked for none.
func (s *Server) open(r *http.Request) bool {
	if !s.Loopback || s.TokensAlways || len(s.Hosts) > 0 {
		return false
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && loopbackName(from)
}

// allow checks that a request may have what a scope covers. The error is a *Problem that
// says what is missing.
func (s *Server) allow(r *http.Request, scope Scope) error {
	if scope == "" || s.open(r) {
		return nil
	}
	text, err := shown(r)
	if err != nil {
		return err
	}
	token, err := s.Tokens.verify(text, s.Now())
	switch {
	case errors.Is(err, errToken):
		return problem(http.StatusUnauthorized, "%v", err)
	case err != nil:
		return err
	case !token.Has(scope):
		return problem(http.StatusForbidden, "this token has %s; this needs %s (aggregator token create --scope %s)", scopeList(token.Scopes), scope, scope)
	}
	return nil
}

// shown is the token that a request shows, in its header or in the cookie of who signed
// in.
func shown(r *http.Request) (string, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, text, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return "", problem(http.StatusUnauthorized, "want Authorization: Bearer TOKEN")
		}
		return strings.TrimSpace(text), nil
	}
	for _, name := range []string{cookieName, cookieNamePlain} {
		if c, err := r.Cookie(name); err == nil {
			return c.Value, nil
		}
	}
	return "", problem(http.StatusUnauthorized, "this needs a token (aggregator token create makes one): Authorization: Bearer TOKEN")
}

// SignIn checks a token that was typed in and sets the cookie that shows it from now on.
// The error is a *Problem.
func (s *Server) SignIn(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, longestFormBytes)
	if err := r.ParseForm(); err != nil {
		return problem(http.StatusBadRequest, "the form cannot be read: %v", err)
	}
	text := strings.TrimSpace(r.PostForm.Get("token"))
	if _, err := s.Tokens.verify(text, s.Now()); errors.Is(err, errToken) {
		return problem(http.StatusUnauthorized, "%v", err)
	} else if err != nil {
		return err
	}
	s.setCookie(w, r, text, int(signedInFor/time.Second))
	return nil
}

// SignOut takes the cookie back.
func (s *Server) SignOut(w http.ResponseWriter, r *http.Request) { s.setCookie(w, r, "", -1) }

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	c := &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode}
	name, _, err := net.SplitHostPort(r.Host)
	if err == nil && s.Loopback && loopbackName(name) && r.TLS == nil {
		c.Name, c.Secure = cookieNamePlain, false
	}
	http.SetCookie(w, c)
}

// SignedIn reports whether a request shows a token in a cookie.
func SignedIn(r *http.Request) bool {
	_, secure := r.Cookie(cookieName)
	_, plain := r.Cookie(cookieNamePlain)
	return secure == nil || plain == nil
}

// counted counts an answer, by the pattern of its route.
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

// watched remembers the status of an answer.
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

// atOnce bounds how many requests are answered at once.
func (s *Server) atOnce(slots *crowd, handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		leave, ok := slots.enter(r.RemoteAddr)
		if !ok {
			w.Header().Set("Retry-After", "2")
			s.writeProblem(w, r, problem(http.StatusServiceUnavailable, "this server answers %d requests of this kind at once, %d from one address, and it does: try again in two seconds", slots.most, slots.each))
			return
		}
		defer leave()
		handle(w, r)
	}
}
