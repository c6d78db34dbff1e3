package api

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/socket"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Options configures a Server.
type Options struct {
	Views         Views                   // required
	Desk          Operator                // default: nothing can be written, and those paths do not exist
	Aggregator    protocol.PeerID         // whose studies are served
	Version       string                  // of this program
	Now           func() protocol.Instant // required: the clock
	Metrics       *metrics.Registry       // required: written by /metrics; counts requests
	Tokens        Tokens                  // default: no token is valid
	Logger        *slog.Logger            // default: nothing is logged
	Loopback      bool                    // the listener is only on the loopback interface
	WithoutTokens bool                    // callers from this machine to the loopback interface need no token
	Proxied       bool                    // requests come from a proxy's address, which may take all places
	Hosts         []string                // names of this server in lower case, besides those of the loopback interface; if any, all callers need a token
	Streams       int                     // concurrent streams of events, half of them to one address; default 64
	Poll          time.Duration           // interval at which a stream looks for changes by other processes; default 2 s
}

// Server answers HTTP requests about an aggregator's studies.
type Server struct {
	Options
	handler  http.Handler
	mux      *http.ServeMux
	slots    *limiter
	sessions sessions
	requests metrics.Counter
	seconds  metrics.Histogram
	streams  metrics.Gauge
}

// New makes a server with the JSON API, health and metrics. Page adds pages.
func New(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Streams == 0 {
		o.Streams = 64
	}
	if o.Poll == 0 {
		o.Poll = 2 * time.Second
	}
	s := &Server{
		Options: o, mux: http.NewServeMux(), slots: newCrowd(mostAtOnce, shares(requestShares, o.Proxied)),
		requests: o.Metrics.Counter("cosketch_http_requests_total", "Answers to HTTP requests, by route and status.", "route", "status"),
		seconds:  o.Metrics.Histogram("cosketch_http_request_seconds", "How long answers took, streams aside, by route.", []float64{0.001, 0.01, 0.1, 0.2, 1, 10}, "route"),
		streams:  o.Metrics.Gauge("cosketch_http_streams", "Streams of events that are open."),
	}
	document, err := openAPI(s.routes())
	if err != nil {
		return nil, err
	}
	streamSlots := newCrowd(o.Streams, shares(streamShares, o.Proxied))
	writers := newCrowd(mostWriters, shares(requestShares, o.Proxied))
	for _, route := range s.routes() {
		if route.write != nil {
			if o.Desk != nil {
				s.mux.HandleFunc(route.method()+" "+route.path, s.writing(writers, route))
			}
			continue
		}
		slots := s.slots
		if route.stream {
			slots = streamSlots
		}
		s.mux.HandleFunc(route.method()+" "+route.path, s.atOnce(slots, s.guarded(route)))
	}
	s.mux.HandleFunc("GET "+openAPIPath, func(w http.ResponseWriter, r *http.Request) {
		s.Send(w, r, "application/json", document)
	})
	s.mux.HandleFunc(apiPath, func(w http.ResponseWriter, r *http.Request) {
		if allow := s.methods(r); len(allow) > 0 {
			w.Header().Set("Allow", strings.Join(allow, ", "))
			s.writeProblem(w, r, problem(fail.APIMethod.New(r.Method)))
			return
		}
		s.writeProblem(w, r, problem(fail.APINoPath.New(r.URL.Path)))
	})
	probes := Probes{Ready: o.Views.Ready, Metrics: o.Metrics, Logger: o.Logger}
	probes.add(s.mux, func(r *http.Request) error { return s.allow(r, MetricsRead) }, s)
	s.handler = s.guard(http.NewCrossOriginProtection().Handler(s.mux))
	return s, nil
}

// methods lists the methods of a request's path; it is empty for an unknown path.
func (s *Server) methods(r *http.Request) (out []string) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		if _, pattern := s.mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); pattern != apiPath {
			out = append(out, method)
		}
	}
	return out
}

// guarded checks a route's scope and turns errors into problems.
func (s *Server) guarded(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := s.allow(r, route.scope)
		if err == nil {
			err = route.handle(w, r)
		}
		if err != nil {
			s.sendError(w, r, err)
		}
	}
}

