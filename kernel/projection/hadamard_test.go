package projection

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
)

// permuting is the source of permutations in tests; its key differs from that of the signs.
func permuting(n int) keyed {
	k := trial(n)
	k[31] = 1
	return k
}

// fixAny calls Fix, or FixHadamard for Hadamard.
func fixAny(spec Spec, source Source, labels [][]byte) (*Fixed, error) {
	if spec.Family == Hadamard {
		permutation := source.(keyed)
		permutation[31] = 1
		return FixHadamard(spec, source, permutation, labels)
	}
	return Fix(spec, source, labels)
}

func numbered(d int) [][]byte {
	labels := make([][]byte, d)
	for j := range labels {
		labels[j] = []byte("column " + strconv.Itoa(j))
	}
	return labels
}

// denseHadamard returns the d rows of R, straight from the definition.
func denseHadamard(k int, signs, permutation Source, labels [][]byte) [][]int64 {
	size := 1
	for size < len(labels) {
		size *= 2
	}
	block := permutation.Block([]byte{byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)})
	stream := make([]byte, 8*k)
	permutation.Expand(&block, stream)
	order := make([]int, size)
	for i := range order {
		order[i] = i
	}
	for i := range k {
		var w uint64
		for b := range 8 {
			w |= uint64(stream[8*i+b]) << (8 * b)
		}
		t, _ := bits.Mul64(w, uint64(size-i))
		order[i], order[i+int(t)] = order[i+int(t)], order[i]
	}
	rows := make([][]int64, len(labels))
	for j, label := range labels {
		sign := []int64{1, -1}[signs.Block(label)[0]%2]
		for _, column := range order[:k] {
			rows[j] = append(rows[j], sign*[]int64{1, -1}[bits.OnesCount(uint(j&column))%2])
		}
	}
	return rows
}

// The fast transform at every level, single rows and the dense matrix agree, also for entries
// beyond 16 bits.
func TestHadamardEqualsDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 300).Draw(t, "d")
		k := rapid.IntRange(1, min(HadamardSize(d), 70)).Draw(t, "k")
		m := rapid.IntRange(1, 3).Draw(t, "m")
		largest := rapid.SampledFrom([]int64{0, 1, 1 << 14, 1<<15 - 1, 1 << 15, 1 << 31, 1 << 50}).Draw(t, "largest")
		x := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-largest, largest), rapid.Just(largest), rapid.Just(-largest)), m*d, m*d).Draw(t, "x")
		n := rapid.IntRange(0, 1<<30).Draw(t, "key")
		spec, labels := Spec{Hadamard, k, 0}, numbered(d)
		fixed, err := FixHadamard(spec, trial(n), permuting(n), labels)
		if err != nil {
			t.Fatal(err)
		}
		rows := denseHadamard(k, trial(n), permuting(n), labels)
		want, slow := make([]int64, m*k), make([]int64, m*k)
		for i := range m {
			for j, c := range x[i*d : (i+1)*d] {
				for p, e := range rows[j] {
					want[i*k+p] += c * e
				}
				fixed.rows[j].addScaled(slow[i*k:(i+1)*k], c)
			}
		}
		for _, level := range cpu.Levels() {
			got := slices.Repeat([]int64{99}, m*k) // must be overwritten
			fixed.product.multiply(got, x, &scratch{level: level})
			if !slices.Equal(got, want) {
				t.Fatalf("%v, %v of %d columns: %v, want %v", level, spec, d, got, want)
			}
		}
		if !slices.Equal(slow, want) {
			t.Fatalf("%v of %d columns, row by row: %v, want %v", spec, d, slow, want)
		}
	})
}

// The largest records that the kernels take, at the largest order, give exact sums. So do larger
// entries and a larger order.
func TestHadamardAtTheEdgeOfKernels(t *testing.T) {
	for _, d := range []int{1, 2, 64, 1024, kernels.MostHadamard, 2 * kernels.MostHadamard} {
		fixed, err := FixHadamard(Spec{Hadamard, min(d, 4), 0}, trial(1), permuting(1), numbered(d))
		if err != nil {
			t.Fatal(err)
		}
		k := fixed.spec.K
		x, y := make([]int64, d), make([]int64, k)
		for _, largest := range []int64{math.MaxInt16, 1 << 15, 1<<15 + 1, 1 << 31} {
			for column := range k { // records for which this column of R gives the largest sum
				r := make([]int64, k)
				for j := range x {
					clear(r)
					fixed.rows[j].addScaled(r, 1)
					x[j] = -largest * r[column]
				}
				for _, level := range cpu.Levels() {
					fixed.product.multiply(y, x, &scratch{level: level})
					if y[column] != int64(d)*-largest {
						t.Fatalf("%v: d = %d, entries of %d: %d, want %d", level, d, largest, y[column], int64(d)*-largest)
					}
				}
			}
		}
	}
}

// With k = d' the rows are orthogonal and of equal length: norms and products are preserved
// exactly, and the transpose inverts R. With a smaller k this does not hold.
func TestHadamardIsOrthogonal(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 8, 30, 100} {
		size := HadamardSize(d)
		spec, labels := Spec{Hadamard, size, 0}, numbered(d)
		if !spec.OrthogonalRows(d) || size > 1 && (Spec{Hadamard, size - 1, 0}).OrthogonalRows(d) || spec.OrthogonalRows(size+1) {
			t.Errorf("d = %d, k = %d: orthogonality", d, size)
		}
		rows := denseHadamard(size, trial(d), permuting(d), labels)
		for i := range rows {
			for j := range rows {
				var sum int64
				for p, e := range rows[i] {
					sum += e * rows[j][p]
				}
				if want := int64(size); i == j && sum != want || i != j && sum != 0 {
					t.Fatalf("d = %d: product of rows %d and %d is %d", d, i, j, sum)
				}
			}
		}
		if v := spec.Variance(d); v.Distance(3, 1) != 0 || v.Product(3, 4, 1, 1) != 0 {
			t.Errorf("d = %d: a rotation errs by %v", d, v)
		}
	}
}

