package plan

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// jointTrial is a study with analyses of all columns together, on uncorrelated columns, as plans
// assume.
type jointTrial struct {
	name, terms string
	records     int64
	overlap     float64
	draws       int
}

func jointTrials() []jointTrial {
	columns := func(n int, owners ...string) string {
		out := ""
		for i := range n {
			owner := ""
			if len(owners) > 0 {
				owner = ", owner: " + owners[i*len(owners)/n]
			}
			out += fmt.Sprintf("  - {name: c%d, kind: numeric, centre: 3, spread: %d%s}\n", i, i+1, owner)
		}
		return out
	}
	const head = "records: {id: [patient]}\ncolumns:\n"
	const moments = "sketches: [{side: moments, clip: 2.5}]\nprivacy: {unit: record, mechanism: gaussian, epsilon: %v, delta: 1e-6}\n"
	return []jointTrial{
		{"moments", "partition: horizontal\n" + head + columns(6) + "  - {name: ill, kind: binary, role: label}\n" + fmt.Sprintf(moments, 1) +
			"analyses: [{kind: regression, target: c0}, {kind: lda}]\n", 6000, 0, 200},
		// with so much noise that chance correlations of the records matter little
		{"many columns", "partition: horizontal\n" + head + columns(16) + fmt.Sprintf(moments, 0.8) +
			"analyses: [{kind: pca}]\n", 3000, 0, 120},
		{"projected", "partition: vertical\n" + head + columns(6, "north", "south") +
			"sketches: [{side: columns, family: rademacher, k: 200, helpers: {ones: 0.5}}]\nprivacy: {mechanism: none}\n" +
			"analyses: [{kind: regression, target: c0, on: [c1, c2, c3, c4, c5]}, {kind: pca}, {kind: sums}]\n", 2500, 1, 300},
		{"projected, noised", "partition: vertical\n" + head + columns(4, "north", "south") +
			"sketches: [{side: columns, family: sparse, k: 400, helpers: {ones: 0.5}, clip: 1.4}]\nprivacy: {unit: record, mechanism: gaussian, epsilon: 20, delta: 1e-6}\n" +
			"analyses: [{kind: regression, target: c0}, {kind: sums}]\n", 3000, 0.8, 300},
	}
}

// errors returns the errors of an answer in the units of its forecast, one for each number.
func (tr jointTrial) errors(t *testing.T, s *study.Study, a analysis.Analysis, asked study.Analysis, data []table) (out []float64) {
	t.Helper()
	if a.Undefined != "" {
		t.Fatalf("%s: %s", a.Kind, a.Undefined)
	}
	spread := func(name string) float64 {
		at := slices.IndexFunc(s.Columns, func(c study.Column) bool { return c.Name == name })
		_, spread, _ := s.Columns[at].Scale.CentreSpread()
		return spread
	}
	switch a.Kind {
	case study.PCA:
		most := 0.0
		for _, c := range a.PCA.Components {
			most = math.Max(most, c.Eigenvalue)
		}
		return []float64{(most - 1) / float64(len(a.Features))}
	case study.Regression:
		records := joined(s, data)
		n, p := len(records), len(a.Features)
		design, y := mat.NewDense(n, p+1, nil), mat.NewVecDense(n, nil)
		place := func(name string) int {
			return slices.IndexFunc(s.Columns, func(c study.Column) bool { return c.Name == name })
		}
		for i, r := range records {
			y.SetVec(i, r[place("c0")])
			design.Set(i, p, 1)
			for j, f := range a.Features {
				design.Set(i, j, r[place(f.Column)])
			}
		}
		var beta mat.VecDense
		if err := beta.SolveVec(design, y); err != nil {
			t.Fatal(err)
		}
		for j, f := range a.Features {
			sx := 0.5 // of a binary column
			if f.Column != "ill" {
				sx = spread(f.Column)
			}
			out = append(out, (*a.Regression.Coefficients[j].Estimate-beta.AtVec(j))*sx/spread("c0"))
		}
	case study.LDA:
		records := joined(s, data)
		for j, f := range a.Features {
			var of [2][]float64
			for _, r := range records {
				of[int(r[len(r)-1])] = append(of[int(r[len(r)-1])], r[j])
			}
			got := *a.LDA.Means[1][j].Estimate - *a.LDA.Means[0][j].Estimate
			out = append(out, (got-stat.Mean(of[1], nil)+stat.Mean(of[0], nil))/spread(f.Column))
		}
	case study.Sums:
		records := joined(s, data)
		for _, row := range a.Sums.Rows {
			f := a.Features[row.Feature]
			if row.Over == f.Party {
				continue
			}
			at := slices.IndexFunc(s.Columns, func(c study.Column) bool { return c.Name == f.Column })
			mean := 0.0
			for _, r := range records {
				mean += r[at] / float64(len(records))
			}
			out = append(out, (*row.Mean.Estimate-mean)/spread(f.Column))
		}
	}
	return out
}

