package bench

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/neighbor"
)

// Points is an analysis task of the aggregator on m × d normal records without clusters.
type Points struct {
	M          int `json:"m"`
	D          int `json:"d"`
	Queries    int `json:"queries"`    // records whose nearest neighbours are searched
	Neighbors  int `json:"neighbors"`  // neighbours per query
	Clusters   int `json:"clusters"`   // of k-means, one start
	Iterations int `json:"iterations"` // maximum; ours always takes as many
}

func newPoints(rows int) Points {
	return Points{M: 2 * rows, D: 64, Queries: (rows + 49) / 50, Neighbors: 10, Clusters: 20, Iterations: 20}.fit()
}

// fit limits the numbers of clusters and neighbours to the number of records.
func (p Points) fit() Points {
	p.Clusters, p.Neighbors = min(p.Clusters, p.M), min(p.Neighbors, p.M)
	return p
}

func (p Points) neighbors() string {
	return fmt.Sprintf("%d nearest of %d among %d × %d", p.Neighbors, p.Queries, p.M, p.D)
}

func (p Points) clusters() string {
	return fmt.Sprintf("k-means, %d clusters of %d × %d, %d iterations", p.Clusters, p.M, p.D, p.Iterations)
}

func oursPoints(p Points) (out []line, err error) {
	points, queries := normal(p.M, p.D, 7), normal(p.Queries, p.D, 8)
	for _, n := range workers() {
		out = append(out, line{Time{Task: p.neighbors(), Method: "cosketch neighbors, exact", Threads: n, Ours: true}, func() error {
			_, err := neighbor.Search(context.Background(), points, queries, neighbor.Options{Neighbors: p.Neighbors, Workers: n})
			return err
		}})
	}
	for _, n := range workers() {
		out = append(out, line{Time{Task: p.clusters(), Method: "cosketch k-means", Threads: n, Ours: true}, func() error {
			_, err := cluster.KMeans(context.Background(), points, cluster.Options{
				Clusters: p.Clusters, Restarts: 1, MaxIterations: p.Iterations, Tolerance: 1e-300, Workers: n, Rand: rand.New(rand.NewPCG(9, 10)),
			})
			return err
		}})
	}
	return out, nil
}

// normal returns an m × d matrix of normal numbers.
func normal(m, d int, seed uint64) *mat.Dense {
	rng, out := rand.New(rand.NewPCG(seed, seed)), mat.NewDense(m, d, nil)
	for i := range out.RawMatrix().Data {
		out.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return out
}
