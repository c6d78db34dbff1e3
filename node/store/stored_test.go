package store

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

// A void release is removed, and another one takes its place.
func TestDropRelease(t *testing.T) {
	s := newStore(t, Party)
	study, other := studyID("study"), studyID("other")
	must(t, s.DropRelease(study)) // no release is no error
	for _, id := range []protocol.StudyID{study, other} {
		must(t, s.SaveRelease(id, testRelease("header", "numbers")))
	}
	staging := s.path(releasesDir, study.String()+".tmp") // left by a process that was killed here
	must(t, os.Mkdir(staging, 0o700))
	must(t, os.WriteFile(filepath.Join(staging, "sketch-0.bin"), nil, 0o600))
	must(t, s.DropRelease(study))
	_, err := s.ReleaseHeader(study)
	wantIs(t, err, ErrNotFound)
	if left, err := os.ReadDir(s.path(releasesDir)); len(left) != 1 || left[0].Name() != other.String() || err != nil {
		t.Errorf("left are %v, %v", left, err)
	}
	must(t, s.SaveRelease(study, testRelease("other header", "other numbers")))
	if header, err := s.ReleaseHeader(study); string(header) != "other header" || err != nil {
		t.Errorf("header %q, %v", header, err)
	}
}

// There is one query per number, for good, in addition to the study's release.
func TestQueries(t *testing.T) {
	s := newStore(t, Party)
	study := studyID("study")
	must(t, s.SaveQuery(study, 1, testRelease("one", "1")))
	must(t, s.SaveQuery(study, 2, testRelease("two", "2")))
	must(t, s.SaveQuery(study, 2, testRelease("two", "2")))
	wantIs(t, s.SaveQuery(study, 2, testRelease("other", "2")), ErrConflict)
	for number, want := range map[int]string{1: "one", 2: "two"} {
		if header, err := s.Query(study, number).Header(); string(header) != want || err != nil {
			t.Errorf("query %d: %q, %v", number, header, err)
		}
	}
	_, err := s.Query(study, 3).Header()
	wantIs(t, err, ErrNotFound)
	_, err = s.ReleaseHeader(study)
	wantIs(t, err, ErrNotFound)
}

// A changed file of a release is named.
func TestCheckReleases(t *testing.T) {
	study := studyID("study")
	summed := func(dir string) bool { return dir == study.String() }
	for name, c := range map[string]struct {
		damage func(dir string) error
		says   string // empty: no error
	}{
		"whole": {func(string) error { return nil }, ""},
		"a bit": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "rows-0.csv"), []byte("row\nnumberz"), 0o600)
		}, "rows-0.csv is not as it was written"},
		"its end": {func(dir string) error { return os.Truncate(filepath.Join(dir, "sketch-0.bin"), 3) }, "sketch-0.bin is not as it was written"},
		"a file":  {func(dir string) error { return os.Remove(filepath.Join(dir, "sketch-0.bin")) }, "sketch-0.bin: not in this store"},
		"header": {func(dir string) error { return os.WriteFile(filepath.Join(dir, headerFile), []byte("headez"), 0o600) },
			"header is not as it was written"},
		"no header":      {func(dir string) error { return os.Remove(filepath.Join(dir, headerFile)) }, "its header is gone"},
		"no sums":        {func(dir string) error { return os.Remove(filepath.Join(dir, sumsFile)) }, "sums: not in this store"},
		"empty sums":     {func(dir string) error { return os.Truncate(filepath.Join(dir, sumsFile), 0) }, "sums is cut off"},
		"sums cut off":   {func(dir string) error { return os.Truncate(filepath.Join(dir, sumsFile), 100) }, "sums is cut off"},
		"sums elsewhere": {func(dir string) error { return os.WriteFile(filepath.Join(dir, sumsFile), []byte("00  ../x\n"), 0o600) }, "sums is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, Party)
			must(t, s.SaveRelease(study, testRelease("header", "numbers")))
			must(t, s.SaveQuery(study, 1, testRelease("query", "1")))
			must(t, os.Mkdir(s.path(releasesDir, "x.tmp"), 0o700)) // left by a process that was killed
			must(t, c.damage(s.path(releasesDir, study.String())))
			count, err := s.CheckReleases(summed)
			switch {
			case c.says == "" && (err != nil || count != 2):
				t.Errorf("%d releases, %v", count, err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), study.String()+": "+c.says)):
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
	s := newStore(t, Party) // as by an older program, which wrote no sums
	must(t, s.SaveQuery(study, 1, testRelease("query", "1")))
	must(t, os.Remove(filepath.Join(string(s.Query(study, 1)), sumsFile)))
	if count, err := s.CheckReleases(summed); count != 1 || err != nil {
		t.Errorf("an older one: %d, %v", count, err)
	}
	must(t, os.RemoveAll(s.path(releasesDir)))
	count, err := s.CheckReleases(summed)
	wantIs(t, err, os.ErrNotExist)
	if count != 0 {
		t.Errorf("%d releases without a folder", count)
	}
}

