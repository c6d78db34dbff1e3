package errortable

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

var runs = flag.Int("runs", 40, "simulated runs; 20,000 and more give the figures in Check's comment")

// simulated has the sketches of one study as floats: what the nodes compute, but without rounding,
// agreement and network.
type simulated struct {
	Played
	values    []*mat.Dense          // by party, records × features, encoded and clipped, the column of ones last
	variables [][]estimate.Variable // by party and column
	variance  float64               // of the noise
	truth     map[study.AnalysisKind][]judged
}

// judged is one number across parties, with the truth from the pooled data.
type judged struct {
	a, b  [2]int // party and column
	truth float64
}

func simulate(t *testing.T, name string) *simulated {
	t.Helper()
	s := &simulated{Played: played(t, name), truth: map[study.AnalysisKind][]judged{}}
	sk := s.Study.Sketches[0]
	if s.Study.Privacy.Epsilon > 0 {
		const multiplier = 4.2246788893 // σ/Δ of the Gaussian mechanism at ε = 1, δ = 1e-6
		s.variance = math.Pow(multiplier*sk.Clip, 2)
	}
	correlations, shared := analysis.Analysis{Kind: study.Correlation}, analysis.Analysis{Kind: study.Intersection}
	var places [][2]int
	from := 0
	for p, part := range s.Data.Parties {
		own := s.Study.OwnColumns(must1(s.Study.PartyByName(part.Name)))
		ones := estimate.Ones{Column: from + len(own), Weight: sk.Helpers.Ones, Records: len(part.Rows)}
		var variables []estimate.Variable
		for j, c := range own {
			variables = append(variables, estimate.Variable{Value: from + j, Ones: ones, Kurtosis: s.Study.Columns[c].Kurtosis})
			correlations.Features = append(correlations.Features, analysis.Feature{Party: part.Name, Column: s.Study.Columns[c].Name})
			places = append(places, [2]int{p, j})
		}
		shared.Features = append(shared.Features, analysis.Feature{Party: part.Name})
		s.variables = append(s.variables, variables)
		s.values = append(s.values, s.encode(t, own, part.Rows))
		from += len(own) + 1
	}
	truth, err := newTruth(s.Played)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []analysis.Analysis{correlations, shared} {
		for i := range a.Features {
			for j := range i {
				if a.Features[i].Party != a.Features[j].Party {
					a.Pairs = append(a.Pairs, analysis.Pair{I: j, J: i, Number: about(0, 1)})
				}
			}
		}
		numbers, err := truth.numbers(a, nil)
		if err != nil {
			t.Fatal(err)
		}
		for n, e := range numbers[0].Each {
			one := judged{a: [2]int{a.Pairs[n].I, 0}, b: [2]int{a.Pairs[n].J, 0}, truth: e.Truth}
			if a.Kind == study.Correlation {
				one.a, one.b = places[a.Pairs[n].I], places[a.Pairs[n].J]
			}
			s.truth[a.Kind] = append(s.truth[a.Kind], one)
		}
	}
	return s
}

func must1(i int, ok bool) int {
	if !ok {
		panic("no such party")
	}
	return i
}

// encode scales, clamps and clips one party's records.
func (s *simulated) encode(t *testing.T, own, rows []int) *mat.Dense {
	t.Helper()
	ones, clip := s.Study.Sketches[0].Helpers.Ones, s.Study.Sketches[0].Clip
	out := mat.NewDense(len(rows), len(own)+1, nil)
	for j, c := range own {
		column := s.Study.Columns[c]
		cells, err := s.Data.Pooled.Column(column.Name)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			x, err := strconv.ParseFloat(cells[row], 64)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := column.Scale.Encode(x, s.Study.Bits)
			out.Set(i, j, float64(v)/float64(s.Study.Bits.One()))
		}
	}
	for i := range rows {
		row := out.RawRowView(i)
		row[len(own)] = ones
		norm := 0.0
		for _, x := range row {
			norm += x * x
		}
		if norm > clip*clip && clip > 0 {
			for j := range row {
				row[j] *= clip / math.Sqrt(norm)
			}
		}
	}
	return out
}

// run draws a projection and noise, and returns each analysis' answers.
func (s *simulated) run(t *testing.T, rng *rand.Rand) map[study.AnalysisKind][]Example {
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
	out := map[study.AnalysisKind][]Example{}
	for _, asked := range s.Study.Analyses {
		for _, one := range s.truth[asked.Kind] {
			a, b := s.variables[one.a[0]][one.a[1]], s.variables[one.b[0]][one.b[1]]
			e := gram.Intersection(a.Ones, b.Ones, 0)
			if asked.Kind == study.Correlation {
				e = gram.CorrelationE2(a, b, 0)
			}
			out[asked.Kind] = append(out[asked.Kind], Example{Truth: one.truth, Estimate: e.Interval.Estimate, Low: e.Low, High: e.High, Undefined: e.Undefined})
		}
	}
	return out
}

