package store

import (
	"archive/tar"
	"bytes"
	"database/sql"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	ledgers "github.com/cosketch/cosketch/protocol/ledger"
)

// filled returns a party's store with something of every kind in it.
func filled(t *testing.T) (*Store, protocol.StudyID) {
	t.Helper()
	s := newStore(t, Party)
	id := addStudy(t, s, "study")
	must(t, s.PutDecision(id, Approve, 100))
	must(t, s.PutSigned(id, protocol.KindApprove, 0, []byte("approval")))
	if _, err := debit(t, s, id, 0); err != nil {
		t.Fatal(err)
	}
	must(t, s.SaveRelease(id, Release{Header: []byte("header"), Files: map[string]io.Reader{"sketch-0.bin": strings.NewReader("noised")}}))
	must(t, s.PutResult(id, "result.json", []byte("{}")))
	must(t, s.PutSecret(id, 1, []byte("the seed of a running study")))
	must(t, s.PutKept(id, []byte("kept keys")))
	return s, id
}

func backup(t *testing.T, s *Store) []byte {
	t.Helper()
	var file bytes.Buffer
	report, err := s.Backup(&file)
	must(t, err)
	var files int
	var size int64
	for in := tar.NewReader(bytes.NewReader(file.Bytes())); ; files++ {
		h, err := in.Next()
		if err != nil {
			break
		}
		if h.Name != backupHead && h.Name != backupSums {
			size += h.Size
		}
	}
	if want := (BackupReport{files - 2, size}); report != want {
		t.Errorf("backed up %+v, want %+v", report, want)
	}
	return file.Bytes()
}

func TestBackupAndRestore(t *testing.T) {
	s, id := filled(t)
	must(t, os.WriteFile(s.path(resultsDir, "half.123.tmp"), []byte("half"), 0o600))
	must(t, os.MkdirAll(s.path(releasesDir, id.String(), "half.tmp"), 0o700))
	must(t, os.WriteFile(s.path(releasesDir, id.String(), "half.tmp", "x"), []byte("half"), 0o600))
	must(t, os.Symlink(s.path(secretsDir), s.path(resultsDir, "elsewhere")))
	file := backup(t, s)
	for _, secret := range []string{"the seed of", "kept keys", "half"} {
		if bytes.Contains(file, []byte(secret)) {
			t.Errorf("the backup holds %q", secret)
		}
	}
	dir := filepath.Join(t.TempDir(), "again")
	report, err := Restore(dir, Party, bytes.NewReader(file))
	must(t, err)
	var size int64
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() && !strings.HasPrefix(d.Name(), databaseFile) && d.Name() != ledgerHeadFile {
			size += info.Size()
		}
		return err
	}))
	if beside := report.Bytes - size; beside <= 0 || beside%4096 != 0 { // pages of the database
		t.Errorf("restored %+v, and %d bytes are there without the database", report, size)
	}
	if report.Files != 7 { // database, ledger id, identity, header, sketch and their sums, result
		t.Errorf("%+v", report)
	}
	again := open(t, dir, Party, Options{})
	if a, b := s.Identity(), again.Identity(); !a.Equal(b) {
		t.Error("another identity")
	}
	if d, at, err := again.Decision(id); d != Approve || at != 100 || err != nil {
		t.Errorf("decision %s, %v, %v", d, at, err)
	}
	if raw, err := again.Result(id, "result.json"); string(raw) != "{}" {
		t.Errorf("result %q, %v", raw, err)
	}
	if _, err := again.Secret(id, 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("a secret of a running study came back: %v", err)
	}
	must(t, again.PutSecret(id, 1, []byte("x"))) // the directory is complete
	entries, err := again.Journal()
	must(t, err)
	if last := entries[len(entries)-1]; last.Event != journal.Restored {
		t.Errorf("the journal ends with %+v", last)
	}
	if entries, err = s.Journal(); err != nil || entries[len(entries)-1].Event != journal.BackedUp {
		t.Errorf("the original's journal ends with %+v, %v", entries[len(entries)-1], err)
	}
	opened := t.TempDir()
	must(t, os.Chmod(opened, 0o755))
	if _, err := Restore(opened, Party, bytes.NewReader(file)); !errors.Is(err, private.ErrOpen) {
		t.Errorf("restored where others can read: %v", err)
	}
	if _, err := Restore(dir, Party, bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), "has files already") {
		t.Errorf("restored over a node: %v", err)
	}
	_, err = open(t, dir, Party, Options{ReadOnly: true}).Backup(io.Discard)
	wantIs(t, err, ErrReadOnly)
}

