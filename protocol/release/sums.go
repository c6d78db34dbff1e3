package release

import (
	"math"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
	"github.com/cosketch/cosketch/seed"
)

// row returns the properties of a sketch that sums over records.
func (p Plan) row() sum.Row {
	row, _ := sum.RowOf(p.Sketch().Side)
	return row
}

// adding returns the options of this sketch's adder.
func (p Plan) adding(root seed.Keys, workers int) (sum.Options, error) {
	o := sum.Options{Study: p.Study, Index: p.Index, Root: root, Limit: p.Limit, Workers: workers}
	if p.Moments != nil {
		if p.Sketch().Standardise && p.Moments.moves == nil {
			return o, errUnseen
		}
		o.Chosen, o.Move = p.Moments.own, p.Moments.moves
	}
	o.Clips = p.lengths()
	return o, nil
}

// lengths returns the clips, each of which has its own sums; none if records are not clipped.
func (p Plan) lengths() []int64 {
	switch {
	case p.Moments != nil && p.Moments.pooled:
		return p.Moments.Clips[p.Moments.at:][:1]
	case p.Moments != nil:
		return p.Moments.Clips
	case p.Clip > 0:
		return []int64{p.Clip}
	}
	return nil
}

// Sums returns how many sums with the same entries the builder of a sketch that sums over records
// has.
func (p Plan) Sums() int { return max(len(p.lengths()), 1) }

// openSums opens the sketch's adder, which centres and clips records itself.
func (b *Builder) openSums(root seed.Keys, workers int) error {
	o, err := b.plan.adding(root, workers)
	if err == nil {
		b.sums, err = b.plan.row().Open(o)
	}
	return err
}

// Ridge returns what a regression or a discriminant by moments raises variances by, given the
// indices of the explaining features. It is the study's value or, for auto, what the noise requires
// ([estimate.NoiseRidge]), given the variance of the noise on a sum of products of two entries, in
// their own units. It uses no data: a plan knows it from the clip that it expects.
func (p Plan) Ridge(ridge study.Ridge, noise float64, records int64, explaining []int) float64 {
	if !ridge.Auto || noise == 0 || records < 1 || len(explaining) == 0 {
		return ridge.By
	}
	var variances []float64
	for _, i := range explaining {
		s := p.TypicalSpread(p.Features[i])
		variances = append(variances, s*s)
	}
	return estimate.NoiseRidge(estimate.CorrelationNoise(noise, float64(records), variances), len(explaining))
}

// typicalOfRange is the assumed standard deviation, as a share of the range, of columns that
// declare only bounds. In real columns with bounds as in code books it is from a hundredth to a
// quarter.
const typicalOfRange = 0.1

// TypicalSpread returns the standard deviation, in encoded units, that a study assumes for a
// feature.
func (p Plan) TypicalSpread(f study.Feature) float64 {
	c := p.Study.Columns[f.Column]
	_, spread, declared := c.Scale.CentreSpread()
	switch {
	case f.Kind == study.OneHot:
		share := 1 / float64(len(c.Values))
		return math.Sqrt(share * (1 - share))
	case c.Kind == study.Binary:
		return 0.5
	case c.Kind == study.Numeric && p.Sketch().Standardise && !declared:
		return 1. / 3
	case declared:
		return spread / (c.Scale.Step(p.Study.Bits) * float64(p.Study.Bits.One()))
	}
	return typicalOfRange
}

// CellNoise returns the noise on the parties' sum of a cells sketch: on a count, and on a sum in
// encoded units.
func (p Plan) CellNoise(parties int) cluster.CellNoise {
	variance, unit := float64(parties)*p.Noise.Variance(), p.Unit()
	weight := float64(p.Study.CellWeights(p.Index).Count)
	return cluster.CellNoise{Count: variance / weight / weight, Sum: variance * unit * unit}
}

// CodeNoise returns the variance of the noise on the parties' sum of a codes sketch: on an integer,
// and on a count in records. It does not depend on the codebook.
func (p Plan) CodeNoise(parties int) (sum, count float64) {
	sum = float64(parties) * p.Noise.Variance()
	weight := float64(p.Study.CodeWeights(p.Index).Count)
	return sum, sum / weight / weight
}

// CountNoise returns the noise on the parties' sum of a counts sketch, on each number of records.
func (p Plan) CountNoise(parties int) estimate.CountNoise {
	weight := float64(p.Study.CountWeight())
	out := estimate.CountNoise{Variance: float64(parties) * p.Noise.Variance() / weight / weight}
	if p.Study.Privacy.Mechanism == dp.Laplace {
		out.Laplace = parties
	}
	return out
}

// SensibleCells returns the share of clipped records from which means of that many clusters may be
// off by more than .4 of their standard error, as [Plan.Noticeable] defines it: twice the noise of a
// mean, in spreads, if clusters have equally many cells and records.
func (p Plan) SensibleCells(parties int, records float64, clusters int) float64 {
	var squares float64
	for _, f := range p.Features {
		s := p.TypicalSpread(f)
		squares += s * s / float64(len(p.Features))
	}
	each := 1 / float64(clusters)
	cells := each * float64(int(1)<<p.Spec().K)
	return 2 * math.Sqrt(cells*p.CellNoise(parties).Sum/squares) / (each * records)
}

// CellCut returns the noisy count of clipped records of that many parties, from the sum of their
// cells or codes sketches; ok is false if these do not count them.
func (p Plan) CellCut(all sketch.Sketch, parties int) (count estimate.Noisy, ok bool) {
	weights := p.Study.CellWeights(p.Index)
	if p.Sketch().Side == sketch.Codes {
		weights = p.Study.CodeWeights(p.Index)
	}
	if weights.Cut == 0 {
		return count, false
	}
	weight := float64(weights.Cut)
	return estimate.Noisy{
		Value: float64(all.Row(all.Rows - 1)[0]) / weight, Variance: float64(parties) * p.Noise.Variance() / weight / weight,
	}, true
}
