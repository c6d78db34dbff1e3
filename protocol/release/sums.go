package release

import (
	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// summer builds a sketch of side moments or cells.
type summer interface {
	Add(x []int64) error
	Records() int64
	Clipped() int64
	Sketch() sketch.Sketch
}

// openSums opens a builder that centres and clips records itself. Record ids have no part
// in it: what a record adds is a function of its values alone.
func (b *Builder) openSums(root Keys, workers int) (err error) {
	p := b.plan
	options := sketch.SumsOptions{
		Centre: p.Study.Centres(p.Index), Largest: p.Study.Bits.One(), Clip: p.Clip, Limit: p.Limit, Workers: workers,
	}
	if p.Sketch().Side == sketch.Moments {
		b.sums, err = sketch.NewMoments(p.Study.MomentWeights(p.Index), options)
		return err
	}
	directions, err := p.Directions(root)
	if err != nil {
		return err
	}
	b.sums, err = sketch.NewCells(directions, p.Study.CellWeight(p.Index), options)
	return err
}

// Directions are those that cut the space of records into the cells of this sketch: L
// columns of a Hadamard matrix whose rows belong to columns of the study, under keys of
// their own.
func (p Plan) Directions(root Keys) (*projection.Fixed, error) {
	signs, err := root.Derive(seed.CellRows)
	if err != nil {
		return nil, err
	}
	permutation, err := root.Derive(seed.CellPermutation)
	if err != nil {
		return nil, err
	}
	return projection.FixHadamard(p.Spec(), stream.New(signs), stream.New(permutation), p.featureLabels(p.Features))
}

// sumsChange is the sensitivity of a sums sketch.
func (p Plan) sumsChange() (dp.Sensitivity, error) {
	if p.Sketch().Side == sketch.Moments {
		return dp.RecordMoments(p.Clip, len(p.Features), dp.MomentWeights(p.Study.MomentWeights(p.Index)), p.Study.Neighbours())
	}
	return dp.RecordCells(p.Clip, len(p.Features), p.Study.CellWeight(p.Index), p.Study.Neighbours())
}

// MomentNoise is the noise on the parties' sum of a moments sketch, in encoded units.
func (p Plan) MomentNoise(parties int) estimate.MomentNoise {
	variance, unit := float64(parties)*p.Noise.Variance(), p.Unit()
	w := p.Study.MomentWeights(p.Index)
	of := func(step float64) float64 { return variance * step * step }
	return estimate.MomentNoise{
		Square: of(unit * unit / float64(w.Square)), Product: of(unit * unit / float64(w.Product)), Sum: of(unit / float64(w.Sum)),
	}
}

// CellNoise is the noise on the parties' sum of a cells sketch: on a count, and on a sum
// in encoded units.
func (p Plan) CellNoise(parties int) cluster.CellNoise {
	variance, unit := float64(parties)*p.Noise.Variance(), p.Unit()
	weight := float64(p.Study.CellWeight(p.Index))
	return cluster.CellNoise{Count: variance / weight / weight, Sum: variance * unit * unit}
}

// axes are records that differ from the public centre in one column alone, as far as it
// goes: the ones of which the squares in a moments sketch are largest.
func (p Plan) axes() []pair {
	centres, one := p.Study.Centres(p.Index), p.Study.Bits.One()
	var out []pair
	for i, f := range p.Features[:min(len(p.Features), candidates)] {
		if f.Kind == study.OneHot {
			continue
		}
		for j, other := range p.Features[:i+1] {
			if other.Kind == study.OneHot || i-j > 1 {
				continue
			}
			record := p.central(centres)
			record[i] = one
			change := pair{nil, record}
			if p.Study.Privacy.Replaced {
				change.without = p.central(centres)
				change.without[j] = one - p.Study.Columns[other.Column].Scale.Range(p.Study.Bits)
			}
			out = append(out, change)
		}
	}
	return out
}

// central is a record at the public centre, in the first of its categories.
func (p Plan) central(centres []int64) []int64 {
	out := append([]int64(nil), centres...)
	for i, f := range p.Features {
		if f.Kind == study.OneHot && (i == 0 || p.Features[i-1].Column != f.Column) {
			out[i] = p.Study.Bits.One()
		}
	}
	return out
}
