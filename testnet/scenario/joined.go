package scenario

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
)

// Joined are the three laboratories once more, which now look for two clusters of patients
// by all thirty columns: each patient's rows are joined by pseudonym. Every laboratory lacks
// its own 5 % of the patients, who count all the same.
func Joined(table cancer.Table, rng *rand.Rand) Scenario {
	pooled := Table{Columns: table.Names, IDs: numbered("P", cancer.Patients), Values: table.Values}
	s := Scenario{
		Name:      "laboratories-joined",
		Title:     "Three laboratories, the same patients: two clusters",
		Question:  "Ten measurements each, every single value protected at ε\u00a0=\u00a08. What do two clusters of the patients look like by all thirty, which no laboratory has? The aggregator sees by pseudonyms which patients several laboratories know.",
		Partition: study.Vertical,
		Pooled:    pooled,

		Projection: projection.Spec{Family: projection.Identity, K: cancer.Columns},
		Side:       sketch.Records,
		Unit:       dp.Attribute,
		Mechanism:  dp.Laplace,
		Epsilon:    hospitalEpsilon,
		Join:       study.JoinAny,
		Analyses:   []study.Analysis{{Kind: study.KMeans, Options: study.KMeansOptions{Clusters: 2, Restarts: 10}}},

		Dataset: "laboratory-joined",
		Cap:     hospitalEpsilon,
	}
	const each = cancer.Columns / Parties
	for j, name := range table.Names {
		values := column(table.Values, j)
		s.Columns = append(s.Columns, Column{
			Name:   name,
			Owner:  j / each,
			Range:  Range{Centre: significant(stat.Mean(values, nil)), Spread: significant(stat.StdDev(values, nil))},
			Source: "published data: mean and standard deviation",
		})
	}
	// No patient is lacking at two laboratories, so that each is somewhere.
	lacked := rng.Perm(cancer.Patients)
	missing := int(math.Round(lacking * float64(cancer.Patients)))
	for p := range s.Tables {
		own, keep := make([]int, each), []int{}
		for i := range own {
			own[i] = p*each + i
		}
		keep = append(append(keep, lacked[:p*missing]...), lacked[(p+1)*missing:]...)
		rng.Shuffle(len(keep), func(i, j int) { keep[i], keep[j] = keep[j], keep[i] })
		s.Tables[p] = cut(pooled, own, keep)
	}
	return s
}
