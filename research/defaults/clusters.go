package defaults

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// clustered measures clusters of a horizontal study. Inertia is the mean squared distance of the
// raw records from the nearest centre in declared spreads. It is compared with that of a curator's
// DP-Lloyd at the same ε.
func clustered(d *data, clusters int, worst float64) measured {
	s := setting{data: d, partition: study.Horizontal, epsilon: 1, by: bySpread, ask: []string{fmt.Sprintf("{kind: k-means, clusters: %d}", clusters)}}
	d.truth()
	return measured{s, []asked{
		{what: "k-means: inertia", measure: "that of DP-Lloyd", limits: limits{rmse: worst, none: true}, numbers: func(p *played, t *tally) error {
			a, err := p.answer(study.KMeans)
			if err != nil {
				return err
			}
			if a.Undefined != "" {
				t.undefined++
				return nil
			}
			if t.defined >= inertias {
				return nil
			}
			curator, err := p.lloyd(clusters, rand.New(source(p.name(), uint64(t.defined), 4)))
			if err != nil {
				return err
			}
			centres, err := p.centres(a)
			if err != nil {
				return err
			}
			ratio := p.inertia(centres) / p.inertia(curator) // in the same declared spreads
			t.squares, t.defined = t.squares+ratio*ratio, t.defined+1
			return nil
		}},
		{what: "k-means: sizes", measure: "share of all records", kind: study.KMeans, limits: limits{low: 0.93}, numbers: sizes},
	}, seedsFor(clusters)}
}

// inertias is the number of seeds that inertia is averaged over.
const inertias = 10

// centres returns a result's centres, in the columns' own units.
func (p *played) centres(a analysis.Analysis) (*mat.Dense, error) {
	if a.CellMeans == nil {
		return nil, errors.New("k-means was not answered by cells")
	}
	features, units, origins := p.encoding()
	out := mat.NewDense(len(a.CellMeans.Model), len(features), nil)
	for c, model := range a.CellMeans.Model {
		if len(model) != len(features) {
			return nil, fmt.Errorf("a centre has %d coordinates of %d", len(model), len(features))
		}
		for j, x := range model {
			out.Set(c, j, origins[j]+x*units[j])
		}
	}
	return out, nil
}

// points are the rows, and centres, in units of declared spreads (of bounds, halves of the range).
func (p *played) points(centres *mat.Dense) (rows [][]float64, scaled *mat.Dense) {
	features, units, origins := p.encoding()
	scaled = mat.DenseCopyOf(centres)
	clusters, _ := centres.Dims()
	for c := range clusters {
		for j := range features {
			scaled.Set(c, j, 3*(centres.At(c, j)-origins[j])/units[j])
		}
	}
	for _, row := range p.data.rows {
		point := make([]float64, len(features))
		for j, f := range features {
			if x := p.data.entry(row, f); !math.IsNaN(x) { // missing values are at the centre
				point[j] = 3 * (x - origins[j]) / units[j]
			}
		}
		rows = append(rows, point)
	}
	return rows, scaled
}

// inertia returns the mean squared distance of the rows from the nearest centre.
func (p *played) inertia(centres *mat.Dense) (out float64) {
	rows, scaled := p.points(centres)
	for _, x := range rows {
		at := scaled.RawRowView(cluster.Nearest(scaled, x))
		for j, v := range x {
			out += (v - at[j]) * (v - at[j]) / float64(len(rows))
		}
	}
	return out
}

// sizes checks the numbers of records in the cells of each cluster. The result makes no claim about
// other numbers, such as of records nearest to a centre.
func sizes(p *played, t *tally) error {
	a, err := p.answer(study.KMeans)
	if err != nil || a.CellMeans == nil {
		return err
	}
	clusters, err := analysis.CellClusters(context.Background(), p.run, a)
	if err != nil {
		return err
	}
	counts, total := make([]float64, len(a.CellMeans.Sizes)), 0.
	for party := range p.held {
		at, ok := p.study.PartyByName(partyName(party))
		if !ok {
			return fmt.Errorf("the study has no party %s", partyName(party))
		}
		cells, err := p.rehearsed.Cells(at, a.Sketch, p.run)
		if err != nil {
			return err
		}
		for _, cell := range cells {
			counts[clusters[cell]]++
			total++
		}
	}
	for c, n := range a.CellMeans.Sizes {
		t.number(fmt.Sprintf("cluster %d", c+1), n, counts[c], total, marked(a))
	}
	return nil
}

