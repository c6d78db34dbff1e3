package local

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// storedQuery is what a node stores of a query: its statement and rows, and the answer's statement
// and document; nil if missing.
type storedQuery struct {
	statement, rows, answer, document []byte
	purged                            bool // the rows were removed with the study's sketches
	err                               error
}

// queries checks the signatures and hashes of a party's queries and of their answers.
func (f *fsck) queries(s *study.Study, read func(number int) (protocol.PeerID, storedQuery)) {
	count, answered := 0, 0
	var wrong error
	for number := 1; number <= s.Queries.Releases && wrong == nil; number++ {
		party, q := read(number)
		if errors.Is(q.err, store.ErrNotFound) {
			continue
		}
		if wrong = q.check(s, party, number); wrong != nil {
			wrong = fmt.Errorf("query %d: %w", number, wrong)
		}
		count++
		if q.answer != nil {
			answered++
		}
	}
	if count > 0 {
		f.add("queries", wrong, restoreFix+"; a query is never drawn a second time", "%d, each as it was signed; %d are answered", count, answered)
	}
}

func (q storedQuery) check(s *study.Study, party protocol.PeerID, number int) error {
	if q.err != nil {
		return q.err
	}
	own, err := protocol.DecodeQuery(s.ID, party, q.statement)
	switch {
	case err != nil:
		return err
	case int64(own.Number) != int64(number):
		return fmt.Errorf("it is signed as query %d", own.Number)
	case !q.purged && stored.DocumentOf(q.rows) != own.Data:
		return errors.New("the rows are not those that were signed")
	case q.answer == nil:
		return nil
	}
	answer, err := protocol.DecodeAnswer(s.ID, s.Aggregator.ID, q.answer)
	switch {
	case err != nil:
		return err
	case answer.Query != own.ID() || answer.Party != party:
		return errors.New("the answer is to another query")
	case stored.DocumentOf(q.document) != answer.Document:
		return errors.New("the answer is not the one that was signed")
	}
	return nil
}

// ownQuery reads what a party stores of its query.
func (f *fsck) ownQuery(s *study.Study, number int) (self protocol.PeerID, q storedQuery) {
	if self, q.err = f.Store.ID(); q.err != nil {
		return self, q
	}
	dir := f.Store.Query(s.ID, number)
	if q.statement, q.err = dir.Header(); q.err != nil {
		return self, q
	}
	if q.rows, q.err = stored.ReadAll(dir, filename.QueryRows); q.err != nil {
		q.err = fmt.Errorf("%v", q.err) // of an existing query
		return self, q
	}
	q.readAnswer(f.Store, s, filename.QueryAnswer(number))
	return self, q
}

// keptQuery reads what an aggregator stores of a party's query.
func (f *fsck) keptQuery(s *study.Study, party protocol.PeerID, number uint32) (q storedQuery) {
	name := filename.Query(party, number)
	if q.statement, q.err = f.Store.Result(s.ID, name); q.err != nil {
		return q
	}
	if q.purged, q.err = stored.Purged(f.Store, s.ID); q.err != nil {
		return q
	}
	q.rows, q.err = f.Store.Result(s.ID, filename.QuerySent(party, number))
	switch {
	case q.err == nil:
		q.purged = false // a purge that was killed left them
	case !q.purged || !errors.Is(q.err, store.ErrNotFound):
		q.err = fmt.Errorf("%v", q.err)
		return q
	}
	q.err = nil
	q.readAnswer(f.Store, s, filename.Answer(party, number))
	return q
}

func (q *storedQuery) readAnswer(st *store.Store, s *study.Study, name string) {
	raw, err := st.Result(s.ID, name)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	if err == nil {
		q.document, err = st.Result(s.ID, name+".json")
	}
	if q.answer = raw; err != nil {
		q.err = fmt.Errorf("%v", err)
	}
}
