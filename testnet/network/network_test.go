package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The test binary acts as a node if this variable names a role.
const part = "COSKETCH_TESTNET_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(part) {
	case "":
		os.Exit(m.Run())
	case "fails":
		fmt.Println("data")
		fmt.Fprint(os.Stderr, "first\nsecond\nno line feed")
		os.Exit(3)
	case "waits":
		fmt.Fprintln(os.Stderr, "waits for its stdin to close")
		io.Copy(io.Discard, os.Stdin)
	}
}

func play(ctx context.Context, t *testing.T, name string) *exec.Cmd {
	t.Helper()
	cmd := command(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), part+"="+name)
	return cmd
}

func TestFailureQuotesTheTalk(t *testing.T) {
	_, err := run(play(t.Context(), t, "fails"), "north", new(talk))
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("error %v, want exit code 3", err)
	}
	if want := "\n  north | first\n  north | second\n  north | no line feed"; !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %q does not end with the talk", err)
	}
}

func TestContextStopsAProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cmd := play(ctx, t, "waits")
	stdin, err := cmd.StdinPipe() // stdin stays open: only the signal ends the process
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	said := new(talk)
	done := make(chan error)
	go func() {
		_, err := run(cmd, "south", said)
		done <- err
	}()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for said.last() == "" {
		select {
		case <-poll.C:
		case err := <-done:
			t.Fatalf("ended by itself: %v", err)
		}
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a process that was stopped counts as done")
	}
}

func TestTalkKeepsTheLastLines(t *testing.T) {
	var said talk
	for i := range 3 * keptLines {
		fmt.Fprintf(&said, "line %d\nhalf", i)
		fmt.Fprint(&said, " and half\n")
	}
	if got := said.last(); got != "half and half" {
		t.Errorf("last line %q", got)
	}
	if n := strings.Count(said.indented("x"), "\n"); n != keptLines {
		t.Errorf("%d lines kept, want %d", n, keptLines)
	}
}

func TestUnknownCommit(t *testing.T) {
	if err := BuildCommit(t.Context(), "no-such-commit", t.TempDir()); err == nil || !strings.Contains(err.Error(), `looking for commit "no-such-commit"`) {
		t.Errorf("error %v", err)
	}
}
