package estimate

import (
	"crypto/sha512"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/projection"
)

// keyed is a numbered source of rows of R for tests.
type keyed uint64

func (k keyed) Block(label []byte) [64]byte {
	return sha512.Sum512(append(binary.BigEndian.AppendUint64(nil, uint64(k)), label...))
}

func (keyed) Expand(block *[64]byte, dst []byte) {
	rand.NewChaCha8([32]byte(block[:32])).Read(dst)
}

// integers are two columns of data with heavy entries in common, which make the
// fourth-moment terms of the variances large.
func integers(d int) (x, y []int64) {
	rng := rand.New(rand.NewPCG(41, 1))
	for range d {
		x, y = append(x, rng.Int64N(41)-20), append(y, rng.Int64N(41)-20)
	}
	x[0], y[0], x[1], y[1] = 90, 60, -70, 50
	return x, y
}

// sketchPair projects two vectors with a real R of the spec, on one side.
func sketchPair(t *testing.T, spec projection.Spec, columns bool, trial int, labels [][]byte, x, y []int64) [][]float64 {
	t.Helper()
	pair := make([]int64, 2*spec.K)
	source := keyed(trial)
	stride, next := 2, 1 // for the columns side, K × 2
	switch {
	case columns:
		matrix, err := projection.New(spec, source)
		if err != nil {
			t.Fatal(err)
		}
		for i, label := range labels {
			matrix.AddOuter(pair, label, []int64{x[i], y[i]})
		}
	default:
		fix := func() (*projection.Fixed, error) { return projection.Fix(spec, source, labels) }
		if spec.Family == projection.Hadamard {
			fix = func() (*projection.Fixed, error) {
				return projection.FixHadamard(spec, source, keyed(-1-trial), labels)
			}
		}
		fixed, err := fix()
		if err != nil {
			t.Fatal(err)
		}
		fixed.Project(pair, append(append([]int64(nil), x...), y...))
		stride, next = 1, spec.K
	}
	out := [][]float64{make([]float64, spec.K), make([]float64, spec.K)}
	scale := spec.Scale()
	for i := range spec.K {
		out[0][i] = float64(pair[i*stride]) * scale
		out[1][i] = float64(pair[i*stride+next]) * scale
	}
	return out
}

// laws are the variances of a distance, a norm and a product, computed from the data: that of the
// projection, as package projection states it, and that of the noise.
func laws(spec projection.Spec, d int, noise Noise, x, y []int64) [3]float64 {
	var xx, yy, xy, x4, x2y2, r2, q4 float64
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		z := (a - b) * (a - b)
		xx, yy, xy, x4, x2y2, r2, q4 = xx+a*a, yy+b*b, xy+a*b, x4+a*a*a*a, x2y2+a*a*b*b, r2+z, q4+z*z
	}
	p, k, v := spec.Variance(d), float64(spec.K), noise.Variance
	return [3]float64{
		p.Distance(r2, q4) + 8*v*r2 + 8*k*v*v + 2*k*noise.FourthCumulant,
		p.Distance(xx, x4) + 4*v*xx + k*(2*v*v+noise.FourthCumulant),
		p.Product(xx, yy, xy, x2y2) + v*(xx+yy) + k*v*v,
	}
}

// Every estimator is unbiased and has the variance of its formula, for every family, noise and
// side. Means are within five standard errors. Variances are within five of theirs, √((kurtosis −
// 1)/trials) relative, from the sample's kurtosis. The false rejection rate would be below 1e-6 for
// each, if the seeds were not fixed. On the same draws, the formula for half of the noise is
// rejected, and so are estimates with the noise left in. (Package projection checks that a
// projection's variance is not that of another family.)
func TestEveryEstimatorHasItsVariance(t *testing.T) {
	full.Statistical(t)
	const k, d = 16, 24
	x, y := integers(d)
	labels := make([][]byte, d)
	for i := range labels {
		labels[i] = []byte("label " + strconv.Itoa(i))
	}
	trials := full.Or(1000, 40_000)
	for _, spec := range []projection.Spec{
		{Family: projection.Sparse, K: k, S: 1}, {Family: projection.Sparse, K: k, S: 2},
		{Family: projection.Sparse, K: k, S: 4}, {Family: projection.Sparse, K: k, S: 8},
		{Family: projection.Rademacher, K: k}, {Family: projection.Achlioptas, K: k}, {Family: projection.Gaussian, K: k},
		{Family: projection.Hadamard, K: k}, {Family: projection.Hadamard, K: 32}, {Family: projection.Identity, K: d},
	} {
		for _, columns := range []bool{true, false} {
			if columns && (spec.Family == projection.Hadamard || spec.Family == projection.Identity) {
				continue // families of the records side
			}
			checkTriples(t, spec, columns, trials, labels, x, y)
		}
	}
}

