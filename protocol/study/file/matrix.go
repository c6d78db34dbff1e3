package file

import (
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// validateMatrix checks that a public matrix is useful and reveals nothing else.
func (r *reader) validateMatrix(s *study.Study, i int, path string) {
	sk, at := s.Sketches[i], path+".matrix"
	if !sk.Public {
		return
	}
	const secret = "remove the key: R stays secret"
	switch {
	case sk.Side == sketch.Columns:
		r.Fail(at, "public is refused on the columns side: rows of R belong to record ids there, so the aggregator could test guesses of ids, and nothing needs the matrix public").Hint = secret
	case sk.Projection.Family == projection.Identity:
		r.Fail(at, "does not belong here: identity has no matrix that could be secret").Hint = "remove the key: the aggregator can place vectors of its own without one"
	default:
		for j, other := range s.Sketches {
			if other.Side == sketch.Records && other.Projection.Family != projection.Identity && !other.Public {
				r.Fail(at, "sketches[%d] derives its rows of R from the same key, and keeps them secret", j).Hint = "write matrix: public in all records-side sketches that have a matrix, or in none"
				return
			}
		}
	}
}
