package store

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosketch/cosketch/protocol"
)

// The lock of a study is held by one at a time, also while its file comes and goes, and when
// nobody holds it there is no file.
func TestLocksLeaveNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	if err := Create(dir, Party, rand.Reader); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, Party, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	study := protocol.StudyID{1}
	for name, lock := range map[string]func() (func(), error){
		"study": func() (func(), error) { return s.LockStudy(study) },
		"held":  func() (func(), error) { return s.LockHeld(study, time.Second) },
	} {
		var inside, took atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 50 {
					unlock, err := lock()
					if errors.Is(err, ErrLocked) || errors.Is(err, ErrBusy) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					if inside.Add(1) != 1 {
						t.Errorf("%s: two have the lock", name)
					}
					took.Add(1)
					inside.Add(-1)
					unlock()
				}
			})
		}
		all.Wait()
		if took.Load() == 0 {
			t.Errorf("%s: nobody ever had the lock", name)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, locksDir, study.String()+"*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
