package protocol_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
)

// valueCase is a real number that becomes an integer, or an integer its square.
type valueCase struct {
	What    string          `json:"what"`
	Log     bool            `json:"log,omitempty"`
	Unit    float64         `json:"unit,omitempty"` // of asinh
	Bounds  []float64       `json:"bounds,omitempty"`
	Centre  float64         `json:"centre,omitempty"`
	Spread  float64         `json:"spread,omitempty"`
	Bits    fixedpoint.Bits `json:"bits,omitempty"`
	Given   float64         `json:"given"`
	Integer int64           `json:"integer"`
	Clamped bool            `json:"clamped,omitempty"`
	Real    float64         `json:"real,omitempty"` // a transformed number, exact to the bit
}

func values() vectors {
	return cases[valueCase]{
		file:  "values",
		about: "Given: a scale, a resolution and a number: a value (or nothing, missing), the weight of ones, an encoded value to square, or k for the automatic resolution; or a number to transform. To be found: the integer, or the transformed number.",
		given: func(*testing.T) (out []valueCase) {
			for _, x := range []float64{-3, -2, 0.1, 1.99, 2, 2.0078125, 6, 7} {
				out = append(out, valueCase{What: "value", Bounds: []float64{-2, 6}, Bits: 9, Given: x})
			}
			for _, x := range []float64{-60, 46.99, 47, 60.125, 68, 109.9, 200} {
				out = append(out, valueCase{What: "value", Centre: 47, Spread: 21, Bits: 12, Given: x})
			}
			out = append(out,
				valueCase{What: "missing", Bounds: []float64{-2, 6}, Bits: 9},
				valueCase{What: "missing", Centre: 47, Spread: 21, Bits: 12},
			)
			for _, x := range []float64{-1, 0, 0.5, 1, 666.1, 2000, 5664, 54000, 54001, 1e300} {
				out = append(out,
					valueCase{What: "value", Log: true, Centre: 2000, Spread: 3, Bits: 12, Given: x},
					valueCase{What: "value", Log: true, Bounds: []float64{1, 1e6}, Bits: 14, Given: x},
					valueCase{What: "value", Unit: 100, Bounds: []float64{-5000, 1e6}, Bits: 14, Given: x},
				)
			}
			for _, x := range []float64{5e-324, 1e-310, 1e-20, 0.1, 0.7, 0.7071067811865475, 0.7071067811865476, 1, 1.0000000000000002, 3, 1e10, 1e300} {
				out = append(out, valueCase{What: "transformed", Log: true, Given: x})
			}
			for _, x := range []float64{1e-310, 1e-9, -0.1, 0.24999999999999997, 0.25, 1, -7, 1 << 28, 1<<28 + 1, 1e300} {
				out = append(out, valueCase{What: "transformed", Unit: 1, Given: x}, valueCase{What: "transformed", Unit: 3, Given: x})
			}
			out = append(out, valueCase{What: "missing", Log: true, Bounds: []float64{1, 1e6}, Bits: 9})
			for _, w := range []float64{0, 0.3, 0.5, 1} {
				out = append(out, valueCase{What: "ones", Bits: 11, Given: w})
			}
			for _, v := range []float64{0, 1, 22, 23, -100, 512} {
				out = append(out, valueCase{What: "square", Bits: 9, Given: v})
			}
			for _, k := range []float64{1, 2, 3, 128, 186, 187, 2982, 2983, 1 << 20} {
				out = append(out, valueCase{What: "auto bits", Given: k})
			}
			return out
		},
		fill: fillValue,
	}
}

