package stored_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/store/storetest"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// A party's release is removed for good at the date in the study, and no other study's is.
func TestSketchesGoAtTheirDate(t *testing.T) {
	example, err := os.ReadFile("../../protocol/study/testdata/hospitals.yaml")
	if err != nil {
		t.Fatal(err)
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	st := storetest.New(t, store.Party)
	kept, err := file.Parse(example)
	do(err)
	due, err := file.Parse([]byte(strings.Replace(string(example), "deadline:", "keep_until: 2027-03-01T00:00:00Z\ndeadline:", 1)))
	do(err)
	release := store.Release{Header: []byte("header")}
	do(st.PutStudy(kept.ID, kept.Source, 0))
	do(st.PutStudy(due.ID, due.Source, 0))
	do(st.SaveRelease(kept.ID, release))
	do(st.SaveRelease(due.ID, release))
	remove := func(s *study.Study, now protocol.Instant, want bool) {
		t.Helper()
		removed, err := stored.RemoveExpired(st, s, now)
		if do(err); removed != want {
			t.Errorf("removed: %t, want %t", removed, want)
		}
	}
	remove(due, due.KeepUntil-1, false)
	unlock, err := st.LockStudy(due.ID)
	do(err)
	remove(due, due.KeepUntil, false) // nothing is purged while it is being served
	unlock()
	do(stored.RemoveAllExpired(st, due.KeepUntil))
	remove(due, due.KeepUntil, false)                                                    // only once
	for _, left := range []string{due.ID.String() + ".tmp", store.QueryDir(due.ID, 1)} { // by a purge that was killed
		path := filepath.Join(st.Dir(), "releases", left)
		do(os.Mkdir(path, 0o700))
		remove(due, due.KeepUntil, true)
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still here: %v", left, err)
		}
		remove(due, due.KeepUntil, false)
	}
	remove(kept, due.KeepUntil, false)
	if _, err := st.ReleaseHeader(kept.ID); err != nil {
		t.Errorf("the other study's release: %v", err)
	}
	if _, err := st.ReleaseHeader(due.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the release is still here: %v", err)
	}
	if err := st.SaveRelease(due.ID, release); !errors.Is(err, store.ErrConflict) {
		t.Errorf("another release after it: %v", err)
	}
	log, err := st.Journal()
	do(err)
	if last := log[len(log)-1]; last.Event != journal.Purged || last.Study != due.ID.String() {
		t.Errorf("the journal ends with %+v", last)
	}
}
