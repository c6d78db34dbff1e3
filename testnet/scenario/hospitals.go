package scenario

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
)

// hospitalEpsilon is the ε that protects one value of one patient.
const hospitalEpsilon = 8

// Hospitals are four studies of the same three hospitals, which hold all
// thirty columns of different patients and look for two clusters in the union:
// projected without noise, noised without projection, both, and by sums.
func Hospitals(table cancer.Table, rng *rand.Rand) []Scenario {
	base := Scenario{
		Partition: study.Horizontal,
		Pooled:    Table{Columns: table.Names, IDs: numbered("P", cancer.Patients), Values: table.Values},
		Side:      sketch.Records,
		Analyses:  []study.Analysis{{Kind: study.KMeans, Options: study.KMeansOptions{Clusters: 2, Restarts: 10}}},
	}
	for j, name := range table.Names {
		values := column(table.Values, j)
		base.Columns = append(base.Columns, Column{
			Name:   name,
			Owner:  -1,
			Range:  Range{Lo: floats.Min(values), Hi: floats.Max(values)},
			Source: "published data: least and greatest value",
		})
	}
	base.Tables = admit(base.Pooled, rng)

	sparse := projection.Spec{Family: projection.Sparse, K: 32, S: 1}

	plain := base
	plain.Name = "hospitals-plain"
	plain.Title = "Three hospitals, two clusters: projection alone"
	plain.Question = "Each hospital holds all thirty columns of a third of the patients. What do two clusters in the union look like, if the sketches carry no noise and so promise nothing?"
	plain.Projection = sparse
	plain.Mechanism = dp.None
	plain.Dataset = "hospital-unprotected" // a release without noise would mark the dataset of the other two for good
	plain.AcceptReconstruction = true

	protected := base
	protected.Unit = dp.Attribute
	protected.Mechanism = dp.Laplace
	protected.Epsilon = hospitalEpsilon
	protected.Dataset = "hospital"
	protected.Cap = 2 * hospitalEpsilon // two studies draw on it

	identity := protected
	identity.Name = "hospitals-identity"
	identity.Title = "Three hospitals, two clusters: noise alone"
	identity.Question = "The same patients with every single value protected at ε\u00a0=\u00a08, and no projection: thirty columns are fewer than the best k."
	identity.Projection = projection.Spec{Family: projection.Identity, K: cancer.Columns}

	both := protected
	both.Name = "hospitals-sparse"
	both.Title = "Three hospitals, two clusters: projection and noise"
	both.Question = "The same promise, with thirty columns projected to k\u00a0=\u00a032: what the projection costs on top of the noise."
	both.Projection = sparse

	return []Scenario{plain, identity, both, cells(base)}
}

// cells is the study of whole records: moments and cells, which add over hospitals. Its
// public centres and spreads are what other publications say of such measurements, here the
// pooled ones to two digits.
func cells(base Scenario) Scenario {
	base.Name = "hospitals-cells"
	base.Title = "Three hospitals, two clusters: whole records protected"
	base.Question = "The same patients with every whole record protected at ε\u00a0=\u00a01: no patient has a line of its own in a release, only noisy sums over the patients in the cells of a random partition."
	base.Side = sketch.Cells
	base.Projection = projection.Spec{Family: projection.Hadamard, K: 2}
	base.Sketches = []string{"{side: moments, clip: 1.5}", "{side: cells, L: 2, q: 1, clip: 1.5, share: 0.4}"}
	base.Unit, base.Mechanism, base.Epsilon, base.Delta = dp.Record, dp.Gaussian, 1, 1e-6
	base.Dataset, base.Cap = "hospital-records", 1
	base.Columns = slices.Clone(base.Columns)
	for j := range base.Columns {
		mean, sd := stat.MeanStdDev(column(base.Pooled.Values, j), nil)
		base.Columns[j].Range = Range{Centre: twoDigits(mean), Spread: twoDigits(sd)}
		base.Columns[j].Source = "published data: mean and standard deviation, to two digits"
	}
	return base
}

// twoDigits keeps two significant digits.
func twoDigits(x float64) float64 {
	out, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 64) // it has just been written
	return out
}

// admit deals the pooled records out to the parties at random. Every hospital
// counts its own patients from 1: equal ids at two of them are two people.
func admit(pooled Table, rng *rand.Rand) [Parties]Table {
	order := rng.Perm(len(pooled.IDs))
	var tables [Parties]Table
	for p := range tables {
		from, to := p*len(order)/Parties, (p+1)*len(order)/Parties
		table := Table{Columns: pooled.Columns, IDs: numbered("", to-from), Pooled: order[from:to]}
		for _, row := range table.Pooled {
			table.Values = append(table.Values, pooled.Values[row])
		}
		tables[p] = table
	}
	return tables
}
