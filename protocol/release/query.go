package release

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/study"
)

// ForQuery plans a party's query about records that are in no release. They are sketched and noised
// like its release in the sketch that answers queries, without labels. Each query gives its records
// the guarantee of the release, by fresh noise.
func ForQuery(s *study.Study, party int) (Plan, error) {
	index, ok := s.QuerySketch()
	if !ok {
		return Plan{}, fmt.Errorf("planning a query: study %q admits none", s.Name)
	}
	p, err := For(s, party, index)
	if err != nil {
		return Plan{}, err
	}
	p.Labels = nil
	if p.whole, err = s.QueryGuarantee(); err != nil {
		return Plan{}, fmt.Errorf("planning a query: %w", err)
	}
	p.Limit = int64(s.Queries.Records)
	return p, nil
}
