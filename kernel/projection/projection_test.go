package projection

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want string // part of the error; empty for none
	}{
		{Spec{Sparse, 1024, 1}, ""},
		{Spec{Sparse, 24, 8}, ""},
		{Spec{Rademacher, 1, 0}, ""},
		{Spec{Achlioptas, 1, 0}, ""},
		{Spec{Gaussian, MaxK, 0}, ""},
		{Spec{Hadamard, 3, 0}, ""},
		{Spec{Identity, MaxK, 0}, ""},
		{Spec{Sparse, 1024, 0}, "between 1 and 8"},
		{Spec{Sparse, 1024, 9}, "between 1 and 8"},
		{Spec{Sparse, 1024, -1}, "between 1 and 8"},
		{Spec{Sparse, 1024, 3}, "divide"},
		{Spec{Rademacher, 64, 1}, "sparse only"},
		{Spec{Achlioptas, 64, 1}, "sparse only"},
		{Spec{Gaussian, 64, 1}, "sparse only"},
		{Spec{Identity, 64, 1}, "sparse only"},
		{Spec{Rademacher, 0, 0}, "k must be"},
		{Spec{Rademacher, -1, 0}, "k must be"},
		{Spec{Sparse, MaxK + 1, 1}, "k must be"},
		{Spec{"gauss", 8, 0}, `unknown projection family "gauss"`},
		{Spec{}, "unknown"},
	} {
		err := c.spec.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.spec, err, c.want)
		}
	}
}

func TestConstructorsRefuse(t *testing.T) {
	if _, err := New(Spec{Identity, 3, 0}, keyed{}); err == nil || !strings.Contains(err.Error(), "records side only") {
		t.Errorf("identity on the columns side: %v", err)
	}
	labels := [][]byte{[]byte("a"), []byte("b")}
	for name, make := range map[string]func() error{
		"matrix without source": func() error { _, err := New(Spec{Sparse, 8, 1}, nil); return err },
		"matrix of bad spec":    func() error { _, err := New(Spec{Sparse, 8, 3}, keyed{}); return err },
		"rows without source":   func() error { _, err := Fix(Spec{Rademacher, 8, 0}, nil, labels); return err },
		"rows of bad spec":      func() error { _, err := Fix(Spec{Rademacher, 0, 0}, keyed{}, labels); return err },
		"no rows":               func() error { _, err := Fix(Spec{Sparse, 8, 1}, keyed{}, nil); return err },
		"a label twice":         func() error { _, err := Fix(Spec{Sparse, 8, 1}, keyed{}, append(labels, labels[0])); return err },
		"identity of other k":   func() error { _, err := Fix(Spec{Identity, 3, 0}, nil, labels); return err },
	} {
		if make() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func drawSpec(t *rapid.T) Spec {
	if rapid.Bool().Draw(t, "sparse") {
		s := rapid.IntRange(1, 8).Draw(t, "s")
		return Spec{Sparse, s * rapid.IntRange(1, 12).Draw(t, "k/s"), s}
	}
	family := rapid.SampledFrom([]Family{Rademacher, Achlioptas, Gaussian}).Draw(t, "family")
	return Spec{family, rapid.IntRange(1, 70).Draw(t, "k"), 0}
}

// Both products equal multiplication by the dense matrix.
func TestEqualsDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, source := drawSpec(t), trial(rapid.IntRange(0, 1<<30).Draw(t, "key"))
		labels := rapid.SliceOfNDistinct(rapid.SliceOfN(rapid.Byte(), 0, 40), 1, 8, func(b []byte) string { return string(b) }).Draw(t, "labels")
		n := rapid.IntRange(1, 5).Draw(t, "n")
		entry := rapid.Int64Range(-1<<14, 1<<14)
		x := rapid.SliceOfN(entry, len(labels)*n, len(labels)*n).Draw(t, "x")

		matrix, err := New(spec, source)
		if err != nil {
			t.Fatal(err)
		}
		got, want := make([]int64, spec.K*n), make([]int64, spec.K*n)
		for r, label := range labels {
			matrix.AddOuter(got, label, x[r*n:(r+1)*n])
			for i, e := range dense(spec, source, label) {
				for j := range n {
					want[i*n+j] += e * x[r*n+j]
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, columns side: %v, want %v", spec, got, want)
		}

		fixed, err := Fix(spec, source, labels)
		if err != nil {
			t.Fatal(err)
		}
		y, z := make([]int64, spec.K), make([]int64, spec.K)
		y[0] = 99 // must be overwritten
		fixed.Project(y, x[:len(labels)])
		for j, label := range labels {
			for i, e := range dense(spec, source, label) {
				z[i] += e * x[j]
			}
		}
		if !slices.Equal(y, z) {
			t.Fatalf("%v, records side: %v, want %v", spec, y, z)
		}
	})
}

// Every row has exactly the norms from which sensitivities are computed; if rows differ, no row has
// larger norms.
func TestRowNorms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		label := rapid.SliceOf(rapid.Byte()).Draw(t, "label")
		fixed, err := Fix(spec, trial(1), [][]byte{label})
		if err != nil {
			t.Fatal(err)
		}
		y := make([]int64, spec.K)
		fixed.Project(y, []int64{1})
		var l1, l2 int64
		for _, v := range y {
			l1 += max(v, -v)
			l2 += v * v
		}
		if spec.Family == Achlioptas || spec.Family == Gaussian {
			if l1 > spec.RowL1() || l2 > spec.RowL2Squared() {
				t.Fatalf("%v: l1 %d, l2² %d; declared at most %d, %d", spec, l1, l2, spec.RowL1(), spec.RowL2Squared())
			}
			return
		}
		if l1 != spec.RowL1() || l2 != spec.RowL2Squared() {
			t.Fatalf("%v: l1 %d, l2² %d; declared %d, %d", spec, l1, l2, spec.RowL1(), spec.RowL2Squared())
		}
		if math.Abs(float64(l2)*spec.Scale()*spec.Scale()-1) > 1e-12 {
			t.Fatalf("%v: scaled row is not of norm 1", spec)
		}
	})
}

