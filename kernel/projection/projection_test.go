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
		want string // in the error; empty for none
	}{
		{Spec{Sparse, 1024, 1}, ""},
		{Spec{Sparse, 24, 8}, ""},
		{Spec{Rademacher, 1, 0}, ""},
		{Spec{Identity, MaxK, 0}, ""},
		{Spec{Sparse, 1024, 0}, "between 1 and 8"},
		{Spec{Sparse, 1024, 9}, "between 1 and 8"},
		{Spec{Sparse, 1024, -1}, "between 1 and 8"},
		{Spec{Sparse, 1024, 3}, "divide"},
		{Spec{Rademacher, 64, 1}, "sparse only"},
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
	return Spec{Rademacher, rapid.IntRange(1, 70).Draw(t, "k"), 0}
}

// Both products equal multiplication by the dense matrix, written out.
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
		y[0] = 99 // overwritten
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

// Every row has exactly the norms that sensitivities are computed from.
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
		if l1 != spec.RowL1() || l2 != spec.RowL2Squared() {
			t.Fatalf("%v: l1 %d, l2² %d; declared %d, %d", spec, l1, l2, spec.RowL1(), spec.RowL2Squared())
		}
		if math.Abs(float64(l2)*spec.Scale()*spec.Scale()-1) > 1e-12 {
			t.Fatalf("%v: scaled row is not of norm 1", spec)
		}
	})
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
	for _, spec := range []Spec{{Sparse, 8, 2}, {Rademacher, 8, 0}, {Identity, 8, 0}} {
		for _, largest := range []int64{1, 2, 3, 1 << 14, 1<<62 - 1, math.MaxInt64} {
			count := spec.LargestRecordCount(largest)
			if count > 0 && count > (1<<62-1)/largest || largest < 1<<61 && count < 1<<60/largest {
				t.Errorf("%v: %d records of entries up to %d", spec, count, largest)
			}
		}
	}
	if got := (Spec{Sparse, 8, 1}).LargestRecordCount(1 << 14); got != 1<<48-1 {
		t.Errorf("%d records at 14 bits", got)
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

// One digest over 10,000 rows of each family, an entry a byte, pins R on every
// architecture.
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
	} {
		matrix, err := New(spec, key)
		if err != nil {
			t.Fatal(err)
		}
		h, u, out := sha256.New(), make([]int64, spec.K), make([]byte, spec.K)
		for i := range 10000 {
			clear(u)
			matrix.AddOuter(u, []byte(strconv.Itoa(i)), []int64{1})
			for j, v := range u {
				out[j] = byte(v)
			}
			h.Write(out)
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("%v: digest %s, want %s", spec, got, want)
		}
	}
}

func BenchmarkAddOuter(b *testing.B) {
	for _, spec := range []Spec{{Sparse, 1024, 1}, {Sparse, 1024, 4}, {Rademacher, 1024, 0}} {
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

func BenchmarkProject(b *testing.B) {
	const d = 1024
	labels := make([][]byte, d)
	x := make([]int64, d)
	for j := range labels {
		labels[j], x[j] = []byte(strconv.Itoa(j)), int64(j+1)
	}
	for _, spec := range []Spec{{Sparse, 256, 1}, {Sparse, 256, 4}, {Rademacher, 256, 0}, {Identity, d, 0}} {
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
