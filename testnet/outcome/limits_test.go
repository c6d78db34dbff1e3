package outcome

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/scenario"
)

var runs = flag.Int("runs", 40, "simulated runs; 20,000 and more give the figures in Verdict's comment")

// simulated is one scenario's sketches as floats: what the nodes compute, without
// rounding, agreement and network.
type simulated struct {
	scene     scenario.Scenario
	values    [scenario.Parties]*mat.Dense // records × features, encoded and clipped, the column of ones last
	variables []estimate.Variable          // in the order of the columns of all sketches
	variance  float64                      // of the noise
	cross     map[study.AnalysisKind]Matrix
}

func simulate(t *testing.T, scene scenario.Scenario) *simulated {
	t.Helper()
	s := &simulated{scene: scene, cross: map[study.AnalysisKind]Matrix{}}
	if scene.Epsilon > 0 {
		const multiplier = 4.2246788893 // σ/Δ of the Gaussian mechanism at ε = 1, δ = 1e-6
		s.variance = math.Pow(multiplier*scene.Clip, 2)
	}
	correlations, shared := Matrix{Kind: study.Correlation, Level: 0.95}, Matrix{Kind: study.Intersection, Level: 0.95}
	column := 0
	for p, table := range scene.Tables {
		width := len(table.Columns) + 1
		s.values[p] = mat.NewDense(len(table.IDs), width, nil)
		for i := range table.IDs {
			s.encode(p, i)
		}
		ones := estimate.Ones{Column: column + width - 1, Weight: scene.Ones, Records: len(table.IDs)}
		for j, name := range table.Columns {
			assumed := scene.Columns[slices.IndexFunc(scene.Columns, func(c scenario.Column) bool { return c.Name == name })].Kurtosis
			s.variables = append(s.variables, estimate.Variable{Value: column + j, Ones: ones, Kurtosis: assumed})
			correlations.Features = append(correlations.Features, Feature{Party: p, Column: name})
		}
		shared.Features = append(shared.Features, Feature{Party: p})
		column += width
	}
	truth := newTruth(scene)
	for _, m := range []Matrix{correlations, shared} {
		for i, a := range m.Features {
			for j, b := range m.Features[:i] {
				if a.Party == b.Party {
					continue
				}
				pair := Pair{I: j, J: i, Cross: true, Truth: float64(len(truth.shared(a.Party, b.Party)))}
				if m.Kind == study.Correlation {
					var err error
					if pair.Truth, err = truth.correlation(a, b); err != nil {
						t.Fatal(err)
					}
				}
				m.Pairs = append(m.Pairs, pair)
			}
		}
		s.cross[m.Kind] = m
	}
	return s
}

// encode scales, clamps and clips one record.
func (s *simulated) encode(p, i int) {
	out := s.values[p].RawRowView(i)
	first := slices.IndexFunc(s.scene.Columns, func(c scenario.Column) bool { return c.Owner == p })
	norm := s.scene.Ones * s.scene.Ones
	for j, x := range s.scene.Tables[p].Values[i] {
		r := s.scene.Columns[first+j].Range
		out[j] = max(-1, min(1, (x-r.Centre)/(3*r.Spread)))
		norm += out[j] * out[j]
	}
	out[len(out)-1] = s.scene.Ones
	if clip := s.scene.Clip; clip > 0 && norm > clip*clip {
		for j := range out {
			out[j] *= clip / math.Sqrt(norm)
		}
	}
}

// run draws a projection and noise and returns the analyses.
func (s *simulated) run(t *testing.T, rng *rand.Rand) []Matrix {
	t.Helper()
	const unit = 1.0 / (1 << 20) // of a released sketch's integers
	sketches := s.sketches(rng)
	k, width := sketches[0].Dims()
	all := estimate.Integers{K: k, N: width * len(sketches), Unit: unit, Data: make([]int64, k*width*len(sketches))}
	for p, u := range sketches {
		for j := range width {
			for i := range k {
				v := u.At(i, j) + math.Sqrt(s.variance)*rng.NormFloat64()
				all.Data[i*all.N+p*width+j] = int64(math.Round(v / unit))
			}
		}
	}
	noise := slices.Repeat([]estimate.Noise{{Variance: s.variance}}, all.N)
	gram, err := estimate.FromIntegers(t.Context(), all, noise)
	if err != nil {
		t.Fatal(err)
	}
	var out []Matrix
	for _, asked := range s.scene.Analyses {
		m := s.cross[asked.Kind]
		m.Pairs = slices.Clone(m.Pairs)
		for i, p := range m.Pairs {
			var e estimate.Estimate
			if m.Kind == study.Correlation {
				e = gram.CorrelationE2(s.variables[p.I], s.variables[p.J], 0)
			} else {
				each := len(s.variables) / scenario.Parties
				e = gram.Intersection(s.variables[each*p.I].Ones, s.variables[each*p.J].Ones, 0)
			}
			m.Pairs[i].Estimate, m.Pairs[i].Low, m.Pairs[i].High, m.Pairs[i].Undefined = e.Interval.Estimate, e.Low, e.High, e.Undefined
		}
		out = append(out, m)
	}
	return out
}

