package coverage

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/rehearsal"
	"github.com/cosketch/cosketch/testnet/cancer"
)

// horizontal is a study of three parties with disjoint records, dealt out anew for each seed.
type horizontal struct {
	people table
	study  *study.Study
	noise  bool
}

func newHorizontal(noise bool) (*horizontal, error) {
	real, err := cancer.Load()
	if err != nil {
		return nil, err
	}
	people := table{names: real.Names, values: real.Values}
	sketch, privacy := "{side: records, family: rademacher, k: 24}", "{mechanism: none}"
	if noise {
		sketch, privacy = "{side: records, family: sparse, k: 24}", "{unit: attribute, mechanism: gaussian, epsilon: 16, delta: 1e-6}"
	}
	s, err := parse(study.Horizontal, "bits: 14\nsketches: ["+sketch+"]\nprivacy: "+privacy+
		"\nanalyses: [{kind: group-distance}, {kind: k-means, clusters: 3}, {kind: neighbors, neighbors: 3}]\n", people,
		func(int) string { return "" })
	return &horizontal{people, s, noise}, err
}

func (h *horizontal) condition() Condition {
	return Condition{Sketch: "records of other people", Noise: h.noise}
}

func (h *horizontal) run(ctx context.Context, n uint64, into *ledger) error {
	entropy, rng := rehearsal.Source(n, 3), rand.New(rehearsal.Source(n, 4))
	own := make([][]int, parties)
	for _, r := range rng.Perm(len(h.people.values)) {
		p := rng.IntN(parties)
		own[p] = append(own[p], r)
	}
	var held []rehearsal.Held
	for p := range own {
		held = append(held, h.people.held(h.study, p, own[p]))
	}
	played, err := rehearsal.New(h.study, held)
	if err != nil {
		return err
	}
	answer, err := played.Draw(ctx, entropy)
	if err != nil {
		return err
	}
	result, labels := answer.Result, answer.Labels
	rows := make([][]int, parties) // record index of each row of a release
	for p, order := range answer.Orders {
		for _, i := range order {
			rows[p] = append(rows[p], own[p][i])
		}
	}
	points := h.encoded()
	h.groups(result.Analyses[0], points, own, into)
	if err := h.inertia(result.Analyses[1], labels, points, rows, into); err != nil {
		return err
	}
	return neighbors(labels, points, rows, into)
}

// encoded returns the values in the units of the answers.
func (h *horizontal) encoded() [][]float64 {
	one := float64(h.study.Bits.One())
	out := make([][]float64, len(h.people.values))
	for i, r := range h.people.values {
		for j, x := range r {
			v, _ := h.study.Columns[j].Scale.Encode(x, h.study.Bits)
			out[i] = append(out[i], float64(v)/one)
		}
	}
	return out
}

func squared(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += (v - y[i]) * (v - y[i])
	}
	return sum
}

func mean(points [][]float64, of []int) []float64 {
	out := make([]float64, len(points[0]))
	for _, r := range of {
		for j, v := range points[r] {
			out[j] += v / float64(len(of))
		}
	}
	return out
}

// spread returns the sum of squared distances of some records from their mean.
func spread(points [][]float64, of []int) (sum float64) {
	m := mean(points, of)
	for _, r := range of {
		sum += squared(points[r], m)
	}
	return sum
}

const (
	everyPair = "all pairs of records"
	traces    = "the square of a sketched matrix stands in for that of the matrix, and is larger"
	following = "allows for half of what is added because clusters follow the noise"
	nearest   = "holds for all others of a record together, so for the nearest"
)

func (h *horizontal) groups(a analysis.Analysis, points [][]float64, own [][]int, into *ledger) {
	for _, p := range a.Pairs {
		x, y := own[p.I], own[p.J]
		if p.I == p.J {
			n := float64(len(x))
			into.add(number{"mean distance within a party", everyPair, traces}, p.Number, 2*spread(points, x)/(n-1))
			continue
		}
		between := spread(points, x)/float64(len(x)) + spread(points, y)/float64(len(y)) + squared(mean(points, x), mean(points, y))
		into.add(number{"mean distance between parties", everyPair, traces}, p.Number, between)
	}
	for _, s := range a.Shifts {
		into.add(number{"distance of parties' means", "all records", ""}, s.Number, squared(mean(points, own[s.I]), mean(points, own[s.J])))
	}
}

// inertia compares with the inertia of the true records in the clusters found.
func (h *horizontal) inertia(a analysis.Analysis, labels []analysis.Labels, points [][]float64, rows [][]int, into *ledger) error {
	if a.KMeans == nil || a.KMeans.Debiased == nil {
		return errors.New("no inertia")
	}
	members := make([][]int, a.KMeans.Clusters)
	for p, l := range labels {
		for _, c := range l.Columns {
			if c.Name != "cluster" {
				continue
			}
			for row, label := range c.Integers {
				members[label] = append(members[label], rows[p][row])
			}
		}
	}
	var sum float64
	for _, of := range members {
		if len(of) > 0 {
			sum += spread(points, of)
		}
	}
	why := traces
	if h.noise {
		why = following
	}
	into.add(number{"inertia of k-means", "the records in the clusters that were found", why}, *a.KMeans.Debiased, sum)
	return nil
}

// neighbors checks the distances of neighbours that belong to the party itself. Parties are not
// told which records of others are neighbours.
func neighbors(labels []analysis.Labels, points [][]float64, rows [][]int, into *ledger) error {
	for p, l := range labels {
		at := map[string]analysis.RowColumn{}
		for _, c := range l.Columns {
			at[c.Name] = c
		}
		for name, who := range at {
			rank, ok := strings.CutPrefix(name, "neighbor_")
			if !ok {
				continue
			}
			estimate, low, high := at["distance_"+rank], at["distance_low_"+rank], at["distance_high_"+rank]
			if len(low.Numbers) != len(who.Own) || len(high.Numbers) != len(who.Own) {
				return errors.New("distances of neighbours have no intervals")
			}
			for row, other := range who.Own {
				if other < 0 {
					continue
				}
				truth := squared(points[rows[p][row]], points[rows[p][other]])
				into.bounds(number{"distance of a neighbour", "the two records", nearest}, estimate.Numbers[row], low.Numbers[row], high.Numbers[row], truth)
			}
		}
	}
	return nil
}
