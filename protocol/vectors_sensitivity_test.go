package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/release"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// sensitivityCase is a study and the sensitivities to which each party's sketches are calibrated.
type sensitivityCase struct {
	Note    string           `json:"note"`
	Study   string           `json:"study"`
	Bits    int              `json:"bits"`
	Parties []partyNoise     `json:"parties"`
	Shares  []guaranteeShare `json:"shares"` // by sketch
}

// guaranteeShare is a sketch's part of the guarantee.
type guaranteeShare struct {
	Epsilon float64 `json:"epsilon,omitempty"` // laplace
	Mu      float64 `json:"mu,omitempty"`      // gaussian
}

type partyNoise struct {
	Party     string      `json:"party"`
	Sketch    int         `json:"sketch"`
	Side      sketch.Side `json:"side"`
	Features  int         `json:"features"`            // of this party, with squares and ones
	Bound     int64       `json:"B,omitempty"`         // unit record
	CutWeight int64       `json:"h,omitempty"`         // weight of the row that counts clipped records
	L1        int64       `json:"l1"`                  // D1
	L2Squared int64       `json:"l2 squared"`          // D2²
	Variance  int64       `json:"variance,omitempty"`  // gaussian
	Numerator int64       `json:"numerator,omitempty"` // laplace: t·2^m
	M         int         `json:"m,omitempty"`
}

func sensitivities() vectors {
	return cases[sensitivityCase]{
		file:  "sensitivities",
		about: "Given: a study. To be found, for each party and sketch, over the columns that this party has: how many features it has, its bound B and the weight h of the count of cut records where there are any, the sensitivity, and the noise: the variance of the discrete Gaussian, or the scale numerator/2^m of the discrete Laplace distribution. Also each sketch's part of the promise.",
		given: func(t *testing.T) []sensitivityCase {
			vertical := `columns:
  - {name: age, kind: numeric, centre: 47, spread: 21, owner: a}
  - {name: income, kind: numeric, bounds: [0, 250000], owner: a}
  - {name: smoker, kind: binary, owner: b}
  - {name: ward, kind: categorical, values: [x, y, z], owner: b}
  - {name: rare, kind: binary, centre: 0.05, owner: c}
`
			horizontal := `columns: [{name: age, kind: numeric, centre: 47, spread: 21}, {name: income, kind: numeric, bounds: [0, 250000]}, {name: ward, kind: categorical, values: [x, y, z]}]
`
			return []sensitivityCase{
				{Note: "unit attribute, columns: each party's noise is that of its own columns", Study: fileOf(t, "vertical", vertical+`bits: 8
sketches: [{side: columns, family: sparse, k: 16, s: 2, helpers: {ones: 1}}, {side: columns, family: rademacher, k: 8, helpers: {ones: 1, squares: true}, share: 3}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 4}
analyses: [{kind: correlation}, {kind: intersection}]
`)},
				{Note: "unit attribute, joined records", Study: fileOf(t, "vertical", vertical+`bits: 8
sketches: [{side: records, family: rademacher, k: 8}, {side: records, family: identity}]
privacy: {unit: attribute, mechanism: gaussian, epsilon: 2, delta: 1e-6}
analyses: [{kind: k-means, clusters: 2}]
`)},
				{Note: "unit record, columns: B is at most the longest record of the party's own columns", Study: fileOf(t, "vertical", vertical+`bits: 8
sketches: [{side: columns, family: achlioptas, k: 16, clip: 1.2, helpers: {ones: 0.7}}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: correlation}]
`)},
				{Note: "unit record, columns, laplace, with squares, replaced", Study: fileOf(t, "vertical", vertical+`bits: 6
sketches: [{side: columns, family: sparse, k: 16, clip: 1.5, helpers: {ones: 1, squares: true}}]
privacy: {unit: record, mechanism: laplace, epsilon: 3, neighbours: replaced}
analyses: [{kind: correlation, estimator: E1}]
`)},
				{Note: "unit attribute, records: orthogonal rows, and others", Study: fileOf(t, "horizontal", horizontal+`bits: 8
sketches: [{side: records, family: hadamard, k: 8}, {side: records, family: hadamard, k: 3}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 4}
analyses: [{kind: k-means, clusters: 2}]
`)},
				{Note: "unit record, records: not multiplied by the family's", Study: fileOf(t, "horizontal", horizontal+`bits: 8
sketches: [{side: records, family: rademacher, k: 8, clip: 1}, {side: columns, family: sparse, k: 16, clip: 1, helpers: {ones: 0.5}}]
privacy: {unit: record, mechanism: gaussian, epsilon: 2, delta: 1e-6}
analyses: [{kind: k-means, clusters: 2}, {kind: covariance}]
`)},
			}
		},
		fill: func(t *testing.T, c *sensitivityCase) {
			s, err := studyfile.Parse([]byte(c.Study))
			must(t, err)
			c.Bits, c.Parties, c.Shares = int(s.Bits), nil, nil
			for i, sk := range s.Sketches {
				for party := range s.Parties {
					plan, err := release.For(s, party, i)
					must(t, err)
					one := partyNoise{
						Party: s.Parties[party].Name, Sketch: i, Side: sk.Side, Features: len(plan.Features), Bound: plan.Clip,
						CutWeight: plan.CutWeight(), L1: plan.Sensitivity.L1, L2Squared: plan.Sensitivity.L2Squared,
					}
					if s.Privacy.Mechanism == dp.Gaussian {
						one.Variance = int64(plan.Noise.Variance())
					} else {
						one.Numerator, one.M = binaryFraction(plan.Noise.Scale())
					}
					c.Parties = append(c.Parties, one)
				}
				part, err := s.Part(i)
				must(t, err)
				share := guaranteeShare{Mu: float64(part.Values.Mu())}
				if s.Privacy.Mechanism == dp.Laplace {
					share = guaranteeShare{Epsilon: float64(part.Values.Epsilon())}
				}
				c.Shares = append(c.Shares, share)
			}
		},
	}
}

// binaryFraction writes a number as n/2^m with the smallest m.
func binaryFraction(x float64) (n int64, m int) {
	for x != float64(int64(x)) {
		x, m = 2*x, m+1
	}
	return int64(x), m
}

// fileOf returns a study of the simulations' nodes with other columns, sketches and analyses.
func fileOf(t *testing.T, partition, rest string) string {
	t.Helper()
	s, err := protocoltest.NewStudy(protocoltest.Terms{Nonce: 0x70})
	must(t, err)
	head, _, _ := strings.Cut(string(s.Source), "columns: ")
	file := strings.Replace(head, "partition: horizontal", "partition: "+partition, 1) + rest
	if _, err := studyfile.Parse([]byte(file)); err != nil {
		t.Fatal(fmt.Errorf("%w\n%s", err, file))
	}
	return file
}
