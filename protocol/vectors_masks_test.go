package protocol_test

import (
	"crypto/hkdf"
	"crypto/sha256"
	"os"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed/agree"
	"github.com/cosketch/cosketch/seed/transcript"
)

// maskCase is one masked sketch of two members, at some of its entries.
type maskCase struct {
	T1     hexed  `json:"T1"`
	I      uint32 `json:"i"`
	J      uint32 `json:"j"`
	HalfIJ hexed  `json:"p_ij"`
	HalfJI hexed  `json:"p_ji"`
	Sketch int    `json:"sketch"`
	At     []int  `json:"at"`     // indices of the entries below
	Noised int64  `json:"noised"` // every entry before masks

	Secret hexed   `json:"s_ij"`
	OfI    []int64 `json:"of i"` // masked entries
	OfJ    []int64 `json:"of j"`
}

func masks() vectors {
	return cases[maskCase]{
		file:  "masks",
		about: "Given: T1, both halves of the pairwise secret of two members, the index of a sketch, and what each entry is before masks. To be found: the secret, and the masked entries of both members at some places, which add up to twice the entry.",
		given: func(*testing.T) []maskCase {
			one := maskCase{T1: hexedOf(rowKey(7)), I: 0, J: 1, HalfIJ: hexedOf(rowKey(8)), HalfJI: hexedOf(rowKey(9)), At: []int{0, 1, 8191, 8192, 8193}, Noised: -5}
			other := one
			other.Sketch, other.Noised = 1, 1<<40
			return []maskCase{one, other}
		},
		fill: fillMasks,
	}
}

func fillMasks(t *testing.T, c *maskCase) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	info := transcript.Join("cosketch/1/agree/pair secret", transcript.Uint32(c.I), transcript.Uint32(c.J))
	secret, err := hkdf.Key(sha256.New, slices.Concat(c.HalfIJ, c.HalfJI), c.T1, string(info), 32)
	check(err)
	c.Secret = secret
	source, err := os.ReadFile("study/testdata/infirmaries.yaml")
	check(err)
	s, err := file.Parse(source)
	check(err)
	plan, err := release.For(s, 0, c.Sketch)
	check(err)
	plan, err = plan.Among(2)
	check(err)
	masked := func(self uint32) (out []int64) {
		none := make([]byte, 32)
		keys := slices.Concat(none, secret)
		if self == c.J {
			keys = slices.Concat(secret, none)
		}
		pairs, err := agree.ParsePairs(slices.Concat(transcript.Uint32(self), transcript.Uint32(2), keys))
		check(err)
		e := release.Exact{Sketch: sketch.Sketch{Side: plan.Sketch().Side, Rows: 1, Cols: 8194, Data: slices.Repeat([]int64{c.Noised}, 8194)}}
		check(e.Mask(plan, pairs))
		for _, at := range c.At {
			out = append(out, e.Sketch.Data[at])
		}
		return out
	}
	c.OfI, c.OfJ = masked(c.I), masked(c.J)
	for i := range c.At {
		if c.OfI[i]+c.OfJ[i] != 2*c.Noised {
			t.Errorf("masks do not cancel at entry %d", c.At[i])
		}
	}
}