// Parameters of DP-Lloyd.
const (
	rounds   = 5
	packings = 200 // attempts to place the first centres apart
)

// lloyd returns the centres of a curator with the study's rows and budget, in the columns' own
// units.
func (p *played) lloyd(clusters int, rng *rand.Rand) (*mat.Dense, error) {
	mu, err := dp.MuOf(dp.Budget{Epsilon: p.study.Privacy.Epsilon, Delta: p.study.Privacy.Delta})
	if err != nil {
		return nil, err
	}
	features, units, origins := p.encoding()
	d := len(features)
	rows, _ := p.points(mat.NewDense(1, d, nil))
	model := curated(rows, clusters, 1.2*math.Sqrt(float64(d)), mu, rng)
	out := mat.NewDense(clusters, d, nil)
	for c := range clusters {
		for j := range d {
			out.Set(c, j, origins[j]+model.At(c, j)*units[j]/3)
		}
	}
	return out, nil
}

// curated is a curator's differentially private k-means (Su, Cao, Li, Bertino and Jin 2016, section
// 3). The first centres are placed apart from each other, independently of the data. Each of five
// rounds releases noisy counts and sums of the clusters with an equal part of the budget. A record,
// centred on the declared centres, is clipped to length r, the rule for cells, and adds (r, x) to
// its cluster, so the l2 sensitivity is √2 r. Centres stay within r. The rows are clipped in place.
func curated(rows [][]float64, clusters int, r float64, mu dp.Mu, rng *rand.Rand) *mat.Dense {
	d := len(rows[0])
	for _, x := range rows {
		var squares float64
		for _, v := range x {
			squares += v * v
		}
		if long := math.Sqrt(squares); long > r {
			for j := range x {
				x[j] *= r / long
			}
		}
	}
	model := packed(clusters, d, r, rng)
	sd := math.Sqrt2 * r / (float64(mu) / math.Sqrt(rounds))
	for range rounds {
		counts, sums := make([]float64, clusters), mat.NewDense(clusters, d, nil)
		for _, x := range rows {
			c := cluster.Nearest(model, x)
			counts[c]++
			own := sums.RawRowView(c)
			for j, v := range x {
				own[j] += v
			}
		}
		for c := range clusters {
			n := counts[c] + sd/r*rng.NormFloat64()
			own, at := sums.RawRowView(c), model.RawRowView(c)
			var squares float64
			if n < 1 {
				for j := range own {
					own[j] += sd * rng.NormFloat64() // as many draws as otherwise
				}
				continue
			}
			for j := range own {
				at[j] = (own[j] + sd*rng.NormFloat64()) / n
				squares += at[j] * at[j]
			}
			if long := math.Sqrt(squares); long > r {
				for j := range at {
					at[j] *= r / long
				}
			}
		}
	}
	return model
}

// packed places centres in a ball of this radius, as far apart from each other and from the surface
// as random attempts manage, over a few distances (sphere packing).
func packed(clusters, d int, radius float64, rng *rand.Rand) *mat.Dense {
	best := mat.NewDense(clusters, d, nil)
	for apart := radius; apart > radius/64; apart *= 0.9 {
		placed := 0
		for range packings * clusters {
			x := make([]float64, d)
			var squares float64
			for j := range x {
				x[j] = rng.NormFloat64()
				squares += x[j] * x[j]
			}
			long := (radius - apart/2) * math.Pow(rng.Float64(), 1/float64(d)) / math.Sqrt(squares)
			for j := range x {
				x[j] *= long
			}
			free := true
			for c := range placed {
				var off float64
				for j, v := range best.RawRowView(c) {
					off += (v - x[j]) * (v - x[j])
				}
				free = free && off >= apart*apart
			}
			if free {
				best.SetRow(placed, x)
				if placed++; placed == clusters {
					return best
				}
			}
		}
	}
	return best
}
