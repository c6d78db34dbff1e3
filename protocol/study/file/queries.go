package file

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
)

const (
	maxQueryNeighbors = 100

	defaultQueryRecords = 1000
)

func (r *reader) completeQueries(s *study.Study) {
	if !r.Given("queries") {
		return
	}
	if !r.Given("queries.records") {
		s.Queries.Records = min(defaultQueryRecords, max(s.QueryRecords(), 1))
	}
}

// validateQueries checks that queries can be asked and answered.
func (r *reader) validateQueries(s *study.Study) {
	if !r.Given("queries") {
		return
	}
	q := s.Queries
	index, ok := s.QuerySketch()
	switch most := s.QueryRecords(); {
	case !r.Given("new_records_until"):
		r.Fail("queries", "needs new_records_until").Hint = "the date until which parties keep the key that projects new records"
	case s.Privacy.Mechanism == dp.None:
		r.Fail("queries", "is refused under mechanism none: a query is a release with noise").Hint = "remove the key"
	case !ok:
		r.Fail("queries", "no sketch of this study answers them")
	case most < 1:
		r.Fail("queries", "a record of sketch %d does not fit into the one message of a query", index+1).Hint = "take a smaller k"
	case q.Records < 1 || q.Records > most:
		r.Fail("queries.records", "%d is not between 1 and %d, which is what one message holds here", q.Records, most)
	}
}
