package mechanism

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/research/sources"
	"github.com/cosketch/cosketch/seed/stream"
)

// trial is one draw of all matrices and noise.
type trial struct {
	Setting
	entropy io.Reader
	key     [32]byte // of the matrices
	labels  [][]byte
	x, y    []int64 // the two records; forecast.One stands for 1

	// A dense Gaussian matrix, drawn on first use.
	drawn   bool
	z       []float64 // the projected difference
	longest float64   // w2, the norm of its longest row
}

// newTrial returns the n-th trial. Trials are the same in every run; their noise protects no real
// data.
func newTrial(s Setting, labels [][]byte, n int) *trial {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], uint64(n))
	t := &trial{Setting: s, entropy: rand.NewChaCha8(key), key: key, labels: labels, x: make([]int64, s.D), y: make([]int64, s.D)}
	for j := range s.D {
		t.x[j] = int64(j%2) * forecast.One
		t.y[j] = t.x[j]
		if j < s.R2 {
			t.y[j] = forecast.One - t.x[j]
		}
	}
	return t
}

// own sketches both records with one of the project's mechanisms, estimates their distance as the
// aggregator does, and returns its error.
func (t *trial) own(m forecast.Method, epsilon dp.Epsilon) (float64, error) {
	g, err := t.promise(m.Mechanism, epsilon)
	if err != nil {
		return 0, err
	}
	k := t.K / max(m.S, 1) * max(m.S, 1)
	if m.Family == projection.Identity {
		k = t.D
	}
	noise, err := m.Calibrate(k, t.D, g)
	if err != nil {
		return 0, err
	}
	fixed, err := t.fix(m.Spec(k))
	if err != nil {
		return 0, err
	}
	entries := make([]int64, 2*k)
	fixed.Project(entries, append(append(make([]int64, 0, 2*t.D), t.x...), t.y...))
	if err := noise.Add(entries, t.entropy); err != nil {
		return 0, err
	}
	unit := fixed.Spec().Scale() / forecast.One
	points := make([]float64, len(entries))
	for i, v := range entries {
		points[i] = float64(v) * unit
	}
	space := estimate.Records{K: k, Noise: forecast.NoiseOf(noise, unit), Identity: m.Family == projection.Identity}
	e, err := space.SquaredDistance(points[:k], points[k:], 0)
	return e.Interval.Estimate - float64(t.R2), err
}

func (t *trial) fix(spec projection.Spec) (*projection.Fixed, error) {
	source := stream.New(t.key)
	if spec.Family != projection.Hadamard {
		return projection.Fix(spec, source, t.labels)
	}
	other := t.key
	other[31] = 1
	return projection.FixHadamard(spec, source, stream.New(other), t.labels)
}

// dense adds the noise of both records to their projected difference and returns the error of the
// squared distance. draw must have been called. Package dp draws the noise, on a fine grid.
func (t *trial) dense(n sources.Noise) (float64, error) {
	noise, step, err := sized(n.Mechanism, n.Scale)
	if err != nil {
		return 0, err
	}
	grains := make([]int64, 2*t.K)
	if err := noise.Add(grains, t.entropy); err != nil {
		return 0, err
	}
	law := forecast.NoiseOf(noise, step)
	var sum float64
	for i, z := range t.z {
		d := z + float64(grains[i]-grains[t.K+i])*step
		sum += d * d
	}
	return sum - 2*float64(t.K)*law.Variance - float64(t.R2), nil
}

// draw draws the dense matrix row by row, once.
func (t *trial) draw() error {
	if t.drawn {
		return nil
	}
	spec := projection.Spec{Family: projection.Gaussian, K: t.K}
	matrix, err := projection.New(spec, stream.New(t.key))
	if err != nil {
		return err
	}
	t.drawn, t.z, t.longest = true, make([]float64, t.K), 0
	row := make([]int64, t.K)
	for j, label := range t.labels {
		clear(row)
		matrix.AddOuter(row, label, []int64{1})
		change := float64(t.x[j]-t.y[j]) / forecast.One
		var squares float64
		for i, v := range row {
			entry := float64(v) * spec.Scale()
			squares += entry * entry
			t.z[i] += change * entry
		}
		t.longest = math.Max(t.longest, math.Sqrt(squares))
	}
	return nil
}

// sized returns noise of a given σ or Laplace scale on a grid, and the grid's step. It calls dp
// with ε = 1 and the sensitivity that yields that size.
func sized(m dp.Mechanism, size float64) (noise dp.Noise, step float64, err error) {
	const grains = 1 << 12
	step = size / grains
	b := dp.Budget{Epsilon: 1}
	if m == dp.Gaussian {
		b.Delta = 1e-6
	}
	g, err := dp.Promise(m, b)
	if err != nil {
		return dp.Noise{}, 0, err
	}
	s := dp.Sensitivity{L1: grains, L2Squared: int64(math.Round(grains * grains * float64(g.Mu()) * float64(g.Mu())))}
	if m == dp.Laplace {
		s.L2Squared = 1
	}
	if noise, err = dp.Calibrate(g, s); err != nil {
		return dp.Noise{}, 0, fmt.Errorf("making noise of size %g: %w", size, err)
	}
	return noise, step, nil
}

// respond randomises the bits of both records and returns the error of their estimated distance.
func (t *trial) respond(epsilon dp.Epsilon) (float64, error) {
	promise, err := t.promise(dp.RandomisedResponse, epsilon)
	if err != nil {
		return 0, err
	}
	flips, err := forecast.Flips(promise)
	if err != nil {
		return 0, err
	}
	g, err := dp.NewGenerator(t.entropy)
	if err != nil {
		return 0, err
	}
	defer g.Destroy()
	bits := append(append(make([]int64, 0, 2*t.D), t.x...), t.y...)
	if err := flips.Randomise(bits, g); err != nil {
		return 0, err
	}
	points := make([]float64, len(bits))
	for i, v := range bits {
		points[i] = float64(v) / float64(flips.Span())
	}
	space := estimate.Records{K: t.D, Noise: forecast.NoiseOfBits(flips), Identity: true}
	e, err := space.SquaredDistance(points[:t.D], points[t.D:], 0)
	return e.Interval.Estimate - float64(t.R2), err
}
