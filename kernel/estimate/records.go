package estimate

import (
	"fmt"
	"math"
)

// Records describes the errors of sketched records: k coordinates, each with the same noise,
// independent over coordinates and records. Where the sketches of several parties were added, Noise
// is the sum over the parties.
type Records struct {
	K        int     // required: coordinates of a sketched record
	Noise    Noise   // on one coordinate of one record
	Identity bool    // family identity: no projection, so no projection error
	Rounding float64 // variance that the rounding of values left on a coordinate of a record; a lower bound on the width of intervals
}

func (r Records) check(points ...[]float64) error {
	if r.K < 1 {
		return fmt.Errorf("estimating from records: k = %d: must be at least 1", r.K)
	}
	if err := r.Noise.check(); err != nil {
		return fmt.Errorf("estimating from records: %w", err)
	}
	for _, p := range points {
		if len(p) != r.K {
			return fmt.Errorf("estimating from records: a record has %d coordinates instead of %d", len(p), r.K)
		}
	}
	return nil
}

// within is the factor on the noise variance. It is 1 for the identity.
func (r Records) within() float64 {
	if r.Identity {
		return 1
	}
	return r.Noise.together(r.K)
}

// SquaredDistance estimates |x − y|² of two records from their sketches: |s(x) − s(y)|² − 2kv, with
// the interval of C1 for Gaussian noise and of C2 otherwise. The estimate is unbiased, so it may be
// negative. Average it unclamped; clamp it only to rank.
func (r Records) SquaredDistance(x, y []float64, level Level) (Estimate, error) {
	if err := r.check(x, y); err != nil {
		return Estimate{}, err
	}
	var raw float64
	for i, v := range x {
		d := v - y[i]
		raw += float64(d * d)
	}
	return r.distance(raw).estimate(level), nil
}

// distance is the squared distance of two records.
func (r Records) distance(raw float64) quadratic {
	noise := Noise{Variance: 2 * r.Noise.Variance, FourthCumulant: 2 * r.Noise.FourthCumulant, Sources: r.Noise.Sources}
	return quadratic{raw: raw, k: r.K, noise: noise, projection: !r.Identity, rounding: 2 * r.Rounding}
}

// Distances estimates many squared distances at one level. [Records.Distances] makes it.
type Distances struct {
	records   Records
	quantiles quantiles
}

// Distances prepares the part of [Records.SquaredDistance] that depends on the level only.
func (r Records) Distances(level Level) (Distances, error) {
	if err := r.check(); err != nil {
		return Distances{}, err
	}
	if why := level.refuse(); why != "" {
		return Distances{}, fmt.Errorf("estimating from records: %s", why)
	}
	return Distances{r, r.distance(0).quantiles(level)}, nil
}

// Of estimates |x − y|² as SquaredDistance does, given |s(x) − s(y)|².
func (d Distances) Of(raw float64) Estimate { return d.records.distance(raw).between(d.quantiles) }

// Reliability is the fraction of the variance of squared distances that is not error: 1 − Var(D at the
// mean distance)/Var(all D). Mean and variance are those of the distances. The order of distances
// means little if it is below [LeastReliability].
func (r Records) Reliability(mean, variance float64) float64 {
	if !(variance > 0) {
		return 0
	}
	return 1 - r.distance(0).variance(mean)/variance
}

// LeastReliability is the least fraction of the variance of distances that must be due to the records, not
// to errors, for the nearest of them to be named. On records under noise the rank correlation of
// the order with the true one is .3 where the fraction is .2, .7 where it is .7, and .9 where it is
// .9.
const LeastReliability = 0.5

// Nearest estimates the squared distances of records that were selected as the nearest.
type Nearest struct{ plain, chosen Distances }

// Nearest prepares intervals of the distances of the nearest of some others. The level is that of
// each record's distances together. The least of many unbiased distances is too small, so the upper
// end corrects for the choice among all others (Bonferroni). The lower end corrects only for the
// number of neighbours.
func (r Records) Nearest(level Level, neighbors, others int) (out Nearest, err error) {
	if out.plain, err = r.Distances(level.Bonferroni(neighbors)); err != nil {
		return out, err
	}
	out.chosen, err = r.Distances(level.Bonferroni(others))
	return out, err
}

// Of estimates |x − y|², given |s(x) − s(y)|²: the debiased distance, or zero if it is negative.
func (n Nearest) Of(raw float64) Estimate {
	e, low := n.chosen.Of(raw), n.plain.Of(raw)
	if !e.Defined() || !low.Defined() {
		return e
	}
	at := math.Max(0, e.Interval.Estimate)
	return newEstimate(at, low.Low, math.Max(e.High, at), 0, math.Inf(1)).withVariance(e.StandardError * e.StandardError)
}
