//go:build unix

package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cosketch/cosketch/protocol/study"
)

func shell(script string) Source {
	return Source{Command: &Command{Args: []string{"/bin/sh", "-c", script}}}
}

func outputSchema(t testing.TB) Schema {
	return Schema{ID: []string{"id"}, Bits: 12, MaxRecords: 1 << 40, Missing: study.MissingCentre, Fields: []Field{{Name: "x", Kind: study.Numeric, Scale: bounds(t, 0, 16)}}}
}

// A program's output is read like a file with that content.
func TestCommand(t *testing.T) {
	const text = "id;x\nr1;1,5\nr2;NA\n"
	source := shell("cat data.csv; pwd >&2")
	source.Words.Missing = []string{"NA"}
	source.Command.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(source.Command.Dir, "data.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wantIDs, want, err := rowsOf(Source{Files: []string{write(t, text)}, Words: source.Words}, outputSchema(t))
	if err != nil {
		t.Fatal(err)
	}
	read, summary, err := readSource(source, outputSchema(t), Options{})
	if err != nil || !reflect.DeepEqual(read.Values, want) || !reflect.DeepEqual(read.IDs, wantIDs) || !summary.Complete {
		t.Errorf("%v: %v", err, read)
	}
	if got := summary.Origins[0]; got.Name != "the output of sh" || got.Format != "CSV, semicolon, decimal comma, utf-8" {
		t.Errorf("%+v", got)
	}
	if d := describe(t, source, DescribeOptions{ID: []string{"id"}}); d.Records != 2 || d.Columns[1].Missing != 1 {
		t.Errorf("%+v", d)
	}
	// No shell interprets the arguments.
	words := Source{Command: &Command{Args: []string{"/bin/echo", "id,x\nr1,$HOME;`id`\nr2,$HOME;`id`"}}}
	if d := describe(t, words, DescribeOptions{}); d.Columns[1].Common[0].Value != "$HOME;`id`" {
		t.Errorf("%+v", d.Columns)
	}
}

// A program that fails makes the reading fail, however much it wrote before. Its standard error is
// in no message.
func TestCommandFails(t *testing.T) {
	for name, c := range map[string]struct {
		source     Source
		want, said string
	}{
		"not there":    {Source{Command: &Command{Args: []string{"/no/such/program"}}}, "the output of program: cannot be run: ", ""},
		"no words":     {Source{Command: &Command{}}, "no command is given", ""},
		"exit code":    {shell("echo id,x; echo r1,1; echo SECRET >&2; exit 3"), "the output of sh: the program failed: exit status 3", "SECRET"},
		"a signal":     {shell("echo id,x; echo r1,1; kill -9 $$"), "the program failed: signal: killed", ""},
		"nothing":      {shell("true"), "the program writes nothing", ""},
		"nothing, bad": {shell("echo SECRET >&2; exit 1"), "the program failed: exit status 1", "SECRET"},
		"much said":    {shell("echo id,x; yes SECRET | head -c 1000000 >&2; echo END >&2; exit 1"), "exit status 1", "END"},
		"not CSV":      {shell("printf PAR1"), "a Parquet file, not text", ""},
		"a bad line":   {shell("echo id,x; echo r1,SECRET"), `:2: column "x": not a decimal number`, ""},
	} {
		_, _, err := readSource(c.source, outputSchema(t), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var failed *CommandError
		if errors.As(err, &failed) != (c.said != "" || strings.Contains(c.want, "signal")) || failed != nil && (!strings.HasSuffix(failed.Said, c.said) || len(failed.Said) > mostSaid) {
			t.Errorf("%s: %+v", name, failed)
		}
	}
}

// Ending the context, or closing the reader, ends the program and those that it started.
func TestCommandEnds(t *testing.T) {
	for _, how := range []string{"context", "reader"} {
		pid := filepath.Join(t.TempDir(), "pid")
		source := shell("sleep 1000 & echo $! > " + pid + ".part; mv " + pid + ".part " + pid + "; echo id,x; yes r,1")
		ctx, cancel := context.WithCancel(context.Background())
		schema := outputSchema(t)
		r, err := Open(ctx, source, schema, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(ctx); err != nil {
			t.Fatal(err)
		}
		if how == "context" {
			cancel()
			for err == nil {
				_, err = r.Next(context.Background())
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		text, err := os.ReadFile(pid)
		if err != nil {
			t.Fatal(err)
		}
		child, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if !ended(child) {
			t.Errorf("%s: the child goes on", how)
		}
	}
}

// ended waits until a process is gone or a zombie.
func ended(pid int) bool {
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(state), ") Z ") {
			return true
		}
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
}
