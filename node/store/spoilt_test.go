package store

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
)

var update = flag.Bool("update", false, "write testdata/spoilt.txt anew")

// handling is something that a store does with its files, and the files that it needs.
type handling struct {
	name  string
	spots string // $ stands for the study, + for another one, @ for a party
	do    func(s *Store) error
}

// handlings returns handlings of a store made by furnished.
func handlings(study protocol.StudyID, backup []byte) []handling {
	other, peer := studyID("other"), protocol.PeerID{1}
	ctx := context.Background()
	const chunk, shared = "uploads/$/@/sketch-0/0", "sealed/$/1/@"
	const newDir = "new new/locks new/locks/create.lock new/.creating new/secrets new/results new/identity.key new/state.db"
	all := []handling{
		{"SaveRelease", "releases releases/+ releases/+.tmp", func(s *Store) error { return s.SaveRelease(other, testRelease("h", "x")) }},
		{"SaveRelease again", "releases/$/header", func(s *Store) error { return s.SaveRelease(study, testRelease("header", "x")) }},
		{"DropRelease", "releases releases/$ releases/$.tmp", func(s *Store) error { return s.DropRelease(study) }},
		{"SaveQuery", "releases/$-query-2 releases/$-query-2.tmp", func(s *Store) error { return s.SaveQuery(study, 2, testRelease("h", "x")) }},
		{"CheckReleases", "releases releases/$/header releases/$/sums releases/$/sketch-0.bin", func(s *Store) error {
			return second(s.CheckReleases(func(string) bool { return true }))
		}},
		{"OpenReleaseFile", "releases/$/sketch-0.bin", func(s *Store) error { return closed(s.OpenReleaseFile(study, "sketch-0.bin")) }},
		{"PutSecret", "secrets secrets/$-1 secrets/$-1.before.tmp", func(s *Store) error { return s.PutSecret(study, 1, []byte("new")) }},
		{"Secret", "secrets secrets/$-1", func(s *Store) error { return second(s.Secret(study, 1)) }},
		{"CheckSecrets", "secrets secrets/$-1", func(s *Store) error { return second(s.CheckSecrets()) }},
		{"DestroySecrets", "secrets secrets/$-1 secrets/$-look", func(s *Store) error { return s.DestroySecrets(study) }},
		{"DestroySecret", "secrets secrets/$-1 secrets/$-1.7.tmp", func(s *Store) error { return s.DestroySecret(study, 1) }},
		{"PutKept", "secrets/kept-$", func(s *Store) error { return s.PutKept(study, nil) }},
		{"Kept", "secrets/kept-$", func(s *Store) error { return second(s.Kept(study)) }},
		{"DestroyKept", "secrets/kept-$", func(s *Store) error { return s.DestroyKept(study) }},
		{"KeptStudies", "secrets", func(s *Store) error { return second(s.KeptStudies()) }},
		{"Manifest", "held/$/manifest", func(s *Store) error { return second(s.Held(study).Manifest()) }},
		{"Held.Open", "held/$/sum.1", func(s *Store) error { return closed(s.Held(study).Open("sum.1")) }},
		{"Held.Create", "held held/$ held/$/sum.2", func(s *Store) error {
			f, err := s.Held(study).Create("sum.2")
			if err != nil {
				return err
			}
			return f.Close()
		}},
		{"Commit", "held held/$ held/$/manifest held/$/decision", func(s *Store) error { return s.Held(study).Commit([]byte("new"), []string{"sum.1"}) }},
		{"Discard", "held/$/sum.2", func(s *Store) error { return s.Held(study).Discard([]string{"sum.2"}) }},
		{"Decide", "held/$/manifest held/$/decision", func(s *Store) error { return s.Held(study).Decide() }},
		{"Decided", "held/$/manifest held/$/decision", func(s *Store) error { return second(s.Held(study).Decided()) }},
		{"Destroy", "held held/$ held/$/manifest held/$/manifest.gone held/$/sum.1", func(s *Store) error { return s.Held(study).Destroy() }},
		{"LockStudy", "locks locks/$.lock", func(s *Store) error { return unlocked(s.LockStudy(study)) }},
		{"LockHeld", "locks locks/$.held.lock", func(s *Store) error { return unlocked(s.LockHeld(study, 0)) }},
		{"LockStudy twice", "locks/$.lock", func(s *Store) error {
			unlock, err := s.LockStudy(study)
			if err == nil {
				defer unlock()
				_, err = s.LockStudy(study)
			}
			if errors.Is(err, ErrLocked) {
				return told("locked")
			}
			return err
		}},
		{"Served", "locks/serve.lock", func(s *Store) error {
			unlock, err := s.LockServing()
			if err == nil {
				defer unlock()
				_, err = s.LockServing()
			}
			return errors.Join(told(fmt.Sprintf("served: %v, and again: %v", s.Served(), errors.Is(err, ErrServed))))
		}},
		{"LockServing", "locks locks/serve.lock", func(s *Store) error { return unlocked(s.LockServing()) }},
		{"PutChunk", "uploads uploads/$ uploads/$/@/sketch-0/1", func(s *Store) error { return s.PutChunk(study, peer, 0, 1, []byte("x")) }},
		{"FirstMissing", "uploads " + chunk, func(s *Store) error { return second(s.FirstMissing(study, peer, 0, 1)) }},
		{"Chunk", "uploads " + chunk, func(s *Store) error { return second(s.Chunk(study, peer, 0, 0)) }},
		{"DropChunk", "uploads " + chunk, func(s *Store) error { return s.DropChunk(study, peer, 0, 0) }},
		{"PutResult", "results results/$ results/$/result.json", func(s *Store) error { return s.PutResult(study, "result.json", nil) }},
		{"NewResult", "results/$ results/$/result.json", func(s *Store) error {
			f, err := s.NewResult(study)
			if err != nil {
				return err
			}
			return f.Keep("result.json")
		}},
		{"Discard a result", "results/$", func(s *Store) error {
			f, err := s.NewResult(study)
			if err == nil {
				f.Discard()
			}
			return err
		}},
		{"OpenResult", "results/$/result.json", func(s *Store) error { return closed(s.OpenResult(study, "result.json")) }},
		{"DropResult", "results results/$/result.json", func(s *Store) error { return s.DropResult(study, "result.json") }},
		{"Results", "results/$", func(s *Store) error { return second(s.Results(study)) }},
		{"Result", "results/$/result.json", func(s *Store) error { return second(s.Result(study, "result.json")) }},
		{"PutSealed", "sealed sealed/$ " + shared, func(s *Store) error { return s.PutSealed(study, peer, 1, []byte("new")) }},
		{"Sealed", "sealed " + shared, func(s *Store) error { return second(s.Sealed(study, peer, 1, 0, 3)) }},
		{"PutToken", "tokens tokens/01234567", func(s *Store) error { return s.PutToken("01234567", nil) }},
		{"Token", "tokens/0123abcd", func(s *Store) error { return second(s.Token("0123abcd")) }},
		{"Tokens", "tokens", func(s *Store) error { return second(s.Tokens()) }},
		{"RemoveToken", "tokens tokens/0123abcd tokens/0123abcd.revoked", func(s *Store) error { return s.RemoveToken("0123abcd") }},
		{"PutInvitation", "invitations invitations/01234567", func(s *Store) error { return s.PutInvitation("01234567", nil) }},
		{"Invitations", "invitations", func(s *Store) error { return second(s.Invitations()) }},
		{"Invitation", "invitations/0123abcd invitations/0123abcd/record", func(s *Store) error { return second(s.Invitation("0123abcd")) }},
		{"Accepted", "invitations/0123abcd/accepted", func(s *Store) error { return second(s.Accepted("0123abcd")) }},
		{"PutIntroduction", "invitations/0123abcd/record invitations/0123abcd/introduction", func(s *Store) error { return s.PutIntroduction("0123abcd", []byte("me")) }},
		{"PutAccepted", "invitations/0123abcd/record invitations/0123abcd/accepted", func(s *Store) error { return s.PutAccepted("0123abcd") }},
		{"RemoveInvitation", "invitations invitations/0123abcd invitations/0123abcd.revoked", func(s *Store) error { return s.RemoveInvitation("0123abcd") }},
		{"Purge", "uploads uploads/$ releases/$ releases/$.tmp releases/$-query-1", func(s *Store) error { return second(s.Purge(study, 1)) }},
		{"UploadSize", "uploads uploads/$ " + chunk, func(s *Store) error { return second(s.UploadSize(study)) }},
		{"Strays", "held/$ held/$/manifest", func(s *Store) error {
			strays, err := s.Strays()
			return errors.Join(err, told(fmt.Sprintf("%d strays", len(strays))))
		}},
		{"LedgerHeadKept", "ledger.head", func(s *Store) error { return second(s.LedgerHeadKept()) }},
		{"Debit", "ledger.head releases", func(s *Store) error { return second(s.Debit(ctx, nothing)) }},
		{"checkLedger", "ledger.head releases", func(s *Store) error { s.role = Party; return s.checkLedger() }},
		{"Backup", "ledger.id hpke.key identity.key results results/$/result.json releases releases/$ uploads sealed", func(s *Store) error {
			report, err := s.Backup(io.Discard)
			return errors.Join(err, told(fmt.Sprintf("%d files", report.Files)))
		}},
		{"Open", "identity.key hpke.key ledger.id state.db", func(s *Store) error { return shut(Open(s.dir, Aggregator, Options{})) }},
		{"Open with another ledger", "identity.key state.db", func(s *Store) error {
			return errors.Join(os.WriteFile(s.path(ledgerFile), []byte(ledgerID{7}.String()), 0o600), shut(Open(s.dir, Aggregator, Options{})))
		}},
		{"Open for looking", "identity.key hpke.key ledger.id state.db", func(s *Store) error { return shut(Open(s.dir, Aggregator, Options{ReadOnly: true})) }},
		{"Create", newDir, func(s *Store) error { return Create(s.path("new"), Aggregator, entropy(3)) }},
		{"Restore", "new new/.restoring new/.restoring/x new/identity.key", func(s *Store) error { return second(Restore(s.path("new"), Aggregator, bytes.NewReader(backup))) }},
		{"CreateKey", "key", func(s *Store) error { return second(CreateKey(s.path("key"), entropy(3))) }},
		{"successor", "new new/identity.key", func(s *Store) error { return shut(s.successor(s.path("new"), entropy(3))) }},
		{"ReadKey", "identity.key", func(s *Store) error { return second(ReadKey(s.path(identityFile))) }},
	}
	for _, c := range []struct {
		name, spots string // what appears there while it runs
		do          func(s *Store, meanwhile func(io.Reader) io.Reader) error
	}{
		{"Create", "new/.creating new/.creating/hpke.key new/.creating/identity.key new/.creating/ledger.id new/.creating/state.db " +
			"new/hpke.key new/ledger.id new/state.db new/identity.key new/releases new/uploads",
			func(s *Store, meanwhile func(io.Reader) io.Reader) error {
				return Create(s.path("new"), Aggregator, meanwhile(entropy(3)))
			}},
		{"Restore", "new/.restoring new/.restoring/state.db new/.restoring/results new/.restoring/secrets new/.restoring/locks new/state.db new/results new/secrets new/identity.key",
			func(s *Store, meanwhile func(io.Reader) io.Reader) error {
				return second(Restore(s.path("new"), Aggregator, meanwhile(bytes.NewReader(backup))))
			}},
		{"SaveRelease", "releases/+ releases/+.tmp releases/+.tmp/header releases/+.tmp/sums releases/+.tmp/z",
			func(s *Store, meanwhile func(io.Reader) io.Reader) error {
				return s.SaveRelease(other, Release{[]byte("h"), map[string]io.Reader{"a": meanwhile(strings.NewReader("x")), "z": strings.NewReader("y")}})
			}},
	} {
		for _, spot := range strings.Fields(c.spots) {
			for _, how := range []string{"a directory", "a file"} {
				all = append(all, handling{c.name + ", and meanwhile " + spot + " " + how, "", func(s *Store) (err error) {
					at := s.path(strings.ReplaceAll(spot, "+", other.String()))
					return c.do(s, func(r io.Reader) io.Reader { return &meddler{r, func() { err = spoil[how](at) }} })
				}})
			}
		}
	}
	return all
}