// The permutation has no repetition and depends on d' only. Each k keeps its first k elements.
func TestPermutation(t *testing.T) {
	all := permuted(permuting(3), 1<<10, 1<<10)
	for _, k := range []int{0, 1, 2, 100, 1 << 10} {
		if !slices.Equal(permuted(permuting(3), 1<<10, k), all[:k]) {
			t.Errorf("k = %d is not the beginning", k)
		}
	}
	if slices.Equal(permuted(permuting(4), 1<<10, 1<<10), all) {
		t.Error("another key, the same permutation")
	}
	if slices.IsSorted(all) {
		t.Error("nothing was exchanged")
	}
	sorted := slices.Sorted(slices.Values(all))
	for i, v := range sorted {
		if int(v) != i {
			t.Fatalf("%d is missing", i)
		}
	}
}

// Each of the 12 ordered pairs of two of four columns is equally likely: a chi-square test with 11
// degrees of freedom. The keys are fixed; fresh ones would exceed 60 with probability 1e-8. Without
// the exchange the statistic would be in the thousands.
func TestPermutationIsUniform(t *testing.T) {
	const n = 24000
	count := map[[2]int32]float64{}
	for i := range n {
		p := permuted(permuting(i), 4, 2)
		count[[2]int32{p[0], p[1]}]++
	}
	var chi float64
	for _, c := range count {
		chi += (c - n/12) * (c - n/12) / (n / 12)
	}
	if len(count) != 12 || chi > 60 {
		t.Errorf("%d pairs, chi-square %.1f", len(count), chi)
	}
}

func TestHadamardRefuses(t *testing.T) {
	labels, spec := numbered(5), Spec{Hadamard, 8, 0}
	for name, c := range map[string]struct {
		want string
		make func() error
	}{
		"columns side":     {"records side only", func() error { _, err := New(spec, keyed{}); return err }},
		"k above d'":       {"at most 8", func() error { _, err := FixHadamard(Spec{Hadamard, 9, 0}, keyed{}, keyed{}, labels); return err }},
		"one source":       {"FixHadamard", func() error { _, err := Fix(spec, keyed{}, labels); return err }},
		"no source":        {"no source", func() error { _, err := FixHadamard(spec, nil, keyed{}, labels); return err }},
		"no permutation":   {"no source", func() error { _, err := FixHadamard(spec, keyed{}, nil, labels); return err }},
		"another family":   {"not of the family", func() error { _, err := FixHadamard(Spec{Sparse, 8, 1}, keyed{}, keyed{}, labels); return err }},
		"non-zeros":        {"sparse only", func() error { _, err := FixHadamard(Spec{Hadamard, 8, 1}, keyed{}, keyed{}, labels); return err }},
		"a label twice":    {"same label", func() error { _, err := FixHadamard(spec, keyed{}, keyed{}, [][]byte{{1}, {1}}); return err }},
		"no column at all": {"no columns", func() error { _, err := FixHadamard(spec, keyed{}, keyed{}, nil); return err }},
		"k below one":      {"k must be", func() error { _, err := FixHadamard(Spec{Hadamard, 0, 0}, keyed{}, keyed{}, labels); return err }},
	} {
		if err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// One digest over 10,000 rows of 10,000 columns, one byte per entry.
func TestHadamardGolden(t *testing.T) {
	const d, k = 10000, 100
	var signs, permutation keyed
	for i := range signs {
		signs[i], permutation[i] = byte(i+1), byte(i+101)
	}
	fixed, err := FixHadamard(Spec{Hadamard, k, 0}, signs, permutation, numbered(d))
	if err != nil {
		t.Fatal(err)
	}
	h, out := sha256.New(), make([]byte, k)
	for _, r := range fixed.rows {
		y := make([]int64, k)
		r.addScaled(y, 1)
		for i, v := range y {
			out[i] = byte(v)
		}
		h.Write(out)
	}
	// The sum of the rows is the transform of a record of ones.
	ones, y, sum := make([]int64, d), make([]int64, k), make([]int64, k)
	for j := range ones {
		ones[j] = 1
		fixed.rows[j].addScaled(sum, 1)
	}
	if fixed.Project(y, ones); !slices.Equal(y, sum) {
		t.Error("the transform is not the sum of the rows")
	}
	const want = "135d568363c7f1890e897f2b8471e3b67f0424bb42a0b97a69c4d36640b51b20"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func BenchmarkHadamard(b *testing.B) {
	for _, c := range []struct{ d, k int }{{100, 64}, {1000, 64}, {1024, 256}, {1024, 1024}, {10000, 256}} {
		const m = 64
		fixed, err := FixHadamard(Spec{Hadamard, c.k, 0}, keyed{1}, keyed{2}, numbered(c.d))
		if err != nil {
			b.Fatal(err)
		}
		for _, largest := range []int64{1 << 14, math.MaxInt32} {
			x, y := make([]int64, m*c.d), make([]int64, m*c.k)
			for i := range x {
				x[i] = int64(i)*7919%(2*largest) - largest
			}
			b.Run("d="+strconv.Itoa(c.d)+" k="+strconv.Itoa(c.k)+" entries to "+strconv.FormatInt(largest, 10), func(b *testing.B) {
				for b.Loop() {
					fixed.Project(y, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/m, "ns/record")
			})
		}
	}
}