func (s *Server) sendError(w http.ResponseWriter, r *http.Request, err error) {
	p := s.ProblemOf(r, err)
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="cosketch"`)
	}
	s.writeProblem(w, r, p)
}

// Page adds a page under a pattern of net/http that needs a scope, or none if it is "". failed
// writes the page of an error.
func (s *Server) Page(pattern string, scope Scope, page func(http.ResponseWriter, *http.Request) error, failed func(http.ResponseWriter, *http.Request, *Problem)) {
	s.mux.HandleFunc(pattern, s.atOnce(s.slots, func(w http.ResponseWriter, r *http.Request) {
		err := s.allow(r, scope)
		if err == nil {
			err = page(w, r)
		}
		if err != nil {
			failed(w, r, s.ProblemOf(r, err))
		}
	}))
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Send answers with a body, or 304 if the caller has it already (RFC 9110, 13.1.2).
func (s *Server) Send(w http.ResponseWriter, r *http.Request, media string, body []byte) {
	tag := `"` + tagOf(body) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "private, no-cache")
	}
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", media)
	h.Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		w.Write(body) // an error means that the caller is gone
	}
}

// stream answers with a body while it is being made. If that fails half way, it closes the
// connection, which tells the caller that the body is incomplete.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, media, tag string, write func(io.Writer) error) error {
	h := w.Header()
	h.Set("ETag", `"`+tag+`"`)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "private, no-cache")
	}
	if matches(r.Header.Get("If-None-Match"), h.Get("ETag")) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", media)
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	if err := write(&patient{w, http.NewResponseController(w)}); err != nil {
		s.Logger.Warn("an answer broke off", "path", r.URL.Path, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// patient renews the write deadline for each piece of a body.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *patient) Write(piece []byte) (int, error) {
	p.control.SetWriteDeadline(time.Now().Add(takeWithin)) // it fails only without a connection
	return p.ResponseWriter.Write(piece)
}

// tagOf is the entity tag of a body: its hash.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// matches reports whether a list of entity tags has this one, by weak comparison.
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}

// Listen opens a listener for a server; loopback reports whether only this machine can reach it.
func Listen(address string) (l net.Listener, loopback bool, err error) {
	l, err = net.Listen("tcp", address)
	if err != nil {
		if why, known := socket.Refused(err); known {
			return nil, false, fail.Usage.Of(fmt.Errorf("listening for HTTP at %s: %s", address, why))
		}
		return nil, false, fmt.Errorf("listening for HTTP: %w", err)
	}
	at, ok := l.Addr().(*net.TCPAddr)
	return l, ok && at.IP.IsLoopback(), nil
}

// Timeouts and limits for one caller.
const (
	headersWithin = 5 * time.Second
	formWithin    = 5 * time.Second
	requestWithin = 15 * time.Second
	answerWithin  = 2 * time.Minute
	idleFor       = time.Minute
	stopWithin    = 10 * time.Second
	longestHeader = 16 << 10
)

// Serve answers requests of a listener until ctx ends. Requests in progress then have ten seconds
// to finish; streams end at once. secure is nil for plain HTTP.
func Serve(ctx context.Context, l net.Listener, handler http.Handler, secure *tls.Config, logger *slog.Logger) error {
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	requests, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headersWithin, ReadTimeout: requestWithin, WriteTimeout: answerWithin,
		IdleTimeout: idleFor, MaxHeaderBytes: longestHeader,
		BaseContext: func(net.Listener) context.Context { return context.WithValue(requests, stoppingKey{}, ctx.Done()) },
		ErrorLog:    slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(requests, stopWithin)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP: %w", err)
	}
	return nil
}

// stoppingKey is the context key of the channel that is closed when the server stops.
type stoppingKey struct{}

// stopping returns a channel that is closed when the server of a request stops. It is nil (never
// closed) in tests that call handlers.
func stopping(r *http.Request) <-chan struct{} {
	done, _ := r.Context().Value(stoppingKey{}).(<-chan struct{})
	return done
}