func fillValue(t *testing.T, c *valueCase) {
	var transform fixedpoint.Transform
	var scale fixedpoint.Scale
	var err error
	switch {
	case c.Log:
		transform = fixedpoint.Log()
	case c.Unit > 0:
		if transform, err = fixedpoint.Asinh(c.Unit); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case len(c.Bounds) == 2:
		scale, err = transform.Bounds(c.Bounds[0], c.Bounds[1])
	case c.Spread > 0:
		scale, err = transform.CentreSpread(c.Centre, c.Spread)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Clamped = false
	switch c.What {
	case "value":
		c.Integer, c.Clamped = scale.Encode(c.Given, c.Bits)
	case "transformed":
		c.Real = transform.Apply(c.Given)
	case "missing":
		c.Integer = scale.Missing(c.Bits)
	case "ones":
		c.Integer = fixedpoint.Weight(c.Given, c.Bits)
	case "square":
		c.Integer = fixedpoint.Square(int64(c.Given), c.Bits)
	case "auto bits":
		c.Integer = int64(fixedpoint.AutoBits(int(c.Given)))
	default:
		t.Fatalf("a %q", c.What)
	}
}

// sketchCase is a sketch as encoded in chunks. A refused encoding has no entries.
type sketchCase struct {
	Note    string      `json:"note"`
	Side    sketch.Side `json:"side"`
	Rows    int         `json:"rows"`
	Cols    int         `json:"cols"`
	Width   int         `json:"width"`
	Encoded hexed       `json:"encoded"`
	Entries []int64     `json:"entries"`
	Chunks  []hexed     `json:"chunks"`
}

func sketches() vectors {
	return cases[sketchCase]{
		file:  "sketches",
		about: "Given: shape, width and bytes of a sketch. To be found: its entries, row-major, and the hashes of its chunks; nothing where it is refused.",
		given: func(*testing.T) []sketchCase {
			return []sketchCase{
				{Note: "a byte an entry", Side: sketch.Columns, Rows: 2, Cols: 2, Width: 1, Encoded: hexed{0, 1, 0x7f, 0x80}},
				{Note: "128 needs two", Side: sketch.Columns, Rows: 1, Cols: 2, Width: 2, Encoded: hexed{0x80, 0, 0xff, 0xff}},
				{Note: "three", Side: sketch.Records, Rows: 1, Cols: 2, Width: 3, Encoded: hexed{0, 0, 0x80, 0xff, 0xff, 0xff}},
				{Note: "2^54 - 1, just within range", Side: sketch.Records, Rows: 1, Cols: 1, Width: 7, Encoded: hexed{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f}},
				{Note: "wider than needed", Side: sketch.Columns, Rows: 1, Cols: 2, Width: 2, Encoded: hexed{0x7f, 0, 0xff, 0xff}},
				{Note: "a byte too few", Side: sketch.Columns, Rows: 1, Cols: 2, Width: 2, Encoded: hexed{0x80, 0, 0}},
				{Note: "moments of one column", Side: sketch.Moments, Rows: 1, Cols: 2, Width: 2, Encoded: hexed{0xff, 0x01, 0xff, 0xff}},
				{Note: "cells of one column", Side: sketch.Cells, Rows: 2, Cols: 2, Width: 1, Encoded: hexed{1, 2, 3, 0xfc}},
				{Note: "a side that is none", Side: "middle", Rows: 1, Cols: 1, Width: 1, Encoded: hexed{1}},
				{Note: "out of range", Side: sketch.Columns, Rows: 1, Cols: 1, Width: 8, Encoded: hexed{0, 0, 0, 0, 0, 0, 0, 0x01}},
			}
		},
		fill: func(t *testing.T, c *sketchCase) {
			c.Entries, c.Chunks = nil, nil
			s, err := sketch.Decode(c.Side, c.Rows, c.Cols, c.Width, c.Encoded)
			if err != nil {
				return
			}
			header, _, err := release.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			header.Width = c.Width
			if s, err = release.Decode(header, bytes.NewReader(c.Encoded)); err != nil {
				return
			}
			c.Entries = s.Data
			for _, h := range header.Chunks {
				c.Chunks = append(c.Chunks, hexedOf(h))
			}
			if sum := sha256.Sum256(c.Encoded); header.Chunks[0] != sum {
				t.Errorf("%s: its one chunk does not hash to its hash", c.Note)
			}
		},
	}
}

type clipCase struct {
	Vector  []int64 `json:"vector"`
	Bound   int64   `json:"bound"`
	Clipped bool    `json:"clipped"`
	Result  []int64 `json:"result"`
}

func clips() vectors {
	return cases[clipCase]{
		file:  "clips",
		about: "Given: a vector and a bound. To be found: the vector clipped to that l2 norm, and whether it had to be.",
		given: func(*testing.T) []clipCase {
			return []clipCase{
				{Vector: []int64{3, 4}, Bound: 5},
				{Vector: []int64{3, -4}, Bound: 4},
				{Vector: []int64{1000, -2000, 3000, 1}, Bound: 409},
				{Vector: []int64{1, 1, 1}, Bound: 1},
				{Vector: []int64{1 << 62, -1 << 62}, Bound: 1000},
				{Vector: []int64{0, 7}, Bound: 0},
			}
		},
		fill: func(_ *testing.T, c *clipCase) {
			c.Result = slices.Clone(c.Vector)
			c.Clipped = dp.ClipL2(c.Result, c.Bound)
		},
	}
}

// calibrationCase is the noise of one release. Its parameters are public: everybody who estimates
// from a release must compute the same.
type calibrationCase struct {
	Mechanism   dp.Mechanism `json:"mechanism"`
	Epsilon     float64      `json:"epsilon"`
	Delta       float64      `json:"delta,omitempty"`
	Share       float64      `json:"share"`
	L1          int64        `json:"l1,omitempty"`
	L2Squared   int64        `json:"l2 squared,omitempty"`
	One         int64        `json:"one,omitempty"` // 2^bits, of randomised response
	Mu          float64      `json:"mu,omitempty"`
	Variance    int64        `json:"variance,omitempty"` // of the discrete Gaussian
	Noise       string       `json:"noise"`
	Span        int64        `json:"span,omitempty"`
	Flipped     int64        `json:"flipped,omitempty"` // P: a bit is flipped with probability P/one
	Probability float64      `json:"probability,omitempty"`
}

// responseCase is the k-ary randomised response of labels.
type responseCase struct {
	Mechanism dp.Mechanism `json:"mechanism"`
	Epsilon   float64      `json:"epsilon"`
	Delta     float64      `json:"delta,omitempty"`
	Share     float64      `json:"share"`
	Classes   int          `json:"classes"`

	Pure  float64 `json:"pure"`  // ε of the labels' part
	Other int64   `json:"other"` // P: each other class has probability P/2^32
}

func responses() vectors {
	return cases[responseCase]{
		file:  "responses",
		about: "Given: a promise, the labels' share of it, and how many classes they have. To be found: the part as a pure ε (compare with a tolerance of 1e-8 under gaussian) and P.",
		given: func(*testing.T) []responseCase {
			return []responseCase{
				{Mechanism: dp.Laplace, Epsilon: 1, Share: 1, Classes: 2},
				{Mechanism: dp.Laplace, Epsilon: 8, Share: 0.5, Classes: 10},
				{Mechanism: dp.Laplace, Epsilon: 100, Share: 1, Classes: 3},
				{Mechanism: dp.RandomisedResponse, Epsilon: 2, Share: 1, Classes: 100},
				{Mechanism: dp.Gaussian, Epsilon: 1, Delta: 1e-6, Share: 1, Classes: 2},
				{Mechanism: dp.Gaussian, Epsilon: 8, Delta: 1e-6, Share: 0.25, Classes: 3},
			}
		},
		fill: func(t *testing.T, c *responseCase) {
			whole, err := dp.Promise(c.Mechanism, dp.Budget{Epsilon: dp.Epsilon(c.Epsilon), Delta: dp.Delta(c.Delta)})
			must(t, err)
			part, err := whole.Share(c.Share)
			must(t, err)
			pure, err := part.PureEquivalent()
			must(t, err)
			response, err := dp.RandomiseClasses(part, c.Classes)
			must(t, err)
			c.Pure, c.Other = float64(pure), int64(response.Other()*(1<<32))
		},
	}
}

func calibrations() vectors {
	return cases[calibrationCase]{
		file:  "calibrations",
		about: "Given: a promise, a sketch's share of it, and the sketch's sensitivity, or the size of a bit. To be found: mu, the discrete Gaussian's variance or the discrete Laplace scale; P and span of randomised response.",
		given: func(*testing.T) []calibrationCase {
			return []calibrationCase{
				{Mechanism: dp.Gaussian, Epsilon: 1, Delta: 1e-6, Share: 1, L1: 1 << 12, L2Squared: 1 << 24},
				{Mechanism: dp.Gaussian, Epsilon: 1, Delta: 1e-6, Share: 0.25, L1: 1 << 12, L2Squared: 1 << 24},
				{Mechanism: dp.Gaussian, Epsilon: 8, Delta: 1e-9, Share: 1, L1: 13, L2Squared: 13},
				{Mechanism: dp.Laplace, Epsilon: 1, Share: 1, L1: 1 << 12, L2Squared: 1 << 24},
				{Mechanism: dp.Laplace, Epsilon: 0.1, Share: 0.5, L1: 3, L2Squared: 3},
				{Mechanism: dp.None, Share: 1},
				{Mechanism: dp.RandomisedResponse, Epsilon: 1, Share: 1, One: 1 << 14},
				{Mechanism: dp.RandomisedResponse, Epsilon: 4, Share: 0.5, One: 1 << 9},
				{Mechanism: dp.RandomisedResponse, Epsilon: 20, Share: 1, One: 1 << 14},
			}
		},
		fill: func(t *testing.T, c *calibrationCase) {
			check := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			whole, err := dp.Promise(c.Mechanism, dp.Budget{Epsilon: dp.Epsilon(c.Epsilon), Delta: dp.Delta(c.Delta)})
			check(err)
			part, err := whole.Share(c.Share)
			check(err)
			noise, err := dp.Calibrate(part, dp.Sensitivity{L1: c.L1, L2Squared: c.L2Squared})
			check(err)
			c.Mu, c.Noise = float64(part.Mu()), noise.String()
			if c.Mechanism == dp.Gaussian {
				c.Variance = int64(noise.Variance())
			}
			if c.Mechanism == dp.RandomisedResponse {
				flips, err := dp.RandomiseBits(part, c.One)
				check(err)
				c.Span, c.Probability = flips.Span(), flips.Probability()
				c.Flipped = (c.One - flips.Span()) / 2
			}
		},
	}
}
