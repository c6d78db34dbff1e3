package release

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed/stream"
)

// A batch of records in memory, with ids of 16 bytes, as on the columns side.
const (
	speedRecords = 1 << 17
	speedColumns = 50
)

func speedData() (labels [][]byte, x []int64) {
	rng := rand.New(rand.NewPCG(1, 2))
	labels, x = make([][]byte, speedRecords), make([]int64, speedRecords*speedColumns)
	for i := range labels {
		labels[i] = fmt.Appendf(nil, "%016d", rng.Int64N(1e15))
	}
	for i := range x {
		x[i] = rng.Int64N(1<<15+1) - 1<<14
	}
	return labels, x
}

// BenchmarkColumns makes a columns-side sketch of 50 columns, hashing included: sparse to k =
// 16,384, rademacher to k = 1,024. "memory" is one pass over the same data, a lower bound. Waking a
// second worker costs about as much as five hundred sparse records, in every batch. This is what
// keeps two workers from twice the speed, not the memory or their separate sums.
func BenchmarkColumns(b *testing.B) {
	labels, x := speedData()
	perRecord := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*speedRecords), "ns/record")
	}
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			var sum int64
			for i := 0; i < len(x); i += 4 {
				sum += x[i] ^ x[i+1] ^ x[i+2] ^ x[i+3]
			}
			if sum == 1 {
				b.Fatal("cannot be: only keeps the sum alive")
			}
		}
		perRecord(b)
	})
	for _, spec := range []projection.Spec{{Family: projection.Sparse, K: 16384, S: 1}, {Family: projection.Rademacher, K: 1024}} {
		for _, c := range []struct{ workers, batch int }{{1, 1 << 12}, {2, 1 << 12}, {2, 1 << 14}, {2, 1 << 16}} {
			b.Run(fmt.Sprintf("%s/workers=%d,batch=%d", spec.Family, c.workers, c.batch), func(b *testing.B) {
				matrix, err := projection.New(spec, stream.New([32]byte{1}))
				if err != nil {
					b.Fatal(err)
				}
				builder, err := sketch.NewColumns(matrix, sketch.ColumnsOptions{Columns: speedColumns, Largest: 1 << 14, Workers: c.workers})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					for from := 0; from < speedRecords; from += c.batch {
						if err := builder.Add(labels[from:from+c.batch], x[from*speedColumns:(from+c.batch)*speedColumns]); err != nil {
							b.Fatal(err)
						}
					}
				}
				perRecord(b)
			})
		}
	}
}

// BenchmarkRecords makes a records-side sketch of 16 batches, with everything that a batch in
// memory needs: checking, narrowing, widening and the memory of its rows.
func BenchmarkRecords(b *testing.B) {
	for _, c := range []struct{ m, d, k int }{{1 << 12, 100, 64}, {1 << 12, 1024, 256}, {1 << 12, 1024, 64}, {1 << 9, 10000, 256}} {
		rng := rand.New(rand.NewPCG(3, 4))
		labels, x := make([][]byte, c.d), make([]int64, c.m*c.d)
		for j := range labels {
			labels[j] = stream.ColumnLabel(fmt.Sprint(j))
		}
		for i := range x {
			x[i] = rng.Int64N(1<<15+1) - 1<<14
		}
		for _, family := range []projection.Family{projection.Hadamard, projection.Rademacher} {
			fixed, err := fixed(projection.Spec{Family: family, K: c.k}, labels)
			if err != nil {
				b.Fatal(err)
			}
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/d=%d,k=%d/workers=%d", family, c.d, c.k, workers), func(b *testing.B) {
					for b.Loop() {
						makeRows(b, fixed, x, workers)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(16*b.N*c.m), "ns/record")
				})
			}
		}
	}
}

func fixed(spec projection.Spec, labels [][]byte) (*projection.Fixed, error) {
	if spec.Family == projection.Hadamard {
		return projection.FixHadamard(spec, stream.New([32]byte{1}), stream.New([32]byte{2}), labels)
	}
	return projection.Fix(spec, stream.New([32]byte{1}), labels)
}

func makeRows(b *testing.B, fixed *projection.Fixed, x []int64, workers int) {
	builder, err := sketch.NewRecords(fixed, sketch.RecordsOptions{Largest: 1 << 14, Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	for range 16 {
		if err := builder.Add(x); err != nil {
			b.Fatal(err)
		}
	}
}
