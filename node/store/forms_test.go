package store

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// Later programs must find what is on a disk: names and rows stay as they are.
func TestFormsStay(t *testing.T) {
	s := newStore(t, Party)
	key, err := s.PeopleKey()
	must(t, err)
	id := protocol.StudyID{1}
	for what, c := range map[string]struct{ got, want string }{
		"row of people":  {fmt.Sprintf("%x", sha256.Sum256(peopleRow("north", []byte("sample")))), "acaa18733aaef7093426299dff00019e252a83549da9ced1d6e4cbc042d9da46"},
		"key of people":  {fmt.Sprintf("%x", sha256.Sum256(key[:])), "6f5265ad023646e2616c2ffdb1a9af995294074c8fddb52101261704d53c8ce2"},
		"secrets":        {filepath.Base(s.secretPath(id, 12)), id.String() + "-12"},
		"sealed texts":   {filepath.Base(filepath.Dir(s.sealedPath(id, protocol.PeerID{1}, 12))), "12"},
		"empty people":   {string(must1(readPeopleRow("x", peopleRow("x", nil)))), ""},
		"no inheritance": {inheritance(nil, protocol.PeerID{1}), "0 ledger entries of " + protocol.PeerID{1}.String()},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", what, c.got, c.want)
		}
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A backup begins with its format and its role, in few bytes.
func TestBeginningsOfBackups(t *testing.T) {
	begun := func(size int) error {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		must(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: backupHead, Size: int64(size), Mode: 0o600}))
		_, err := w.Write(append([]byte(backupFormat+"\nparty\n"), make([]byte, size)...)[:size])
		must(t, errors.Join(err, w.Close()))
		_, err = unpack(Party, &b, func(string, io.Reader) error { return nil })
		return err
	}
	for size, says := range map[int]string{1024: "its first lines are", 1025: "want what party backup wrote"} {
		if err := begun(size); !errors.Is(err, ErrBackup) || !strings.Contains(err.Error(), says) {
			t.Errorf("%d bytes: %v, want %q", size, err, says)
		}
	}
	for head, says := range map[string]string{
		"party\n": "", "aggregator\n": "it is a backup of a node of role aggregator", "party\nmore": "its first lines are",
		"aggregator\nmore": "its first lines are", "observer\n": "its first lines are",
	} {
		err := checkBackupHead([]byte(backupFormat+"\n"+head), Party)
		if says == "" {
			must(t, err)
		} else if !errors.Is(err, ErrBackup) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", head, err, says)
		}
	}
	if err := checkBackupHead([]byte("cosketch/backup/2\nparty\n"), Party); !errors.Is(err, ErrBackup) || !strings.Contains(err.Error(), "its format is") {
		t.Error(err)
	}
}

// A backup holds only what Backup writes, each file with its hash.
func TestFilesOfBackups(t *testing.T) {
	for _, h := range []tar.Header{{Name: identityFile}, {Name: hpkeFile}, {Name: "results/a"}, {Name: "sealed/a/b"}} {
		h.Typeflag = tar.TypeReg
		must(t, checkBackupName(&h))
		h.Typeflag = tar.TypeSymlink
		wantIs(t, checkBackupName(&h), ErrBackup)
		h.Typeflag, h.PAXRecords = tar.TypeReg, map[string]string{"GNU.sparse.major": "1"}
		wantIs(t, checkBackupName(&h), ErrBackup)
	}
	for _, name := range []string{"", "results", "results/", "results.txt", "results//a", "identity.key/", "identity.key/a", "results/../a",
		"/results/a", `results/a\b`, "held/a", "./results/a", "other"} {
		wantIs(t, checkBackupName(&tar.Header{Typeflag: tar.TypeReg, Name: name}), ErrBackup)
	}
	have := map[string]protocol.Digest{"a": {1}, "b": {2}}
	sum := func(first byte) string { return protocol.Digest{first}.String() }
	for text, says := range map[string]string{
		sum(1) + "  a\n" + sum(2) + "  b\n":            "",
		sum(1) + "  a\n":                               "1 files have no checksum",
		"":                                             "2 files have no checksum",
		sum(1) + "  a\n" + sum(3) + "  b\n":            `"b" is missing or damaged`,
		sum(1) + "  a\n" + sum(2) + "  c\n":            `"c" is missing or damaged`,
		sum(1) + "  a\n" + sum(0) + "  c\n":            `"c" is missing or damaged`,
		sum(1) + "  a\nxx  b\n":                        `"b" is missing or damaged`,
		sum(1) + "  a\n" + sum(2) + "zz  b\n":          `"b" is missing or damaged`,
		sum(1) + "  a\n" + strings.Repeat("0", 70_000): "token too long",
	} {
		err := compareSums(strings.NewReader(text), have)
		if says == "" {
			must(t, err)
		} else if !errors.Is(err, ErrBackup) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.100q: %v, want %q", text, err, says)
		}
	}
}

