package sketch

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"
	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/projection"
)

// keyed is the source of rows that studies use: BLAKE2b-512(key ‖ label), expanded by AES-256-CTR.
type keyed [32]byte

func (k keyed) Block(label []byte) [64]byte {
	return blake2b.Sum512(append(k[:], label...))
}

func (k keyed) Expand(block *[64]byte, dst []byte) {
	c, err := aes.NewCipher(block[:32])
	if err != nil {
		panic(err)
	}
	cipher.NewCTR(c, make([]byte, aes.BlockSize)).XORKeyStream(dst, make([]byte, len(dst)))
}

var (
	sparse     = projection.Spec{Family: projection.Sparse, K: 12, S: 2}
	rademacher = projection.Spec{Family: projection.Rademacher, K: 12}
)

const largest = 1 << 14

// data returns m labels, numbered from first on, and m × n entries that are a function of the
// labels.
func data(first, m, n int) (labels [][]byte, x []int64) {
	rng := rand.New(rand.NewPCG(uint64(first), uint64(n)))
	for i := range m {
		labels = append(labels, []byte("record "+strconv.Itoa(first+i)))
		for range n {
			x = append(x, rng.Int64N(2*largest+1)-largest)
		}
	}
	return labels, x
}

func newColumns(t require, spec projection.Spec, options ColumnsOptions) *ColumnsBuilder {
	matrix, err := projection.New(spec, keyed{1})
	must(t, err)
	b, err := NewColumns(matrix, options)
	must(t, err)
	return b
}

func newRecords(t require, spec projection.Spec, columns [][]byte, options RecordsOptions) *RecordsBuilder {
	fixed, err := projection.Fix(spec, keyed{2}, columns)
	must(t, err)
	b, err := NewRecords(fixed, options)
	must(t, err)
	return b
}

// require is the part of *testing.T and *rapid.T that helpers use.
type require interface {
	Helper()
	Fatal(...any)
}

func must(t require, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A columns-side sketch does not depend on the order, batch sizes or workers.
func TestColumnsInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom([]projection.Spec{sparse, rademacher}).Draw(t, "spec")
		m, n := rapid.IntRange(1, 40).Draw(t, "m"), rapid.IntRange(1, 4).Draw(t, "n")
		labels, x := data(0, m, n)
		one := newColumns(t, spec, ColumnsOptions{Columns: n, Largest: largest})
		must(t, one.Add(labels, x))

		workers := rapid.IntRange(1, 5).Draw(t, "workers")
		two := newColumns(t, spec, ColumnsOptions{Columns: n, Largest: largest, Workers: workers})
		order := rapid.Permutation(indices(m)).Draw(t, "order")
		for len(order) > 0 {
			batch := order[:rapid.IntRange(1, len(order)).Draw(t, "batch")]
			order = order[len(batch):]
			var l [][]byte
			var v []int64
			for _, i := range batch {
				l, v = append(l, labels[i]), append(v, x[i*n:(i+1)*n]...)
			}
			must(t, two.Add(l, v))
			two.Sketch() // must not change later sums
		}
		a, b := one.Sketch(), two.Sketch()
		if !slices.Equal(a.Data, b.Data) || a.Rows != spec.K || a.Cols != n || a.Side != Columns || two.Records() != int64(m) {
			t.Fatalf("%v from %d records: %v and %v", spec, two.Records(), a.Data, b.Data)
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// A records-side sketch does not depend on batch sizes and workers, and Permute moves whole rows.
func TestRecordsInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, d := rapid.IntRange(1, 30).Draw(t, "m"), rapid.IntRange(1, 6).Draw(t, "d")
		columns, _ := data(0, d, 1)
		_, x := data(100, m, d)
		one := newRecords(t, sparse, columns, RecordsOptions{Largest: largest})
		must(t, one.Add(x))
		two := newRecords(t, sparse, columns, RecordsOptions{Largest: largest, Workers: rapid.IntRange(1, 5).Draw(t, "workers")})
		for rest := x; len(rest) > 0; {
			batch := rest[:d*rapid.IntRange(1, len(rest)/d).Draw(t, "batch")]
			rest = rest[len(batch):]
			must(t, two.Add(batch))
		}
		if one.Records() != m || two.Records() != m {
			t.Fatalf("%d and %d records, want %d", one.Records(), two.Records(), m)
		}
		order := rapid.Permutation(indices(m)).Draw(t, "order")
		s := two.Sketch()
		must(t, s.Permute(order))
		for i, from := range order {
			if !slices.Equal(s.Row(i), one.Row(from)) {
				t.Fatalf("row %d is not what row %d was", i, from)
			}
		}
		if s.Side != Records || s.Rows != m || s.Cols != sparse.K || two.Records() != 0 {
			t.Fatalf("%v, and %d records left", s, two.Records())
		}
	})
}

