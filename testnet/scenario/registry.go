package scenario

import (
	"errors"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
)

// RegistryRecords is the size of the registry.
const RegistryRecords = 200_000

// registryColumns are the columns of the registry, two for each party: some
// pairs across parties are strongly correlated, some weakly, some negatively.
var registryColumns = [...]string{
	"mean radius", "mean texture",
	"area error", "smoothness error",
	"worst concavity", "worst texture",
}

// Registry is a population in which a whole record is protected at ε = 1: the
// given number of people drawn from the normal distribution with the means and
// covariances of the real data.
func Registry(table cancer.Table, records int, rng *rand.Rand) (Scenario, error) {
	s := Scenario{
		Name:      "registry",
		Title:     "Three registries, a whole record protected",
		Question:  "200,000 people with the means and covariances of the real patients, two columns per registry, 5\u00a0% missing in each. Each release protects everything it says about a person at ε\u00a0=\u00a01.",
		Partition: study.Vertical,

		Projection: projection.Spec{Family: projection.Sparse, K: 1000, S: 1},
		Side:       sketch.Columns,
		Ones:       0.3,
		Clip:       0.8,
		Unit:       dp.Record,
		Mechanism:  dp.Gaussian,
		Epsilon:    1,
		Delta:      1e-6,
		Analyses: []study.Analysis{
			{Kind: study.Correlation, Options: study.CorrelationOptions{Estimator: study.E2}},
			{Kind: study.Intersection},
		},
		Limits: map[study.AnalysisKind]float64{study.Correlation: 1.6, study.Intersection: 2.2},

		Dataset: "registry",
		Cap:     1,
	}
	const each = len(registryColumns) / Parties
	sample := mat.NewDense(cancer.Patients, len(registryColumns), nil)
	means := make([]float64, len(registryColumns))
	for j, name := range registryColumns {
		values := column(table.Values, slices.Index(table.Names, name))
		mean, deviation := stat.MeanStdDev(values, nil)
		sample.SetCol(j, values)
		means[j] = mean
		s.Columns = append(s.Columns, Column{
			Name:   name,
			Owner:  j / each,
			Range:  Range{Centre: significant(mean), Spread: significant(deviation)},
			Source: "published data: mean and standard deviation",
		})
	}
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, sample, nil)
	population, ok := distmv.NewNormal(means, &covariance, rng)
	if !ok {
		return Scenario{}, errors.New("drawing the registry: the covariance is not positive definite")
	}
	s.Pooled = Table{Columns: registryColumns[:], IDs: numbered("R", records), Values: make([][]float64, records)}
	for i := range s.Pooled.Values {
		s.Pooled.Values[i] = population.Rand(nil)
	}
	for p := range s.Tables {
		s.Tables[p] = part(s.Pooled, []int{each * p, each*p + 1}, rng)
	}
	return s, nil
}
