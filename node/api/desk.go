package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// Desk is what a program may have done here in the operator's place, with a token of scope StudiesWrite. Its
// methods may be called concurrently, and a call that is repeated changes nothing more.
type Desk interface {
	// Draft drafts a study file from the column lists of its parties. Nothing is stored.
	Draft(DraftRequest) (Draft, error)
	// Check says of a study file what Host would. Nothing is stored.
	Check(source []byte) (Hosted, error)
	// Host checks a study file and hosts the study.
	Host(source []byte) (Hosted, error)
	// Cancel ends a study that has no result.
	Cancel(ctx context.Context, id protocol.StudyID, reason string) (Cancelled, error)
}

// DraftRequest is what a draft is made of: what the flags of aggregator study new say.
type DraftRequest struct {
	Name      string   `json:"name" doc:"the study's"`
	Partition string   `json:"partition" doc:"vertical or horizontal"`
	Lists     []string `json:"lists" doc:"the parties' column lists, each the text that party data columns writes"`
	Ask       []string `json:"ask" doc:"analyses as the study file has them: correlation, or {kind: k-means, clusters: 3}"`
	Columns   []string `json:"columns,omitempty" doc:"columns whatever the lists say: {name: age, kind: numeric, centre: 47, spread: 21}"`
	Records   string   `json:"records,omitempty" doc:"about how many records each party has: N, or NAME=N,…; else what the lists say"`
	Rounds    int      `json:"rounds,omitempty" doc:"1 or 2, for k-means; else as the forecast has it"`
	Masked    bool     `json:"masked,omitempty" doc:"the aggregator sees sums over all parties alone"`
	Epsilon   string   `json:"epsilon,omitempty" doc:"of one party's releases; else 1 for whole records, 8 for single values"`
	Addrs     []string `json:"addrs,omitempty" doc:"multiaddrs at which parties reach this aggregator"`
	Approval  int      `json:"approval_days,omitempty" doc:"until approval closes; else 14"`
	Upload    int      `json:"upload_days,omitempty" doc:"from then until upload closes; else 14"`
}

// Draft is a study file that may have gaps.
type Draft struct {
	File    string       `json:"file" doc:"the study file"`
	Parties []DraftParty `json:"parties"`
	Open    []string     `json:"open" doc:"what is to be filled in"`
	Decided []string     `json:"decided" doc:"where the parties' lists differ, and what the draft says"`
}

// DraftParty is a party of a draft.
type DraftParty struct {
	Name    string `json:"name"`
	ID      string `json:"id" doc:"peer id"`
	Words   string `json:"words" doc:"its fingerprint, to be compared over a telephone"`
	Records int64  `json:"records" doc:"about how many it has; 0 where nobody said"`
}

// Hosted is a study that is hosted, or could be.
type Hosted struct {
	Study    string         `json:"study" doc:"its id"`
	Name     string         `json:"name"`
	Before   bool           `json:"before" doc:"it was here already"`
	Useless  bool           `json:"useless" doc:"no answer would be usable: parties approve it only with --although-useless"`
	Forecast []ForecastItem `json:"forecast"`
}

// ForecastItem is what the plan says of one analysis.
type ForecastItem struct {
	Analysis string `json:"analysis"`
	Usable   bool   `json:"usable"`
	Verdict  string `json:"verdict"`
}

// cancelRequest is what a study is cancelled with.
type cancelRequest struct {
	Reason string `json:"reason,omitempty" doc:"a line that every party is shown; at most 300 bytes"`
}

// Cancelled is how a study that was to be cancelled stands.
type Cancelled struct {
	Study  string `json:"study"`
	Name   string `json:"name"`
	At     string `json:"at"`
	Reason string `json:"reason" doc:"as the board has it"`
	Before bool   `json:"before" doc:"it was stopped before"`
}

// How much is written at once, and by how many.
const (
	mostWriters = 4
	mostDraft   = 4 << 20 // bytes of a request
	mostStudy   = file.MaxSource
	mostCancel  = 4 << 10
	mediaJSON   = "application/json"
	mediaYAML   = "application/yaml"
)

// writing answers a route that changes something. The token comes first and in the header alone: no page of
// another site can have a browser send it, as it could have it send a cookie, and nobody without one makes this
// process keep a body.
func (s *Server) writing(slots *crowd, route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.written(w, r, slots, route); err != nil {
			s.sendError(w, r, err)
		}
	}
}

func (s *Server) written(w http.ResponseWriter, r *http.Request, slots *crowd, route route) error {
	if r.Header.Get("Authorization") == "" {
		return problem(fail.APINoToken.New())
	}
	token, err := s.allowed(r, route.scope)
	if err != nil {
		return err
	}
	leave, ok := slots.enter(r.RemoteAddr)
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
		w.Header().Set("Connection", "close") // what is left of it is not waited for
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
	w.Write(append(text, '\n')) // the caller may be gone, which is no error here
	return nil
}

// refusal is the problem of an error that is the caller's to mend: what the commands say of it. Others stay as
// they are, and are told without their text.
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

// usage is the id of an error that has none of its own and is the caller's to mend.
const usage = fail.ID("usage")

// writeStatus is the status of an error that the caller can mend; 0: another.
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

// answered is an answer as any.
func answered[T any](answer T, err error) (any, error) { return answer, err }

// decode reads a body that is one JSON object, and refuses keys that it has no word for.
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
