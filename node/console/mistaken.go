package console

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/sniff"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// notAStudy says which other file of this program's one is that was given as a study
// file; nil where it is none of them.
func notAStudy(path string, text []byte) error {
	kind, known := sniff.Known(text)
	if !known || kind == sniff.Study {
		return nil
	}
	return fail.Usage.Of(fmt.Errorf("study file %s: it is %s; a study file begins with cosketch: study/2", path, kind))
}

// Namesakes says of a study that was added which others of its name are here: a file that
// was edited is another study, and no approval of one is of the other.
func Namesakes(c *Console, st *store.Store, s *study.Study) error {
	entries, err := st.Studies()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.ID == s.ID {
			continue
		}
		other, err := storedStudy(st, e.ID)
		if errors.As(err, new(*stored.DamagedError)) {
			continue // status says so
		}
		if err != nil {
			return err
		}
		if other.Name == s.Name {
			c.Say("Another file named %s is here, %s: it is another study, and approving one does not approve the other.", s.Name, e.ID.Short())
		}
	}
	return nil
}
