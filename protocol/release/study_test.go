package release_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// data holds encoded records.
type data struct {
	ids    [][]byte
	values []int64
}

// randomData returns m random records of possible values: extremes, absent ones, and others.
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

// randomCode returns one of codes or, for a numeric column, any other encoding.
func randomCode(rng *rand.Rand, c study.Column, bits fixedpoint.Bits) []int64 {
	if c.Kind == study.Numeric && rng.IntN(2) == 0 {
		reach := c.Scale.Range(bits)
		return []int64{bits.One() - rng.Int64N(reach+1)}
	}
	options := codes(c, bits)
	return options[rng.IntN(len(options))]
}

// codes lists encodings of a column, including the extreme ones and that of an absent value.
// Package dataset makes these.
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

// exact sketches records in one batch. On the records side the rows are returned in the order of
// the records.
func exact(t testing.TB, p release.Plan, root seed.Seed, d data) sketch.Sketch {
	t.Helper()
	b, err := p.NewBuilder(root, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add(d.ids, d.values); err != nil {
		t.Fatal(err)
	}
	out, err := b.Finish(releasetest.Entropy(0))
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