// joined returns the records of all parties; in a vertical study those that all hold.
func joined(s *study.Study, data []table) (out [][]float64) {
	if s.Partition == study.Horizontal {
		for _, d := range data {
			out = append(out, d.values...)
		}
		return out
	}
	held := map[string]int{}
	for i, id := range data[0].ids {
		held[string(id)] = i
	}
	for i, id := range data[1].ids {
		other, ok := held[string(id)]
		if !ok {
			continue
		}
		r := make([]float64, len(s.Columns))
		for party, row := range []int{other, i} {
			for j, c := range s.OwnColumns(party) {
				r[c] = data[party].values[row][j]
			}
		}
		out = append(out, r)
	}
	return out
}

// Forecasts of answers from all columns together are as accurate as those of pairs: the root mean
// square of the errors is within 15 % of the forecast, and half of the forecast would be detected.
// Errors of one draw count as one; see TestForecastsAreTrue.
func TestJointForecastsAreTrue(t *testing.T) {
	full.Statistical(t)
	for _, tr := range jointTrials() {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, tr.terms)
			c := newCell(Options{Study: s, Party: study.Everyone, Records: map[string]int64{"": tr.records}, Overlap: tr.overlap}, 0)
			plans := plansOf(t, s)
			data := trial{records: tr.records, overlap: tr.overlap}.tables(s, rand.New(rand.NewPCG(8, uint64(tr.records))))
			moments := make([]moment, len(s.Analyses))
			var forecasts []float64
			for _, a := range s.Analyses {
				questions := c.questions(a)
				var squares float64
				for _, q := range questions {
					e, err := c.forecast(q)
					if err != nil || e.Undefined != "" {
						t.Fatalf("%s: %v %s", a.Kind, err, e.Undefined)
					}
					squares += e.StandardError * e.StandardError / float64(len(questions))
				}
				forecasts = append(forecasts, math.Sqrt(squares))
			}
			for n := range tr.draws {
				contributions, _ := draw(t, plans, data, n)
				result, _, err := analysis.Run(context.Background(), analysis.Options{Study: s, Contributions: contributions, Complete: true})
				if err != nil {
					t.Fatal(err)
				}
				for i, a := range result.Analyses {
					errors := tr.errors(t, s, a, s.Analyses[i], data)
					var sum float64
					for _, e := range errors {
						sum += e * e / forecasts[i] / forecasts[i] / float64(len(errors))
					}
					moments[i].add(sum)
				}
			}
			for i, a := range s.Analyses {
				ratio, se := moments[i].ratio()
				t.Logf("%-10s RMSE is %.3f of the forecast %.4f (standard error %.3f)", a.Kind, ratio, forecasts[i], se)
				if !(deviating*se <= tolerance) || math.Abs(ratio-1) > tolerance || math.Abs(2*ratio-1) <= tolerance {
					t.Errorf("%s: the RMSE is %.3f ± %.3f of the forecast", a.Kind, ratio, se)
				}
			}
		})
	}
}

// Every kind has a forecast, or a reason for none that does not call it unusable.
func TestJointVerdicts(t *testing.T) {
	const joint = "{kind: pca}, {kind: regression, target: a}, {kind: clustering}, {kind: sums}, {kind: pca, centre: false}"
	p := planOf(t, vertical(twoEach, registry, perRecord, joint))
	for i, want := range []string{
		"usable: components that explain", "not usable: noise would make the columns look collinear", "usable: columns with |ρ| ≥", "usable: means are known to ±", "not forecast: products that are not centred",
	} {
		if a := p.Sketches[0].Analyses[i]; !strings.HasPrefix(a.Verdict, want) {
			t.Errorf("%s: %q", a.Kind, a.Verdict)
		}
	}
	labelled := strings.Replace(horizontal(12, "{side: moments, clip: 2.5}", perRecordGaussian), "k-means, clusters: 2}", "lda, intervals: all}, {kind: pca}, {kind: regression, target: c0, on: [c1]}", 1)
	labelled = strings.Replace(labelled, "columns: [", "columns: [{name: ill, kind: categorical, values: [a, b, c], role: label}, ", 1)
	for records, want := range map[int64]string{100_000: "usable: ", 200: "not usable: "} {
		p := planOf(t, labelled, func(o *Options) { o.Records = map[string]int64{"": records} })
		for _, a := range p.Sketches[0].Analyses {
			if !strings.HasPrefix(a.Verdict, want) {
				t.Errorf("%d records, %s: %q", records, a.Kind, a.Verdict)
			}
			if records == 200 && (a.Needs == nil || a.Needs.Records <= records) {
				t.Errorf("%s needs %+v", a.Kind, a.Needs)
			}
		}
		if a := p.Sketches[0].Analyses[0]; a.Together != 3+5*12+6 {
			t.Errorf("lda has %d intervals", a.Together)
		}
	}
}
