package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/audit/attack"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
)

// Sizes of the paper's example: four signals of 8,000 moments.
const signals, moments = 4, 8000

// clearly is the correlation above which a signal counts as recovered.
const clearly = 0.9

// sounds draws four independent non-normal signals of unit variance, except that the last has
// standard deviation loud.
func sounds(r *rand.Rand, n int, loud float64) *mat.Dense {
	out := mat.NewDense(n, signals, nil)
	phase := [2]float64{r.Float64(), r.Float64()}
	for i := range n {
		_, saw := math.Modf(float64(i)/61 + phase[1])
		out.SetRow(i, []float64{
			math.Sqrt2 * math.Sin(2*math.Pi*(float64(i)/97+phase[0])), math.Sqrt(12) * (saw - 0.5),
			laplace(r, 1/math.Sqrt2), loud * float64(2*r.IntN(2)-1),
		})
	}
	return out
}

// recovery measures what independent components reveal of the signals.
type recovery struct {
	worst, best, share float64 // correlations, and the share of signals recovered
	off                float64 // largest relative error of a squared distance
}

// liuComponents is sections III and IV: square matrices hide nothing from a search for independent
// components; matrices of half the size hide most.
func liuComponents(ctx context.Context, o Options) (Table, error) {
	t := Table{
		Question: "What does a search for independent components recover of four signals that were mixed into four, and into two?",
		Setting:  fmt.Sprintf("%d signals of %d moments: a sine, a saw-tooth, Laplace noise and random signs; FastICA, which knows neither R nor a record; %d draws a line, in this process.", signals, moments, o.Repeats),
		Columns:  []string{"signals", "R", "k", "published", "best correlation", "worst correlation", "signals recovered (above .9)", "distances off by at most"},
		Notes: []string{"Section III's orthogonal transform is family hadamard with k = d: distances stay exactly as they are, and the signals come out whole.",
			"Section IV says that no signal is recovered at half the size. One that is louder than the rest comes out nearly whole all the same."},
	}
	type setting struct {
		name, published string
		loud            float64
		spec            projection.Spec
		holds           func(r recovery) bool
		because         string
	}
	all := func(r recovery) bool { return r.worst > 0.98 && r.share > 0.99 }
	shares := map[int][]float64{}
	for _, s := range []setting{
		{"alike", "all", 1, projection.Spec{Family: projection.Gaussian, K: 4}, func(r recovery) bool { return r.share > 0.9 }, "at k = m nearly every signal is recovered"},
		{"alike", "all", 1, projection.Spec{Family: projection.Hadamard, K: 4}, func(r recovery) bool { return all(r) && r.off < 1e-9 }, "a rotation keeps every distance and gives all signals away"},
		{"alike", "none", 1, projection.Spec{Family: projection.Gaussian, K: 2}, func(r recovery) bool { return r.share < 0.5 }, "at k = m/2 fewer than half of the signals are recovered"},
		{"one 8 times as loud", "none", 8, projection.Spec{Family: projection.Gaussian, K: 2}, func(r recovery) bool { return r.best > 0.95 }, "the loud signal is recovered at k = m/2"},
	} {
		runs, err := each(ctx, o, o.Repeats, func(i int) (recovery, error) { return recovered(ctx, s.spec, s.loud, i) })
		if err != nil {
			return Table{}, err
		}
		var sum recovery
		for _, r := range runs {
			n := float64(len(runs))
			sum = recovery{sum.worst + r.worst/n, sum.best + r.best/n, sum.share + r.share/n, max(sum.off, r.off)}
			if s.loud == 1 && (s.spec.Family == projection.Hadamard || s.spec.K == 2) {
				shares[s.spec.K] = append(shares[s.spec.K], r.share)
			}
		}
		t.Lines = append(t.Lines, Line{
			Cells: []string{s.name, string(s.spec.Family), fmt.Sprint(s.spec.K), s.published, fmt.Sprintf("%.3f", sum.best), fmt.Sprintf("%.3f", sum.worst), fmt.Sprintf("%.0f %%", 100*sum.share), fmt.Sprintf("%.0f %%", 100*sum.off)},
			Holds: s.holds(sum), Because: s.because,
		})
	}
	for _, s := range []struct {
		name string
		spec projection.Spec
	}{{"liu-rotated", projection.Spec{Family: projection.Hadamard, K: 4}}, {"liu-halved", projection.Spec{Family: projection.Gaussian, K: 2}}} {
		if err := soundsPlayed(ctx, o, &t, s.name, s.spec, shares[s.spec.K]); err != nil {
			return Table{}, err
		}
	}
	return t, nil
}

// recovered mixes signals and searches for them.
func recovered(ctx context.Context, spec projection.Spec, loud float64, i int) (recovery, error) {
	const grain = 1 << 12
	x := sounds(source("liu-sections", i), moments, loud)
	flat := make([]int64, 0, moments*signals)
	for _, v := range x.RawMatrix().Data {
		flat = append(flat, int64(math.Round(v*grain)))
	}
	f, err := fixed(spec, signals, "liu-sections", i)
	if err != nil {
		return recovery{}, err
	}
	y := project(f, flat)
	found, err := attack.Components(ctx, mat.NewDense(moments, spec.K, y), source("liu-sections-start", i))
	if err != nil {
		return recovery{}, err
	}
	matches, err := attack.Matches(x, found)
	if err != nil {
		return recovery{}, err
	}
	out := recovery{worst: slices.Min(matches), best: slices.Max(matches)}
	for _, m := range matches {
		if m > clearly {
			out.share += 1. / signals
		}
	}
	for n := range 500 {
		a, b, truth := 2*n, 2*n+1, 0.0
		for j := range signals {
			truth += math.Pow(float64(flat[a*signals+j]-flat[b*signals+j]), 2)
		}
		got := apart(y[a*spec.K:(a+1)*spec.K], y[b*spec.K:(b+1)*spec.K])
		out.off = max(out.off, math.Abs(got/truth-1))
	}
	return out, nil
}

// soundsPlayed lets a party attack its own release with party advanced audit before sending it.
func soundsPlayed(ctx context.Context, o Options, t *Table, name string, spec projection.Spec, here []float64) error {
	const n = 6000
	x, rows := sounds(source(name, -1), n, 1), make([][]float64, n)
	for i := range rows {
		rows[i] = slices.Clone(x.RawRowView(i))
	}
	drawn, err := o.play(ctx, Study{
		Name: name, Partition: study.Horizontal, Columns: columns(numbered(signals), "kind: numeric, bounds: [-16, 16]"),
		Sketches: []string{fmt.Sprintf("side: records, family: %s, k: %d", spec.Family, spec.K)}, Privacy: "mechanism: none",
		Analyses: []string{"kind: group-distance"}, Data: dealt(numbered(signals), rows), Audit: true,
	}, func(out Outcome) ([]Drawn, error) {
		for _, a := range out.Attacked.Sketches[0].Attacks {
			if a.Name == "independent components" {
				return []Drawn{{What: "signals told apart, by party advanced audit --data", Value: 100 * a.Value}}, nil
			}
		}
		return nil, fmt.Errorf("party advanced audit says nothing of independent components")
	})
	if err != nil || drawn == nil {
		return err
	}
	percents := make([]float64, len(here))
	for i, v := range here {
		percents[i] = 100 * v
	}
	t.compare(fmt.Sprintf("Three parties with %d moments each, records side, family %s, k = %d, mechanism none; one of them attacks a release of its own.", n/3, spec.Family, spec.K),
		drawn, spread(percents).in("%"))
	return nil
}
