package store

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
)

// entropy returns a fixed stream for tests.
func entropy(n byte) io.Reader { return rand.NewChaCha8([32]byte{n}) }

// newDir creates a state directory and returns its path.
func newDir(t testing.TB, role Role) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state of [a] node?") // characters that are special in patterns and URIs
	if err := Create(dir, role, entropy(1)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t testing.TB, dir string, role Role, opts Options) *Store {
	t.Helper()
	s, err := Open(dir, role, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newStore(t testing.TB, role Role) *Store {
	t.Helper()
	return open(t, newDir(t, role), role, Options{})
}

// reopen closes and reopens a store, so that what it returns was on disk.
func reopen(t testing.TB, s *Store) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, s.dir, s.role, Options{ReadOnly: s.readOnly})
}

func studyID(name string) protocol.StudyID { return sha256.Sum256([]byte(name)) }

func addStudy(t testing.TB, s *Store, name string) protocol.StudyID {
	t.Helper()
	id := studyID(name)
	if err := s.PutStudy(id, []byte(name), 100); err != nil {
		t.Fatal(err)
	}
	return id
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantIs(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want %v", err, target)
	}
}

func TestCreateAndOpen(t *testing.T) {
	for _, role := range []Role{Party, Aggregator} {
		dir := newDir(t, role)
		s := open(t, dir, role, Options{})
		again := open(t, dir, role, Options{ReadOnly: true})
		if len(s.Identity()) == 0 || !s.Identity().Equal(again.Identity()) {
			t.Errorf("%s: identity changed", role)
		}
		if most := s.db.Stats().MaxOpenConnections; most == 0 {
			t.Error("connections are not bounded")
		}
		if got, want := fmt.Sprint(s), string(role)+"'s state directory"; got != want {
			t.Errorf("it is printed as %q", got)
		}
		if (s.HPKE() != nil) != (role == Aggregator) {
			t.Errorf("%s: HPKE key %v", role, s.HPKE())
		}
		if role == Aggregator && !bytes.Equal(s.HPKE().PublicKey().Bytes(), again.HPKE().PublicKey().Bytes()) {
			t.Error("HPKE key changed")
		}
		before, err := os.ReadFile(filepath.Join(dir, identityFile))
		must(t, err)
		if err := Create(dir, role, entropy(2)); err == nil || !strings.Contains(err.Error(), "there already") {
			t.Errorf("creating twice: %v", err)
		}
		after, err := os.ReadFile(filepath.Join(dir, identityFile))
		must(t, err)
		if !bytes.Equal(before, after) {
			t.Error("a second Create replaced the identity")
		}
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	s := newStore(t, Aggregator)
	study := addStudy(t, s, "study")
	must(t, s.PutSecret(study, 1, []byte("s")))
	must(t, s.PutResult(study, "result.json", []byte("{}")))
	must(t, s.SaveRelease(study, Release{Header: []byte("h"), Files: map[string]io.Reader{"sketch-0.bin": strings.NewReader("x")}}))
	must(t, s.PutChunk(study, protocol.PeerID{1}, 0, 0, []byte("c")))
	unlock, err := s.LockStudy(study)
	must(t, err)
	defer unlock()
	files := 0
	must(t, filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	}))
	if files < 15 {
		t.Errorf("saw only %d files", files)
	}
}

func TestCreateRefuses(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	must(t, os.Mkdir(open, 0o755))
	must(t, os.Chmod(open, 0o755))
	orphan := newDir(t, Party)
	must(t, os.Remove(filepath.Join(orphan, identityFile)))
	for name, c := range map[string]struct {
		dir     string
		role    Role
		entropy io.Reader
		says    string
	}{
		"unknown role":      {filepath.Join(t.TempDir(), "x"), "observer", entropy(1), "unknown role"},
		"open directory":    {open, Party, entropy(1), "chmod"},
		"little entropy":    {filepath.Join(t.TempDir(), "x"), Party, io.LimitReader(entropy(1), 40), "entropy"},
		"less entropy":      {filepath.Join(t.TempDir(), "x"), Aggregator, io.LimitReader(entropy(1), 90), "entropy"},
		"ledger is there":   {orphan, Party, entropy(1), databaseFile},
		"not a directory":   {filepath.Join(orphan, databaseFile), Party, entropy(1), databaseFile},
		"parent not a file": {filepath.Join(orphan, databaseFile, "x"), Party, entropy(1), databaseFile},
	} {
		if err := Create(c.dir, c.role, c.entropy); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An interrupted Create leaves nothing that hinders the next one.
func TestCreateAgainAfterFailure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, Aggregator, io.LimitReader(entropy(1), 70)); err == nil {
		t.Fatal("no error")
	}
	if _, err := Open(dir, Aggregator, Options{}); !errors.Is(err, ErrNoStore) {
		t.Errorf("half a directory: %v", err)
	}
	must(t, Create(dir, Aggregator, entropy(1)))
	open(t, dir, Aggregator, Options{})
}

