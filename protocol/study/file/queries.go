package file

import (
	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
)

const (
	maxQueryNeighbors = 100

	defaultQueryRecords   = 1000
	defaultQueryNeighbors = 10
)

// queries reads the key of that name.
func (r *reader) queries(n *yaml.Node) study.Queries {
	o := r.object(n, "queries", "releases", "records", "neighbors")
	o.Require("releases")
	return study.Queries{Releases: o.Whole("releases"), Records: o.Whole("records"), Neighbors: o.Whole("neighbors")}
}

func (r *reader) completeQueries(s *study.Study) {
	if !r.Given("queries") {
		return
	}
	if !r.Given("queries.records") {
		s.Queries.Records = min(defaultQueryRecords, max(s.QueryRecords(), 1))
	}
	if !r.Given("queries.neighbors") {
		s.Queries.Neighbors = defaultQueryNeighbors
	}
}

// validateQueries holds that somebody can ask and somebody can answer.
func (r *reader) validateQueries(s *study.Study) {
	if !r.Given("queries") {
		return
	}
	q := s.Queries
	switch most := s.QueryRecords(); {
	case q.Releases < 1 || q.Releases > study.MaxQueries:
		r.Fail("queries.releases", "%d is not between 1 and %d", q.Releases, study.MaxQueries).Hint = "how many times each party may ask, each time for a release's ε; a study without queries leaves the key out"
	case !r.Given("new_records_until"):
		r.Fail("queries", "needs new_records_until").Hint = "the date until which parties keep what new records are projected by"
	case s.Privacy.Mechanism == dp.None:
		r.Fail("queries", "is refused under mechanism none: a query is a release with noise").Hint = "remove the key"
	case most < 1:
		r.Fail("queries", "a record of sketch 1 does not fit into the one message of a query").Hint = "take a smaller k"
	case q.Records < 1 || q.Records > most:
		r.Fail("queries.records", "%d is not between 1 and %d, which is what one message holds here", q.Records, most)
	case q.Neighbors < 1 || q.Neighbors > maxQueryNeighbors:
		r.Fail("queries.neighbors", "%d is not between 1 and %d", q.Neighbors, maxQueryNeighbors)
	}
}