// The parties' sketches merge to the sketch of the pooled data. On the columns side, sketches of
// different records are added, those of different columns stacked; on the records side the other
// way round.
func TestMergeIsPooling(t *testing.T) {
	labels, x := data(0, 20, 4)
	pooled := newColumns(t, sparse, ColumnsOptions{Columns: 4, Largest: largest})
	must(t, pooled.Add(labels, x))
	columnsOf := func(from, to int) Sketch {
		b := newColumns(t, sparse, ColumnsOptions{Columns: to - from, Largest: largest})
		must(t, b.Add(labels, part(x, 4, from, to)))
		return b.Sketch()
	}
	recordsOf := func(from, to int) Sketch {
		b := newColumns(t, sparse, ColumnsOptions{Columns: 4, Largest: largest})
		must(t, b.Add(labels[from:to], x[4*from:4*to]))
		return b.Sketch()
	}
	equal(t, "columns, vertical", pooled.Sketch(), func() (Sketch, error) {
		return Stack(columnsOf(0, 1), columnsOf(1, 4))
	})
	equal(t, "columns, horizontal", pooled.Sketch(), func() (Sketch, error) {
		return Add(recordsOf(0, 5), recordsOf(5, 6), recordsOf(6, 20))
	})

	names, _ := data(0, 4, 1)
	project := func(columns [][]byte, x []int64) Sketch {
		b := newRecords(t, rademacher, columns, RecordsOptions{Largest: largest})
		must(t, b.Add(x))
		return b.Sketch()
	}
	equal(t, "records, horizontal", project(names, x), func() (Sketch, error) {
		return Stack(project(names, x[:12]), project(names, x[12:]))
	})
	equal(t, "records, vertical", project(names, x), func() (Sketch, error) {
		return Add(project(names[:1], part(x, 4, 0, 1)), project(names[1:], part(x, 4, 1, 4)))
	})
}

// Subtracting the sketch of some records gives the sketch of the others.
func TestSubtractTakesRecordsOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom([]projection.Spec{sparse, rademacher}).Draw(t, "spec")
		m, n := rapid.IntRange(1, 40).Draw(t, "m"), rapid.IntRange(1, 4).Draw(t, "n")
		labels, x := data(0, m, n)
		options := ColumnsOptions{Columns: n, Largest: largest}
		whole, out, in := newColumns(t, spec, options), newColumns(t, spec, options), newColumns(t, spec, options)
		for i, leaves := range rapid.SliceOfN(rapid.Bool(), m, m).Draw(t, "leaves") {
			b := in
			if leaves {
				b = out
			}
			must(t, b.Add(labels[i:i+1], x[i*n:(i+1)*n]))
		}
		must(t, whole.Add(labels, x))
		left, err := Subtract(whole.Sketch(), out.Sketch())
		must(t, err)
		if want := in.Sketch(); !slices.Equal(left.Data, want.Data) || left.Rows != want.Rows || left.Cols != want.Cols || left.Side != want.Side {
			t.Fatalf("%v is left, not %v", left, want)
		}
	})
}

// part returns the columns from to to of rows of n entries.
func part(x []int64, n, from, to int) (out []int64) {
	for i := 0; i < len(x); i += n {
		out = append(out, x[i+from:i+to]...)
	}
	return out
}

