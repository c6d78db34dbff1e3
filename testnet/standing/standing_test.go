package standing

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/networks"
)

func template(t *testing.T, name string) (networks.Template, Dealer) {
	t.Helper()
	found, err := networks.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	pooled, err := networks.Load(networks.Embedded, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found[0], func(s *study.Study) (networks.Dealt, error) { return found[0].Deal(s, pooled, 1) }
}

// reader returns what is written to it line by line.
type reader struct {
	lines chan string
	rest  []byte
}

func (r *reader) Write(p []byte) (int, error) {
	r.rest = append(r.rest, p...)
	for {
		line, rest, found := bytes.Cut(r.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		r.rest = rest
		r.lines <- string(line)
	}
}

// await returns the first line that contains all of these words.
func (r *reader) await(t *testing.T, ctx context.Context, words ...string) string {
	t.Helper()
	for {
		select {
		case line := <-r.lines:
			t.Log(line)
			all := true
			for _, w := range words {
				all = all && strings.Contains(line, w)
			}
			if all {
				return line
			}
		case <-ctx.Done():
			t.Fatalf("nothing was said of %v", words)
		}
	}
}

// TestUp kills nodes while a study runs. The study must still end with the data of all parties.
func TestUp(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs both programs")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	d := Dir(filepath.Join(t.TempDir(), "net"))
	one, deal := template(t, "cancer-vertical-value")
	said := &reader{lines: make(chan string, 1000)}
	running, stop := context.WithCancel(ctx)
	defer stop()
	o := Options{Dir: d, Template: one, Dealt: deal, Seed: 1, Restart: true, Away: 2 * time.Second, Pace: 100 * time.Millisecond, Study: true, Talk: said}
	ended := make(chan error, 1)
	go func() { ended <- Up(running, o) }()
	said.await(t, ctx, "approves")
	if err := Up(ctx, Options{Dir: d, Template: one, Dealt: deal, Talk: io.Discard}); !errors.Is(err, ErrBusy) {
		t.Errorf("twice in one directory: %v", err)
	}
	said.await(t, ctx, "waits for the steward's release")
	var talk strings.Builder
	if err := Kill(ctx, d, "west", &talk); err != nil || !strings.Contains(talk.String(), "killed west, process ") {
		t.Errorf("%q, %v", talk.String(), err)
	}
	if err := Kill(ctx, d, "west", &talk); err == nil || !strings.Contains(err.Error(), "comes back") {
		t.Errorf("killed twice: %v", err)
	}
	if err := Kill(ctx, d, "wets", &talk); !errors.Is(err, ErrName) {
		t.Errorf("a wrong name: %v", err)
	}
	said.await(t, ctx, "west", "was killed")
	said.await(t, ctx, "result", "from all 3 parties")
	s, err := Status(ctx, d)
	if err != nil || !s.Up || len(s.Nodes) != 4 || s.Nodes[3].PID == 0 || len(s.Nodes[3].Studies) != 1 {
		t.Errorf("status %+v, %v", s, err)
	}
	var told, heard strings.Builder
	if code, err := Ask(ctx, d, "north", []string{"budget"}, nil, &told, &heard); code != 0 || err != nil || !strings.Contains(told.String(), "ε spent") {
		t.Errorf("asked for the budget: code %d, %v, %q, %q", code, err, told.String(), heard.String())
	}
	if code, err := Ask(ctx, d, "aggregator", []string{"result", "zz"}, nil, io.Discard, &heard); code != 4 || err != nil || !strings.Contains(heard.String(), "hexadecimal") {
		t.Errorf("asked for a study that is none: code %d, %v, %q", code, err, heard.String())
	}
	if _, err := Ask(ctx, d, "nort", []string{"status"}, nil, io.Discard, io.Discard); !errors.Is(err, ErrName) {
		t.Errorf("asked nobody: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if s, err := Status(ctx, d); err != nil || s.Up || s.Nodes[0].PID != 0 || s.Nodes[1].PID != 0 {
		t.Errorf("after the end: %+v, %v", s, err)
	}
	other, deal := template(t, "cancer-horizontal-record")
	if err := Up(ctx, Options{Dir: d, Template: other, Dealt: deal, Talk: io.Discard}); !errors.Is(err, ErrOther) {
		t.Errorf("another network in the directory: %v", err)
	}
	if err := Down(d, true, io.Discard); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(string(d)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was not removed: %v", err)
	}
}

func TestNothingStands(t *testing.T) {
	d := Dir(t.TempDir())
	if _, err := Status(t.Context(), d); !errors.Is(err, ErrNone) {
		t.Errorf("status: %v", err)
	}
	if err := Kill(t.Context(), d, "north", io.Discard); !errors.Is(err, ErrNone) {
		t.Errorf("kill: %v", err)
	}
	if err := os.WriteFile(d.path("mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Down(d, true, io.Discard); !errors.Is(err, ErrNone) {
		t.Errorf("down: %v", err)
	}
	if err := d.make(); !errors.Is(err, ErrOther) {
		t.Errorf("a directory of other things: %v", err)
	}
	if _, err := os.Stat(d.path("mine")); err != nil {
		t.Error("it was removed")
	}
}

// TestStalePID checks that a process with a node's former process id is not touched.
func TestStalePID(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sleep")
	}
	d := Dir(t.TempDir())
	if err := os.MkdirAll(d.nodeDir("north"), 0o700); err != nil {
		t.Fatal(err)
	}
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { other.Process.Kill(); other.Wait() }()
	for content, fails := range map[string]bool{strconv.Itoa(other.Process.Pid): false, "": true, "x": true, "1": true, "-4": true} {
		if err := os.WriteFile(d.pidFile("north"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if pid, err := d.running("north"); pid != 0 || fails != (err != nil) {
			t.Errorf("pid file %q: process %d, %v", content, pid, err)
		}
	}
}