func checkTriples(t *testing.T, spec projection.Spec, columns bool, trials int, labels [][]byte, x, y []int64) {
	t.Helper()
	const scale = 32 // of the Laplace noise: data and noise have similar variances on a coordinate
	noises := map[string]Noise{"no noise": {}, "gaussian noise": {Variance: 2 * scale * scale}, "laplace noise": laplaceNoise(scale)}
	samples := map[string]*[3][]float64{}
	for name := range noises {
		samples[name] = &[3][]float64{}
	}
	rng := rand.New(rand.NewPCG(42, uint64(spec.K)))
	for trial := range trials {
		exact := sketchPair(t, spec, columns, trial, labels, x, y)
		for name, noise := range noises {
			sketch := [][]float64{append([]float64(nil), exact[0]...), append([]float64(nil), exact[1]...)}
			addNoise(rng, sketch, noise)
			var e [3]Estimate
			if columns {
				g := mustGram(t, sketch, []Noise{noise, noise})
				e = [3]Estimate{g.SquaredDistance(Column(0), Column(1), 0), g.SquaredNorm(Column(0), 0), g.InnerProduct(Column(0), Column(1), 0)}
			} else {
				r := Records{K: spec.K, Noise: noise, Identity: spec.OrthogonalRows(len(labels))}
				e = [3]Estimate{must(t)(r.SquaredDistance(sketch[0], sketch[1], 0)), must(t)(r.SquaredNorm(sketch[0], 0)), must(t)(r.InnerProduct(sketch[0], sketch[1], 0))}
			}
			for i := range e {
				samples[name][i] = append(samples[name][i], e[i].Interval.Estimate)
			}
		}
	}
	truth := truths(x, y)
	for name, noise := range noises {
		stated := laws(spec, len(labels), noise, x, y)
		half := laws(spec, len(labels), Noise{Variance: noise.Variance / 2, FourthCumulant: noise.FourthCumulant / 4}, x, y)
		left := [3]float64{2 * noise.Variance * float64(spec.K), noise.Variance * float64(spec.K), 0}
		for i, what := range []string{"distance", "norm", "product"} {
			id := spec.String() + map[bool]string{true: ", columns", false: ", records"}[columns] + ", " + name + ", " + what
			mean, variance := stat.MeanVariance(samples[name][i], nil)
			if stated[i] == 0 { // a rotation without noise
				if math.Abs(mean-truth[i]) > 1e-9*truth[1] || variance > 1e-9*truth[1] {
					t.Errorf("%s: %g ± %g, want exactly %g", id, mean, math.Sqrt(variance), truth[i])
				}
				continue
			}
			n := float64(trials)
			kurtosis := stat.Moment(4, samples[name][i], nil) / (variance * variance)
			unbiased := func(want float64) bool { return math.Abs(mean-want) <= 5*math.Sqrt(stated[i]/n) }
			fits := func(want float64) bool { return math.Abs(variance/want-1) <= 5*math.Sqrt((kurtosis-1)/n) }
			if !unbiased(truth[i]) || !fits(stated[i]) {
				t.Errorf("%s: mean %.5g, want %.5g ± %.2g; variance %.4g, want %.4g ± %.1f %%",
					id, mean, truth[i], math.Sqrt(stated[i]/n), variance, stated[i], 100*math.Sqrt((kurtosis-1)/n))
			}
			if noise.Variance > 0 && (fits(half[i]) || left[i] > 0 && unbiased(truth[i]+left[i])) {
				t.Errorf("%s: no power: half of the noise would pass", id)
			}
		}
	}
}

// truths are the distance, the norm and the product.
func truths(x, y []int64) (out [3]float64) {
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		out[0], out[1], out[2] = out[0]+(a-b)*(a-b), out[1]+a*a, out[2]+a*b
	}
	return out
}
