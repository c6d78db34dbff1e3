package store

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/cosketch/cosketch/protocol"
)

// If the locked file was removed or replaced meanwhile, the caller locks the one that is there.
func TestLocksOfRemovedFiles(t *testing.T) {
	s := newStore(t, Party)
	for _, meanwhile := range []func(path string) error{
		os.Remove,
		func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		calls := 0
		unlock, err := s.lock("x.lock", func(lock *flock.Flock) (bool, error) {
			ok, err := lock.TryLock()
			if calls++; calls == 1 {
				err = errors.Join(err, meanwhile(s.path(locksDir, "x.lock")))
			}
			return ok, err
		})
		must(t, err)
		if again, err := s.lock("x.lock", (*flock.Flock).TryLock); again != nil || err != nil || calls != 2 {
			t.Errorf("it is locked twice after %d calls, %v", calls, err)
		}
		unlock()
	}
	if left, err := os.ReadDir(s.path(locksDir)); err != nil || len(left) != 1 || left[0].Name() != "create.lock" {
		t.Errorf("left are %v, %v", left, err)
	}
	making := filepath.Join(t.TempDir(), "making")
	unlock, err := lockCreate(making)
	must(t, err)
	if err := Create(making, Party, entropy(1)); err == nil || !strings.Contains(err.Error(), "another process is creating it") {
		t.Errorf("two make one directory: %v", err)
	}
	unlock()
	must(t, os.Chmod(making, 0o700))
	must(t, Create(making, Party, entropy(1)))
}

// A study's lock has one holder at a time, even while its file comes and goes. Without a holder
// there is no file.
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