// meddler runs a function when it is read the first time.
type meddler struct {
	io.Reader
	do func()
}

func (m *meddler) Read(p []byte) (int, error) {
	if m.do != nil {
		m.do()
		m.do = nil
	}
	return m.Reader.Read(p)
}

// told is an error that is only text.
type told string

func (t told) Error() string { return string(t) }

func closed(f io.Closer, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}

func shut(s *Store, err error) error {
	if err != nil {
		return err
	}
	return s.Close()
}

func unlocked(unlock func(), err error) error {
	if err == nil {
		unlock()
	}
	return err
}

// furnished returns a store with a file of every kind.
func furnished(t *testing.T) (*Store, protocol.StudyID) {
	t.Helper()
	s, id := stocked(t, Aggregator)
	h := s.Held(id)
	if _, err := debit(t, s, id, 0); err != nil {
		t.Fatal(err)
	}
	must(t, errors.Join(
		s.SaveRelease(id, testRelease("header", "numbers")),
		s.PutSecret(id, 1, []byte("seed")), s.PutKept(id, []byte("kept")), s.PutLook(id, []byte("look")),
		s.PutResult(id, "result.json", []byte("{}")), s.PutSealed(id, protocol.PeerID{1}, 1, []byte("text")),
		s.PutToken("0123abcd", []byte("token")), s.PutInvitation("0123abcd", []byte("record"))))
	fill(t, h, "sum.1", "first")
	must(t, h.Commit([]byte("manifest"), []string{"sum.1"}))
	must(t, h.Decide())
	return s, id
}