// constant is a source with the same keystream for every label.
type constant byte

func (constant) Block([]byte) (b [64]byte) { return b }

func (c constant) Expand(_ *[64]byte, dst []byte) {
	for i := range dst {
		dst[i] = byte(c)
	}
}

// If rows differ, the declared longest row is attained by some keystream.
func TestLongestRowsAreAttained(t *testing.T) {
	for spec, stream := range map[Spec]constant{{Achlioptas, 70, 0}: 41, {Gaussian, 70, 0}: 255} {
		fixed, err := Fix(spec, stream, [][]byte{nil})
		if err != nil {
			t.Fatal(err)
		}
		y := make([]int64, spec.K)
		fixed.Project(y, []int64{1})
		var l1, l2 int64
		for _, v := range y {
			l1 += max(v, -v)
			l2 += v * v
		}
		if l1 != spec.RowL1() || l2 != spec.RowL2Squared() {
			t.Errorf("%v: l1 %d, l2² %d; declared %d, %d", spec, l1, l2, spec.RowL1(), spec.RowL2Squared())
		}
	}
}

// skipping is a source whose keystreams start with many bytes that are skipped.
type skipping struct{ keyed }

func (s skipping) Expand(block *[64]byte, dst []byte) {
	s.keyed.Expand(block, dst)
	for i := range dst[:min(len(dst), 500)] {
		dst[i] = 252 + dst[i]%4
	}
}

// A row that needs an unusually long keystream is correct.
func TestAchlioptasReadsOn(t *testing.T) {
	spec, labels := Spec{Achlioptas, 50, 0}, [][]byte{[]byte("a"), []byte("b")}
	fixed, err := Fix(spec, skipping{}, labels)
	if err != nil {
		t.Fatal(err)
	}
	y, want := make([]int64, spec.K), make([]int64, spec.K)
	fixed.Project(y, []int64{3, -5})
	for j, c := range []int64{3, -5} {
		block, stream := skipping{}.Block(labels[j]), make([]byte, 1000)
		skipping{}.Expand(&block, stream)
		i := 0
		for _, b := range stream {
			if b < 252 && i < spec.K {
				want[i] += c * map[byte]int64{0: 1, 1: -1}[b/42]
				i++
			}
		}
	}
	if !slices.Equal(y, want) {
		t.Errorf("%v, want %v", y, want)
	}
}

func TestIdentity(t *testing.T) {
	spec := Spec{Identity, 3, 0}
	fixed, err := Fix(spec, nil, [][]byte{[]byte("a"), []byte("b"), []byte("c")})
	if err != nil {
		t.Fatal(err)
	}
	y := make([]int64, 3)
	fixed.Project(y, []int64{5, 0, -7})
	if !slices.Equal(y, []int64{5, 0, -7}) {
		t.Errorf("projected to %v", y)
	}
	if spec.Scale() != 1 || spec.RowL1() != 1 || spec.RowL2Squared() != 1 || fixed.Columns() != 3 || fixed.Spec() != spec {
		t.Error("constants")
	}
}

func TestLargestRecordCount(t *testing.T) {
	for _, spec := range []Spec{{Sparse, 8, 2}, {Rademacher, 8, 0}, {Achlioptas, 8, 0}, {Gaussian, 8, 0}, {Hadamard, 8, 0}, {Identity, 8, 0}} {
		entry := spec.norms().largest
		for _, largest := range []int64{1, 2, 3, 1 << 14, 1<<62 - 1, math.MaxInt64} {
			count := spec.MaxTerms(largest)
			if count > 0 && count > (1<<62-1)/largest/entry || largest < 1<<61/entry && count < 1<<60/largest/entry {
				t.Errorf("%v: %d records of entries up to %d", spec, count, largest)
			}
		}
	}
	for _, c := range []struct {
		spec Spec
		want int64
	}{
		{Spec{Sparse, 8, 1}, 1<<48 - 1},
		{Spec{Rademacher, 8, 0}, 1<<48 - 1},
		{Spec{Achlioptas, 8, 0}, 1<<48 - 1},
		{Spec{Hadamard, 8, 0}, 1<<48 - 1},
		{Spec{Gaussian, 8, 0}, 8_590_196_744},
	} {
		if got := c.spec.MaxTerms(1 << 14); got != c.want {
			t.Errorf("%v: %d records at 14 bits, want %d", c.spec, got, c.want)
		}
	}
}

