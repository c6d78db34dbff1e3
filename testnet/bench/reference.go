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
	"strings"
	"time"
)

//go:embed reference.py
var script string

// python is the system's own interpreter, which has the distribution's packages.
const python = "/usr/bin/python3"

// reference is what the script prints.
type reference struct {
	Absent   string   `json:"absent"` // why there are no times
	Software []string `json:"software"`
	Times    []struct {
		Side    string  `json:"side"`
		K       int     `json:"k"`
		Method  string  `json:"method"`
		Threads int     `json:"threads"`
		Seconds float64 `json:"seconds"`
	} `json:"times"`
}

// theirs runs the script until ctx ends. That interpreter or packages are absent
// is no error.
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
		if errors.Is(err, fs.ErrNotExist) {
			return reference{Absent: "there is no " + interpreter}, nil
		}
		if ctx.Err() != nil {
			return reference{}, ctx.Err()
		}
		return reference{}, fmt.Errorf("running %s: %w: %s", interpreter, err, strings.TrimSpace(stderr.String()))
	}
	return parse(stdout.Bytes())
}

// parse reads what the script printed.
func parse(printed []byte) (reference, error) {
	var r reference
	if err := json.Unmarshal(printed, &r); err != nil {
		return reference{}, fmt.Errorf("reading what the script printed: %w", err)
	}
	if r.Absent == "" && len(r.Times) == 0 {
		return reference{}, errors.New("reading what the script printed: no times")
	}
	for _, t := range r.Times {
		if t.Seconds <= 0 || t.Side != "records" && t.Side != "columns" {
			return reference{}, fmt.Errorf("reading what the script printed: %s, k = %d, %s: %g seconds", t.Side, t.K, t.Method, t.Seconds)
		}
	}
	return r, nil
}

// times returns the script's times under the names of the workload's tasks.
func (r reference) times(w Workload) []Time {
	var out []Time
	for _, t := range r.Times {
		task := w.Columns.task()
		if t.Side == "records" {
			task = w.Records.task(t.K)
		}
		out = append(out, Time{Task: task, Method: t.Method, Threads: t.Threads, Seconds: t.Seconds})
	}
	return out
}
