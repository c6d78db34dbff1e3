package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cosketch/cosketch/protocol"
)

func testRelease(header, text string) Release {
	return Release{Header: []byte(header), Files: map[string]io.Reader{
		"sketch-0.bin": strings.NewReader(text), "rows-0.csv": strings.NewReader("row\n" + text),
	}}
}

func TestRelease(t *testing.T) {
	s := newStore(t, Party)
	study := studyID("study")
	_, err := s.ReleaseHeader(study)
	wantIs(t, err, ErrNotFound)
	_, err = s.OpenReleaseFile(study, "sketch-0.bin")
	wantIs(t, err, ErrNotFound)

	if _, err := debit(t, s, study, 0); err != nil {
		t.Fatal(err)
	}
	must(t, s.SaveRelease(study, testRelease("header", "numbers")))
	must(t, s.SaveRelease(study, testRelease("header", "numbers")))
	wantIs(t, s.SaveRelease(study, testRelease("other header", "other numbers")), ErrConflict)
	s = reopen(t, s)
	if header, err := s.ReleaseHeader(study); string(header) != "header" || err != nil {
		t.Errorf("header %q, %v", header, err)
	}
	f, err := s.OpenReleaseFile(study, "sketch-0.bin")
	must(t, err)
	defer f.Close()
	part := make([]byte, 4)
	if _, err := f.ReadAt(part, 3); string(part) != "bers" || err != nil || f.Size() != 7 {
		t.Errorf("%q of %d bytes, %v", part, f.Size(), err)
	}
	_, err = s.OpenReleaseFile(study, "sketch-1.bin")
	wantIs(t, err, ErrNotFound)
}

// A release whose writing fails, or whose process is killed meanwhile, does not exist.
func TestReleaseIsAllOrNothing(t *testing.T) {
	s := newStore(t, Party)
	study := studyID("study")
	broken := testRelease("header", "numbers")
	broken.Files["sketch-1.bin"] = io.MultiReader(strings.NewReader("some"), iotest.ErrReader(errors.New("disk full")))
	if err := s.SaveRelease(study, broken); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Fatalf("got %v", err)
	}
	_, err := s.ReleaseHeader(study)
	wantIs(t, err, ErrNotFound)
	if left, err := os.ReadDir(s.path(releasesDir)); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}

	staging := s.path(releasesDir, study.String()+".tmp") // as a killed process leaves it
	must(t, os.Mkdir(staging, 0o700))
	must(t, os.WriteFile(filepath.Join(staging, "sketch-9.bin"), []byte("stale"), 0o600))
	must(t, s.SaveRelease(study, testRelease("header", "numbers")))
	_, err = s.OpenReleaseFile(study, "sketch-9.bin")
	wantIs(t, err, ErrNotFound)
}

func TestFileNames(t *testing.T) {
	s := newStore(t, Party)
	study := studyID("study")
	longest := strings.Repeat("x", 100)
	must(t, s.SaveRelease(studyID("longest"), Release{Header: []byte("h"), Files: map[string]io.Reader{longest: strings.NewReader("")}}))
	for _, name := range []string{"", ".", "..", ".hidden", "a/b", `a\b`, "../x", "header", "UPPER", "ü", "x.tmp", strings.Repeat("x", 101)} {
		if err := s.SaveRelease(study, Release{Header: []byte("h"), Files: map[string]io.Reader{name: strings.NewReader("")}}); err == nil {
			t.Errorf("release file %q was accepted", name)
		}
		if err := s.PutResult(study, name, nil); err == nil {
			t.Errorf("result %q was accepted", name)
		}
		if _, err := s.Result(study, name); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("result %q: %v", name, err)
		}
		if _, err := s.OpenReleaseFile(study, name); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("opening %q: %v", name, err)
		}
	}
}

func TestUpload(t *testing.T) {
	s := newStore(t, Aggregator)
	study, party, other := studyID("study"), protocol.PeerID{1}, protocol.PeerID{2}
	missing := func(p protocol.PeerID, want int) {
		t.Helper()
		if got, err := s.FirstMissing(study, p, 0, 3); got != want || err != nil {
			t.Errorf("first missing chunk %d, %v; want %d", got, err, want)
		}
	}
	missing(party, 0)
	must(t, s.PutChunk(study, party, 0, 0, []byte("aa")))
	must(t, s.PutChunk(study, party, 0, 2, []byte("c")))
	must(t, s.PutChunk(study, party, 0, 0, []byte("aa")))
	must(t, s.PutChunk(study, party, 1, 0, []byte("other sketch")))
	wantIs(t, s.PutChunk(study, party, 0, 0, []byte("xx")), ErrConflict)
	s = reopen(t, s)
	missing(party, 1)
	missing(other, 0)
	read := func() (string, error) {
		var got []byte
		for i := range 3 {
			chunk, err := s.Chunk(study, party, 0, i)
			if err != nil {
				return "", err
			}
			got = append(got, chunk...)
		}
		return string(got), nil
	}
	_, err := read()
	wantIs(t, err, ErrNotFound)
	must(t, s.PutChunk(study, party, 0, 1, []byte("bb")))
	missing(party, 3)
	if got, err := read(); got != "aabbc" || err != nil {
		t.Errorf("sketch %q, %v", got, err)
	}
	must(t, s.DropChunk(study, party, 0, 1))
	must(t, s.DropChunk(study, party, 0, 1))
	missing(party, 1)
	must(t, s.PutChunk(study, party, 0, 1, []byte("dd")))
	missing(party, 3)
}

