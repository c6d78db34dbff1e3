package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Queries limit how often a party may ask, with records that are in no release, which records of
// the union are nearest. The zero Queries allows none. Each query is a release of its own, with the
// noise of the sketch that answers it, and is debited.
type Queries struct {
	Releases  int // queries of one party, at most
	Records   int // records of one query, at most; default: 1000, or as many as fit into one message
	Neighbors int // neighbours named for each record; default 10
}

// Limits of queries. A query travels in one message.
const (
	MaxQueries    = 100
	MaxQueryBytes = 4 << 20 // bytes of its rows
)

// QuerySketch returns the index of the sketch after which queries are modelled; ok is false in a
// study without queries.
func (s *Study) QuerySketch() (index int, ok bool) {
	if s.Queries.Releases == 0 {
		return 0, false
	}
	return s.SketchFor(Analysis{Kind: Neighbors})
}

// QueryGuarantee returns the guarantee of one query for its records: that of the sketch for its
// values, as no label travels.
func (s *Study) QueryGuarantee() (dp.Guarantee, error) {
	index, ok := s.QuerySketch()
	if !ok {
		return dp.Guarantee{}, fmt.Errorf("study %q admits no queries", s.Name)
	}
	p, err := s.Part(index)
	return p.Values, err
}

// QueryRecords returns the number of records that a query of the study can hold, however wide its
// entries.
func (s *Study) QueryRecords() int {
	index, ok := s.QuerySketch()
	if !ok {
		return 0
	}
	return MaxQueryBytes / (8 * s.Sketches[index].Projection.K)
}

// explainQueries says what a query reveals and costs.
func (s *Study) explainQueries(p *page) {
	index, ok := s.QuerySketch()
	if !ok {
		return
	}
	g, err := s.QueryGuarantee()
	if err != nil {
		return
	}
	q := s.Queries
	p.heading("queries", "Later queries")
	p.text(fmt.Sprintf("Until %s you may ask up to %d times, each time with at most %d records that are not in your release, which %d records of all parties are nearest to each of them. Nothing of the kind happens by itself: you start each query.", s.NewRecords, q.Releases, q.Records, q.Neighbors))
	p.text(fmt.Sprintf("EACH QUERY IS A RELEASE OF ITS OWN, made like sketch %d, without labels, and with fresh noise. It promises for its records: %s Your ledger is debited for each of them, beside the study's release.", index+1, g.Statement(s.Privacy.Unit)))
	p.text("The aggregator sees the noised rows and their number. You alone are told of the neighbours: your own by their ids, those of others by their party and a handle. In what others ask, your records are named by your organisation and a handle alone.")
}
