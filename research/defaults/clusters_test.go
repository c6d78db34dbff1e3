package defaults

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// The curator's DP-Lloyd is a fair reference. With little noise in 30,000 records its inertia is
// close to that of k-means on the records, as far as five rounds from blind starting centres allow.
// A larger budget would help only through more rounds.
func TestLloyd(t *testing.T) {
	for _, c := range []struct {
		of       *data
		clusters int
		most     float64
	}{
		{mixture("5 clusters", 30_000, 20, 5, 1).fixed(), 5, 1.6},
		{mixture("8 weak clusters", 20_000, 16, 8, 0.4).fixed(), 8, 1.3},
		{skewed(20_000, 0.8, 0).fixed(), 4, 1.3},
	} {
		s := setting{data: c.of, partition: study.Horizontal, epsilon: 1, by: bySpread, ask: []string{"{kind: k-means, clusters: 2}"}}
		p, err := s.play(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := p.points(mat.NewDense(1, len(c.of.columns), nil))
		points := mat.NewDense(len(rows), len(c.of.columns), nil)
		for i, x := range rows {
			points.SetRow(i, x)
		}
		exact, err := cluster.KMeans(context.Background(), points, cluster.Options{Clusters: c.clusters, Restarts: 3, Rand: rand.New(rand.NewPCG(1, 1))})
		if err != nil {
			t.Fatal(err)
		}
		_, units, origins := p.encoding()
		for k := range c.clusters {
			for j := range units {
				exact.Centroids.Set(k, j, origins[j]+exact.Centroids.At(k, j)*units[j]/3)
			}
		}
		best := p.inertia(exact.Centroids)
		var found float64
		for seed := range uint64(inertias) {
			centres, err := p.lloyd(c.clusters, rand.New(source(p.name(), seed, 4)))
			if err != nil {
				t.Fatal(err)
			}
			found += p.inertia(centres) / inertias
		}
		one := p.inertia(mat.NewDense(1, len(units), c.of.truth().means))
		t.Logf("%s: k-means %.3f, DP-Lloyd %.3f of it, one cluster %.3f of it", c.of.name, best, found/best, one/best)
		if found/best > c.most || found/best < 1 || found > one {
			t.Errorf("%s: DP-Lloyd's inertia is %.3f of that of k-means, one cluster's %.3f", c.of.name, found/best, one/best)
		}
	}
}

// Sizes count the records in the cells of a cluster. If clusters overlap, the counts of records
// nearest to each centre differ by far more than the noise.
func TestSizesAreOfCells(t *testing.T) {
	s := setting{data: mixture("8 weak clusters", 20_000, 16, 8, 0.4).fixed(), partition: study.Horizontal, epsilon: 16, by: bySpread, ask: []string{"{kind: k-means, clusters: 8}"}}
	p, err := s.play(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.answer(study.KMeans)
	if err != nil {
		t.Fatal(err)
	}
	labeller, err := analysis.NewLabeller(p.study, a)
	if err != nil {
		t.Fatal(err)
	}
	clusters, err := analysis.CellClusters(context.Background(), p.run, a)
	if err != nil {
		t.Fatal(err)
	}
	inCells, nearest := make([]float64, 8), make([]float64, 8)
	for party := range p.held {
		at, _ := p.study.PartyByName(partyName(party))
		cells, err := p.rehearsed.Cells(at, a.Sketch, p.run)
		if err != nil {
			t.Fatal(err)
		}
		for i, cell := range cells {
			inCells[clusters[cell]]++
			nearest[labeller.Label(p.rehearsed.Encoded(at, i))]++
		}
	}
	far, squares := 0, 0.
	for c, n := range a.CellMeans.Sizes {
		if n.Estimate == nil {
			continue
		}
		if off := math.Abs(*n.Estimate - inCells[c]); off > 5**n.StandardError {
			t.Errorf("cluster %d: %.0f records, %.0f in its cells, standard error %.1f", c, *n.Estimate, inCells[c], *n.StandardError)
		}
		off := (*n.Estimate - nearest[c]) / 20_000
		if squares += off * off / 8; math.Abs(off) > 5**n.StandardError/20_000 {
			far++
		}
	}
	if far == 0 {
		t.Errorf("sizes %v are those of the records that the model is nearest to: the test cannot tell", nearest)
	}
	var told tally
	if err := sizes(p, &told); err != nil {
		t.Fatal(err)
	}
	told.close()
	rmse := math.Sqrt(told.squares / float64(told.defined))
	t.Logf("sizes err by a share of %.5f of all records; of those that the model is nearest to, by %.5f", rmse, math.Sqrt(squares))
	if !(rmse < math.Sqrt(squares)/2) {
		t.Errorf("sizes are held against the wrong records")
	}
}
