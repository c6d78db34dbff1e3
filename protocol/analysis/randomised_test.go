package analysis_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
)

// askBits runs a horizontal study of three bits at three parties under randomised response. It
// returns the pooled truth and the aggregator's result.
func askBits(t *testing.T, s *study.Study, n int) (truth map[study.AnalysisKind]map[[2]int]float64, result analysis.Result) {
	t.Helper()
	const records = 150
	rng := rand.New(rand.NewPCG(uint64(n), 8))
	entropy := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), 3})
	root := seed.FromBytes([seed.Size]byte{byte(n), byte(n >> 8), 4})
	options := analysis.Options{Study: s, Attempt: 1, Complete: true}
	var sums [3]float64
	var products [3][3]float64
	for party := range s.Parties {
		p, err := release.For(s, party, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.NewBuilder(root, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Randomise(entropy); err != nil {
			t.Fatal(err)
		}
		for i := range records {
			common := rng.Int64N(2)
			x := []int64{common, common ^ min(rng.Int64N(5), 1) ^ 1, rng.Int64N(2)}
			for j, v := range x {
				sums[j] += float64(v)
				for k := range x {
					products[j][k] += float64(v * x[k])
				}
				x[j] *= s.Bits.One()
			}
			if err := b.Add([][]byte{fmt.Append(nil, i)}, x); err != nil {
				t.Fatal(err)
			}
		}
		out, err := b.Finish(entropy)
		if err != nil {
			t.Fatal(err)
		}
		c := analysis.Contribution{Party: party, Records: records}
		c.Sketches = append(c.Sketches, out.Sketch)
		options.Contributions = append(options.Contributions, c)
	}
	result, _, err := analysis.Run(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	total := float64(records * len(s.Parties))
	truth = map[study.AnalysisKind]map[[2]int]float64{study.InnerProduct: {}, study.Distance: {}, study.Correlation: {}}
	for i := range 3 {
		for j := range 3 {
			at := [2]int{i, j}
			truth[study.InnerProduct][at] = products[i][j]
			truth[study.Distance][at] = products[i][i] + products[j][j] - 2*products[i][j]
			of := func(a, b int) float64 { return products[a][b]/total - sums[a]*sums[b]/(total*total) }
			truth[study.Correlation][at] = of(i, j) / math.Sqrt(of(i, i)*of(j, j))
		}
	}
	return truth, result
}

// End to end, through randomised response, the release, the sum over parties and the estimators,
// intervals of 95 % cover the truth. Over 100 studies (3 to 6 pairs each, which share a seed;
// counted as 100, the standard error of .95 is .022), at a k below and above the number of records.
func TestRandomisedResponseIntervalsCover(t *testing.T) {
	example, err := os.ReadFile("../study/testdata/survey.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "columns:\n")
	for _, k := range []int{128, 1024} {
		s, err := studyfile.Parse(fmt.Appendf(nil, `%scolumns: [{name: a, kind: binary}, {name: b, kind: binary}, {name: c, kind: binary}]
sketches: [{side: columns, family: sparse, k: %d, helpers: {ones: 1}}]
privacy: {unit: attribute, mechanism: randomised-response, epsilon: 2}
analyses: [{kind: inner-product}, {kind: distance}, {kind: correlation}]
`, head, k))
		if err != nil {
			t.Fatal(err)
		}
		covered, asked := map[study.AnalysisKind]float64{}, map[study.AnalysisKind]float64{}
		for n := range 100 {
			truth, result := askBits(t, s, n)
			for _, a := range result.Analyses {
				for _, p := range a.Pairs {
					if p.Estimate == nil {
						t.Fatalf("%s of %d and %d: %s", a.Kind, p.I, p.J, p.Undefined)
					}
					asked[a.Kind]++
					if want := truth[a.Kind][[2]int{p.I, p.J}]; *p.Low <= want && want <= *p.High {
						covered[a.Kind]++
					}
				}
			}
			if d := result.Sketches[0]; d.Epsilon != 2 || d.EpsilonPerPerson == nil || *d.EpsilonPerPerson != 6 || d.Mechanism != "randomised-response" {
				t.Fatalf("the result says %+v", d)
			}
		}
		for kind, n := range asked {
			t.Logf("k = %d, %s: %.3f of %v", k, kind, covered[kind]/n, n)
			if covered[kind]/n < 0.95-5*0.022 {
				t.Errorf("k = %d, %s: only %.3f are covered", k, kind, covered[kind]/n)
			}
		}
	}
}
