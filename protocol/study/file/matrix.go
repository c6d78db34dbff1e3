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
		r.Fail(at, "public is refused on the columns side: rows of R belong to record ids there, so that the aggregator could try out ids by itself, and nothing is asked that would need them").Hint = secret
	case sk.Projection.Family == projection.Identity:
		r.Fail(at, "does not belong here: identity has no matrix that could be secret").Hint = "remove the key: the aggregator can place vectors of its own without one"
	default:
		for j, other := range s.Sketches {
			if other.Side == sketch.Records && other.Projection.Family != projection.Identity && !other.Public {
				r.Fail(at, "sketches[%d] has rows of R by the same key, and says that it is secret", j).Hint = "the key is that of the side: say matrix: public in each of its sketches, or in none"
				return
			}
		}
	}
}