// sketches projects all parties' records by one fresh matrix: CountSketch for the family
// sparse, signs for rademacher.
func (s *simulated) sketches(rng *rand.Rand) []*mat.Dense {
	all, spec := len(s.Data.Pooled.Rows), s.Study.Sketches[0].Projection
	var out []*mat.Dense
	if spec.S == 1 {
		rows := make([]int, all)
		signs := make([]float64, all)
		for i := range rows {
			rows[i], signs[i] = rng.IntN(spec.K), float64(2*rng.IntN(2)-1)
		}
		for p, part := range s.Data.Parties {
			_, width := s.values[p].Dims()
			u := mat.NewDense(spec.K, width, nil)
			for i, record := range part.Rows {
				into := u.RawRowView(rows[record])
				for j, x := range s.values[p].RawRowView(i) {
					into[j] += signs[record] * x
				}
			}
			out = append(out, u)
		}
		return out
	}
	r := mat.NewDense(spec.K, all, nil)
	for i := range spec.K {
		for j := range all {
			r.Set(i, j, float64(2*rng.IntN(2)-1)/math.Sqrt(float64(spec.K)))
		}
	}
	for p, part := range s.Data.Parties {
		_, width := s.values[p].Dims()
		held := mat.NewDense(all, width, nil)
		for i, record := range part.Rows {
			held.SetRow(record, s.values[p].RawRowView(i))
		}
		u := new(mat.Dense)
		u.Mul(r, held)
		out = append(out, u)
	}
	return out
}

// judge returns the check of one analysis.
func (s *simulated) judge(kind study.AnalysisKind, each []Example) Check {
	c := tally{n: Numbers{Kind: kind, Limit: s.Template.Limits[kind]}}
	for _, e := range each {
		if c.n.Answers++; e.Undefined != "" {
			c.n.Undefined++
			continue
		}
		d := e.distance(kind)
		c.distances += float64(d * d)
	}
	return Table{Numbers: []Numbers{c.close()}}.Checks(s.Template.Name)[0]
}

// extended returns the distance that a run exceeds with probability FalseAlarm / 5, if the excess
// over the 99th percentile of the sorted distances is exponential.
func extended(d []float64) float64 {
	tail := d[len(d)*99/100:]
	return tail[0] + (stat.Mean(tail, nil)-tail[0])*math.Log(0.01/(FalseAlarm/5))
}

// TestLimits repeats the simulation behind the limits. Correct intervals pass in every run (seeds
// are fixed; by construction of the limits less than one seed in a million would fail). Intervals
// of a quarter of their width fail in most runs.
func TestLimits(t *testing.T) {
	for _, name := range []string{"laboratories", "registry"} {
		s := simulate(t, name)
		distances := map[study.AnalysisKind][]float64{}
		narrow := map[study.AnalysisKind]int{}
		for run := range *runs {
			for kind, each := range s.run(t, rand.New(rand.NewPCG(uint64(run), 17))) {
				c := s.judge(kind, each)
				distances[kind] = append(distances[kind], c.Distance)
				if !c.OK() {
					t.Errorf("run %d: right intervals fail: %v", run, c)
				}
				for i, e := range each {
					each[i].Low, each[i].High = e.Estimate-(e.Estimate-e.Low)/4, e.Estimate+(e.High-e.Estimate)/4
				}
				if !s.judge(kind, each).OK() {
					narrow[kind]++
				}
			}
		}
		for kind, d := range distances {
			slices.Sort(d)
			quantile := func(p float64) float64 { return d[int(p*float64(len(d)-1))] }
			t.Logf("%s, %s: median %.2f, 99 %% %.2f, 99.9 %% %.2f, largest %.2f, extended %.2f; limit %.1f; quarter intervals caught in %d of %d",
				name, kind, quantile(0.5), quantile(0.99), quantile(0.999), quantile(1), extended(d), s.Template.Limits[kind], narrow[kind], *runs)
			// Three intersections give little evidence; correlations give enough.
			if want := *runs * 3 / 4; kind == study.Correlation && narrow[kind] < want {
				t.Errorf("%s, %s: quarter intervals fail in %d of %d runs only", name, kind, narrow[kind], *runs)
			}
		}
	}
}
