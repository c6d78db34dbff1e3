package analysis_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
)

// hospitals returns a horizontal study of twelve numbers between 0 and 1 at three
// parties.
func hospitals(t *testing.T, terms string) *study.Study {
	t.Helper()
	example, err := os.ReadFile("../study/testdata/hospitals.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "columns:\n")
	var b strings.Builder
	fmt.Fprintf(&b, "%scolumns:\n", head)
	for i := range 12 {
		fmt.Fprintf(&b, "  - {name: column %d, kind: numeric, bounds: [0, 1]}\n", i)
	}
	s, err := studyfile.Parse([]byte(b.String() + "bits: 10\n" + terms))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// trial is one run of a study: the parties' encoded records, in the order of their releases, and
// the aggregator's result.
type trial struct {
	data   [][][]int64 // party, record, column
	result analysis.Result
	labels []analysis.Labels
}

// try gives each party 40 records around one of two centres, and runs the study.
func try(t *testing.T, s *study.Study, n int) trial {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	entropy := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), 1})
	root := seed.FromBytes([seed.Size]byte{byte(n), byte(n >> 8), 2})
	out := trial{}
	options := analysis.Options{Study: s, Attempt: 1, Complete: true}
	for party := range s.Parties {
		p, err := release.For(s, party, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.NewBuilder(root, 1)
		if err != nil {
			t.Fatal(err)
		}
		var records [][]int64
		for i := range 40 {
			x := make([]int64, 12)
			for j := range x {
				x[j] = 200 + rng.Int64N(300) + 500*int64(i%2)*int64(j%2)
			}
			if err := b.Add([][]byte{fmt.Append(nil, i)}, x); err != nil {
				t.Fatal(err)
			}
			records = append(records, x)
		}
		exact, err := b.Finish(entropy)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Noise.Add(exact.Sketch.Data, entropy); err != nil {
			t.Fatal(err)
		}
		ordered := records
		if exact.Order != nil {
			ordered = make([][]int64, len(records))
			for i, from := range exact.Order {
				ordered[i] = records[from]
			}
		}
		out.data = append(out.data, ordered)
		c := analysis.Contribution{Party: party, Records: int64(len(records))}
		c.Sketches = append(c.Sketches, exact.Sketch)
		options.Contributions = append(options.Contributions, c)
	}
	var err error
	if out.result, out.labels, err = analysis.Run(context.Background(), options); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestKMeansOfEachFamily: clusters that are well apart are found from sketches of every family,
// with noise if the family may have it. The centroids of a rotation are as far apart as those of
// the data.
func TestKMeansOfEachFamily(t *testing.T) {
	const none, gaussian = "{mechanism: none}", "{unit: attribute, mechanism: gaussian, epsilon: 30, delta: 1e-6}"
	for _, c := range []struct{ sketch, privacy string }{
		{"family: achlioptas, k: 32", none},
		{"family: achlioptas, k: 32", gaussian},
		{"family: gaussian, k: 32", none},
		{"family: hadamard, k: 8", none},
		{"family: hadamard, k: 8", gaussian},
		{"family: hadamard, k: 16", none},
		{"family: hadamard, k: 16", gaussian},
		{"family: achlioptas, k: 32, clip: 3", "{unit: record, mechanism: gaussian, epsilon: 200, delta: 1e-6}"},
		{"family: hadamard, k: 16, clip: 3", "{unit: record, mechanism: gaussian, epsilon: 200, delta: 1e-6}"},
	} {
		s := hospitals(t, "sketches: [{side: records, "+c.sketch+"}]\nprivacy: "+c.privacy+"\nanalyses: [{kind: k-means, clusters: 2}]\n")
		got := try(t, s, 1)
		agree, all := 0, 0
		for party, labels := range got.labels {
			for i, cluster := range labels.Columns[0].Integers {
				truth := 0
				if x := got.data[party][i]; x[1]+x[3]+x[5]+x[7]+x[9]+x[11] > 6*600 {
					truth = 1
				}
				all++
				if cluster == truth {
					agree++
				}
			}
		}
		if agree = max(agree, all-agree); all != 120 || agree < 108 {
			t.Errorf("%s, %s: %d of %d records in their cluster", c.sketch, c.privacy, agree, all)
		}
		if !strings.Contains(c.sketch, "hadamard, k: 16") || c.privacy != none {
			continue
		}
		var want [2][12]float64
		var sizes [2]float64
		for party, labels := range got.labels {
			for i, cluster := range labels.Columns[0].Integers {
				sizes[cluster]++
				for j, v := range got.data[party][i] {
					want[cluster][j] += float64(v) / 1024
				}
			}
		}
		var distance, truth float64
		a, b := got.result.Analyses[0].KMeans.Centroids[0], got.result.Analyses[0].KMeans.Centroids[1]
		for i := range a {
			distance += (a[i] - b[i]) * (a[i] - b[i])
		}
		for j := range 12 {
			d := want[0][j]/sizes[0] - want[1][j]/sizes[1]
			truth += d * d
		}
		if math.Abs(distance/truth-1) > 1e-9 {
			t.Errorf("%s: centroids are %v apart, the data's %v", c.sketch, distance, truth)
		}
	}
}

// TestIntervalsOfEachFamily: on the columns side the intervals of inner products and distances
// cover the truth as often as they say. Coverage of one pair over 400 runs has standard error 1.1
// %. The runs are fixed; fresh ones would fall below 88 % with probability under 1e-6 if the true
// coverage is 95 %. Sketches read with the scale of signs instead of their own would be wrong by a
// factor of three (achlioptas) or 4096² (gaussian), and cover almost nothing.
func TestIntervalsOfEachFamily(t *testing.T) {
	const runs = 400
	for _, c := range []struct{ sketch, privacy string }{
		{"family: achlioptas, k: 64", "{mechanism: none}"},
		{"family: achlioptas, k: 64", "{unit: attribute, mechanism: laplace, epsilon: 4}"},
		{"family: gaussian, k: 64", "{mechanism: none}"},
	} {
		s := hospitals(t, "sketches: [{side: columns, "+c.sketch+"}]\nprivacy: "+c.privacy+"\nanalyses: [{kind: inner-product}, {kind: distance}]\n")
		covered := map[study.AnalysisKind]int{}
		for n := range runs {
			got := try(t, s, n)
			for _, a := range got.result.Analyses {
				if a.Level != float64(estimate.DefaultLevel) {
					t.Fatalf("level %v", a.Level)
				}
				for _, pair := range a.Pairs {
					if pair.I != 0 || pair.J != 1 {
						continue
					}
					var inner, distance float64
					for _, records := range got.data {
						for _, x := range records {
							u, v := float64(x[0])/1024, float64(x[1])/1024
							inner += u * v
							distance += (u - v) * (u - v)
						}
					}
					truth := map[study.AnalysisKind]float64{study.InnerProduct: inner, study.Distance: distance}[a.Kind]
					if pair.Low != nil && *pair.Low <= truth && truth <= *pair.High {
						covered[a.Kind]++
					}
				}
			}
		}
		for _, kind := range []study.AnalysisKind{study.InnerProduct, study.Distance} {
			if share := float64(covered[kind]) / runs; share < 0.88 {
				t.Errorf("%s, %s: %s covers %.1f %%", c.sketch, c.privacy, kind, 100*share)
			}
		}
	}
}