// The journal's notes of debits, and nothing else, tell which releases must have sums.
func TestSummed(t *testing.T) {
	s := newStore(t, Party)
	study := addStudy(t, s, "study")
	if _, err := debit(t, s, study, 0); err != nil {
		t.Fatal(err)
	}
	entries, err := s.Journal()
	must(t, err)
	query := entries[len(entries)-1]
	query.Note = strings.Replace(query.Note, "sketch 1", "query 7", 1)
	older := query // without a mark
	older.Study, older.Note = studyID("older").String(), `dataset "patients", sketch 1, ledger entry 1`
	unlike := query // worded like a debit, but not one
	unlike.Study, unlike.Event = studyID("unlike").String(), journal.Approved
	got := Summed(append(entries, query, older, unlike))
	if len(got) != 2 || !got[study.String()] || !got[QueryDir(study, 7)] {
		t.Errorf("%v", got)
	}
}

func TestDecisionsAndCosignaturesInOrder(t *testing.T) {
	s := newStore(t, Party)
	study := addStudy(t, s, "study")
	if all, err := s.Decisions(study); len(all) != 0 || err != nil {
		t.Errorf("before: %v, %v", all, err)
	}
	must(t, s.PutDecision(study, Decline, 1))
	must(t, s.PutDecision(study, Approve, 2))
	must(t, s.PutCosignature(study, protocol.PeerID{7}, "second", 3))
	must(t, s.PutCosignature(study, protocol.PeerID{8}, "first", 4))
	before, err := s.Journal()
	must(t, err)
	must(t, s.PutCosignature(study, protocol.PeerID{7}, "second", 5)) // no-op
	wantIs(t, s.PutCosignature(studyID("unknown"), protocol.PeerID{7}, "line", 6), ErrNotFound)
	s = reopen(t, s)
	if all, err := s.Decisions(study); err != nil || !slices.Equal(all, []Decided{{Decline, 1}, {Approve, 2}}) {
		t.Errorf("decisions %v, %v", all, err)
	}
	if lines, err := s.Cosignatures(study); err != nil || !slices.Equal(lines, []string{"second", "first"}) {
		t.Errorf("cosignatures %q, %v", lines, err)
	}
	after, err := s.Journal()
	must(t, err)
	if last := after[len(after)-1]; len(after) != len(before) || last.Event != journal.Cosigned || !strings.Contains(last.Note, protocol.PeerID{8}.String()) {
		t.Errorf("the journal ends with %+v after %d entries, and had %d", last, len(after), len(before))
	}
}

// One process serves a directory, others see that it does, and looking creates no lock.
func TestLockServing(t *testing.T) {
	s := newStore(t, Party)
	if s.Served() {
		t.Error("served by nobody")
	}
	if _, err := os.Stat(s.path(locksDir, "serve.lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a look left a lock: %v", err)
	}
	unlock, err := s.LockServing()
	must(t, err)
	_, err = s.LockServing()
	wantIs(t, err, ErrServed)
	looking := open(t, s.dir, Party, Options{ReadOnly: true})
	if !s.Served() || !looking.Served() {
		t.Error("who serves is not seen")
	}
	_, err = looking.LockServing()
	wantIs(t, err, ErrReadOnly)
	unlock()
	if s.Served() {
		t.Error("still served")
	}
	unlock, err = s.LockServing()
	must(t, err)
	unlock()
}

