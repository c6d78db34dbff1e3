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

// notAStudy says which other kind of file was given as a study file, or returns nil if it
// recognises none.
func notAStudy(path string, text []byte) error {
	kind, known := sniff.Known(text)
	if !known || kind == sniff.Study {
		return nil
	}
	return fail.Usage.Of(fmt.Errorf("study file %s: it is %s; a study file begins with cosketch: study/2", path, kind))
}

// Namesakes warns if other studies have the name of an added one. An edited file is another study,
// and approving one does not approve the other.
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
			continue // status reports it
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