// spoil maps names to ways of replacing what is at a path.
var spoil = map[string]func(path string) error{
	"gone": os.RemoveAll,
	"a directory": func(path string) error {
		return errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Join(path, "something"), 0o700))
	},
	"a file": func(path string) error {
		return errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("no directory"), 0o600))
	},
	"a loop": func(path string) error {
		return errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(filepath.Base(path), path))
	},
}

// testdata/spoilt.txt lists, line by line, what a store says about files that are missing, are
// directories or cannot be opened, and which path it names.
func TestSpoiltFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems name their calls otherwise")
	}
	s, id := furnished(t)
	whole := backup(t, s)
	_, err := s.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	must(t, err)
	template := os.DirFS(s.dir)
	short := strings.NewReplacer("$", id.String(), "+", studyID("other").String(), "@", protocol.PeerID{1}.String())
	long := strings.NewReplacer(id.String(), "$", studyID("other").String(), "+", protocol.PeerID{1}.String(), "@")
	random := regexp.MustCompile(`\.[0-9]+\.tmp`)
	var said []string
	for _, h := range handlings(id, whole) {
		try := func(spot, how string) {
			copied := &Store{dir: filepath.Join(t.TempDir(), "state"), role: s.role, db: s.db, identity: s.identity, hpke: s.hpke, debiting: make(chan struct{}, 1)}
			must(t, copyDir(copied.dir, template, h.spots))
			if spot != "" {
				must(t, spoil[how](copied.path(short.Replace(spot))))
			}
			before := filesOpen(t)
			line := strings.ReplaceAll(cause(h.do(copied)), copied.dir, "")
			if left := filesOpen(t) - before; left > 0 {
				t.Errorf("%s, %s %s: %d files stay open", h.name, spot, how, left)
			}
			said = append(said, fmt.Sprintf("%s, %s: %s", h.name, strings.TrimSpace(spot+" "+how), random.ReplaceAllString(long.Replace(line), ".*.tmp")))
		}
		try("", "whole")
		for _, spot := range strings.Fields(h.spots) {
			if info, err := fs.Stat(template, short.Replace(spot)); err != nil || !info.IsDir() {
				try(spot, "a directory")
			}
			if info, err := fs.Stat(template, short.Replace(spot)); err != nil || info.IsDir() {
				try(spot, "a file")
			}
			try(spot, "gone")
			try(spot, "a loop")
		}
	}
	const file = "testdata/spoilt.txt"
	if *update {
		must(t, os.WriteFile(file, []byte(strings.Join(said, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(file)
	must(t, err)
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range said {
		if !slices.Contains(want, line) {
			t.Errorf("it is now: %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(said, line) {
			t.Errorf("it was: %s", line)
		}
	}
}

// filesOpen counts the open files of this process.
func filesOpen(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(files)
}

// copyDir copies the directories that spots names; all of them if spots names the identity. It
// copies the database only if spots names it.
func copyDir(to string, from fs.FS, spots string) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		top, _, _ := strings.Cut(name, "/")
		switch {
		case err != nil || strings.HasPrefix(name, databaseFile+"-"):
			return err
		case d.IsDir() && name != "." && !strings.Contains(spots, top) && !strings.Contains(spots, identityFile):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case name == databaseFile && !strings.Contains(spots, databaseFile):
			return nil
		}
		text, err := fs.ReadFile(from, name)
		return errors.Join(err, os.WriteFile(filepath.Join(to, name), text, 0o600))
	})
}

// cause returns the system call and the path of an error, or else its text.
func cause(err error) string {
	var (
		at   *fs.PathError
		link *os.LinkError
		told told
	)
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &link):
		return fmt.Sprintf("%s %s: %v", link.Op, link.New, link.Err)
	case errors.As(err, &at):
		return at.Error()
	case errors.Is(err, ErrNotFound):
		return "not found"
	case errors.As(err, &told):
		return string(told)
	}
	return "refused"
}

// nothing decides not to debit.
func nothing([]ledger.Entry) ([]ledger.Entry, error) { return nil, nil }