// A person's key is readable by its owner only, has the format of an identity, and replaces no
// file.
func TestPersonalKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	id, err := CreateKey(path, entropy(5))
	must(t, err)
	key, err := ReadKey(path)
	must(t, err)
	if again, err := protocol.PeerIDFromKey(key.Public().(ed25519.PublicKey)); err != nil || again != id {
		t.Errorf("the key of %s is read as that of %s, %v", id, again, err)
	}
	before, err := os.ReadFile(path)
	must(t, err)
	_, err = CreateKey(path, entropy(6))
	wantIs(t, err, os.ErrExist)
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the key was replaced, %v", err)
	}
	if _, err := CreateKey(filepath.Join(t.TempDir(), "short"), strings.NewReader("too little")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("with little entropy: %v", err)
	}
	_, err = ReadKey(path + ".none")
	wantIs(t, err, os.ErrNotExist)
	must(t, os.WriteFile(path, before[:len(before)/2], 0o600))
	if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("half of a key: %v", err)
	}
	stranger, err := ecdh.X25519().NewPrivateKey(make([]byte, 32))
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(stranger)
	must(t, err)
	must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: identityPEM, Bytes: der}), 0o600))
	if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), "want an Ed25519 key") {
		t.Errorf("another kind of key: %v", err)
	}
	must(t, os.WriteFile(path, before, 0o600))
	must(t, os.Chmod(path, 0o644))
	if _, err := ReadKey(path); !errors.Is(err, private.ErrOpen) && runtime.GOOS != "windows" {
		t.Errorf("a key that others can read: %v", err)
	}
}

// sampleOf returns the sample of a dataset with these record ids.
func sampleOf(t *testing.T, s *Store, file string, ids ...string) people.Sample {
	t.Helper()
	key, err := s.PeopleKey()
	must(t, err)
	sampler := people.NewSampler(key, dataset.Source{Files: []string{file}})
	for _, id := range ids {
		sampler.Add([]byte(id))
	}
	return sampler.Sample()
}

func encoded(t *testing.T, s people.Sample) string {
	t.Helper()
	raw, err := s.Encode()
	must(t, err)
	return string(raw)
}

// New people are added to those remembered, under a key that a successor inherits.
func TestPeople(t *testing.T) {
	s := newStore(t, Party)
	must(t, s.PutPeopleSample("north", sampleOf(t, s, "a.csv", "1", "2")))
	must(t, s.PutPeopleSample("north", sampleOf(t, s, "b.csv", "3")))
	must(t, s.PutPeopleSample("south", sampleOf(t, s, "c.csv", "9")))
	want := encoded(t, sampleOf(t, s, "a.csv", "1", "2").With(sampleOf(t, s, "b.csv", "3")))
	dir := filepath.Join(t.TempDir(), "next")
	_, err := s.Rotate(dir, entropy(9), 500)
	must(t, err)
	next := open(t, dir, Party, Options{})
	for name, store := range map[string]*Store{"the store": reopen(t, s), "its successor": next} {
		all, err := store.People()
		if err != nil || len(all) != 2 || encoded(t, all["north"]) != want {
			t.Errorf("%s remembers %v, %v", name, all, err)
		}
		if got := encoded(t, sampleOf(t, store, "c.csv", "9")); got != encoded(t, all["south"]) {
			t.Errorf("%s has another key", name)
		}
	}
	if own := newStore(t, Party); encoded(t, sampleOf(t, own, "c.csv", "9")) != encoded(t, sampleOf(t, newStore(t, Party), "c.csv", "9")) {
		t.Error("the same identity has two keys")
	}
	wantIs(t, open(t, dir, Party, Options{ReadOnly: true}).PutPeopleSample("x", people.Sample{}), ErrReadOnly)
}

// A stored sample counts as damaged if it was changed, or moved to another name.
func TestDamagedPeople(t *testing.T) {
	s := newStore(t, Party)
	must(t, s.PutPeopleSample("north", sampleOf(t, s, "a.csv", "1")))
	for name, change := range map[string]string{
		"another name": "UPDATE people SET dataset = 'east'",
		"cut off":      "UPDATE people SET raw = substr(raw, 1, 20)",
		"another end":  "UPDATE people SET raw = CAST(raw || x'00' AS BLOB)",
		"its key":      "INSERT OR REPLACE INTO people (dataset, raw) SELECT '', raw FROM people LIMIT 1",
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, Party)
			must(t, s.PutPeopleSample("north", sampleOf(t, s, "a.csv", "1")))
			_, err := s.db.Exec(change)
			must(t, err)
			if name == "its key" {
				_, err = s.PeopleKey()
			} else {
				_, err = s.People()
			}
			if err == nil || !strings.Contains(err.Error(), "is damaged") {
				t.Errorf("read: %v", err)
			}
			if name == "cut off" {
				if err := s.PutPeopleSample("north", people.Sample{}); err == nil || !strings.Contains(err.Error(), "is damaged") {
					t.Errorf("kept beside it: %v", err)
				}
			}
		})
	}
	must(t, transact(s.db, func(tx *sql.Tx) error { return putPeople(tx, inheritedKey, []byte("too short")) }))
	if _, err := s.PeopleKey(); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a short key: %v", err)
	}
}

