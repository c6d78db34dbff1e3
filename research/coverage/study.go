package coverage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/rehearsal"
	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/networks"
)

const parties = 3

// table is pooled data: records × columns.
type table struct {
	names  []string
	values [][]float64
}

// records is the number of people in the vertical studies.
const records = 6000

// shown are the columns of the vertical studies, three per party: skewed and symmetric ones,
// strongly and weakly correlated.
var shown = [...]string{
	"mean radius", "mean texture", "mean smoothness",
	"radius error", "texture error", "smoothness error",
	"worst concavity", "worst texture", "worst symmetry",
}

// patients returns the real data.
func patients(names []string) (table, error) {
	real, err := cancer.Load()
	if err != nil {
		return table{}, err
	}
	at := map[string]int{}
	for j, name := range real.Names {
		at[name] = j
	}
	t := table{names: names}
	for _, r := range real.Values {
		row := make([]float64, len(names))
		for j, name := range names {
			row[j] = r[at[name]]
		}
		t.values = append(t.values, row)
	}
	return t, nil
}

// population returns n people, each a copy of a random real patient with normal noise of a fifth of
// each column's standard deviation.
func population(n int) (table, error) {
	real, err := patients(shown[:])
	if err != nil {
		return table{}, err
	}
	rng := rand.New(rand.NewPCG(1, 1))
	t := table{names: real.names}
	var deviations []float64
	for j := range real.names {
		deviations = append(deviations, stat.StdDev(real.column(j), nil))
	}
	for range n {
		row := append([]float64(nil), real.values[rng.IntN(len(real.values))]...)
		for j := range row {
			row[j] += deviations[j] / 5 * rng.NormFloat64()
		}
		t.values = append(t.values, row)
	}
	return t, nil
}

func (t table) column(j int) []float64 {
	out := make([]float64, len(t.values))
	for i, r := range t.values {
		out[i] = r[j]
	}
	return out
}

// describe writes the columns of a study file. No value is clamped, so the truth is that of the
// values themselves.
func (t table) describe(b *strings.Builder, owner func(j int) string) {
	for j, name := range t.names {
		x := t.column(j)
		centre := math.Round(1e3*stat.Mean(x, nil)) / 1e3
		widest := math.Max(floats.Max(x)-centre, centre-floats.Min(x))
		kurtosis := math.Max(1, math.Round(10*(3+stat.ExKurtosis(x, nil)))/10)
		fmt.Fprintf(b, "  - {name: %s, kind: numeric, centre: %s, spread: %s, kurtosis: %s%s}\n", name,
			networks.Decimal(centre), networks.Decimal(math.Ceil(1e5*widest/3)/1e5), networks.Decimal(kurtosis), owner(j))
	}
}

// parse writes and reads a study file.
func parse(partition study.Partition, rest string, t table, owner func(j int) string) (*study.Study, error) {
	var b strings.Builder
	t.describe(&b, owner)
	return parseColumns(partition, b.String(), rest)
}

// parseColumns is parse for columns that describe has written.
func parseColumns(partition study.Partition, columns, rest string) (*study.Study, error) {
	return rehearsal.Study(parties, partition, "columns:\n"+columns+rest)
}

// held returns some records of a party's own columns.
func (t table) held(s *study.Study, party int, of []int) rehearsal.Held {
	out, own := rehearsal.Held{IDs: of}, s.OwnColumns(party)
	for _, r := range of {
		values := make([]float64, len(own))
		for i, j := range own {
			values[i] = t.values[r][j]
		}
		out.Values = append(out.Values, values)
	}
	return out
}
