package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func fill(t *testing.T, h Held, name, text string) {
	t.Helper()
	f, err := h.Create(name)
	must(t, err)
	_, err = io.WriteString(f, text)
	must(t, err)
	must(t, f.Close())
}

func heldText(t *testing.T, h Held, name string) string {
	t.Helper()
	f, err := h.Open(name)
	must(t, err)
	defer f.Close()
	text, err := io.ReadAll(f)
	must(t, err)
	return string(text)
}

func TestHeld(t *testing.T) {
	s := newStore(t, Party)
	study := studyID("study")
	h := s.Held(study)
	_, err := h.Manifest()
	wantIs(t, err, ErrNotFound)
	wantIs(t, h.Decide(), ErrNotFound)
	_, err = h.Decided()
	wantIs(t, err, ErrNotFound)
	must(t, h.Destroy())

	fill(t, h, "sum.1", "first")
	fill(t, h, "index.1", "entries")
	_, err = h.Manifest() // nothing is held before the commit
	wantIs(t, err, ErrNotFound)
	must(t, h.Commit([]byte("manifest 1"), []string{"sum.1", "index.1"}))
	must(t, h.Decide())

	// A killed writer leaves a file that no manifest lists, and the decision stands.
	fill(t, h, "sum.2", "half")
	s = reopen(t, s)
	h = s.Held(study)
	if manifest, err := h.Manifest(); string(manifest) != "manifest 1" || err != nil || heldText(t, h, "sum.1") != "first" {
		t.Errorf("%q, %v", manifest, err)
	}
	if decided, err := h.Decided(); !decided || err != nil {
		t.Errorf("the decision is lost: %v", err)
	}

	// The next writer writes it anew. Its commit keeps the listed files, removes the rest, and
	// revokes the decision.
	fill(t, h, "sum.2", "second")
	fill(t, h, "never.2", "listed")
	must(t, h.Commit([]byte("manifest 2"), []string{"sum.2", "index.1"}))
	if decided, err := h.Decided(); decided || err != nil {
		t.Errorf("an old decision counts: %v, %v", decided, err)
	}
	names := func() string {
		files, err := os.ReadDir(s.path(heldDir, study.String()))
		must(t, err)
		var out []string
		for _, f := range files {
			out = append(out, f.Name())
			if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
			}
		}
		return strings.Join(out, " ")
	}
	if got := names(); got != "index.1 manifest sum.2" || heldText(t, h, "sum.2") != "second" {
		t.Errorf("held: %s", got)
	}
	fill(t, h, "sum.3", "never committed")
	must(t, h.Discard([]string{"sum.3", "sum.4"}))
	if got := names(); got != "index.1 manifest sum.2" {
		t.Errorf("after the discard: %s", got)
	}
	for _, name := range []string{"../sum", "", "a/b", ".x", "x.tmp"} {
		if _, err := h.Create(name); err == nil {
			t.Errorf("file %q was created", name)
		}
	}
	must(t, h.Decide())
	must(t, h.Destroy())
	must(t, h.Destroy())
	if _, err := os.Stat(s.path(heldDir, study.String())); !os.IsNotExist(err) {
		t.Errorf("destroyed: %v", err)
	}
}

// If a crash comes between replacing the manifest and removing the decision, the decision is about
// the old manifest and does not count.
func TestHeldDecisionIsAboutOneManifest(t *testing.T) {
	s := newStore(t, Party)
	h := s.Held(studyID("study"))
	must(t, h.Commit([]byte("manifest 1"), nil))
	must(t, h.Decide())
	must(t, writeFile(h.(*heldSketch).path(heldManifestFile), []byte("manifest 2")))
	if decided, err := h.Decided(); decided || err != nil {
		t.Errorf("decided: %v, %v", decided, err)
	}
}

// The content of a destroyed or replaced file is overwritten, not only unlinked.
func TestHeldIsErased(t *testing.T) {
	s := newStore(t, Party)
	h := s.Held(studyID("study"))
	fill(t, h, "sum.1", strings.Repeat("secret", 1<<18))
	must(t, h.Commit([]byte("manifest"), []string{"sum.1"}))
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, os.Link(h.(*heldSketch).path("sum.1"), copied)) // another name of the file
	must(t, h.Destroy())
	text, err := os.ReadFile(copied)
	must(t, err)
	if len(text) != 6<<18 || strings.Trim(string(text), "\x00") != "" {
		t.Error("the file's bytes are still there")
	}
}

func TestHeldLock(t *testing.T) {
	s := newStore(t, Party)
	unlock, err := s.LockHeld(studyID("study"), 0)
	must(t, err)
	_, err = s.LockHeld(studyID("study"), 0)
	wantIs(t, err, ErrBusy)
	_, err = s.LockHeld(studyID("study"), 1)
	wantIs(t, err, ErrBusy)
	serving, err := s.LockStudy(studyID("study")) // serving the study does not lock its held sketch
	must(t, err)
	serving()
	unlock()
	unlock, err = s.LockHeld(studyID("study"), 0)
	must(t, err)
	unlock()

	looking := open(t, s.dir, Party, Options{ReadOnly: true})
	_, err1 := looking.LockHeld(studyID("study"), 0)
	_, err2 := looking.Held(studyID("study")).Create("sum.1")
	for _, err := range []error{err1, err2, looking.Held(studyID("study")).Commit(nil, nil), looking.Held(studyID("study")).Destroy()} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("a store for looking: %v", err)
		}
	}
}

// A caller who waits for a held sketch gets it when the other is done.
func TestLockHeldWaits(t *testing.T) {
	s := newStore(t, Party)
	for range 20 { // sometimes the other one finishes first
		unlock, err := s.LockHeld(studyID("study"), 0)
		must(t, err)
		got := make(chan error)
		asking := make(chan struct{})
		go func() {
			close(asking)
			again, err := s.LockHeld(studyID("study"), time.Minute)
			if err == nil {
				again()
			}
			got <- err
		}()
		<-asking
		unlock()
		must(t, <-got)
	}
}
