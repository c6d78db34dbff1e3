package outcome

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// Clusters sets the two clusters of a study beside k-means on the pooled records
// and beside the diagnosis, which no party put into the study.
type Clusters struct {
	Points   []Point    // the pooled records in their order
	Sizes    [2]int     // of the study's clusters
	Pooled   Grouping   // k-means on the pooled records, every column scaled as in the study
	Known    Grouping   // the diagnosis
	Ceiling  float64    // agreement of the pooled k-means with the diagnosis
	Variance [2]float64 // shares of the pooled variance along the two axes of Points
}

// Grouping is how well the study's clusters agree with another grouping.
type Grouping struct {
	Agreement float64 // share of records on which they agree under the better matching of labels
	Baseline  float64 // what one cluster for everybody would reach: the share of the largest class
}

// Point is one record.
type Point struct {
	X, Y      float64 // first two principal components of the pooled records
	Party     int     // who holds it; the first of those who do in a vertical study
	Cluster   int     // from the study: 0 or 1
	Pooled    int     // from k-means on the pooled records, numbered to match Cluster
	Malignant bool
}

// NewClusters compares each party's labels of its own records, in the order of
// its table, with what the pooled records give.
func NewClusters(s scenario.Scenario, data cancer.Table, labels [scenario.Parties][]int) (*Clusters, error) {
	c := &Clusters{Points: make([]Point, len(s.Pooled.IDs))}
	if err := c.compare(s, data, labels); err != nil {
		return nil, fmt.Errorf("comparing the clusters of %s: %w", s.Name, err)
	}
	return c, nil
}

func (c *Clusters) compare(s scenario.Scenario, data cancer.Table, labels [scenario.Parties][]int) error {
	if err := c.assign(s, labels); err != nil {
		return err
	}
	scaled := unitRange(s)
	pooled, err := cluster.KMeans(context.Background(), scaled, cluster.Options{
		Clusters: len(c.Sizes),
		Rand:     rand.New(rand.NewPCG(1, 1)), // fixed: ten restarts find the same optimum from any seed
	})
	if err != nil {
		return err
	}
	found, known := make([]int, len(c.Points)), make([]int, len(c.Points))
	same := 0
	for i := range c.Points {
		c.Points[i].Malignant = data.Malignant[i]
		if data.Malignant[i] {
			known[i] = 1
		}
		found[i] = c.Points[i].Cluster
		if found[i] == pooled.Labels[i] {
			same++
		}
	}
	for i, label := range pooled.Labels {
		if 2*same < len(c.Points) {
			label = 1 - label
		}
		c.Points[i].Pooled = label
	}
	for _, g := range []struct {
		into   *Grouping
		labels []int
	}{{&c.Pooled, pooled.Labels}, {&c.Known, known}} {
		if g.into.Agreement, err = cluster.Agreement(found, g.labels); err != nil {
			return err
		}
		g.into.Baseline = cluster.MajorityShare(g.labels)
	}
	if c.Ceiling, err = cluster.Agreement(pooled.Labels, known); err != nil {
		return err
	}
	return c.place(scaled)
}

// assign takes over the parties' labels. In a vertical study several parties have a record,
// and must have the same label for it.
func (c *Clusters) assign(s scenario.Scenario, labels [scenario.Parties][]int) error {
	known := make([]bool, len(c.Points))
	for p, table := range s.Tables {
		if len(labels[p]) != len(table.Pooled) {
			return fmt.Errorf("%s has %d labels for %d records", scenario.PartyNames[p], len(labels[p]), len(table.Pooled))
		}
		for i, row := range table.Pooled {
			label := labels[p][i]
			if label < 0 || label >= len(c.Sizes) {
				return fmt.Errorf("%s has the label %d, want one of %d", scenario.PartyNames[p], label, len(c.Sizes))
			}
			if known[row] {
				if c.Points[row].Cluster != label {
					return fmt.Errorf("%s has the label %d for a record of which %s has %d", scenario.PartyNames[p], label, scenario.PartyNames[c.Points[row].Party], c.Points[row].Cluster)
				}
				continue
			}
			known[row] = true
			c.Points[row].Party, c.Points[row].Cluster = p, label
			c.Sizes[label]++
		}
	}
	if c.Sizes[0] < c.Sizes[1] { // labels mean nothing: let 0 be the larger, so that studies look alike
		c.Sizes[0], c.Sizes[1] = c.Sizes[1], c.Sizes[0]
		for i := range c.Points {
			c.Points[i].Cluster = 1 - c.Points[i].Cluster
		}
	}
	return nil
}

// place puts the points on the first two principal components, the first
// pointing to the larger values.
func (c *Clusters) place(scaled *mat.Dense) error {
	var components stat.PC
	if !components.PrincipalComponents(scaled, nil) {
		return errors.New("the principal components did not converge")
	}
	var axes mat.Dense
	components.VectorsTo(&axes)
	variances := components.VarsTo(nil)
	var total float64
	for _, v := range variances {
		total += v
	}
	n, d := scaled.Dims()
	for axis := range c.Variance {
		c.Variance[axis] = variances[axis] / total
		direction := mat.Col(nil, axis, &axes)
		var sum, mean float64
		for j, v := range direction {
			sum += v
			mean += v * stat.Mean(mat.Col(nil, j, scaled), nil)
		}
		sign := 1.0
		if sum < 0 {
			sign = -1
		}
		for i := range n {
			at := -mean
			for j := range d {
				at += scaled.At(i, j) * direction[j]
			}
			if axis == 0 {
				c.Points[i].X = sign * at
			} else {
				c.Points[i].Y = sign * at
			}
		}
	}
	return nil
}

// unitRange scales each column of the pooled records to [0, 1], so that studies with other
// public scales of the same records are compared with the same.
func unitRange(s scenario.Scenario) *mat.Dense {
	scaled := mat.NewDense(len(s.Pooled.Values), len(s.Columns), nil)
	for j := range s.Columns {
		values := make([]float64, len(s.Pooled.Values))
		for i, row := range s.Pooled.Values {
			values[i] = row[j]
		}
		lo, hi := floats.Min(values), floats.Max(values)
		for i, v := range values {
			scaled.Set(i, j, (v-lo)/(hi-lo))
		}
	}
	return scaled
}
