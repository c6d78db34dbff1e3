package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// heartbeat is the longest silence of a stream, so that a dead connection is noticed. takeWithin is
// how long a reader may take to accept an event.
const (
	heartbeat  = 15 * time.Second
	takeWithin = 10 * time.Second
)

// events streams a study's status as it changes. It reports this aggregator's changes at once, and
// those of other processes at the next poll. A stream whose token has expired ends at the next
// poll. A client that reconnects with the id of its last event is told only of changes since.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	one, err := s.looked(r)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // so that a proxy in front passes lines on as they come
	if r.Method == http.MethodHead {
		return nil
	}
	s.streams.Add(1)
	defer s.streams.Add(-1)
	out := stream{w: w, control: http.NewResponseController(w)}
	out.write("retry: 3000\n\n")
	last, beat := r.Header.Get("Last-Event-ID"), time.Now()
	ticker := time.NewTicker(s.Poll)
	defer ticker.Stop()
	for out.err == nil {
		news := s.Views.News(one.File.ID) // before reading the study, so that later changes are not missed
		if s.allow(r, StudiesRead) != nil {
			return nil
		}
		now, err := s.Views.Study(one.File.ID)
		if err != nil {
			s.Logger.Warn("a stream of events ends", "route", r.Pattern, "error", err)
			return nil
		}
		id, body := event(now)
		if id != last {
			out.write(fmt.Sprintf("event: study\nid: %s\ndata: %s\n\n", id, body))
			last, beat = id, time.Now()
		}
		if !now.Status.Active() {
			out.write("event: end\ndata: {}\n\n")
			return nil
		}
		if time.Since(beat) > heartbeat {
			out.write(": still here\n\n")
			beat = time.Now()
		}
		select {
		case <-news:
		case <-ticker.C:
		case <-r.Context().Done():
			return nil
		case <-stopping(r):
			return nil
		}
	}
	return nil
}

// event returns a study's event, and an id that changes with its body.
func event(s Study) (id string, body []byte) {
	body, err := json.Marshal(eventAnswer{Status: newStatus(s.Status), Parties: newParties(s), Results: len(s.Results), Messages: s.Messages})
	if err != nil {
		panic("api: an event holds text and numbers alone: " + err.Error())
	}
	return tagOf(body), body
}

// stream writes to a reader that may be slow or gone.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

func (s *stream) write(text string) {
	if s.err != nil {
		return
	}
	s.control.SetWriteDeadline(time.Now().Add(takeWithin)) // it fails only without a connection
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.control.Flush()
	}
}
