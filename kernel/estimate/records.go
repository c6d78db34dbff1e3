package estimate

import (
	"fmt"
)

// Records says how the coordinates of sketched records err: k coordinates, each
// with the same noise, independent over coordinates and records. Where the
// sketches of several parties were added, Noise is the sum over the parties.
type Records struct {
	K        int   // required: coordinates of a sketched record
	Noise    Noise // on one coordinate of one record
	Identity bool  // family identity: no projection, so no projection error
}

func (r Records) check(points ...[]float64) error {
	if r.K < 1 {
		return fmt.Errorf("estimating from records: k = %d is not at least 1", r.K)
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

// within is the factor by which the noise counts; the identity leaves it alone.
func (r Records) within() float64 {
	if r.Identity {
		return 1
	}
	return r.Noise.together(r.K)
}

// SquaredDistance estimates |x − y|² of two records from their sketches:
// |s(x) − s(y)|² − 2kv, with the interval of C1 for Gaussian noise and of C2
// otherwise. The estimate is unbiased, so it may be negative: average it as it
// is, clamp it only to rank.
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
	return quadratic{raw: raw, k: r.K, noise: noise, projection: !r.Identity}
}

// Distances estimates many squared distances at one level. [Records.Distances] makes it.
type Distances struct {
	records   Records
	quantiles quantiles
}

// Distances prepares what [Records.SquaredDistance] needs to know of the level.
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
