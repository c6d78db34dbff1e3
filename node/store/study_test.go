package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

func TestStudies(t *testing.T) {
	s := newStore(t, Party)
	late, early := studyID("late"), studyID("early")
	must(t, s.PutStudy(late, []byte("late"), 200))
	must(t, s.PutStudy(early, []byte("early"), 100))
	must(t, s.PutStudy(early, []byte("early"), 300)) // no-op
	s = reopen(t, s)
	got, err := s.Studies()
	must(t, err)
	if want := []StudyEntry{{early, 100}, {late, 200}}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("studies %v, want %v", got, want)
	}
	source, err := s.Study(late)
	if err != nil || string(source) != "late" {
		t.Errorf("source %q, %v", source, err)
	}
	_, err = s.Study(studyID("other"))
	wantIs(t, err, ErrNotFound)
}

func TestFindStudy(t *testing.T) {
	s := newStore(t, Party)
	id := func(digits string) (id protocol.StudyID) {
		hex.Decode(id[:], []byte(digits))
		return id
	}
	for _, digits := range []string{"abcd0001", "abcd0011", "1234"} {
		must(t, s.PutStudy(id(digits), []byte(digits), 1))
	}
	for prefix, want := range map[string]string{"1234": "1234", "12340": "1234", "ABCD000": "abcd0001", "abcd001": "abcd0011"} {
		if got, err := s.FindStudy(prefix); err != nil || got != id(want) {
			t.Errorf("%s: %v, %v", prefix, got.Short(), err)
		}
	}
	if got, err := s.FindStudy(id("1234").String()); err != nil || got != id("1234") {
		t.Errorf("a whole id: %v, %v", got.Short(), err)
	}
	_, err := s.FindStudy("abcd")
	wantIs(t, err, ErrAmbiguous)
	_, err = s.FindStudy("ffff")
	wantIs(t, err, ErrNotFound)
	for _, bad := range []string{"", "123", "12g4", strings.Repeat("1", 65), "%%%%", "study.yaml"} {
		if _, err := s.FindStudy(bad); err == nil || !strings.Contains(err.Error(), "hexadecimal") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestDecisions(t *testing.T) {
	s := newStore(t, Party)
	study := addStudy(t, s, "study")
	_, _, err := s.Decision(study)
	wantIs(t, err, ErrNotFound)
	wantIs(t, s.PutDecision(studyID("unknown"), Approve, 1), ErrNotFound)
	must(t, s.PutDecision(study, Decline, 1))
	must(t, s.PutDecision(study, Approve, 2))
	must(t, s.PutDecision(study, Withdraw, 3))
	wantIs(t, s.PutDecision(study, Approve, 4), ErrConflict)
	must(t, s.PutDecision(study, Withdraw, 5)) // no-op
	s = reopen(t, s)
	if got, at, err := s.Decision(study); got != Withdraw || at != 3 || err != nil {
		t.Errorf("decision %s at %v, %v", got, at, err)
	}
}

func TestStatus(t *testing.T) {
	s := newStore(t, Party)
	wantIs(t, s.PutStatus(studyID("unknown"), []byte("{}")), ErrNotFound)
	study := addStudy(t, s, "study")
	_, err := s.Status(study)
	wantIs(t, err, ErrNotFound)
	must(t, s.PutStatus(study, []byte("1")))
	must(t, s.PutStatus(study, []byte("2")))
	s = reopen(t, s)
	if got, err := s.Status(study); string(got) != "2" || err != nil {
		t.Errorf("status %q, %v", got, err)
	}
}

func TestOwn(t *testing.T) {
	s := newStore(t, Party)
	study := addStudy(t, s, "study")
	must(t, s.PutSigned(study, protocol.KindApprove, 0, []byte("a")))
	must(t, s.PutSigned(study, protocol.KindCommit, 1, []byte("c1")))
	must(t, s.PutSigned(study, protocol.KindCommit, 2, []byte("c2")))
	must(t, s.PutSigned(study, protocol.KindCommit, 1, []byte("c1")))
	s = reopen(t, s)
	wantIs(t, s.PutSigned(study, protocol.KindCommit, 1, []byte("other")), ErrConflict)
	wantIs(t, s.PutSigned(studyID("unknown"), protocol.KindCommit, 1, []byte("x")), ErrNotFound)
	got, err := s.Own(study)
	must(t, err)
	want := []SignedEnvelope{{protocol.KindApprove, 0, []byte("a")}, {protocol.KindCommit, 1, []byte("c1")}, {protocol.KindCommit, 2, []byte("c2")}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("own %v, want %v", got, want)
	}
}

func TestBoard(t *testing.T) {
	s := newStore(t, Aggregator)
	study, other := addStudy(t, s, "study"), addStudy(t, s, "other")
	_, err := s.Head(study)
	wantIs(t, err, ErrNotFound)
	must(t, s.AppendBoard(study, 0, [][]byte{{0}, {1}}, []byte("head 2")))
	must(t, s.AppendBoard(other, 0, [][]byte{{9}}, nil))
	must(t, s.AppendBoard(study, 2, [][]byte{{2}}, nil)) // keeps the head
	wantIs(t, s.AppendBoard(study, 2, [][]byte{{3}}, []byte("head 3")), ErrConflict)
	wantIs(t, s.AppendBoard(study, 4, [][]byte{{3}}, []byte("head 3")), ErrConflict)
	wantIs(t, s.AppendBoard(studyID("unknown"), 0, [][]byte{{0}}, nil), ErrNotFound)
	s = reopen(t, s)
	if n, err := s.BoardCount(study); n != 3 || err != nil {
		t.Errorf("count %d, %v", n, err)
	}
	noted, last, err := s.Noted(0)
	must(t, err)
	var said []string
	for _, n := range noted {
		said = append(said, fmt.Sprintf("%s %d", n.Study.Short(), n.Number))
	}
	if want := fmt.Sprintf("[%s 0 %s 1 %s 0 %s 2]", study.Short(), study.Short(), other.Short(), study.Short()); fmt.Sprint(said) != want {
		t.Errorf("noted %v, want %s", said, want)
	}
	for _, after := range []uint64{last, last + 7} { // beyond the end there is nothing, and the position does not go back
		if none, now, err := s.Noted(after); len(none) > 0 || now != after || err != nil {
			t.Errorf("noted after %d: %v, %d, %v", after, none, now, err)
		}
	}
	if head, err := s.Head(study); string(head) != "head 2" || err != nil {
		t.Errorf("head %q, %v", head, err)
	}
	must(t, s.AppendBoard(study, 3, nil, []byte("head 3")))
	if head, err := s.Head(study); string(head) != "head 3" || err != nil {
		t.Errorf("head %q, %v", head, err)
	}
	for _, c := range []struct {
		from  uint64
		limit int
		want  string
	}{{0, 10, "[[0] [1] [2]]"}, {1, 1, "[[1]]"}, {3, 10, "[]"}, {0, 0, "[]"}} {
		raws, err := s.Board(study, c.from, c.limit)
		if fmt.Sprint(raws) != c.want || err != nil {
			t.Errorf("board from %d limit %d: %v, %v; want %s", c.from, c.limit, raws, err, c.want)
		}
	}
}

// Writers append at the same position: one wins, no envelope is lost or mixed up.
func TestBoardConcurrently(t *testing.T) {
	dir := newDir(t, Aggregator)
	first := open(t, dir, Aggregator, Options{})
	study := addStudy(t, first, "study")
	const writers, each = 4, 10
	var wg sync.WaitGroup
	for w := range writers {
		s := open(t, dir, Aggregator, Options{})
		wg.Go(func() {
			for i := 0; i < each; {
				count, err := s.BoardCount(study)
				if err != nil {
					t.Error(err)
					return
				}
				if s.AppendBoard(study, count, [][]byte{{byte(w), byte(i), 0}, {byte(w), byte(i), 1}}, nil) == nil {
					i++
				}
			}
		})
	}
	wg.Wait()
	raws, err := first.Board(study, 0, 1000)
	must(t, err)
	if len(raws) != 2*writers*each {
		t.Fatalf("%d envelopes", len(raws))
	}
	for i := 0; i < len(raws); i += 2 {
		if !bytes.Equal(raws[i][:2], raws[i+1][:2]) || raws[i][2] != 0 || raws[i+1][2] != 1 {
			t.Errorf("envelopes %d and %d are of two appends: %v %v", i, i+1, raws[i], raws[i+1])
		}
	}
}

func TestLockStudy(t *testing.T) {
	dir := newDir(t, Party)
	s, other := open(t, dir, Party, Options{}), open(t, dir, Party, Options{})
	one, two := studyID("one"), studyID("two")
	unlock, err := s.LockStudy(one)
	must(t, err)
	_, err = s.LockStudy(one)
	wantIs(t, err, ErrLocked)
	_, err = other.LockStudy(one)
	wantIs(t, err, ErrLocked)
	unlockTwo, err := other.LockStudy(two)
	must(t, err)
	unlockTwo()
	unlock()
	unlock, err = other.LockStudy(one)
	must(t, err)
	unlock()
}

func TestLastNoted(t *testing.T) {
	s := newStore(t, Party)
	before, err := s.LastNoted()
	must(t, err)
	if before != 0 {
		t.Errorf("of nothing: %s", before)
	}
	must(t, s.Note(journal.Entry{At: 1_700_000_000, Event: journal.BackedUp}))
	must(t, s.Note(journal.Entry{At: 1_800_000_000, Event: journal.BackedUp}))
	if at, err := s.LastNoted(); at != 1_800_000_000 || err != nil {
		t.Errorf("last noted at %s, %v", at, err)
	}
}

// A file that SQLite cannot create is explained by a full disk if the disk is full. The kernel's
// process file system reports no free space.
func TestUnwritableNamesTheFullDisk(t *testing.T) {
	full := &Store{dir: "/proc/self"}
	if free, err := full.Free(); runtime.GOOS != "linux" || free != 0 || err != nil {
		t.Skipf("there is no place without room: %d, %v", free, err)
	}
	s := newStore(t, Party)
	db, err := openDatabase("/proc/self/mem") // its first byte is not readable
	must(t, err)
	defer db.Close()
	_, failed := layout(db)
	if of := (*sqlite.Error)(nil); !errors.As(failed, &of) || kind(of) != sqlite3.SQLITE_IOERR {
		t.Fatalf("opened with %v", failed)
	}
	if err := full.unwritable(failed); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	if err := s.unwritable(failed); errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on one with room: %v", err)
	}
}

// What SQLite cannot open is explained by what is wrong with the directory, if anything is.
func TestUnwritableNamesTheDirectory(t *testing.T) {
	s := newStore(t, Party)
	db, err := openDatabase(s.path("none", databaseFile))
	must(t, err)
	defer db.Close()
	_, cannot := layout(db)
	var ofSQLite *sqlite.Error
	if !errors.As(cannot, &ofSQLite) || ofSQLite.Code()&0xff != sqlite3.SQLITE_CANTOPEN {
		t.Fatalf("opened with %v", cannot)
	}
	if err := s.unwritable(cannot); err != cannot {
		t.Errorf("of a directory that is well: %v", err)
	}
	gone := &Store{dir: s.path("none")}
	if err := gone.MayWrite(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it can be written to: %v", err)
	}
	must(t, s.MayWrite())
	if err := gone.unwritable(cannot); !errors.Is(err, fs.ErrNotExist) || errors.As(err, &ofSQLite) {
		t.Errorf("of one that is gone: %v", err)
	}
}
