package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Problem is an error in the form of RFC 9457.
type Problem struct {
	Type   string `json:"type" doc:"always about:blank: the status says what kind of problem it is"`
	Title  string `json:"title" doc:"the status in words"`
	Status int    `json:"status"`
	Detail string `json:"detail" doc:"what is wrong, and what to do about it"`

	ID   fail.ID `json:"id" doc:"which error it is: docs/errors.md has all"`
	Hint string  `json:"hint,omitempty" doc:"what to do about it, which detail says, too"`
}

func (p *Problem) Error() string { return p.Detail }

// statusOf is the HTTP status of an error.
func statusOf(id fail.ID) int {
	switch id {
	case fail.APIBadRequest:
		return http.StatusBadRequest
	case fail.APINoToken, fail.APIBadToken, fail.APISessionOver:
		return http.StatusUnauthorized
	case fail.APIForbidden:
		return http.StatusForbidden
	case fail.APINotHere, fail.APINoStudyID, fail.APINoPath, fail.APINoResult, fail.APINoSuchResult, fail.APINoFile:
		return http.StatusNotFound
	case fail.APIMethod:
		return http.StatusMethodNotAllowed
	case fail.APIDamaged:
		return http.StatusConflict
	case fail.APIWrongHost:
		return http.StatusMisdirectedRequest
	case fail.APITooManyConnections, fail.APITooManyRequests:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// problem makes a Problem of an error of the catalogue.
func problem(err *fail.Error) *Problem {
	status := statusOf(err.ID)
	return &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: err.Error(),
		ID: err.ID, Hint: fail.Find(err).Hint,
	}
}

// badRequest is the problem of a request that cannot be read.
func badRequest(format string, args ...any) *Problem {
	return problem(fail.APIBadRequest.New(fmt.Sprintf(format, args...)))
}

// ProblemOf makes the problem that a caller gets for an error. An error that is not the caller's
// fault is logged, and its text is not sent.
func (s *Server) ProblemOf(r *http.Request, err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, ErrDamaged):
		return problem(fail.APIDamaged.New())
	case errors.Is(err, ErrNotFound):
		return problem(fail.APINotHere.New(r.URL.Path))
	}
	if r.Context().Err() == nil {
		s.Logger.Error("a request failed", "route", r.Pattern, "error", err)
	}
	return problem(fail.APIFailed.New())
}

// encode returns the problem as a line of JSON.
func (p *Problem) encode() []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic("api: a problem holds text alone: " + err.Error())
	}
	return append(body, '\n')
}

func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		w.Write(p.encode())
	}
}
