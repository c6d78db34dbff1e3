package scenario

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
)

// Laboratories is the sources' own setting: three laboratories measured the
// same patients, ten columns each, and want every correlation between each
// other's columns. No noise is added, so the sketches are no protection, and
// each site file says that its steward accepts it.
func Laboratories(table cancer.Table, rng *rand.Rand) Scenario {
	pooled := Table{Columns: table.Names, IDs: numbered("P", cancer.Patients), Values: table.Values}
	s := Scenario{
		Name:      "laboratories",
		Title:     "Three laboratories, the same patients",
		Question:  "Ten measurements each, no shared order, no matching step, and every laboratory lacks its own 5\u00a0% of the patients. How do the measurements of one correlate with those of the others?",
		Partition: study.Vertical,
		Pooled:    pooled,

		Projection: projection.Spec{Family: projection.Rademacher, K: 256},
		Side:       sketch.Columns,
		Ones:       1,
		Mechanism:  dp.None,
		Analyses:   []study.Analysis{{Kind: study.Correlation, Options: study.CorrelationOptions{Estimator: study.E2}}},
		Limits:     map[study.AnalysisKind]float64{study.Correlation: 1.5},

		Dataset:              "laboratory",
		AcceptReconstruction: true,
	}
	const each = cancer.Columns / Parties
	for j, name := range table.Names {
		values := column(table.Values, j)
		s.Columns = append(s.Columns, Column{
			Name:   name,
			Owner:  j / each,
			Range:  widestRange(values),
			Source: "published data: mean, a third of the widest deviation, kurtosis",
			// Some columns have a few patients far out. Whether a laboratory lacks one of
			// them moves its correlations more than a normal distribution would let expect.
			Kurtosis: math.Round(10*(3+stat.ExKurtosis(values, nil))) / 10,
		})
	}
	for p := range s.Tables {
		own := make([]int, each)
		for i := range own {
			own[i] = p*each + i
		}
		s.Tables[p] = part(pooled, own, rng)
	}
	return s
}

// widestRange centres a column at its mean and takes a spread that clamps no
// value: without noise a wide range costs nothing, and the estimate is that of
// the values themselves.
func widestRange(values []float64) Range {
	centre := significant(stat.Mean(values, nil))
	widest := math.Max(floats.Max(values)-centre, centre-floats.Min(values))
	return Range{Centre: centre, Spread: significant(widest / 3 * 1.001)} // the last factor makes rounding safe
}
