package papers

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/seed/stream"
)

// key returns the key of a table's i-th matrix.
func key(table string, i int) (out [32]byte) {
	copy(out[8:], table)
	binary.LittleEndian.PutUint64(out[:], uint64(i))
	return out
}

// source returns randomness for everything but matrices. It protects no real data.
func source(table string, i int) *rand.Rand {
	k := key(table, i)
	k[31] = 1
	return rand.New(rand.NewChaCha8(k))
}

// fixed returns the i-th matrix of a family for d columns.
func fixed(spec projection.Spec, d int, table string, i int) (*projection.Fixed, error) {
	labels := make([][]byte, d)
	for j := range labels {
		labels[j] = fmt.Appendf(nil, "%d", j)
	}
	k := key(table, i)
	if spec.Family != projection.Hadamard {
		return projection.Fix(spec, stream.New(k), labels)
	}
	other := k
	other[30] = 1
	return projection.FixHadamard(spec, stream.New(k), stream.New(other), labels)
}

// project sketches m records of d integers, row-major, and applies R's scale.
func project(f *projection.Fixed, x []int64) []float64 {
	k := f.Spec().K
	y := make([]int64, len(x)/f.Columns()*k)
	f.Project(y, x)
	out, scale := make([]float64, len(y)), f.Spec().Scale()
	for i, v := range y {
		out[i] = float64(v) * scale
	}
	return out
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func apart(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return sum
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// variance returns the sample variance, with divisor n-1.
func variance(x []float64) (sum float64) {
	m := mean(x)
	for _, v := range x {
		sum += (v - m) * (v - m) / float64(len(x)-1)
	}
	return sum
}

// quantile returns a quantile by nearest rank.
func quantile(x []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// means draws means of n of the values each, with replacement.
func means(x []float64, n, draws int, r *rand.Rand) []float64 {
	out := make([]float64, draws)
	for i := range out {
		for range n {
			out[i] += x[r.IntN(len(x))] / float64(n)
		}
	}
	return out
}

// standardError returns the standard error of the mean.
func standardError(x []float64) float64 { return math.Sqrt(variance(x) / float64(len(x))) }