// The journal's heads are those of each of its prefixes, and the last restore is dated.
func TestJournalHeadsAndRestoring(t *testing.T) {
	s, _ := filled(t)
	_, err := s.RestoredAt()
	wantIs(t, err, ErrNotFound)
	heads, err := s.JournalHeads()
	must(t, err)
	must(t, s.Note(journal.Entry{At: 700, Event: journal.Approved, Note: `not "event":"restored"`}))
	_, err = s.RestoredAt()
	wantIs(t, err, ErrNotFound)
	longer, err := s.JournalHeads()
	must(t, err)
	if len(longer) != len(heads)+1 || !slices.Equal(longer[:len(heads)], heads) || slices.Contains(heads, longer[len(heads)]) {
		t.Errorf("%d heads, then %d", len(heads), len(longer))
	}
	dir := filepath.Join(t.TempDir(), "again")
	_, err = Restore(dir, Party, bytes.NewReader(backup(t, s)))
	must(t, err)
	back := open(t, dir, Party, Options{})
	at, err := back.RestoredAt()
	must(t, err)
	entries, err := back.Journal()
	must(t, err)
	if last := entries[len(entries)-1]; at != last.At || last.Event != journal.Restored {
		t.Errorf("restored at %v, the journal ends with %+v", at, last)
	}
}