func TestShapesPanic(t *testing.T) {
	matrix, _ := New(Spec{Sparse, 8, 1}, keyed{})
	fixed, _ := Fix(Spec{Sparse, 8, 1}, keyed{}, [][]byte{[]byte("a")})
	for name, call := range map[string]func(){
		"outer":   func() { matrix.AddOuter(make([]int64, 15), nil, make([]int64, 2)) },
		"project": func() { fixed.Project(make([]int64, 7), make([]int64, 1)) },
		"columns": func() { fixed.Project(make([]int64, 8), make([]int64, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a wrong shape passed", name)
				}
			}()
			call()
		}()
	}
}

// One digest over 10,000 rows of each family pins R on every architecture. An entry is one byte;
// for gaussian two bytes, low byte first.
func TestGolden(t *testing.T) {
	key := keyed{}
	for i := range key {
		key[i] = byte(i + 1)
	}
	for spec, want := range map[Spec]string{
		{Sparse, 96, 1}:      "857f1eb96f50a7a6658b0ae38447c6c5b01fb3aa29b775940d4fede9bc773276",
		{Sparse, 96, 2}:      "47de41d32fb8d3e2e35ad1ae460fed1da655a30e138f960a8e0357804cf7f189",
		{Sparse, 96, 4}:      "4669c03b93c7402fb8f0b18c6800a1a9c05cab7351cd18d23fb739e33d6ef12e",
		{Sparse, 96, 8}:      "73509a226229af969cc477119858418149d982a7541471a84ab3b70462644b82",
		{Rademacher, 100, 0}: "da3b72808ae619c4f06fbb29645d91f2e5563a38c07808cb7e4f1097b3b29a3a",
		{Achlioptas, 100, 0}: "650f6896557c63bab7376f2914ee23c64f75cee01b6f6c948b913c753154b492",
		{Gaussian, 100, 0}:   "c298a2e738a0bdbb78b2b85a610ecd577182872f8211fb12078af8f0560ed1d9",
	} {
		matrix, err := New(spec, key)
		if err != nil {
			t.Fatal(err)
		}
		h, u, out := sha256.New(), make([]int64, spec.K), make([]byte, 0, 2*spec.K)
		for i := range 10000 {
			clear(u)
			matrix.AddOuter(u, []byte(strconv.Itoa(i)), []int64{1})
			out = out[:0]
			for _, v := range u {
				out = append(out, byte(v))
				if spec.Family == Gaussian {
					out = append(out, byte(v>>8))
				}
			}
			h.Write(out)
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("%v: digest %s, want %s", spec, got, want)
		}
	}
}

func BenchmarkAddOuter(b *testing.B) {
	for _, spec := range []Spec{{Sparse, 1024, 1}, {Sparse, 1024, 4}, {Rademacher, 1024, 0}, {Achlioptas, 1024, 0}, {Gaussian, 1024, 0}} {
		for _, n := range []int{10, 50} {
			b.Run(spec.String()+" n="+strconv.Itoa(n), func(b *testing.B) {
				matrix, err := New(spec, keyed{})
				if err != nil {
					b.Fatal(err)
				}
				u, x, label := make([]int64, spec.K*n), make([]int64, n), make([]byte, 16)
				for b.Loop() {
					label[0]++
					matrix.AddOuter(u, label, x)
				}
			})
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, spec := range []Spec{{Sparse, 1024, 8}, {Rademacher, 1024, 0}, {Achlioptas, 1024, 0}, {Gaussian, 1024, 0}} {
		b.Run(spec.String(), func(b *testing.B) {
			f, _ := spec.family()
			r, label := f.blank(spec), make([]byte, 16)
			for b.Loop() {
				label[0]++
				r.draw(keyed{}, label)
			}
		})
	}
}

func BenchmarkProject(b *testing.B) {
	const d = 1024
	labels := make([][]byte, d)
	x := make([]int64, d)
	for j := range labels {
		labels[j], x[j] = []byte(strconv.Itoa(j)), int64(j+1)
	}
	for _, spec := range []Spec{{Sparse, 256, 1}, {Sparse, 256, 4}, {Rademacher, 256, 0}, {Achlioptas, 256, 0}, {Gaussian, 256, 0}, {Identity, d, 0}} {
		b.Run(spec.String()+" d=1024", func(b *testing.B) {
			fixed, err := Fix(spec, keyed{}, labels)
			if err != nil {
				b.Fatal(err)
			}
			y := make([]int64, spec.K)
			for b.Loop() {
				fixed.Project(y, x)
			}
		})
	}
}