func equal(t *testing.T, name string, want Sketch, merge func() (Sketch, error)) {
	t.Helper()
	got, err := merge()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got.Side != want.Side || got.Rows != want.Rows || got.Cols != want.Cols || !slices.Equal(got.Data, want.Data) {
		t.Errorf("%s: %v is not the pooled %v", name, got, want)
	}
}

func TestBuildersRefuse(t *testing.T) {
	matrix, err := projection.New(sparse, keyed{})
	must(t, err)
	for _, o := range []ColumnsOptions{
		{Columns: 0, Largest: 1}, {Columns: -1, Largest: 1}, {Columns: math.MaxInt / 2, Largest: 1}, {Columns: 1},
		{Columns: 1, Largest: -1}, {Columns: 1, Largest: 1, Limit: -1}, {Columns: 1, Largest: 1 << 14, Limit: 1 << 48},
	} {
		if _, err := NewColumns(matrix, o); err == nil {
			t.Errorf("columns builder with %+v", o)
		}
	}
	b := newColumns(t, sparse, ColumnsOptions{Columns: 2, Largest: 10, Limit: 3, Workers: 2})
	labels, x := [][]byte{{1}, {2}}, []int64{1, -10, 10, 4}
	must(t, b.Add(labels, x))
	before := b.Sketch()
	for want, err := range map[string]error{
		"3 entries":         b.Add(labels, x[:3]),
		"the limit is 3":    b.Add(labels, x),
		"entry (1, 2)":      b.Add(labels[:1], []int64{0, 11}),
		"batch exceeds ±10": b.Add(labels[:1], []int64{-11, 0}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if !slices.Equal(before.Data, b.Sketch().Data) || b.Records() != 2 {
		t.Error("a refused batch left a trace")
	}
	must(t, b.Add(nil, nil))
	must(t, b.Add(labels[:1], x[:2]))

	columns := [][]byte{{1}, {2}}
	fixed, err := projection.Fix(sparse, keyed{}, columns)
	must(t, err)
	if _, err := NewRecords(fixed, RecordsOptions{}); err == nil {
		t.Error("records builder without a largest entry")
	}
	if _, err := NewRecords(fixed, RecordsOptions{Largest: 1 << 62}); err == nil {
		t.Error("records builder whose sums may overflow")
	}
	r := newRecords(t, sparse, columns, RecordsOptions{Largest: 10})
	must(t, r.Add(x))
	for want, err := range map[string]error{
		"3 entries":    r.Add(x[:3]),
		"entry (2, 1)": r.Add([]int64{0, 0, 11, 0}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if r.Records() != 2 {
		t.Errorf("%d records after refusals", r.Records())
	}
}

// A refused batch leaves no trace, even if several workers had added parts of it.
func TestRefusedBatchLeavesNoTrace(t *testing.T) {
	for _, spec := range []projection.Spec{sparse, rademacher} {
		for _, at := range []int{0, 1500, 2999} {
			labels, x := data(0, 3000, 2)
			b := newColumns(t, spec, ColumnsOptions{Columns: 2, Largest: largest, Workers: 3})
			must(t, b.Add(labels[:1000], x[:2000]))
			before := b.Sketch()
			x[2*at+1] = largest + 1
			if err := b.Add(labels, x); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("entry (%d, 2)", at+1)) {
				t.Errorf("%v: error %v, want entry (%d, 2)", spec, err, at+1)
			}
			if !slices.Equal(before.Data, b.Sketch().Data) || b.Records() != 1000 {
				t.Errorf("%v: a batch refused at record %d left a trace", spec, at)
			}
			x[2*at+1] = 0
			must(t, b.Add(labels, x))

			r := newRecords(t, spec, labels[:2], RecordsOptions{Largest: largest, Workers: 3})
			must(t, r.Add(x[:2000]))
			x[2*at+1] = -largest - 1
			if err := r.Add(x); err == nil || r.Records() != 1000 {
				t.Errorf("%v: %d records, error %v", spec, r.Records(), err)
			}
			x[2*at+1] = 0
			must(t, r.Add(x))
		}
	}
}

// A large batch, of which each worker takes several shares, gives the same sums as with one worker.
func TestLargeBatchInvariance(t *testing.T) {
	for _, spec := range []projection.Spec{sparse, rademacher} {
		labels, x := data(0, 5000, 3)
		var want []Sketch
		for _, workers := range []int{1, 2, 7} {
			c := newColumns(t, spec, ColumnsOptions{Columns: 3, Largest: largest, Workers: workers})
			must(t, c.Add(labels, x))
			r := newRecords(t, spec, labels[:3], RecordsOptions{Largest: largest, Workers: workers})
			must(t, r.Add(x))
			got := []Sketch{c.Sketch(), r.Sketch()}
			if want == nil {
				want = got
			}
			for i := range got {
				if !slices.Equal(got[i].Data, want[i].Data) {
					t.Errorf("%v: %d workers make another %s sketch", spec, workers, got[i].Side)
				}
			}
		}
	}
}

// No error contains a data value.
func TestErrorsHoldNoValues(t *testing.T) {
	b := newColumns(t, sparse, ColumnsOptions{Columns: 1, Largest: 10})
	if err := b.Add([][]byte{[]byte("secret-id")}, []int64{123456}); err == nil || strings.Contains(err.Error(), "123456") || strings.Contains(err.Error(), "secret-id") {
		t.Errorf("error: %v", err)
	}
}

// One sketch for each side, split of the data and family, pinned to the bit.
func TestGolden(t *testing.T) {
	build := func(spec projection.Spec, first, m, n int) Sketch {
		b := newColumns(t, spec, ColumnsOptions{Columns: n, Largest: largest, Workers: 2})
		must(t, b.Add(data(first, m, n)))
		return b.Sketch()
	}
	project := func(spec projection.Spec, columns, first, m int) Sketch {
		labels, _ := data(columns, 12, 1)
		_, x := data(first, m, 12)
		b := newRecords(t, spec, labels, RecordsOptions{Largest: largest, Workers: 2})
		must(t, b.Add(x))
		return b.Sketch()
	}
	identity := projection.Spec{Family: projection.Identity, K: 12}
	for _, c := range []struct {
		cell, want string
		merge      func(...Sketch) (Sketch, error)
		parts      []Sketch
	}{
		{"columns, vertical, sparse", "77c0d59a22186a97c346b96d2307c6d485dab32ec00e1e9b5998d7991b045d2c", Stack, []Sketch{build(sparse, 0, 1000, 3), build(sparse, 100, 1000, 2)}},
		{"columns, vertical, rademacher", "2e9ace6ac4bb522e81494496fdc34d593a448987eed1e7c304660c62adb28b0b", Stack, []Sketch{build(rademacher, 0, 1000, 3), build(rademacher, 100, 1000, 2)}},
		{"columns, horizontal, sparse", "c0aaf0a20e02f7b80fcf399697df086895938c422a0e6f20992f324257d44cf5", Add, []Sketch{build(sparse, 0, 1000, 3), build(sparse, 1000, 500, 3)}},
		{"records, vertical, rademacher", "bfd1e8933d81872b831ef1fa3dda0a30b0438e256c77de8f70721b2cf931cbbb", Add, []Sketch{project(rademacher, 0, 0, 100), project(rademacher, 12, 7, 100)}},
		{"records, horizontal, sparse", "b996b1c43584c6447808ec94faba80ae850c6801ce35f7749d5dea47fed2fb6f", Stack, []Sketch{project(sparse, 0, 0, 100), project(sparse, 0, 7, 50)}},
		{"records, horizontal, identity", "c783722b20f32d65d85c915f5202a07dcd030bc983d8b993219f0c424af8aca7", Stack, []Sketch{project(identity, 0, 0, 100), project(identity, 0, 7, 50)}},
	} {
		merged, err := c.merge(c.parts...)
		must(t, err)
		out, err := merged.Encode(merged.Width())
		must(t, err)
		sum := sha256.Sum256(out)
		if got := hex.EncodeToString(sum[:]); got != c.want {
			t.Errorf("%s: %v, digest %s, want %s", c.cell, merged, got, c.want)
		}
	}
}
