//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The guides in docs are followed literally, by an operator and two stewards, each with an empty
// home and without root.

// account is one person's home directory, and the local values of names in the guides.
type account struct {
	name  string
	home  string
	other map[string]string // replacements for words of the guide
	met   *names
}

// journey is several people following the guides.
type journey struct {
	t      *testing.T
	guides map[string]*guide
	people map[string][]*account // by the role in a block
	port   int
	web    string              // address of the pages
	nobody *syscall.Credential // their user, if the test is root
}

// guide is a document, and how far it was followed.
type guide struct {
	file  string
	steps []step
	next  int
}

// nobodyID is the user and group of commands if the test is root.
const nobodyID = 65534

func newJourney(t *testing.T) *journey {
	t.Helper()
	port, err := freePort(t.Cleanup)
	if err != nil {
		t.Fatal(err)
	}
	web, err := freePort(t.Cleanup)
	if err != nil {
		t.Fatal(err)
	}
	j := &journey{t: t, guides: map[string]*guide{}, people: map[string][]*account{}, port: port, web: fmt.Sprintf("127.0.0.1:%d", web)}
	root := t.TempDir()
	if os.Geteuid() == 0 {
		j.nobody = &syscall.Credential{Uid: nobodyID, Gid: nobodyID}
		for _, dir := range []string{programs, root, filepath.Dir(root)} {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	shared := map[string]string{}
	for role, names := range map[string][]string{"operator": {"operator"}, "steward": {"north", "south"}} {
		for _, name := range names {
			a := &account{name: name, home: filepath.Join(root, name), met: newNames(shared)}
			if role == "operator" {
				a.met = newNames(shared)
				a.met.own = shared // everybody knows the operator's ids
			}
			if name == "south" {
				a.other = map[string]string{"north": "south", "srand(1)": "srand(2)"}
			}
			if err := os.Mkdir(a.home, 0o700); err != nil {
				t.Fatal(err)
			}
			j.own(a.home)
			j.people[role] = append(j.people[role], a)
		}
	}
	return j
}

// own makes the user of commands the owner of a file.
func (j *journey) own(path string) {
	if j.nobody == nil {
		return
	}
	if err := os.Chown(path, nobodyID, nobodyID); err != nil {
		j.t.Fatal(err)
	}
}

// follow follows a guide to its end, or to the end of a section.
func (j *journey) follow(file, section string) {
	j.t.Helper()
	g := j.guides[file]
	if g == nil {
		g = &guide{file: file, steps: readGuide(j.t, file)}
		j.guides[file] = g
	}
	past := func() bool { return section != "" && sectionEnds(g.steps, section) <= g.next }
	if section != "" && sectionEnds(g.steps, section) == 0 {
		j.t.Fatalf("%s has no section %q", file, section)
	}
	for g.next < len(g.steps) && !past() {
		s := g.steps[g.next]
		g.next++
		j.take(s)
	}
}

// take performs one step.
func (j *journey) take(s step) {
	j.t.Helper()
	if s.role == "laptop" { // other tests follow these
		return
	}
	switch s.kind {
	case stepAfter:
		j.follow(s.words[0], s.words[1])
	case stepCarry:
		j.carry(s)
	case stepFile:
		for _, a := range j.who(s) {
			path := filepath.Join(a.home, s.words[0])
			if err := os.WriteFile(path, []byte(j.here(a, s.text)), 0o600); err != nil {
				j.t.Fatalf("%s: %v", s, err)
			}
			j.own(path)
		}
	case stepServe:
		j.serve(s)
	case stepRun:
		outputs := make([]string, len(j.who(s)))
		failures := make([]error, len(outputs))
		var all sync.WaitGroup
		for i, a := range j.who(s) {
			all.Go(func() { outputs[i], failures[i] = j.run(a, s.text) })
		}
		all.Wait()
		for i, a := range j.who(s) {
			if failures[i] != nil {
				j.t.Fatalf("%s, as %s: %v\n%s", s, a.name, failures[i], outputs[i])
			}
			if err := a.met.match(a.words(s.output), j.there(a, outputs[i])); s.output != "" && err != nil {
				j.t.Errorf("%s, as %s: %v", s, a.name, err)
			}
		}
	}
}

func (j *journey) who(s step) []*account {
	people := j.people[s.role]
	if len(people) == 0 {
		j.t.Fatalf("%s: nobody is a %q", s, s.role)
	}
	return people
}

// words returns the guide's text with this person's replacements.
func (a *account) words(text string) string {
	for from, to := range a.other {
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// Addresses in the guides, replaced by addresses of this machine.
const (
	guideAddress = "/dns4/agg.example.org/tcp/7424"
	guideListen  = "/ip4/0.0.0.0/tcp/7424"
	guideWeb     = "127.0.0.1:7480"
)

// here converts a guide's text to what this person types, with the ids of this run.
func (j *journey) here(a *account, text string) string {
	address := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", j.port)
	return a.met.real(strings.NewReplacer(guideAddress, address, guideListen, address, guideWeb, j.web).Replace(a.words(text)))
}

// there converts a command's output to what it would have been at home.
func (j *journey) there(a *account, said string) string {
	address := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", j.port)
	return strings.NewReplacer(a.home, "/home/"+a.name, address, guideAddress).Replace(said)
}

// shell returns a person's command; of the test's environment it has only PATH.
func (j *journey) shell(ctx context.Context, a *account, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-euc", j.here(a, script))
	cmd.Dir = a.home
	cmd.Env = []string{"HOME=" + a.home, "PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: j.nobody}
	return cmd
}

// run runs a block and returns its output, as a terminal shows it.
func (j *journey) run(a *account, script string) (string, error) {
	ctx, cancel := context.WithTimeout(j.t.Context(), 2*time.Minute)
	defer cancel()
	out, err := j.shell(ctx, a, script).CombinedOutput()
	return string(out), err
}

// serve starts a block that runs until the end, and waits for its first output.
func (j *journey) serve(s step) {
	for _, a := range j.who(s) {
		cmd := j.shell(context.Background(), a, "exec "+strings.TrimSpace(s.text))
		r, w := io.Pipe()
		cmd.Stdout, cmd.Stderr = w, w
		if err := cmd.Start(); err != nil {
			j.t.Fatalf("%s: %v", s, err)
		}
		ended := make(chan error, 1)
		go func() {
			ended <- cmd.Wait()
			w.Close()
		}()
		lines := bufio.NewReader(r)
		if line, err := lines.ReadString('\n'); err != nil {
			j.t.Fatalf("%s, as %s, ends with %q: %v", s, a.name, line, err)
		}
		go io.Copy(io.Discard, lines)
		j.t.Cleanup(func() {
			cmd.Process.Signal(syscall.SIGTERM)
			if err := <-ended; err != nil {
				j.t.Errorf("%s, as %s: %v", s, a.name, err)
			}
		})
	}
}

// carry copies a file from one person to others, as by mail or on a stick.
func (j *journey) carry(s step) {
	file, from, to, as := s.words[0], s.words[1], s.words[2], s.words[3]
	for _, sender := range j.people[from] {
		text, err := os.ReadFile(filepath.Join(sender.home, sender.words(file)))
		if err != nil {
			j.t.Fatalf("%s: %v", s, err)
		}
		for _, receiver := range j.people[to] {
			path := filepath.Join(receiver.home, strings.ReplaceAll(as, "NAME", sender.name))
			if err := os.WriteFile(path, text, 0o600); err != nil {
				j.t.Fatalf("%s: %v", s, err)
			}
			j.own(path)
		}
	}
}

// TestGuides follows the steward's and the operator's guides, starting where the tutorial ends, to
// a result and beyond.
func TestGuides(t *testing.T) {
	if err := touchSources(); err != nil {
		t.Fatal(err)
	}
	j := newJourney(t)
	j.follow("operator.md", "Serve and watch") // it drafts before the study is hosted
	j.follow("steward.md", "")
	j.follow("operator.md", "")
	j.follow("tutorial.md", "")
}

// notRun are the blocks that tests of other packages run, by what they need.
var notRun = map[string][]string{
	"operator.md": {"systemd", "systemd", "docker"},
	"steward.md":  {"systemd"},
}

// Every block of the guides is run here, except those that need another system.
func TestFewBlocksAreNotRun(t *testing.T) {
	for _, file := range []string{"steward.md", "operator.md", "tutorial.md"} {
		var got []string
		ran := 0
		for _, s := range readGuide(t, file) {
			switch s.kind {
			case stepSkipped:
				got = append(got, s.role)
			case stepRun, stepServe:
				ran++
			}
		}
		if want := notRun[file]; strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: blocks %q are not run here, want %q", file, got, want)
		}
		if ran < 4 {
			t.Errorf("%s: only %d blocks are run", file, ran)
		}
	}
}

// TestTutorial follows the tutorial on this machine, with a network of the testnet that is killed
// and comes back.
func TestTutorial(t *testing.T) {
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("COSKETCH_FULL=1 follows the tutorial, which builds the programs again")
	}
	home, met := t.TempDir(), newNames(map[string]string{})
	var up *exec.Cmd
	for _, s := range readGuide(t, "tutorial.md") {
		if s.role != "laptop" { // TestGuides follows these
			continue
		}
		script := met.real(strings.ReplaceAll(s.text, "go run ./testnet up", "go run ./testnet up --pace 100ms"))
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", script)
		cmd.Dir = ".."
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+home)
		switch s.kind {
		case stepServe:
			up = cmd
			said := &waiting{until: "is in, from all", done: make(chan struct{})}
			cmd.Stdout, cmd.Stderr = said, said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { // if it stopped half way
				down := exec.Command("go", "run", "./testnet", "down", "--remove")
				down.Dir, down.Env = cmd.Dir, cmd.Env
				down.Run()
			})
			select {
			case <-said.done:
			case <-time.After(3 * time.Minute):
				t.Fatalf("no result:\n%s", said)
			}
		case stepRun:
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", s, err, out)
			} else if err := met.match(s.output, string(out)); s.output != "" && err != nil {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
	if up == nil {
		t.Fatal("the tutorial starts nothing")
	}
	if err := up.Wait(); err != nil {
		t.Errorf("after down, the network ends with %v", err)
	}
}

// waiting is a writer that closes done once a text was written to it.
type waiting struct {
	mu    sync.Mutex
	said  []byte
	until string
	done  chan struct{}
	once  sync.Once
}

func (w *waiting) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, p...)
	if bytes.Contains(w.said, []byte(w.until)) {
		w.once.Do(func() { close(w.done) })
	}
	return len(p), nil
}

func (w *waiting) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.said)
}
