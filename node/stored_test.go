package node_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/stored"
)

// If somebody changes a stored study file, it is no longer the approved study.
func TestAStoredStudyThatWasChanged(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("a")
	defer st.Close()
	source, err := st.Study(b.study.ID)
	check(t, err)
	s, err := stored.Parse(b.study.ID, source)
	check(t, err)
	if s.ID != b.study.ID {
		t.Errorf("id %s", s.ID)
	}
	_, err = stored.Parse(b.study.ID, append(source, "# \n"...))
	if !errors.Is(err, stored.ErrStudyChanged) || !strings.Contains(err.Error(), "restore the newest backup") {
		t.Errorf("with another byte: %v", err)
	}
}
