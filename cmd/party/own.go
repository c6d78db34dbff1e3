package main

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// openStudy opens the state directory with a method of Globals, and finds a study in it and this
// party's index in the study. The caller closes the store.
func openStudy(open func(store.Role) (*store.Store, error), prefix string) (st *store.Store, s *study.Study, index int, err error) {
	if st, err = open(store.Party); err != nil {
		return nil, nil, 0, err
	}
	if s, err = console.FindStudy(st, prefix); err == nil {
		index, err = self(st, s)
	}
	if err != nil {
		return nil, nil, 0, errors.Join(err, st.Close())
	}
	return st, s, index, nil
}

// self returns this party's index in a study.
func self(st *store.Store, s *study.Study) (int, error) {
	id, err := st.ID()
	if err != nil {
		return 0, err
	}
	index, ok := s.PartyIndex(id)
	if _, err := st.Study(s.ID); !ok && err == nil { // every stored study lists this party
		return 0, fail.Usage.Of(fmt.Errorf("study %s (%s), which was kept here, does not list the peer id of identity.key, %s (were two nodes' key files swapped? party doctor says more)", s.Name, s.ID.Short(), id))
	}
	if !ok {
		return 0, fail.NotListed.New(s.Name, s.ID.Short(), id)
	}
	return index, nil
}

// sayNext says what to do next with a study, if it is here.
func sayNext(c *console.Console, g *console.Globals, s *study.Study) {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return // the reader of a study file need not be a party
	}
	defer st.Close()
	if _, err := self(st, s); err != nil {
		return
	}
	if _, err := st.Study(s.ID); err != nil {
		c.Say("Next: party study add FILE")
		return
	}
	c.Say("Next: %s", next(st, g, s))
}

// viewer is the point of view from which a study is explained, planned or audited: this party's, or
// everyone's if the party is not in it.
func viewer(c *console.Console, g *console.Globals, s *study.Study, done string) int {
	st, err := g.OpenReadOnly(store.Party)
	if err == nil {
		defer st.Close()
		var party int
		if party, err = self(st, s); err == nil {
			return party
		}
	}
	c.Say("%s for everyone: %v.\n", done, err)
	return study.Everyone
}
