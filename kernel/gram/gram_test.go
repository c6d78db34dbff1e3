package gram

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// exact returns the matrix computed by package big.
func exact(data []int64, k, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range out[i] {
			sum := new(big.Int)
			for r := range k {
				sum.Add(sum, new(big.Int).Mul(big.NewInt(data[r*n+i]), big.NewInt(data[r*n+j])))
			}
			out[i][j], _ = new(big.Float).SetInt(sum).Float64()
		}
	}
	return out
}

// Every level gives the nearest float64 to the exact sum: for shapes that end within panels and
// blocks, and for entries that need one, two or three ways to sum.
func TestEveryLevelIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{1, 1}, {3, 16}, {300, 7}, {257, 33}, {520, 17}} {
		k, n := shape[0], shape[1]
		for _, bits := range []int{1, 14, 26, 31, 32, 50, 58} {
			data := make([]int64, k*n)
			for i := range data {
				data[i] = rng.Int64N(1<<bits) - 1<<(bits-1)
				if bits == 32 && i%5 == 0 {
					data[i] = math.MinInt32 // the least value of 32 bits, and the largest absolute value
				}
			}
			want := exact(data, k, n)
			for _, level := range cpu.Levels() {
				got, err := of(context.Background(), level, data, k, n, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					for j := range n {
						if got.At(i, j) != want[i][j] {
							t.Fatalf("%v, %d × %d, %d bits: entry %d,%d is %v, want %v", level, k, n, bits, i, j, got.At(i, j), want[i][j])
						}
					}
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	if _, err := Of(ctx, make([]int64, 5), 2, 2); err == nil {
		t.Error("5 entries pass for 2 × 2")
	}
	if _, err := Of(ctx, nil, 0, 2); err == nil {
		t.Error("no rows pass")
	}
	if _, err := Of(ctx, make([]int64, MaxColumns+1), 1, MaxColumns+1); err == nil {
		t.Error("too many columns pass")
	}
	large := []int64{math.MinInt64, math.MinInt64, math.MinInt64}
	if _, err := Of(ctx, large, 3, 1); err == nil {
		t.Error("a sum beyond 128 bits passes")
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for _, v := range []int64{1, 1 << 40} {
		if _, err := Of(stopped, []int64{v, v}, 1, 2); err == nil {
			t.Error("a cancelled computation ends well")
		}
	}
}

// A sketch of 1,000 columns with k = 16,384, and the same product by numpy, if it is installed.
func BenchmarkGram(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const k, n = 16384, 1000
	data := make([]int64, k*n)
	for i := range data {
		data[i] = rng.Int64N(1<<22) - 1<<21
	}
	for _, level := range cpu.Levels() {
		b.Run(fmt.Sprint(level), func(b *testing.B) {
			for b.Loop() {
				if _, err := of(context.Background(), level, data, k, n, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("numpy", func(b *testing.B) {
		const python = "/usr/bin/python3"
		if exec.Command(python, "-c", "import numpy").Run() != nil {
			b.Skip("no " + python + " with numpy")
		}
		for b.Loop() {
			out, err := exec.Command(python, "-c", fmt.Sprintf(`
import numpy, time
x = numpy.random.default_rng(1).integers(-2**21, 2**21, (%d, %d)).astype(float)
times = []
for _ in range(5):
    start = time.perf_counter()
    x.T @ x
    times.append(time.perf_counter() - start)
print(sorted(times)[2] * 1e9)`, k, n)).Output()
			if err != nil {
				b.Fatal(err)
			}
			if took, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err == nil {
				b.ReportMetric(took, "ns/product")
			}
		}
	})
}

// OfColumns gives the products that Of gives for the same columns, for small and large entries.
func TestOfColumns(t *testing.T) {
	const k, n = 300, 40
	rng := rand.New(rand.NewPCG(7, 8))
	for _, most := range []int64{1 << 12, 1 << 40} {
		data := make([]int64, k*n)
		for i := range data {
			data[i] = rng.Int64N(most) - most/2
		}
		all, err := Of(t.Context(), data, k, n)
		if err != nil {
			t.Fatal(err)
		}
		columns := rng.Perm(n)[:21]
		some, err := OfColumns(t.Context(), data, k, n, columns)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range columns {
			for j, b := range columns {
				if some.At(i, j) != all.At(a, b) {
					t.Fatalf("entries below %d: product of columns %d and %d is %g, want %g", most, a, b, some.At(i, j), all.At(a, b))
				}
			}
		}
	}
	for _, wrong := range [][]int{nil, {-1}, {n}} {
		if _, err := OfColumns(t.Context(), make([]int64, k*n), k, n, wrong); err == nil {
			t.Errorf("columns %v are taken", wrong)
		}
	}
}