// The stored ledger head is that of the ledger or of a prefix of it.
func TestHeadsOfLedgers(t *testing.T) {
	s := newStore(t, Party)
	for i := range 2 {
		if _, err := debit(t, s, studyID("study"), i); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := s.Ledger()
	must(t, err)
	for head, says := range map[string]string{
		ledgerHead(entries): "", ledgerHead(entries[:1]): "", strings.Replace(ledgerHead(entries), "2", "3", 1): "records 3 entries",
		strings.Replace(ledgerHead(entries), "2", "1", 1): "records 1 entries", "": "is damaged", "x": "is damaged", "0 0": "is damaged", "-1 0": "is damaged",
	} {
		err := ledgerEvidence{headed: true, head: head, role: Party}.check(entries)
		if says == "" {
			must(t, err)
		} else if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", head, err, says)
		}
	}
	must(t, ledgerEvidence{head: "x"}.check(entries))
	for role, want := range map[Role]bool{Party: true, Aggregator: false} { // only a party has a ledger of spending
		if got := strings.Contains(ledgerLost(role), "lower the caps"); got != want {
			t.Errorf("%s: %s", role, ledgerLost(role))
		}
	}
}

// A query has a debit of its own, which journal and backup distinguish from that of the study's
// release.
func TestQueriesArePaid(t *testing.T) {
	s := newStore(t, Party)
	study := addStudy(t, s, "study")
	_, err := s.Debit(t.Context(), func([]ledger.Entry) ([]ledger.Entry, error) {
		asked := entry(study, 0)
		asked.Query = 1
		return []ledger.Entry{entry(study, 0), asked}, nil
	})
	must(t, err)
	must(t, s.SaveQuery(study, 1, testRelease("query", "1")))
	must(t, s.SaveRelease(study, testRelease("header", "1")))
	s = reopen(t, s)
	entries, err := s.Journal()
	must(t, err)
	var notes []string
	for _, e := range entries {
		if e.Event == journal.Debited {
			notes = append(notes, e.Note)
		}
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "sketch 1") || !strings.Contains(notes[1], "query 1") {
		t.Errorf("noted are %q", notes)
	}
	dir := filepath.Join(t.TempDir(), "again")
	_, err = Restore(dir, Party, bytes.NewReader(backup(t, s)))
	must(t, err)
	if count, err := open(t, dir, Party, Options{}).CheckReleases(func(string) bool { return true }); count != 2 || err != nil {
		t.Errorf("%d are restored, %v", count, err)
	}
	must(t, s.SaveQuery(study, 2, testRelease("query", "2")))
	_, err = debit(t, s, study, 3)
	wantIs(t, err, ErrLedgerMissing)
}

// A chunk is read to one byte beyond its limit, so that an overlong one is noticed.
func TestLongChunks(t *testing.T) {
	s := newStore(t, Aggregator)
	must(t, s.PutChunk(studyID("study"), protocol.PeerID{1}, 0, 0, make([]byte, protocol.ChunkSize+7)))
	if data, err := s.Chunk(studyID("study"), protocol.PeerID{1}, 0, 0); len(data) != protocol.ChunkSize+1 || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}
