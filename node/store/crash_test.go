package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// crashDir is the environment variable that names the state directory for the child process that
// this test kills.
const crashDir = "COSKETCH_STORE_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := writeUntilKilled(dir); err != nil {
			fmt.Println("failed", err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// releaseText is the content of a study's release: two files of several blocks.
func releaseText(study protocol.StudyID) []byte { return bytes.Repeat(study[:], 4000) }

// writeUntilKilled does for one study after the other what a party does, in the party's order. It
// reports on standard output what is durable.
func writeUntilKilled(dir string) error {
	s, err := Open(dir, Party, Options{})
	if err != nil {
		return err
	}
	all, err := s.Ledger()
	if err != nil {
		return err
	}
	for i := len(all); ; i++ {
		study := studyID(fmt.Sprint(i))
		unlock, err := s.LockStudy(study)
		if err != nil {
			return err
		}
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"study", func() error { return s.PutStudy(study, study[:], 1) }},
			{"own", func() error { return s.PutSigned(study, protocol.KindApprove, 0, study[:]) }},
			{"secret", func() error { return s.PutSecret(study, 1, study[:]) }},
			{"held", func() error { return hold(s.Held(study), study, 1) }},
			{"changed", func() error { return hold(s.Held(study), study, 2) }},
			{"decided", func() error { return s.Held(study).Decide() }},
			{"debit", func() error {
				_, err := s.Debit(context.Background(), func([]ledger.Entry) ([]ledger.Entry, error) {
					return []ledger.Entry{entry(study, 0)}, nil
				})
				return err
			}},
			{"release", func() error {
				return s.SaveRelease(study, Release{Header: study[:], Files: map[string]io.Reader{
					"a": bytes.NewReader(releaseText(study)), "b": bytes.NewReader(releaseText(study))}})
			}},
			{"dropped", func() error { return s.Held(study).Destroy() }},
			{"destroyed", func() error { return s.DestroySecrets(study) }},
		} {
			if err := step.do(); err != nil {
				return fmt.Errorf("%s of %d: %w", step.name, i, err)
			}
			fmt.Println(step.name, i)
		}
		unlock()
	}
}

// hold commits the n-th held sketch of a study: one file that its manifest names.
func hold(h Held, study protocol.StudyID, n int) error {
	generation := 0 // from the existing manifest: a committed file is never written again
	if manifest, err := h.Manifest(); err == nil {
		if _, err := fmt.Sscanf(string(manifest), "sum.%d.%d", new(int), &generation); err != nil {
			return err
		}
	} else if !errors.Is(err, ErrNotFound) {
		return err
	}
	name := fmt.Sprintf("sum.%d.%d", n, generation+1)
	f, err := h.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(releaseText(study))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return h.Commit([]byte(name), []string{name})
}

// checkHeld reads a held sketch and returns its number; 0 if there is none. Its file must be
// complete and the one that its manifest names.
func checkHeld(t *testing.T, h Held, study protocol.StudyID) (n int) {
	t.Helper()
	manifest, err := h.Manifest()
	if err != nil {
		wantIs(t, err, ErrNotFound)
		return 0
	}
	f, err := h.Open(string(manifest))
	if err != nil {
		t.Errorf("held sketch of %s: %v", study.Short(), err)
		return 0
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || !bytes.Equal(text, releaseText(study)) {
		t.Errorf("held sketch of %s: %s holds %d bytes, %v", study.Short(), manifest, len(text), err)
	}
	if _, err := fmt.Sscanf(string(manifest), "sum.%d.", &n); err != nil {
		t.Errorf("held sketch of %s: manifest %q", study.Short(), manifest)
	}
	return n
}

// A writer is killed at a random moment, twenty times in one directory. Everything it acknowledged
// is there, everything it had begun is there completely or not at all, and the next writer can
// continue.
func TestKilledWriterLosesNothing(t *testing.T) {
	dir := newDir(t, Party)
	random := rand.New(rand.NewPCG(1, 2))
	acknowledged := make(map[string]bool)
	for range 20 {
		killAfter(t, dir, 1+random.IntN(25), func(line string) { acknowledged[line] = true })
		checkAfterKill(t, dir, acknowledged)
	}
	if len(acknowledged) < 100 {
		t.Errorf("only %d steps were acknowledged", len(acknowledged))
	}
}

// killAfter starts a writer and kills it when it has acknowledged n steps.
func killAfter(t *testing.T, dir string, n int, seen func(line string)) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		if strings.HasPrefix(lines.Text(), "failed") {
			t.Error(lines.Text())
		}
		seen(lines.Text())
		if i == n/2 {
			readBeside(t, dir)
		}
		if i >= n { // lines still in the pipe count: read to the end
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
}

// readBeside reads the directory from this process while the other one writes.
func readBeside(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(dir, Party, Options{ReadOnly: true})
	must(t, err)
	defer s.Close()
	before, err := s.Ledger()
	must(t, err)
	after, err := s.Ledger()
	must(t, err)
	if len(after) < len(before) {
		t.Errorf("the ledger shrank from %d to %d entries", len(before), len(after))
	}
	studies, err := s.Studies()
	must(t, err)
	if len(studies) < len(after) {
		t.Errorf("%d studies, %d debits", len(studies), len(after))
	}
}

func checkAfterKill(t *testing.T, dir string, acknowledged map[string]bool) {
	t.Helper()
	s, err := Open(dir, Party, Options{})
	must(t, err)
	defer s.Close()
	entries, err := s.Ledger()
	must(t, err)
	for i := range len(entries) + 1 {
		study := studyID(fmt.Sprint(i))
		said := func(step string) bool { return acknowledged[fmt.Sprint(step, " ", i)] }
		own, err := s.Own(study)
		must(t, err)
		if said("own") && (len(own) != 1 || !bytes.Equal(own[0].Raw, study[:])) {
			t.Errorf("acknowledged own envelope %d: %v", i, own)
		}
		if _, debited := ledger.Debited(entries, entry(study, 0)); said("debit") && !debited {
			t.Errorf("acknowledged debit %d is lost", i)
		}
		if secret, err := s.Secret(study, 1); said("secret") && !said("debit") && (err != nil || !bytes.Equal(secret, study[:])) {
			t.Errorf("acknowledged secret %d: %v", i, err)
		} else if said("destroyed") && err == nil {
			t.Errorf("destroyed secret %d is back", i)
		}
		switch n := checkHeld(t, s.Held(study), study); {
		case said("dropped") && n != 0:
			t.Errorf("dropped sketch %d is back", i)
		case said("held") && !said("release") && n == 0: // 1 again after 2: the writer started this study over
			t.Errorf("acknowledged held sketch %d is lost", i)
		}
		if !checkRelease(t, s, study) && said("release") {
			t.Errorf("acknowledged release %d is lost", i)
		}
		unlock, err := s.LockStudy(study) // its holder is dead
		must(t, err)
		unlock()
	}
}

// checkRelease reports whether a study has a release, which must then be complete.
func checkRelease(t *testing.T, s *Store, study protocol.StudyID) bool {
	t.Helper()
	header, err := s.ReleaseHeader(study)
	if err != nil {
		wantIs(t, err, ErrNotFound)
		return false
	}
	if !bytes.Equal(header, study[:]) {
		t.Errorf("release %s: header %x", study.Short(), header)
	}
	for _, name := range []string{"a", "b"} {
		f, err := s.OpenReleaseFile(study, name)
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(text, releaseText(study)) {
			t.Errorf("release %s: file %s holds %d bytes, %v", study.Short(), name, len(text), err)
		}
		f.Close()
	}
	return true
}
