package main

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// queriesPlan is the cost of the queries that a study allows.
type queriesPlan struct {
	Releases int              `json:"releases"` // at most
	Epsilon  float64          `json:"epsilon"`  // of each
	Delta    float64          `json:"delta"`
	Budget   []local.Spending `json:"budget"` // if all of them are made
}

// planQueries returns nil if a study allows no queries.
func planQueries(g *console.Globals, s *study.Study, party int) (*queriesPlan, error) {
	if s.Queries.Releases == 0 {
		return nil, nil
	}
	promise, err := s.QueryGuarantee()
	if err != nil {
		return nil, err
	}
	out := &queriesPlan{Releases: s.Queries.Releases, Epsilon: float64(promise.Epsilon()), Delta: float64(promise.Delta())}
	out.Budget, _, err = spend(g, s, party, true)
	return out, err
}

// queriesDue are the ledger's entries for all queries not made yet.
func queriesDue(before []ledger.Entry, s *study.Study, party int, dataset string) (out []ledger.Entry, err error) {
	p, err := release.ForQuery(s, party)
	if err != nil {
		return nil, err
	}
	for query := 1; query <= s.Queries.Releases; query++ {
		next := ledger.Entry{Dataset: dataset, Study: s.ID, Sketch: p.Index, Query: query, Unit: s.Privacy.Unit, Attributes: max(p.Attributes(), 1)}
		if next = next.Promised(p.Guarantee()); !paid(before, next) {
			out = append(out, next)
		}
	}
	return out, nil
}

func (q *queriesPlan) blocks() []block.Block {
	if q == nil {
		return nil
	}
	each := fmt.Sprintf("Each of %d later queries (party advanced query) costs %v more. After all of them:", q.Releases, dp.Budget{Epsilon: dp.Epsilon(q.Epsilon), Delta: dp.Delta(q.Delta)})
	return []block.Block{block.Text{Text: each}, local.Spendings(q.Budget)}
}
