package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// resultDocument has the type of a result's JSON.
var resultDocument = analysis.Result{}

func (s *Server) node(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := s.routeQuery(r); err != nil {
		return err
	}
	return s.sendJSON(w, r, nodeAnswer{Software: "cosketch", Version: s.Version, Aggregator: s.Aggregator.String(), API: "1", Now: s.Now().String()})
}

// list answers with the studies, newest first. A cursor is the last id of the previous page, so new
// studies do not disturb it.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	texts, numbers, err := s.routeQuery(r)
	if err != nil {
		return err
	}
	all, err := s.Views.Studies()
	if err != nil {
		return err
	}
	slices.Reverse(all)
	if cursor := texts["cursor"]; cursor != "" {
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		at := slices.IndexFunc(all, func(l Listed) bool { return err == nil && string(l.ID[:]) == string(raw) })
		if at < 0 {
			return badRequest("cursor %.80q is not from this list: begin again without one", cursor)
		}
		all = all[at+1:]
	}
	out := studiesAnswer{Studies: []summary{}}
	for i, l := range all {
		one, err := s.Views.Study(l.ID)
		if err != nil {
			return err
		}
		if state := texts["state"]; state != "" && one.Status.State != state {
			continue
		}
		out.Studies = append(out.Studies, newSummary(one))
		if len(out.Studies) == numbers["limit"] && i < len(all)-1 {
			out.Next = some(base64.RawURLEncoding.EncodeToString(l.ID[:]))
			break
		}
	}
	return s.sendJSON(w, r, out)
}

// looked reads the study of a route that takes no query.
func (s *Server) looked(r *http.Request) (Study, error) {
	if _, _, err := s.routeQuery(r); err != nil {
		return Study{}, err
	}
	return s.Lookup(r)
}

func (s *Server) study(w http.ResponseWriter, r *http.Request) error {
	one, err := s.looked(r)
	if err != nil {
		return err
	}
	return s.sendJSON(w, r, newStudy(one))
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) error {
	one, err := s.looked(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+one.File.ID.Short()+`.yaml"`)
	s.Send(w, r, "application/yaml", one.File.Source)
	return nil
}

func (s *Server) explanation(w http.ResponseWriter, r *http.Request) error {
	one, err := s.looked(r)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	present.Text(&text, one.File.Explain(study.Everyone))
	s.Send(w, r, "text/plain; charset=utf-8", text.Bytes())
	return nil
}

func (s *Server) releases(w http.ResponseWriter, r *http.Request) error {
	one, err := s.looked(r)
	if err != nil {
		return err
	}
	return s.sendJSON(w, r, newReleases(one))
}

func (s *Server) results(w http.ResponseWriter, r *http.Request) error {
	one, err := s.looked(r)
	if err != nil {
		return err
	}
	return s.sendJSON(w, r, resultsAnswer{Results: newStatements(one)})
}

func (s *Server) board(w http.ResponseWriter, r *http.Request) error {
	_, numbers, err := s.routeQuery(r)
	if err != nil {
		return err
	}
	one, err := s.Lookup(r)
	if err != nil {
		return err
	}
	messages, err := s.Views.Messages(one.File.ID, uint64(numbers["from"]), numbers["limit"])
	if err != nil {
		return err
	}
	out := boardAnswer{Count: one.Messages, Chain: one.Chain.String(), Messages: []messageAnswer{}}
	for _, m := range messages {
		out.Messages = append(out.Messages, newMessage(m))
	}
	if next := uint64(numbers["from"] + len(messages)); len(messages) > 0 && next < one.Messages {
		out.Next = &next
	}
	return s.sendJSON(w, r, out)
}

// result answers with the signed bytes, whose name is their SHA-256.
func (s *Server) result(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := s.routeQuery(r); err != nil {
		return err
	}
	_, d, err := s.LookupResult(r)
	if err != nil {
		return err
	}
	s.unchanging(w, r, d.Statement.Document.Hash)
	w.Header().Set("Content-Disposition", `attachment; filename="result-`+d.Statement.Document.Hash.String()[:8]+`.json"`)
	s.Send(w, r, "application/json", d.Raw)
	return nil
}

// unchanging lets a caller cache what is named by a hash. A browser with a session must revalidate
// each time: the next user may be somebody else.
func (s *Server) unchanging(w http.ResponseWriter, r *http.Request, name protocol.Digest) {
	if r.PathValue("document") == name.String() && !SignedIn(r) {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
}

func (s *Server) draft(_ *http.Request, body []byte) (any, error) {
	var request DraftRequest
	if err := decode(body, &request); err != nil {
		return nil, err
	}
	return answered(s.Desk.Draft(request))
}

func (s *Server) check(_ *http.Request, body []byte) (any, error) {
	return answered(s.Desk.Check(body))
}

func (s *Server) host(_ *http.Request, body []byte) (any, error) {
	return answered(s.Desk.Host(body))
}

func (s *Server) cancel(r *http.Request, body []byte) (any, error) {
	id, err := studyID(r)
	if err != nil {
		return nil, err
	}
	var request cancelRequest
	if err := decode(body, &request); err != nil {
		return nil, err
	}
	return answered(s.Desk.Cancel(r.Context(), id, request.Reason))
}

// answered returns the answer as any.
func answered[T any](answer T, err error) (any, error) { return answer, err }

// decode reads a body that is one JSON object and refuses unknown keys.
func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return badRequest("the body: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return badRequest("the body: more than one JSON object")
	}
	return nil
}
