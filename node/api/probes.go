package api

import (
	"bytes"
	"log/slog"
	"net/http"
	"time"

	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Probes are a node's monitoring endpoints: /healthz reports that the process answers, /readyz that
// it can serve, and /metrics what it does.
type Probes struct {
	Ready   func() error      // required: why the node cannot serve, or nil
	Metrics *metrics.Registry // required
	Logger  *slog.Logger      // required: logs why the node is not ready
}

// Handler serves only the three, for callers on the loopback interface.
func (p Probes) Handler() http.Handler {
	s := &Server{Options: Options{Loopback: true}}
	mux := http.NewServeMux()
	p.add(mux, func(*http.Request) error { return nil }, s)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		if !s.named(r.Host) {
			s.writeProblem(w, r, problem(fail.APIWrongHost.New(r.Host)))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// add adds the three to a mux. allow guards only /metrics: the others reveal nothing.
func (p Probes) add(mux *http.ServeMux, allow func(*http.Request) error, s *Server) {
	say := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		w.Write([]byte(text + "\n"))
	}
	said := seldom.New(p.Logger, seldom.Clock(time.Now), sayEvery, 1)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := p.Ready(); err != nil {
			said.Warn("", "not ready", "error", err) // rate-limited: anybody may ask, and the disk may be full
			say(w, http.StatusServiceUnavailable, "not ready: the log says why")
			return
		}
		say(w, http.StatusOK, "ready")
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if err := allow(r); err != nil {
			s.sendError(w, r, err)
			return
		}
		var out bytes.Buffer
		if err := p.Metrics.Write(&out); err != nil {
			s.sendError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Write(out.Bytes())
	})
}
