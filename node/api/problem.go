package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Problem is an error as RFC 9457 has it.
type Problem struct {
	Type   string `json:"type" doc:"always about:blank: the status says what kind of problem it is"`
	Title  string `json:"title" doc:"the status in words"`
	Status int    `json:"status"`
	Detail string `json:"detail" doc:"what is wrong, and what to do about it"`
}

func (p *Problem) Error() string { return p.Detail }

// problem makes one.
func problem(status int, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// ProblemOf is what a caller is told of an error. What is no fault of the caller's is
// logged and told without its text.
func (s *Server) ProblemOf(r *http.Request, err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, ErrDamaged):
		return problem(http.StatusConflict, "this study is damaged here, and cannot be shown: its operator restores a backup, or gives it up")
	case errors.Is(err, ErrNotFound):
		return problem(http.StatusNotFound, "%s is not here: /api/v1/studies lists the studies, and each names its results", r.URL.Path)
	}
	if r.Context().Err() == nil {
		s.Logger.Error("a request failed", "route", r.Pattern, "error", err)
	}
	return problem(http.StatusInternalServerError, "this aggregator could not answer; its log says why")
}

// encode is the problem as a line of JSON.
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
