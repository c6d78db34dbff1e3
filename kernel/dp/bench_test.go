//go:build unix

package dp

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// BenchmarkNoise compares the table samplers with the rejection samplers of the same distribution.
// It reports millions of entries per second, and per second of processor time, which is meaningful
// on a busy machine too. Each operation draws the noise of 2^18 entries, tables and keys included.
func BenchmarkNoise(b *testing.B) {
	gaussian := func(sd uint64) Noise {
		return Noise{guarantee: Guarantee{mechanism: Gaussian}, gaussian: discreteGaussian{sd * sd}}
	}
	laplace := func(scale uint64) Noise {
		return Noise{guarantee: Guarantee{mechanism: Laplace}, laplace: discreteLaplace{geometric{scale << 10, 10}}}
	}
	const entries = 1 << 18
	rate := func(b *testing.B, draw func(dst []int64)) {
		dst := make([]int64, entries)
		before := processorTime(b)
		for b.Loop() {
			draw(dst)
		}
		b.ReportMetric(float64(b.N)*entries/1e6/b.Elapsed().Seconds(), "M/s")
		b.ReportMetric(float64(b.N)*entries/1e6/(processorTime(b)-before).Seconds(), "M/cpu-s")
	}
	for _, c := range []struct {
		name      string
		noise     Noise
		reference sampler
	}{
		{"gaussian sd=4", gaussian(4), newCKGaussian(16)},
		{"gaussian sd=64", gaussian(64), newCKGaussian(64 * 64)},
		{"gaussian sd=1000", gaussian(1000), newCKGaussian(1e6)},
		{"gaussian sd=2^20", gaussian(1 << 20), newCKGaussian(1 << 40)},
		{"gaussian sd=2^28", gaussian(1 << 28), newCKGaussian(1 << 56)},
		{"laplace t=4", laplace(4), laplace(4).laplace},
		{"laplace t=1000", laplace(1000), laplace(1000).laplace},
		{"laplace t=2^20", laplace(1 << 20), laplace(1 << 20).laplace},
		{"laplace t=2^38", laplace(1 << 38), laplace(1 << 38).laplace},
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/table, %d workers", c.name, workers), func(b *testing.B) {
				rate(b, func(dst []int64) { c.noise.addBlocks(dst, new([32]byte), workers) })
			})
		}
		b.Run(c.name+"/rejection", func(b *testing.B) {
			g := testGenerator(b, 1)
			rate(b, func(dst []int64) { c.reference.add(g, dst) })
		})
	}
}

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