func TestResult(t *testing.T) {
	s := newStore(t, Aggregator)
	study := studyID("study")
	_, err := s.Result(study, "result.json")
	wantIs(t, err, ErrNotFound)
	must(t, s.PutResult(study, "result.json", []byte("partial")))
	must(t, s.PutResult(study, "result.json", []byte("full")))
	s = reopen(t, s)
	if got, err := s.Result(study, "result.json"); string(got) != "full" || err != nil {
		t.Errorf("result %q, %v", got, err)
	}
}

// A result written in pieces exists once it has its name, and not before.
func TestNewResult(t *testing.T) {
	s := newStore(t, Aggregator)
	study := studyID("study")
	write := func(text string) NewFile {
		t.Helper()
		f, err := s.NewResult(study)
		must(t, err)
		_, err = io.WriteString(f, text)
		must(t, err)
		return f
	}
	f := write("one")
	_, err := f.Write([]byte(" two"))
	must(t, err)
	if names, err := s.Results(study); len(names) > 0 || err != nil {
		t.Errorf("unnamed, it is there: %q, %v", names, err)
	}
	must(t, f.Keep("table-1"))
	write("given up").Discard()
	if err := write("elsewhere").Keep("../../escape"); err == nil {
		t.Error("a name that leaves the directory is taken")
	}
	entries, err := os.ReadDir(s.path(resultsDir, study.String()))
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("%v is there", entries)
	}
	s = reopen(t, s)
	opened, err := s.OpenResult(study, "table-1")
	must(t, err)
	defer opened.Close()
	if got, err := io.ReadAll(opened); string(got) != "one two" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	must(t, s.DropResult(study, "table-1"))
	must(t, s.DropResult(study, "table-1"))
	_, err = s.OpenResult(study, "table-1")
	wantIs(t, err, ErrNotFound)
}

