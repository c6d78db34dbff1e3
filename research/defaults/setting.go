package defaults

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/rehearsal"
)

// setting is a kind of study, drafted and played anew for every seed.
type setting struct {
	data      *data
	fresh     *generator // draws new records for every seed; nil: data has them
	partition study.Partition
	epsilon   float64
	masked    bool
	planned   bool // as many rounds as the planner chooses; else one
	by        described
	hold      float64 // vertical: share of the records that each party holds, at random
	ask       []string
}

// name returns the unique name of the setting, from which its seeds derive.
func (s setting) name() string {
	return fmt.Sprintf("%s/%s/%s/%g/%s/%v", s.data.name, s.partition, s.sum(), s.epsilon, s.by, s.ask)
}

func (s setting) sum() string {
	switch {
	case s.partition == study.Vertical:
		return ""
	case s.masked:
		return "masked"
	}
	return "plain"
}

// played is the result of one seed.
type played struct {
	setting
	study     *study.Study
	held      [][]int // rows by party
	rehearsed *rehearsal.Rehearsal
	run       analysis.Options // the inputs of the result
	result    analysis.Result
	forecast  plan.Plan // only for the first seeds
}

// source returns a separate stream for each setting, seed and use.
func source(name string, seed, use uint64) *rand.ChaCha8 {
	return rehearsal.Source(hash(name), seed, use)
}

// planned is the number of seeds that are forecast.
const planned = 3

// play drafts and plays the study once.
func (s setting) play(ctx context.Context, seed uint64) (*played, error) {
	if s.fresh != nil {
		fresh := s.fresh.draw(rand.New(source(s.name(), seed, 1)))
		fresh.known = *s.data.truth() // prior knowledge stays the same
		s.data = fresh
	}
	rng := rand.New(source(s.name(), seed, 2))
	out := &played{setting: s}
	if s.partition == study.Vertical {
		out.held = s.share(rng)
	} else {
		out.held = s.data.deal(rng)
	}
	records := make([]int, len(out.held))
	for p, rows := range out.held {
		records[p] = len(rows)
	}
	var err error
	if out.study, err = s.draft(seed, records, rng); err != nil {
		return nil, err
	}
	parties := make([]rehearsal.Held, len(out.held))
	for p, rows := range out.held {
		at, ok := out.study.PartyByName(partyName(p))
		if !ok {
			return nil, fmt.Errorf("the draft has no party %s", partyName(p))
		}
		parties[at] = s.data.values(out.study, at, rows)
	}
	if out.rehearsed, err = rehearsal.New(out.study, parties); err != nil {
		return nil, err
	}
	answer, err := out.rehearsed.Draw(ctx, source(s.name(), seed, 3))
	if err != nil {
		return nil, err
	}
	out.result, out.run = answer.Result, answer.Run
	if seed < planned {
		o := plan.Options{Study: out.study, Party: study.Everyone, Records: map[string]int64{}, Overlap: s.hold}
		for p, n := range records {
			o.Records[partyName(p)] = int64(n)
		}
		if out.forecast, err = plan.Make(o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// share draws the rows of each party of a vertical study.
func (s setting) share(rng *rand.Rand) (out [][]int) {
	parties := 0
	for _, c := range s.data.columns {
		parties = max(parties, c.owner+1)
	}
	n := len(s.data.rows)
	for range parties {
		rows := rng.Perm(n)[:int(math.Round(s.hold*float64(n)))]
		slices.Sort(rows)
		out = append(out, rows)
	}
	return out
}

// shared returns the rows that two parties of a vertical study share, ascending.
func shared(a, b []int) (out []int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case b[0] < a[0]:
			b = b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return out
}

// values returns the rows of a party's own columns.
func (d *data) values(s *study.Study, party int, rows []int) rehearsal.Held {
	var at []int
	for _, c := range s.OwnColumns(party) {
		at = append(at, slices.IndexFunc(d.columns, func(own column) bool { return own.name == s.Columns[c].Name }))
	}
	out := rehearsal.Held{IDs: rows, Values: make([][]float64, len(rows))}
	for i, r := range rows {
		out.Values[i] = make([]float64, len(at))
		for j, c := range at {
			out.Values[i][j] = d.rows[r][c]
		}
	}
	return out
}

// answer returns the analysis of a kind.
func (p *played) answer(kind study.AnalysisKind) (analysis.Analysis, error) {
	for _, a := range p.result.Analyses {
		if a.Kind == kind {
			return a, nil
		}
	}
	return analysis.Analysis{}, fmt.Errorf("the result has no %s", kind)
}