// Ledger heads are listed as stored, until the callback returns an error.
func TestLedgerHeadsAreListed(t *testing.T) {
	s := newStore(t, Aggregator)
	for i := range byte(3) {
		_, err := s.KeepLedgerHead(protocol.PeerID{i + 1}, uint64(i), []byte{i})
		must(t, err)
	}
	var got []string
	must(t, s.LedgerHeads(func(party []byte, count int64, raw []byte) error {
		got = append(got, fmt.Sprint(party[0], count, raw))
		return nil
	}))
	if want := []string{"1 0 [0]", "2 1 [1]", "3 2 [2]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	enough, calls := errors.New("enough"), 0
	err := s.LedgerHeads(func([]byte, int64, []byte) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if kept, err := newStore(t, Party).LedgerHeadKept(); kept || err != nil {
		t.Errorf("before a debit: %v, %v", kept, err)
	}
	s, _ = filled(t)
	if kept, err := s.LedgerHeadKept(); !kept || err != nil {
		t.Errorf("after a debit: %v, %v", kept, err)
	}
}

// Held files without a manifest are reported, with one they are not.
func TestHeldWithoutAManifestIsStray(t *testing.T) {
	s := newStore(t, Party)
	whole, half := s.Held(studyID("whole")), s.Held(studyID("half"))
	fill(t, whole, "sum.1", "first")
	must(t, whole.Commit([]byte("manifest"), []string{"sum.1"}))
	fill(t, half, "sum.1", "first")
	strays, err := s.Strays()
	if err != nil || len(strays) != 1 || strays[0].Path != heldDir+"/"+studyID("half").String() || !strings.Contains(strays[0].Why, "without a manifest") {
		t.Errorf("%v, %v", strays, err)
	}
}

func TestUploadSize(t *testing.T) {
	s := newStore(t, Aggregator)
	study := addStudy(t, s, "study")
	if size, err := s.UploadSize(study); size != 0 || err != nil {
		t.Errorf("before: %d, %v", size, err)
	}
	must(t, s.PutChunk(study, protocol.PeerID{1}, 0, 0, make([]byte, 100)))
	must(t, s.PutChunk(study, protocol.PeerID{2}, 1, 3, make([]byte, 11)))
	must(t, s.PutChunk(addStudy(t, s, "other"), protocol.PeerID{2}, 0, 0, make([]byte, 5)))
	if size, err := s.UploadSize(study); size != 111 || err != nil {
		t.Errorf("%d bytes, %v", size, err)
	}
}

// A database that cannot be shared, as on a read-only disk, can still be read.
func TestReadingWhatCannotBeShared(t *testing.T) {
	s, id := filled(t)
	must(t, s.Close())
	shared := s.path(databaseFile + "-shm")
	must(t, os.RemoveAll(shared))
	if err := os.Symlink(s.path("none", "shm"), shared); err != nil { // prevents creation of the index
		t.Skip(err)
	}
	db, err := tryReading(s.path(databaseFile), url.Values{})
	must(t, db.Close())
	if err == nil || !unshareable(err) {
		t.Fatalf("it can be shared: %v", err)
	}
	looking := open(t, s.dir, Party, Options{ReadOnly: true})
	if d, at, err := looking.Decision(id); d != Approve || at != 100 || err != nil {
		t.Errorf("decision %s at %v, %v", d, at, err)
	}
	if entries, err := looking.Ledger(); len(entries) != 1 || err != nil {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	none, err := openForReading(s.path("none.db"))
	if err == nil || second(os.Stat(s.path("none.db"))) == nil {
		t.Errorf("a database that is not there was made: %v", err)
	}
	if none != nil {
		none.Close()
	}
	if unshareable(errors.New("other")) {
		t.Error("any error is one of sharing")
	}
}

// If the database does not answer, every method returns an error, never an empty answer.
func TestADatabaseThatDoesNotAnswer(t *testing.T) {
	s, id := filled(t)
	must(t, s.Close())
	peer := protocol.PeerID{1}
	for name, do := range map[string]func() error{
		"Backup":          func() error { _, err := s.Backup(io.Discard); return err },
		"PutSigned":       func() error { return s.PutSigned(id, protocol.KindApprove, 0, nil) },
		"Own":             func() error { _, err := s.Own(id); return err },
		"AppendBoard":     func() error { return s.AppendBoard(id, 0, [][]byte{{1}}, nil) },
		"Noted":           func() error { _, _, err := s.Noted(0); return err },
		"Board":           func() error { _, err := s.Board(id, 0, 1); return err },
		"BoardCount":      func() error { _, err := s.BoardCount(id); return err },
		"Head":            func() error { _, err := s.Head(id); return err },
		"Integrity":       func() error { _, err := s.Integrity(); return err },
		"CheckSchema":     func() error { return s.CheckSchema() },
		"QuickCheck":      func() error { _, err := s.QuickCheck(context.Background()); return err },
		"Note":            func() error { return s.Note(journal.Entry{Event: journal.Approved}) },
		"LastNoted":       func() error { _, err := s.LastNoted(); return err },
		"RestoredAt":      func() error { _, err := s.RestoredAt(); return err },
		"Journal":         func() error { _, err := s.Journal(); return err },
		"JournalHeads":    func() error { _, err := s.JournalHeads(); return err },
		"Debit":           func() error { _, err := debit(t, s, id, 3); return err },
		"Ledger":          func() error { _, err := s.Ledger(); return err },
		"KeepLedgerHead":  func() error { _, err := s.KeepLedgerHead(peer, 1, nil); return err },
		"LedgerHead":      func() error { _, err := s.LedgerHead(peer); return err },
		"LedgerHeads":     func() error { return s.LedgerHeads(nil) },
		"PeopleKey":       func() error { _, err := s.PeopleKey(); return err },
		"PutPeopleSample": func() error { return s.PutPeopleSample("x", people.Sample{}) },
		"People":          func() error { _, err := s.People(); return err },
		"Purge":           func() error { _, err := s.Purge(id, 1); return err },
		"Purged":          func() error { _, err := s.Purged(id); return err },
		"Rotate":          func() error { _, err := s.Rotate(t.TempDir()+"/x", entropy(2), 1); return err },
		"Retired":         func() error { _, err := s.Retired(); return err },
		"RetiredAt":       func() error { _, err := s.RetiredAt(); return err },
		"PutStudy":        func() error { return s.PutStudy(studyID("x"), nil, 1) },
		"Study":           func() error { _, err := s.Study(id); return err },
		"Studies":         func() error { _, err := s.Studies(); return err },
		"FindStudy":       func() error { _, err := s.FindStudy(id.String()); return err },
		"PutDecision":     func() error { return s.PutDecision(id, Decline, 1) },
		"Decision":        func() error { _, _, err := s.Decision(id); return err },
		"Decisions":       func() error { _, err := s.Decisions(id); return err },
		"PutCosignature":  func() error { return s.PutCosignature(id, peer, "", 1) },
		"Cosignatures":    func() error { _, err := s.Cosignatures(id); return err },
		"PutStatus":       func() error { return s.PutStatus(id, nil) },
		"Status":          func() error { _, err := s.Status(id); return err },
		"PutToken":        func() error { return s.PutToken("0123abcd", nil) },
	} {
		if err := do(); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A store opened for reading changes no file in the directory.
func TestLookersChangeNothing(t *testing.T) {
	s, id := filled(t)
	looking := open(t, s.dir, Party, Options{ReadOnly: true})
	before := listed(t, s.dir)
	for name, do := range map[string]func() error{
		"SaveRelease":    func() error { return looking.SaveRelease(studyID("x"), testRelease("h", "x")) },
		"DropRelease":    func() error { return looking.DropRelease(id) },
		"SaveQuery":      func() error { return looking.SaveQuery(id, 1, testRelease("h", "x")) },
		"PutSecret":      func() error { return looking.PutSecret(id, 2, []byte("x")) },
		"PutLook":        func() error { return looking.PutLook(id, []byte("x")) },
		"PutFirst":       func() error { return looking.PutFirst(id, []byte("x")) },
		"DestroyFirst":   func() error { return looking.DestroyFirst(id) },
		"DestroySecret":  func() error { return looking.DestroySecret(id, 1) },
		"DestroySecrets": func() error { return looking.DestroySecrets(id) },
		"DestroyKept":    func() error { return looking.DestroyKept(id) },
		"PutResult":      func() error { return looking.PutResult(id, "x.json", nil) },
		"NewResult":      func() error { _, err := looking.NewResult(id); return err },
		"DropResult":     func() error { return looking.DropResult(id, "result.json") },
		"PutChunk":       func() error { return looking.PutChunk(id, protocol.PeerID{1}, 0, 0, nil) },
		"DropChunk":      func() error { return looking.DropChunk(id, protocol.PeerID{1}, 0, 0) },
		"PutToken":       func() error { return looking.PutToken("0123abcd", nil) },
		"Purge":          func() error { _, err := looking.Purge(id, 1); return err },
		"Rotate":         func() error { _, err := looking.Rotate(t.TempDir()+"/x", entropy(2), 1); return err },
		"LockStudy":      func() error { _, err := looking.LockStudy(id); return err },
		"Decide":         func() error { return looking.Held(id).Decide() },
		"PutDecision":    func() error { return looking.PutDecision(id, Decline, 1) },
		"PutStudy":       func() error { return looking.PutStudy(studyID("x"), nil, 1) },
	} {
		if err := do(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := listed(t, s.dir); after != before {
		t.Errorf("files were\n%s\nand are\n%s", before, after)
	}
}

// listed lists the files below a directory, except those of the database.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), databaseFile) {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %q\n", path, text)
		return err
	}))
	return out.String()
}

// Messages noted in the journal are read back. A note without a number is not message 0.
func TestNotedMessages(t *testing.T) {
	s := newStore(t, Aggregator)
	id := addStudy(t, s, "study")
	must(t, s.AppendBoard(id, 0, [][]byte{{1}, {2}}, nil))
	noted, last, err := s.Noted(0)
	if err != nil || len(noted) != 2 || noted[0].Study != id || noted[1].Number != 1 {
		t.Fatalf("%+v, %v", noted, err)
	}
	for what, e := range map[string]journal.Entry{
		"number": {At: 5, Event: journal.OnBoard, Study: id.String(), Note: "message one"},
		"study":  {At: 5, Event: journal.OnBoard, Study: "patients", Note: "message 0"},
	} {
		s := newStore(t, Aggregator)
		must(t, s.Note(e))
		if noted, _, err := s.Noted(0); err == nil || len(noted) > 0 {
			t.Errorf("a message without its %s: %+v", what, noted)
		}
	}
	if more, _, err := s.Noted(last); err != nil || len(more) > 0 {
		t.Errorf("after the last: %+v, %v", more, err)
	}
}

// An unreadable row of the ledger is damage: it is not skipped, and nothing is debited to the rest.
func TestARowOfTheLedgerThatCannotBeRead(t *testing.T) {
	s := newStore(t, Party)
	id := addStudy(t, s, "study")
	for i := range 2 {
		if _, err := debit(t, s, id, i); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.db.Exec("DROP TRIGGER ledger_keep; UPDATE ledger SET seq = -seq WHERE seq = 1") // not a valid entry number
	must(t, err)
	entries, err := s.Ledger()
	if !errors.Is(err, ErrDamaged) || len(entries) > 0 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if _, err := debit(t, s, id, 2); err == nil {
		t.Error("a debit beside it")
	}
}
