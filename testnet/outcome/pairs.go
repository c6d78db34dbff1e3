package outcome

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// NewMatrix sets an analysis of pairs beside the truth. Its features and pairs
// are in the order of scenario.PartyNames; a result has its parties in the order
// of their keys.
func NewMatrix(s scenario.Scenario, answer analysis.Analysis) (Matrix, error) {
	m := Matrix{
		Kind:      answer.Kind,
		Estimator: answer.Estimator,
		Level:     answer.Level,
	}
	for _, f := range answer.Features {
		party := slices.Index(scenario.PartyNames[:], f.Party)
		if party < 0 {
			return Matrix{}, fmt.Errorf("reading the %s of %s: unknown party %q", m.Kind, s.Name, f.Party)
		}
		m.Features = append(m.Features, Feature{Party: party, Column: f.Column})
	}
	truth := newTruth(s)
	for _, p := range answer.Pairs {
		if min(p.I, p.J) < 0 || max(p.I, p.J) >= len(m.Features) || p.I == p.J {
			return Matrix{}, fmt.Errorf("reading the %s of %s: no pair %d, %d among %d features", m.Kind, s.Name, p.I, p.J, len(m.Features))
		}
		a, b := m.Features[p.I], m.Features[p.J]
		pair := Pair{
			I: p.I, J: p.J,
			Cross:    a.Party != b.Party,
			Estimate: orNaN(p.Estimate), Low: orNaN(p.Low), High: orNaN(p.High),
			Undefined: p.Undefined,
		}
		if pair.Undefined == "" && (p.Estimate == nil || p.Low == nil || p.High == nil) {
			return Matrix{}, fmt.Errorf("reading the %s of %s: pair %d, %d has neither an interval nor a reason why not", m.Kind, s.Name, p.I, p.J)
		}
		var err error
		switch m.Kind {
		case study.Correlation:
			pair.Truth, err = truth.correlation(a, b)
		case study.Intersection:
			pair.Truth = float64(len(truth.shared(a.Party, b.Party)))
		default:
			err = fmt.Errorf("the testnet knows no truth for %q", m.Kind)
		}
		if err != nil {
			return Matrix{}, fmt.Errorf("reading the %s of %s: %w", m.Kind, s.Name, err)
		}
		m.Pairs = append(m.Pairs, pair)
	}
	m.sort()
	if len(m.Cross()) == 0 {
		return Matrix{}, fmt.Errorf("reading the %s of %s: no pair across parties", m.Kind, s.Name)
	}
	return m, nil
}

// sort puts the features into the order of the parties, and the pairs into the
// order of the features.
func (m *Matrix) sort() {
	order := make([]int, len(m.Features))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Features[a].Party, m.Features[b].Party) })
	features := make([]Feature, len(order))
	at := make([]int, len(order)) // old index → new
	for i, old := range order {
		features[i] = m.Features[old]
		at[old] = i
	}
	m.Features = features
	for i, p := range m.Pairs {
		m.Pairs[i].I, m.Pairs[i].J = min(at[p.I], at[p.J]), max(at[p.I], at[p.J])
	}
	slices.SortFunc(m.Pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) })
}

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// truth computes what an estimate of a vertical study aims at, from the files
// of both parties at once.
type truth struct {
	scenario scenario.Scenario
	holds    [scenario.Parties]map[int]int             // pooled row → row of the party's table
	common   [scenario.Parties][scenario.Parties][]int // pooled rows that both hold, in pooled order
}

func newTruth(s scenario.Scenario) *truth {
	t := &truth{scenario: s}
	for p, table := range s.Tables {
		t.holds[p] = make(map[int]int, len(table.Pooled))
		for i, row := range table.Pooled {
			t.holds[p][row] = i
		}
	}
	for p := range s.Tables {
		for q := range p + 1 {
			var rows []int
			for row := range s.Pooled.IDs {
				_, first := t.holds[p][row]
				_, second := t.holds[q][row]
				if first && second {
					rows = append(rows, row)
				}
			}
			t.common[p][q], t.common[q][p] = rows, rows
		}
	}
	return t
}

// shared returns the pooled rows that two parties both hold; with one party
// twice, its own.
func (t *truth) shared(p, q int) []int { return t.common[p][q] }

// correlation is Pearson's, over the records that both parties hold.
func (t *truth) correlation(a, b Feature) (float64, error) {
	rows := t.shared(a.Party, b.Party)
	x, err := t.values(a, rows)
	if err != nil {
		return 0, err
	}
	y, err := t.values(b, rows)
	if err != nil {
		return 0, err
	}
	return stat.Correlation(x, y, nil), nil
}

func (t *truth) values(f Feature, rows []int) ([]float64, error) {
	table := t.scenario.Tables[f.Party]
	j := slices.Index(table.Columns, f.Column)
	if j < 0 {
		return nil, fmt.Errorf("%s has no column %q", scenario.PartyNames[f.Party], f.Column)
	}
	values := make([]float64, len(rows))
	for i, row := range rows {
		values[i] = table.Values[t.holds[f.Party][row]][j]
	}
	return values, nil
}