// Restoring a truncated, changed or forged backup leaves no identity behind.
func TestDamagedBackups(t *testing.T) {
	s, _ := filled(t)
	file := backup(t, s)
	changed := bytes.Replace(file, []byte("noised"), []byte("noisep"), 1)
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"empty":             {nil, "it is empty (want what party backup wrote)"},
		"a study file":      {[]byte("cosketch: study/2\nname: x\n"), "it is a study file"},
		"compressed":        {[]byte("\x1f\x8b\x08"), "compressed with gzip: unpack it first"},
		"another archive":   {otherArchive(t), "it is a tar archive that is no node's backup"},
		"cut off":           {file[:len(file)*2/3], "unexpected EOF"},
		"without its end":   {file[:len(file)-2048], ""},
		"changed":           {changed, "missing or damaged"},
		"of nothing":        {archive(t), "it ends after 0 files"},
		"leaving":           {archive(t, "../identity.key"), "does not belong"},
		"absolute":          {archive(t, "/etc/passwd"), "does not belong"},
		"of a secret":       {archive(t, "secrets/1"), "does not belong"},
		"with a detour":     {archive(t, "results/../identity.key"), "does not belong"},
		"of an own name":    {archive(t, backupHead), "does not belong"},
		"with a file twice": {archive(t, "ledger.id", "ledger.id"), "exists"},
	} {
		dir := filepath.Join(t.TempDir(), "again")
		_, err := Restore(dir, Party, bytes.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, identityFile)); err == nil {
			t.Errorf("%s: there is an identity now", name)
		}
		if err == nil {
			continue
		}
		if _, err := Restore(dir, Party, bytes.NewReader(file)); err != nil { // nothing prevents another restore
			t.Errorf("%s: then the whole one: %v", name, err)
		}
	}
}

// Wherever the file of a backup ends, writer and reader return an error.
func TestBackupsFailAnywhere(t *testing.T) {
	s, _ := filled(t)
	full := errors.New("the disk is full")
	for n := 1; ; n++ {
		left := n
		_, err := s.Backup(writer(func(p []byte) (int, error) {
			if left--; left == 0 {
				return 0, full
			}
			return len(p), nil
		}))
		if left > 0 {
			must(t, err)
			break
		}
		wantIs(t, err, full)
	}
	file := backup(t, s)
	for at := 0; at < len(file)-2*512; at += 512 { // the last two blocks are empty
		for _, from := range []io.Reader{bytes.NewReader(file[:at]), io.MultiReader(bytes.NewReader(file[:at]), iotest.ErrReader(full))} {
			if _, err := unpack(Party, from, func(_ string, from io.Reader) error { return second(io.Copy(io.Discard, from)) }); err == nil {
				t.Fatalf("it ends after %d of %d bytes, and nothing is said", at, len(file))
			}
		}
	}
	_, err := unpack(Party, iotest.ErrReader(full), nil)
	wantIs(t, err, full)
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// archive returns a tar file with these names that resembles a backup.
func archive(t testing.TB, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range append([]string{backupHead}, names...) {
		body := backupFormat + "\nparty\n"
		must(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(body)), Mode: 0o600}))
		_, err := w.Write([]byte(body))
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// otherArchive returns a tar file that is not a backup.
func otherArchive(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	must(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "letters/april.txt", Mode: 0o600, Format: tar.FormatPAX}))
	must(t, w.Close())
	return b.Bytes()
}

