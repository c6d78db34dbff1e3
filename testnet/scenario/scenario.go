// Package scenario says what the testnet runs: which data each of three
// parties holds, and the study that joins them. Everything here is a pure
// function of a seed, so two runs with one seed have the same data; the seed of
// the projections is agreed between the parties and differs in every run.
package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
)

// PartyNames are the three organisations of every scenario.
var PartyNames = [...]string{"north", "south", "west"}

// Parties is their number.
const Parties = len(PartyNames)

// Scenario is one study and the data that it runs on.
type Scenario struct {
	Name      string
	Title     string // what it is about, for people
	Question  string // what it shows, in a sentence or two
	Partition study.Partition
	Columns   []Column
	Tables    [Parties]Table // what each party holds
	Pooled    Table          // what nobody holds: all records, all columns, as they were before the split

	Sketches   []string // entries of sketches, where there are others than what the next four say
	Projection projection.Spec
	Side       sketch.Side
	Ones       float64 // weight of the column of ones; 0 on the records side
	Clip       float64 // 0 unless the unit is record
	Unit       dp.Unit // empty for mechanism none
	Mechanism  dp.Mechanism
	Epsilon    float64        // 0 for mechanism none
	Delta      float64        // 0 unless gaussian
	Join       study.JoinRule // records side of a vertical study; empty elsewhere
	Analyses   []study.Analysis
	Limits     map[study.AnalysisKind]float64 // how far right estimates may lie from the truth; see outcome.Verdict

	Dataset              string  // the name in the parties' site files; scenarios that name one share its budget
	Cap                  float64 // the dataset's ε cap for Unit; 0 for none
	AcceptReconstruction bool
}

// Column is one public column description.
type Column struct {
	Name   string
	Owner  int    // vertical: index of the party that holds it; horizontal: -1
	Range  Range  // how values become fixed-point integers
	Source string // where the range came from

	// Kurtosis is what intervals assume of the column; 0 leaves it to the default,
	// that of a normal distribution.
	Kurtosis float64
}

// Range is either Lo and Hi, or Centre and Spread; the other two are zero.
type Range struct {
	Lo, Hi         float64
	Centre, Spread float64
}

// Table is a file of records: one id and one value per column each.
type Table struct {
	Columns []string
	IDs     []string
	Values  [][]float64 // len(IDs) × len(Columns)
	Pooled  []int       // for each record its row of the pooled table
}

// Names lists the scenarios in the order in which the testnet runs them.
func Names() []string {
	return []string{"laboratories", "registry", "hospitals-plain", "hospitals-identity", "hospitals-sparse", "hospitals-cells", "laboratories-joined"}
}

// All returns every scenario, in the order in which the testnet runs them.
func All(seed uint64) ([]Scenario, error) {
	table, err := cancer.Load()
	if err != nil {
		return nil, err
	}
	scenarios := []Scenario{Laboratories(table, source(seed, 1))}
	registry, err := Registry(table, RegistryRecords, source(seed, 2))
	if err != nil {
		return nil, err
	}
	scenarios = append(scenarios, registry)
	scenarios = append(scenarios, Hospitals(table, source(seed, 3))...)
	return append(scenarios, Joined(table, source(seed, 4))), nil
}

// source gives every scenario its own stream, so that a subset of them sees the
// same data as the whole.
func source(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// lacking is the share of records that each party of a vertical scenario does not hold.
const lacking = 0.05

// part returns one party's share of a pooled table: the named columns of a
// random 95 % of its records, in random order.
func part(pooled Table, columns []int, rng *rand.Rand) Table {
	all := len(pooled.IDs)
	return cut(pooled, columns, rng.Perm(all)[:all-int(math.Round(lacking*float64(all)))])
}

// cut returns the named columns of some records of a pooled table.
func cut(pooled Table, columns, keep []int) Table {
	table := Table{Pooled: keep}
	for _, column := range columns {
		table.Columns = append(table.Columns, pooled.Columns[column])
	}
	for _, row := range keep {
		values := make([]float64, len(columns))
		for i, column := range columns {
			values[i] = pooled.Values[row][column]
		}
		table.IDs = append(table.IDs, pooled.IDs[row])
		table.Values = append(table.Values, values)
	}
	return table
}

// numbered returns count ids such as "P00017".
func numbered(prefix string, count int) []string {
	digits := len(strconv.Itoa(count))
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%0*d", prefix, digits, i+1)
	}
	return ids
}

// column extracts one column of a table.
func column(values [][]float64, j int) []float64 {
	all := make([]float64, len(values))
	for i, row := range values {
		all[i] = row[j]
	}
	return all
}

// significant rounds to four significant digits: public numbers are printed short.
func significant(x float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x // not reached: the input is FormatFloat's own output
	}
	return short
}