// sketches projects all parties' records by one fresh matrix: CountSketch for the
// family sparse, signs for rademacher.
func (s *simulated) sketches(rng *rand.Rand) []*mat.Dense {
	all, k := len(s.scene.Pooled.IDs), s.scene.Projection.K
	var out []*mat.Dense
	if s.scene.Projection.S == 1 {
		rows := make([]int, all)
		signs := make([]float64, all)
		for i := range rows {
			rows[i], signs[i] = rng.IntN(k), float64(2*rng.IntN(2)-1)
		}
		for p, table := range s.scene.Tables {
			_, width := s.values[p].Dims()
			u := mat.NewDense(k, width, nil)
			for i, record := range table.Pooled {
				into := u.RawRowView(rows[record])
				for j, x := range s.values[p].RawRowView(i) {
					into[j] += signs[record] * x
				}
			}
			out = append(out, u)
		}
		return out
	}
	r := mat.NewDense(k, all, nil)
	for i := range k {
		for j := range all {
			r.Set(i, j, float64(2*rng.IntN(2)-1)/math.Sqrt(float64(k)))
		}
	}
	for p, table := range s.scene.Tables {
		_, width := s.values[p].Dims()
		held := mat.NewDense(all, width, nil)
		for i, record := range table.Pooled {
			held.SetRow(record, s.values[p].RawRowView(i))
		}
		u := new(mat.Dense)
		u.Mul(r, held)
		out = append(out, u)
	}
	return out
}

// extended is the distance that a run exceeds with probability FalseAlarm / 3,
// if the excess over the 99th percentile of the sorted distances is exponential.
func extended(d []float64) float64 {
	tail := d[len(d)*99/100:]
	return tail[0] + (stat.Mean(tail, nil)-tail[0])*math.Log(0.01/(FalseAlarm/3))
}

func vertical(t *testing.T) []scenario.Scenario {
	t.Helper()
	table, err := cancer.Load()
	if err != nil {
		t.Fatal(err)
	}
	registry, err := scenario.Registry(table, scenario.RegistryRecords, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	return []scenario.Scenario{scenario.Laboratories(table, rand.New(rand.NewPCG(1, 1))), registry}
}

// TestLimits repeats the simulation behind the limits: right intervals pass in
// every run (seeds are fixed; by the limits' construction less than one seed in a
// million would fail), and intervals of a quarter of their width fail in most.
func TestLimits(t *testing.T) {
	for _, scene := range vertical(t) {
		s := simulate(t, scene)
		distances := map[study.AnalysisKind][]float64{}
		narrow := map[study.AnalysisKind]int{}
		for run := range *runs {
			for _, m := range s.run(t, rand.New(rand.NewPCG(uint64(run), 17))) {
				c := check(Study{Scenario: scene}, m)
				distances[m.Kind] = append(distances[m.Kind], c.Distance)
				if !c.OK() {
					t.Errorf("run %d: right intervals fail: %v", run, c)
				}
				for i, p := range m.Pairs {
					m.Pairs[i].Low, m.Pairs[i].High = p.Estimate-(p.Estimate-p.Low)/4, p.Estimate+(p.High-p.Estimate)/4
				}
				if !check(Study{Scenario: scene}, m).OK() {
					narrow[m.Kind]++
				}
			}
		}
		for kind, d := range distances {
			slices.Sort(d)
			quantile := func(p float64) float64 { return d[int(p*float64(len(d)-1))] }
			t.Logf("%s, %s: median %.2f, 99 %% %.2f, 99.9 %% %.2f, largest %.2f, extended %.2f; limit %.1f; quarter intervals caught in %d of %d",
				scene.Name, kind, quantile(0.5), quantile(0.99), quantile(0.999), quantile(1), extended(d), scene.Limits[kind], narrow[kind], *runs)
			// Three intersections carry little evidence; correlations carry enough.
			if want := *runs * 3 / 4; kind == study.Correlation && narrow[kind] < want {
				t.Errorf("%s, %s: quarter intervals fail in %d of %d runs only", scene.Name, kind, narrow[kind], *runs)
			}
		}
	}
}
