package release

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// Randomise gives the builder the entropy from which it draws the flips of randomised response: 32
// bytes, read now. Call it before the first Add, and after the budget was debited: from then on Add
// noises values as it reads them. Under every other mechanism it reads nothing.
func (b *Builder) Randomise(entropy io.Reader) error {
	if b.plan.Flips.Zero() {
		return nil
	}
	var err error
	if b.random, err = dp.NewGenerator(entropy); err != nil {
		return fmt.Errorf("randomising the bits of sketch %d: %w", b.plan.Index+1, err)
	}
	return nil
}

// addRandomised flips a copy of the values and adds the copy. A batch that cannot be added has used
// up random numbers, and changed nothing else.
func (b *Builder) addRandomised(ids [][]byte, values []int64) error {
	if b.random == nil {
		return errors.New("adding records: randomised response needs entropy: call Randomise first")
	}
	b.bits = append(b.bits[:0], values...)
	if err := b.plan.Flips.Randomise(b.bits, b.random); err != nil {
		return err
	}
	return b.add(ids, b.bits)
}

// NoiseOf returns the noise on one coordinate of one feature's column (columns side) or of a record
// (records side), in encoded units, for kernel/estimate. For the sum of several parties' sketches,
// their noise and their records add up.
//
// The noise of randomised response is in the values: n of them, each of variance v, reach a
// coordinate through a row of R of squared length 1/k on average, giving n·v/k. Noise.Sources tells
// estimate what else that implies. The identity passes each value's noise unchanged to one
// coordinate. The column of ones has none.
func (p Plan) NoiseOf(feature, parties int, records int64) estimate.Noise {
	u2 := p.Unit() * p.Unit()
	if p.Flips.Zero() {
		n := float64(parties)
		return estimate.Noise{Variance: n * p.Noise.Variance() * u2, FourthCumulant: n * p.Noise.FourthCumulant() * u2 * u2}
	}
	if p.Features[feature].Kind == study.Ones {
		return estimate.Noise{}
	}
	span := float64(p.Flips.Span())
	one := estimate.Noise{Variance: p.Flips.Variance() / (span * span), FourthCumulant: p.Flips.FourthCumulant() / (span * span * span * span)}
	if p.Spec().Family == projection.Identity {
		return one
	}
	sources := float64(records)
	if p.Sketch().Side == sketch.Records {
		sources = float64(p.Values * parties)
	}
	share := sources / float64(p.Spec().K)
	return estimate.Noise{Variance: share * one.Variance, FourthCumulant: share * one.FourthCumulant, Sources: sources}
}