func TestOpenRefuses(t *testing.T) {
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, name))) }
	}
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	}
	mode := func(name string, mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, name), mode)) }
	}
	for name, c := range map[string]struct {
		damage func(*testing.T, string)
		is     error
		says   string
	}{
		"no directory":      {func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }, ErrNoStore, "party init"},
		"empty directory":   {func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)); must(t, os.Mkdir(dir, 0o700)) }, ErrNoStore, "party init"},
		"no identity":       {remove(identityFile), os.ErrNotExist, "identity is not"},
		"damaged identity":  {write(identityFile, "hello"), nil, identityFile},
		"readable identity": {mode(identityFile, 0o644), nil, "chmod go="},
		"readable ledger":   {mode(ledgerFile, 0o640), nil, "chmod go="},
		"open directory":    {mode(".", 0o750), nil, "chmod go="},
		"no ledger id":      {remove(ledgerFile), ErrLedgerMissing, "backup"},
		"damaged ledger id": {write(ledgerFile, "12"), ErrLedgerMissing, ledgerFile},
		"no database":       {remove(databaseFile), ErrLedgerMissing, "backup"},
		"empty database":    {write(databaseFile, ""), ErrLedgerMissing, "empty"},
		"garbage database":  {write(databaseFile, strings.Repeat("garbage ", 1000)), nil, databaseFile},
		"fresh database": {func(t *testing.T, dir string) {
			other := filepath.Join(t.TempDir(), "other")
			must(t, Create(other, Party, entropy(3)))
			must(t, os.Rename(filepath.Join(other, databaseFile), filepath.Join(dir, databaseFile)))
		}, ErrLedgerMissing, "was not made with ledger.id"},
		"newer layout": {func(t *testing.T, dir string) {
			tamper(t, dir, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1))
		}, ErrLayout, "a newer one was used here"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t, Party)
			c.damage(t, dir)
			for _, opts := range []Options{{}, {ReadOnly: true}} {
				s, err := Open(dir, Party, opts)
				if err == nil {
					s.Close()
					t.Fatal("no error")
				}
				if lost := errors.Is(err, ErrLedgerMissing); lost != (c.is == ErrLedgerMissing) {
					t.Errorf("a missing ledger: %v, in %v", lost, err)
				}
				if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v; want %v saying %q", err, c.is, c.says)
				}
			}
		})
	}
}

func TestRoleMismatch(t *testing.T) {
	if _, err := Open(newDir(t, Aggregator), Party, Options{}); err == nil || !strings.Contains(err.Error(), "role aggregator") {
		t.Errorf("aggregator's directory as party's: %v", err)
	}
	if _, err := Open(newDir(t, Party), Aggregator, Options{}); err == nil || !strings.Contains(err.Error(), "hpke.key") {
		t.Errorf("party's directory as aggregator's: %v", err)
	}
}

func beginning(_ NewFile, err error) error { return err }

func TestReadOnly(t *testing.T) {
	dir := newDir(t, Party)
	s := open(t, dir, Party, Options{ReadOnly: true}) // before another process has it open
	study := studyID("study")
	for name, err := range map[string]error{
		"PutStudy":       s.PutStudy(study, nil, 0),
		"PutDecision":    s.PutDecision(study, Approve, 0),
		"PutSigned":      s.PutSigned(study, protocol.KindApprove, 0, []byte("x")),
		"AppendBoard":    s.AppendBoard(study, 0, [][]byte{{1}}, nil),
		"PutStatus":      s.PutStatus(study, nil),
		"SaveRelease":    s.SaveRelease(study, Release{}),
		"PutChunk":       s.PutChunk(study, protocol.PeerID{}, 0, 0, nil),
		"PutResult":      s.PutResult(study, "x", nil),
		"NewResult":      beginning(s.NewResult(study)),
		"DropResult":     s.DropResult(study, "x"),
		"PutSecret":      s.PutSecret(study, 1, nil),
		"PutLook":        s.PutLook(study, nil),
		"DestroyLook":    s.DestroyLook(study),
		"DestroySecret":  s.DestroySecret(study, 1),
		"DestroySecrets": s.DestroySecrets(study),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.LockStudy(study); !errors.Is(err, ErrReadOnly) {
		t.Errorf("LockStudy: %v", err)
	}
	if _, err := debit(t, s, study, 0); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Debit: %v", err)
	}
	writer := open(t, dir, Party, Options{})
	addStudy(t, writer, "study")
	if got, err := s.Study(study); err != nil || string(got) != "study" {
		t.Errorf("the reader sees %q, %v", got, err)
	}
}

// tamper changes a database as somebody with a SQL shell would.
func tamper(t *testing.T, dir string, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if err := tryTamper(t, dir, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func tryTamper(t *testing.T, dir, statement string) error {
	t.Helper()
	db, err := openDatabase(filepath.Join(dir, databaseFile))
	must(t, err)
	defer db.Close()
	return transact(db, func(tx *sql.Tx) error { _, err := tx.Exec(statement); return err })
}

// What root created in another user's directory, that user could not open.
func TestRootLeavesDirectoriesOfOthersAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	s, _ := filled(t)
	file := backup(t, s)
	theirs := t.TempDir()
	must(t, os.Chmod(theirs, 0o700))
	must(t, os.Chown(theirs, 4711, 4711))
	err := Create(theirs, Party, entropy(1))
	_, restored := Restore(theirs, Party, bytes.NewReader(file))
	for _, err := range []error{err, restored} {
		if err == nil || !strings.Contains(err.Error(), "belongs to user 4711") {
			t.Errorf("in a directory of another user: %v", err)
		}
	}
	if made, err := os.ReadDir(theirs); len(made) != 0 || err != nil {
		t.Errorf("left there: %v, %v", made, err)
	}
}