func TestSecrets(t *testing.T) {
	s := newStore(t, Party)
	study, other := studyID("study"), studyID("other")
	_, err := s.Secret(study, 1)
	wantIs(t, err, ErrNotFound)
	must(t, s.DestroySecrets(study)) // there are none
	must(t, s.PutSecret(study, 1, []byte("first")))
	must(t, s.PutSecret(study, 1, []byte("second")))
	must(t, s.PutSecret(study, 2, []byte("third")))
	must(t, s.PutSecret(other, 1, []byte("kept")))
	s = reopen(t, s)
	if got, err := s.Secret(study, 1); string(got) != "second" || err != nil {
		t.Errorf("secret %q, %v", got, err)
	}

	must(t, s.PutSecret(study, 3, []byte("fourth")))
	single := filepath.Join(t.TempDir(), "single")
	must(t, os.Link(s.secretPath(study, 3), single))
	must(t, s.DestroySecret(study, 3))
	must(t, s.DestroySecret(study, 3)) // already gone
	if left, err := os.ReadFile(single); !bytes.Equal(left, make([]byte, len(sealed([]byte("fourth"))))) || err != nil {
		t.Errorf("after destruction the file held %q, %v", left, err)
	}
	must(t, os.WriteFile(s.secretPath(study, 3), make([]byte, 57), 0o600))
	if _, err := s.Secret(study, 3); !errors.Is(err, ErrNotFound) {
		t.Errorf("a file that was erased, and not removed before its process was killed: %v", err)
	}
	for _, other := range []string{"0", "0.before.tmp", ".5"} { // of other attempts, or of none
		must(t, os.WriteFile(s.secretPath(study, 1)+other, nil, 0o600))
	}
	must(t, s.DestroySecret(study, 1))
	for _, other := range []string{"0", "0.before.tmp", ".5"} {
		must(t, os.Remove(s.secretPath(study, 1)+other))
	}
	must(t, s.PutSecret(study, 1, []byte("second")))
	must(t, os.WriteFile(s.secretPath(study, 2)+".7.tmp", []byte(sealMark), 0o600)) // left by a process that was killed
	if n, err := s.CheckSecrets(); n != 3 || err != nil {
		t.Errorf("%d files of secrets, %v", n, err)
	}
	if got, err := s.Secret(study, 2); string(got) != "third" || err != nil {
		t.Errorf("another attempt's secret is %q, %v", got, err)
	}

	// The blocks themselves are overwritten, as a second name of the file shows.
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Link(s.secretPath(study, 2), link))
	stray := s.secretPath(study, 1) + ".123.tmp" // left by a killed writer
	must(t, os.WriteFile(stray, []byte("stray"), 0o600))
	must(t, s.DestroySecrets(study))
	if left, err := os.ReadFile(link); !bytes.Equal(left, make([]byte, len(sealed([]byte("third"))))) || err != nil {
		t.Errorf("after destruction the file held %q, %v", left, err)
	}
	for attempt := range uint32(3) {
		_, err := s.Secret(study, attempt)
		wantIs(t, err, ErrNotFound)
	}
	if _, err := os.Stat(stray); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a killed writer's file: %v", err)
	}
	if got, err := s.Secret(other, 1); string(got) != "kept" || err != nil {
		t.Errorf("another study's secret: %q, %v", got, err)
	}

	replaced := filepath.Join(t.TempDir(), "replaced")
	must(t, os.Link(s.secretPath(other, 1), replaced))
	must(t, s.PutSecret(other, 1, []byte("new")))
	if left, err := os.ReadFile(replaced); !bytes.Equal(left, make([]byte, len(sealed([]byte("kept"))))) || err != nil {
		t.Errorf("after replacement the old file held %q, %v", left, err)
	}

	must(t, os.Chmod(s.secretPath(other, 1), 0o644))
	if _, err := s.Secret(other, 1); err == nil || !strings.Contains(err.Error(), "chmod") {
		t.Errorf("a secret that others can read: %v", err)
	}
}

// If a process is killed while it replaces secrets, the old ones keep a name, by which the next
// writer erases them; the current ones stay.
func TestSecretsOfAKilledWriter(t *testing.T) {
	study := studyID("study")
	for name, next := range map[string]func(s *Store) error{
		"replacing":  func(s *Store) error { return s.PutSecret(study, 1, []byte("third")) },
		"destroying": func(s *Store) error { return s.DestroySecret(study, 1) },
		"all":        func(s *Store) error { return s.DestroySecrets(study) },
	} {
		// Before the new file is renamed into place, the old one has two names.
		s := newStore(t, Party)
		must(t, s.PutSecret(study, 1, []byte("first")))
		path := s.secretPath(study, 1)
		must(t, os.Link(path, path+".before.tmp"))
		if got, err := s.Secret(study, 1); string(got) != "first" || err != nil {
			t.Errorf("%s: secret %q, %v", name, got, err)
		}
		must(t, next(s))
		erasedAll(t, s, name, "first")

		// Afterwards the old one has only its second name.
		s = newStore(t, Party)
		must(t, s.PutSecret(study, 1, []byte("first")))
		path = s.secretPath(study, 1)
		watched := filepath.Join(t.TempDir(), "watched")
		must(t, os.Link(path, watched))
		must(t, os.Rename(path, path+".before.tmp"))
		must(t, writeFile(path, sealed([]byte("second"))))
		must(t, next(s))
		erasedAll(t, s, name, "first")
		if left, err := os.ReadFile(watched); err != nil || len(bytes.Trim(left, "\x00")) > 0 {
			t.Errorf("%s: the old file held %q, %v", name, left, err)
		}
	}

	// If the new file cannot be written, the old one stays.
	s := newStore(t, Party)
	must(t, s.PutSecret(study, 1, []byte("first")))
	path := s.secretPath(study, 1)
	must(t, os.Link(path, path+".before.tmp"))
	must(t, eraseOther(path+".before.tmp", path))
	if got, err := s.Secret(study, 1); string(got) != "first" || err != nil {
		t.Errorf("secret %q, %v", got, err)
	}
}

// erasedAll checks that no file of secrets contains text, and that no temporary file is left.
func erasedAll(t *testing.T, s *Store, name, text string) {
	t.Helper()
	files, err := os.ReadDir(s.path(secretsDir))
	must(t, err)
	for _, f := range files {
		raw, err := os.ReadFile(s.path(secretsDir, f.Name()))
		must(t, err)
		if strings.HasSuffix(f.Name(), ".tmp") || strings.Contains(string(raw), text) {
			t.Errorf("%s: %s is left", name, f.Name())
		}
	}
}
