package release_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
)

// terms are the parts of a study that decide what a party ships. The parties are
// north, south and west; in a vertical study north owns the columns.
type terms struct {
	partition study.Partition
	columns   []string // entries of columns, without owner
	sketches  []string // entries of sketches
	privacy   string
	bits      int    // default 8
	missing   string // default centre
}

// The kinds of columns, as entries of a study file.
const (
	bounded     = "{name: bounded, kind: numeric, bounds: [-2, 6]}"
	centred     = "{name: centred, kind: numeric, centre: 10, spread: 2}"
	beside      = "{name: beside, kind: numeric, centre: 0, spread: 1}"
	binary      = "{name: binary, kind: binary}"
	rare        = "{name: rare, kind: binary, centre: 0.03}"
	categorical = "{name: categorical, kind: categorical, values: [a, b, c]}"
)

const (
	noPromise = "{mechanism: none}"
	laplace   = "{unit: attribute, mechanism: laplace, epsilon: 1}"
)

// parse returns the study of the terms. Who takes part is taken from an example of
// package study.
func parse(t testing.TB, terms terms) *study.Study {
	t.Helper()
	example, err := os.ReadFile("../study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "partition:")
	var b strings.Builder
	fmt.Fprintf(&b, "%spartition: %s\nexpires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\nrecords: {id: [patient], missing: %s}\ncolumns:\n", head, terms.partition, cmp.Or(terms.missing, "centre"))
	for _, c := range terms.columns {
		if terms.partition == study.Vertical {
			c = strings.TrimSuffix(c, "}") + ", owner: north}"
		}
		fmt.Fprintf(&b, "  - %s\n", c)
	}
	if terms.partition == study.Vertical {
		b.WriteString("  - {name: other, kind: binary, owner: south}\n  - {name: third, kind: binary, owner: west}\n")
	}
	bits := terms.bits
	if bits == 0 {
		bits = 8
	}
	fmt.Fprintf(&b, "bits: %d\nsketches:\n", bits)
	analysis := "k-means, clusters: 2"
	for _, s := range terms.sketches {
		fmt.Fprintf(&b, "  - %s\n", s)
		if strings.Contains(s, "side: columns") {
			analysis = "inner-product"
		}
		if strings.Contains(s, "side: moments") {
			analysis = "mean"
		}
	}
	fmt.Fprintf(&b, "privacy: %s\nanalyses: [{kind: %s}]\n", terms.privacy, analysis)
	s, err := file.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plan returns north's part in a sketch.
func plan(t testing.TB, s *study.Study, index int) release.Plan {
	t.Helper()
	north, ok := s.PartyByName("north")
	if !ok {
		t.Fatal("no party north")
	}
	p, err := release.For(s, north, index)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rootSeed returns the n-th of a list of fixed seeds.
func rootSeed(n int) seed.Seed {
	rng := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 's'})
	var b [seed.Size]byte
	rng.Read(b[:])
	return seed.FromBytes(b)
}

// entropy returns the n-th of a list of fixed streams of bytes.
func entropy(n int) *rand.ChaCha8 {
	return rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 'e'})
}

// data are encoded records.
type data struct {
	ids    [][]byte
	values []int64
}

// randomData draws m records of possible values: extremes, absent ones, and others.
func randomData(rng *rand.Rand, p release.Plan, m int) data {
	var d data
	for i := range m {
		d.ids = append(d.ids, fmt.Appendf(nil, "record %d", i))
		for _, c := range p.Study.OwnColumns(p.Party) {
			d.values = append(d.values, randomCode(rng, p.Study.Columns[c], p.Study.Bits)...)
		}
	}
	return d
}

// randomCode draws one of codes or, where a column is a number, any other.
func randomCode(rng *rand.Rand, c study.Column, bits fixedpoint.Bits) []int64 {
	if c.Kind == study.Numeric && rng.IntN(2) == 0 {
		reach := c.Scale.Range(bits)
		return []int64{bits.One() - rng.Int64N(reach+1)}
	}
	options := codes(c, bits)
	return options[rng.IntN(len(options))]
}

// codes lists encodings of a column, the extreme ones and that of an absent value among
// them; package dataset makes these.
func codes(c study.Column, bits fixedpoint.Bits) [][]int64 {
	one := bits.One()
	if c.Kind == study.Categorical {
		out := [][]int64{make([]int64, len(c.Values))}
		for i := range c.Values {
			code := make([]int64, len(c.Values))
			code[i] = one
			out = append(out, code)
		}
		return out
	}
	if c.Scale.Range(bits) == one {
		return [][]int64{{0}, {one / 2}, {one}}
	}
	return [][]int64{{-one}, {-one / 2}, {0}, {one}}
}

// exact sketches records in one batch. On the records side the rows come back in the
// order of the records.
func exact(t testing.TB, p release.Plan, root seed.Seed, d data) sketch.Sketch {
	t.Helper()
	b, err := p.NewBuilder(root, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add(d.ids, d.values); err != nil {
		t.Fatal(err)
	}
	out, err := b.Finish(entropy(0))
	if err != nil {
		t.Fatal(err)
	}
	return inOrder(out)
}

// inOrder undoes the shuffle of a records-side sketch.
func inOrder(e release.Exact) sketch.Sketch {
	if e.Order == nil {
		return e.Sketch
	}
	out := e.Sketch
	out.Data = make([]int64, len(e.Sketch.Data))
	for i, from := range e.Order {
		copy(out.Row(from), e.Sketch.Row(i))
	}
	return out
}

// encoded returns the bytes of a sketch.
func encoded(t testing.TB, s sketch.Sketch) []byte {
	t.Helper()
	_, data, err := release.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
