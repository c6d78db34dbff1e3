package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"time"
)

//go:embed reference.py
var script string

// interpreters are the Pythons to try for scikit-learn: the user's own, and the system's, which has
// the distribution's packages.
var interpreters = []string{"python3", "/usr/bin/python3"}

// reference is the output of the script.
type reference struct {
	Absent   string   `json:"absent"` // why there are no times
	Software []string `json:"software"`
	Times    []struct {
		Side    string  `json:"side"`
		Task    int     `json:"task"` // records side: index of the task
		Method  string  `json:"method"`
		Threads int     `json:"threads"`
		Seconds float64 `json:"seconds"`
	} `json:"times"`
}

// installed runs the script with the first interpreter that has the packages it needs. If none has,
// Absent says what the last one lacks.
func installed(ctx context.Context, interpreters []string, w Workload) (r reference, err error) {
	for _, interpreter := range interpreters {
		if r, err = theirs(ctx, interpreter, w); err == nil && r.Absent == "" || ctx.Err() != nil {
			break
		}
	}
	return r, err
}

// theirs runs the script until ctx ends. A missing interpreter or package is not an error.
func theirs(ctx context.Context, interpreter string, w Workload) (reference, error) {
	argument, err := json.Marshal(w)
	if err != nil {
		return reference{}, fmt.Errorf("writing the workload: %w", err)
	}
	var stdout, stderr bytes.Buffer
	child := exec.CommandContext(ctx, interpreter, "-I", "-", string(argument))
	child.Stdin, child.Stdout, child.Stderr = strings.NewReader(script), &stdout, &stderr
	child.WaitDelay = time.Second
	if err := child.Run(); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
			return reference{Absent: "there is no " + interpreter}, nil
		}
		if ctx.Err() != nil {
			return reference{}, ctx.Err()
		}
		return reference{}, fmt.Errorf("running %s: %w: %s", interpreter, err, strings.TrimSpace(stderr.String()))
	}
	return parse(stdout.Bytes(), w)
}

// parse decodes the output of the script.
func parse(printed []byte, w Workload) (reference, error) {
	var r reference
	if err := json.Unmarshal(printed, &r); err != nil {
		return reference{}, fmt.Errorf("reading what the script printed: %w", err)
	}
	if r.Absent == "" && len(r.Times) == 0 {
		return reference{}, errors.New("reading what the script printed: no times")
	}
	for _, t := range r.Times {
		if t.Seconds <= 0 || !slices.Contains([]string{"records", "columns", "neighbors", "clusters"}, t.Side) || t.Task < 0 || t.Task >= len(w.Records) {
			return reference{}, fmt.Errorf("reading what the script printed: %s %d, %s: %g seconds", t.Side, t.Task, t.Method, t.Seconds)
		}
	}
	return r, nil
}

// times returns the script's times under the names of the workload's tasks.
func (r reference) times(w Workload) []Time {
	var out []Time
	for _, t := range r.Times {
		task := w.Columns.task()
		switch t.Side {
		case "records":
			task = w.Records[t.Task].task()
		case "neighbors":
			task = w.Points.neighbors()
		case "clusters":
			task = w.Points.clusters()
		}
		out = append(out, Time{Task: task, Method: t.Method, Threads: t.Threads, Seconds: t.Seconds})
	}
	return out
}