func FuzzRestore(f *testing.F) {
	f.Add(archive(f))
	f.Add(archive(f, ledgerFile, "results/a/result.json"))
	f.Add(archive(f, ledgerFile, backupSums))
	f.Add(archive(f, "../identity.key"))
	f.Fuzz(func(t *testing.T, file []byte) {
		_, err := unpack(Party, bytes.NewReader(file), func(name string, from io.Reader) error {
			if !filepath.IsLocal(name) || strings.Contains(name, "..") || strings.HasPrefix(name, secretsDir) {
				t.Errorf("%q is to be written", name)
			}
			_, err := io.Copy(io.Discard, from)
			return err
		})
		if err != nil && !errors.Is(err, ErrBackup) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("an error that is none of the backup's: %v", err)
		}
	})
}

func TestPurge(t *testing.T) {
	s := newStore(t, Aggregator)
	id, other := addStudy(t, s, "study"), addStudy(t, s, "other")
	for _, study := range []protocol.StudyID{id, other} {
		must(t, s.PutChunk(study, protocol.PeerID{1}, 0, 0, []byte("sketch")))
		must(t, s.PutResult(study, "result.json", []byte("{}")))
	}
	sent := filename.QuerySent(protocol.PeerID{1}, 1)
	for _, name := range []string{sent, filename.Query(protocol.PeerID{1}, 1), filename.Answer(protocol.PeerID{1}, 1)} {
		must(t, s.PutResult(id, name, []byte("rows")))
	}
	must(t, s.PutResult(other, sent, []byte("rows")))
	_, err := s.Purged(id)
	wantIs(t, err, ErrNotFound)
	if size, err := s.UploadSize(id); size != 10 || err != nil {
		t.Errorf("there are %d bytes, %v", size, err)
	}
	freed, err := s.Purge(id, 500)
	if err != nil || freed != 10 {
		t.Errorf("freed %d, %v", freed, err)
	}
	_, err = s.Result(id, sent)
	wantIs(t, err, ErrNotFound)
	for _, name := range []string{filename.Query(protocol.PeerID{1}, 1), filename.Answer(protocol.PeerID{1}, 1)} {
		if _, err := s.Result(id, name); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Result(other, sent); err != nil {
		t.Error(err)
	}
	s = reopen(t, s)
	if at, err := s.Purged(id); at != 500 || err != nil {
		t.Errorf("purged at %v, %v", at, err)
	}
	if n, err := s.FirstMissing(id, protocol.PeerID{1}, 0, 1); n != 0 || err != nil {
		t.Errorf("the chunk is still there: %d, %v", n, err)
	}
	if n, err := s.FirstMissing(other, protocol.PeerID{1}, 0, 1); n != 1 || err != nil {
		t.Errorf("another study's chunk: %d, %v", n, err)
	}
	if _, err := s.Result(id, "result.json"); err != nil {
		t.Error(err)
	}
	// What a killed purge left is removed by the next one, which keeps the first one's date.
	must(t, s.PutChunk(id, protocol.PeerID{1}, 0, 0, []byte("sketch")))
	if freed, err := s.Purge(id, 600); err != nil || freed != 6 {
		t.Errorf("again: freed %d, %v", freed, err)
	}
	if at, _ := s.Purged(id); at != 500 {
		t.Errorf("the date became %v", at)
	}
	_, err = s.Purge(studyID("nobody's"), 500)
	wantIs(t, err, ErrNotFound)
}

// A party's purge removes its release and its queries, also one that a killed purge left half
// removed, and lets no other be stored.
func TestPurgeOfAParty(t *testing.T) {
	s := newStore(t, Party)
	id, other := addStudy(t, s, "study"), addStudy(t, s, "other")
	for _, study := range []protocol.StudyID{id, other} {
		must(t, s.SaveRelease(study, testRelease("header", "release")))
		for number := 1; number <= 3; number++ {
			must(t, s.SaveQuery(study, number, testRelease("query", "rows")))
		}
	}
	must(t, os.Rename(string(s.Query(id, 2)), string(s.Query(id, 2))+".tmp"))
	must(t, second(s.Purge(id, 500)))
	left, err := os.ReadDir(s.path(releasesDir))
	must(t, err)
	for _, d := range left {
		if !strings.HasPrefix(d.Name(), other.String()) {
			t.Errorf("%s is left", d.Name())
		}
	}
	if len(left) != 4 {
		t.Errorf("%d directories are left, want those of the other study", len(left))
	}
	wantIs(t, s.SaveRelease(id, testRelease("header", "release")), ErrConflict)
	wantIs(t, s.SaveQuery(id, 4, testRelease("query", "rows")), ErrConflict)
}

// The first command that writes upgrades a directory of layout 1, keeps a copy of the old database,
// and loses nothing.
func TestUpgradeFromLayout1(t *testing.T) {
	dir := newDir(t, Party)
	text, err := os.ReadFile(filepath.Join(dir, ledgerFile))
	must(t, err)
	ledger, err := parseLedgerID(text)
	must(t, err)
	path := filepath.Join(dir, databaseFile)
	must(t, os.Remove(path))
	must(t, writeFile(path, nil))
	db, err := openDatabase(path)
	must(t, err)
	id := studyID("study")
	must(t, transact(db, func(tx *sql.Tx) error {
		for _, statement := range []string{schema, "PRAGMA user_version = 1"} {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("INSERT INTO meta (role, ledger) VALUES (?, ?)", string(Party), ledger.String()); err != nil {
			return err
		}
		debited, err := ledgers.Append(nil, entry(id, 0))
		must(t, err)
		raw, err := debited.Encode()
		must(t, err)
		_, err = tx.Exec("INSERT INTO ledger (seq, raw) VALUES (1, ?)", raw)
		must(t, err)
		_, err = tx.Exec("INSERT INTO studies (id, source, added) VALUES (?, ?, 7)", id[:], []byte("study"))
		return err
	}))
	must(t, db.Close())

	if _, err := Open(dir, Party, Options{ReadOnly: true}); !errors.Is(err, ErrLayout) || !strings.Contains(err.Error(), "upgrades it") {
		t.Errorf("for reading: %v", err)
	}
	must(t, os.MkdirAll(filepath.Join(path+".layout1.tmp", "x"), 0o700)) // prevents the copy
	if again, err := Open(dir, Party, Options{}); err == nil || !strings.Contains(err.Error(), "keeping a copy of layout 1") {
		t.Errorf("without a copy: %v, %v", again, err)
	}
	must(t, os.RemoveAll(path+".layout1.tmp"))
	s := open(t, dir, Party, Options{})
	if source, err := s.Study(id); string(source) != "study" {
		t.Errorf("study %q, %v", source, err)
	}
	if kept, err := s.LedgerHeadKept(); !kept || err != nil {
		t.Errorf("how far its ledger has come is not written down: %v", err)
	}
	must(t, s.PutDecision(id, Approve, 8))
	if entries, err := s.Journal(); err != nil || len(entries) != 1 {
		t.Errorf("journal %v, %v", entries, err)
	}
	old, err := openForReading(path + ".layout1")
	must(t, err)
	defer old.Close()
	if version, err := layout(old); version != 1 || err != nil {
		t.Errorf("the copy has layout %d, %v", version, err)
	}
	s = reopen(t, s)
	must(t, os.WriteFile(path+".layout0", []byte("kept"), 0o600))
	must(t, keepLayout(s.db, path+".layout0"))
	if text, err := os.ReadFile(path + ".layout0"); string(text) != "kept" {
		t.Errorf("a copy that is there became %.20q, %v", text, err)
	}
	strays, err := s.Strays()
	if err != nil || len(strays) != 0 {
		t.Errorf("%v, %v", strays, err)
	}
}

func TestStrays(t *testing.T) {
	s, _ := filled(t)
	must(t, os.WriteFile(s.path("notes.txt"), nil, 0o600))
	must(t, os.WriteFile(s.path(resultsDir, "r.123.tmp"), nil, 0o600))
	must(t, os.Chmod(s.path(identityFile), 0o644))
	strays, err := s.Strays()
	must(t, err)
	seen := map[string]bool{}
	for _, stray := range strays {
		seen[stray.Path] = stray.Open
	}
	must(t, os.MkdirAll(s.path(resultsDir, "d.tmp", "e.tmp"), 0o700)) // reported once, like files that are not this program's
	must(t, os.MkdirAll(s.path("letters", "april.tmp"), 0o700))
	must(t, os.MkdirAll(s.path(heldDir, "empty"), 0o700))
	must(t, os.MkdirAll(s.path(heldDir, "whole", "deep"), 0o700))
	must(t, os.WriteFile(s.path(heldDir, "whole", heldManifestFile), nil, 0o600))
	must(t, os.WriteFile(s.path(heldDir, "file"), nil, 0o600))
	if more, err := s.Strays(); len(more) != len(strays)+2 || err != nil {
		t.Errorf("with folders: %+v, %v", more, err)
	}
	if len(strays) != 3 || !seen[identityFile] || seen["notes.txt"] {
		t.Errorf("%+v", strays)
	}
	if wrong, err := s.Integrity(); err != nil || len(wrong) != 0 {
		t.Errorf("%q, %v", wrong, err)
	}
	s.db.SetMaxOpenConns(1)
	for _, statement := range []string{"PRAGMA foreign_keys = 0", "DELETE FROM studies", "DROP TRIGGER journal_stay", "DELETE FROM journal WHERE seq = 1"} {
		_, err := s.db.Exec(statement)
		must(t, err)
	}
	wrong, err := s.Integrity()
	must(t, err)
	for _, want := range []string{"table decisions refers to what table studies lacks", "the journal has a gap"} {
		if !slices.Contains(wrong, want) {
			t.Errorf("%q, want %q", wrong, want)
		}
	}
}

// meanwhile runs a function when a backup begins to be read.
type meanwhile struct {
	bytes.Buffer
	do func()
}

func (m *meanwhile) Write(p []byte) (int, error) {
	if m.do != nil {
		m.do()
		m.do = nil
	}
	return m.Buffer.Write(p)
}

// A backup is of one moment. It leaves out what a running node stores while it is written and the
// copied database does not know, and has the old version of what is replaced.
func TestBackupIsOfOneMoment(t *testing.T) {
	s, id := filled(t)
	file := meanwhile{do: func() {
		must(t, s.PutResult(id, "result.json", []byte("{later}")))
		must(t, s.PutResult(id, "labels.json", []byte("{later}")))
		must(t, s.PutResult(id, "gone.json", []byte("{later}")))
	}}
	must(t, s.PutResult(id, "gone.json", []byte("{first}")))
	_, err := s.Backup(&file)
	must(t, err)
	must(t, s.DropResult(id, "gone.json"))
	dir := filepath.Join(t.TempDir(), "again")
	_, err = Restore(dir, Party, &file.Buffer)
	must(t, err)
	again := open(t, dir, Party, Options{})
	for name, want := range map[string]string{"result.json": "{}", "gone.json": "{first}"} {
		if raw, err := again.Result(id, name); string(raw) != want || err != nil {
			t.Errorf("%s holds %q (%v), want %q", name, raw, err, want)
		}
	}
	if _, err := again.Result(id, "labels.json"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a result that came later: %v", err)
	}
	if strays, err := s.Strays(); err != nil || len(strays) > 0 {
		t.Errorf("left behind: %v, %v", strays, err)
	}
}

// A result stored while the database is copied causes another copy.
func TestBackupCopiesTheDatabaseAgain(t *testing.T) {
	s, id := filled(t)
	staging := t.TempDir()
	before, err := s.listResults(s.dir)
	must(t, err)
	must(t, s.linkResults(before, staging))
	must(t, s.PutResult(id, "result.json", []byte("{later}")))
	after, err := s.listResults(s.dir)
	must(t, err)
	if maps.EqualFunc(before, after, os.SameFile) {
		t.Error("a file that was replaced is the same")
	}
	nowhere := filepath.Join(t.TempDir(), "file") // as on a file system without links
	must(t, os.WriteFile(nowhere, nil, 0o600))
	if from, err := s.freeze(filepath.Join(t.TempDir(), databaseFile), nowhere); from != s.dir || err != nil {
		t.Errorf("without links they are copied from %q, %v", from, err)
	}
	must(t, s.linkResults(after, staging)) // replaces the links of before
	linked, err := s.listResults(staging)
	must(t, err)
	if !maps.EqualFunc(after, linked, os.SameFile) {
		t.Error("other files were linked")
	}
}
