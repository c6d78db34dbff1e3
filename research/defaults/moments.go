package defaults

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// place returns the index of an answer's feature in the summary.
func (s *summary) place(f analysis.Feature) (int, error) {
	if at, ok := s.at[[2]string{f.Column, f.Value}]; ok {
		return at, nil
	}
	return 0, fmt.Errorf("the data have no %q %q", f.Column, f.Value)
}

// places returns the indices of an answer's features.
func (s *summary) places(a analysis.Analysis) (out []int, err error) {
	for _, f := range a.Features {
		at, err := s.place(f)
		if err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, nil
}

// called returns the name of a feature.
func called(f analysis.Feature) string {
	if f.Value != "" {
		return f.Column + "=" + f.Value
	}
	return strings.Join(slices.DeleteFunc([]string{f.Party, f.Column}, func(s string) bool { return s == "" }), ".")
}

// beside returns the name of a pair of features; for equal ones, of the feature.
func beside(f, g analysis.Feature) string {
	if f == g {
		return called(f)
	}
	return called(f) + " × " + called(g)
}

// indicator reports whether a feature is 0 or 1, so that its mean is a share.
func (d *data) indicator(f feature) bool { return d.columns[f.column].kind != study.Numeric }

// means compares means of numeric columns, in spreads, or shares of the other columns.
func means(shares bool) func(*played, *tally) error {
	return func(p *played, t *tally) error {
		truth := p.data.truth()
		a, err := p.answer(study.Mean)
		if err != nil {
			return err
		}
		if a.Undefined != "" {
			for _, f := range truth.features {
				if p.data.indicator(f) == shares {
					t.undefined++
				}
			}
			return nil
		}
		at, err := truth.places(a)
		if err != nil {
			return err
		}
		for i, m := range a.Means {
			if p.data.indicator(truth.features[at[i]]) != shares {
				continue
			}
			scale := truth.sds[at[i]]
			if shares {
				scale = 1
			}
			t.number(called(a.Features[i]), p.interval(m), truth.means[at[i]], scale, marked(a))
		}
		return nil
	}
}

// pairs compares the pairs of an answer that take accepts.
func pairs(kind study.AnalysisKind, take func(i, j int) bool) func(*played, *tally) error {
	return func(p *played, t *tally) error {
		truth := p.data.truth()
		a, err := p.answer(kind)
		if err != nil {
			return err
		}
		if a.Undefined != "" {
			for i := range truth.features {
				for j := range i + 1 {
					if take(i, j) {
						t.undefined++
					}
				}
			}
			return nil
		}
		at, err := truth.places(a)
		if err != nil {
			return err
		}
		for _, pair := range a.Pairs {
			i, j := at[pair.I], at[pair.J]
			of := beside(a.Features[pair.I], a.Features[pair.J])
			switch {
			case !take(i, j):
			case kind == study.Covariance:
				t.number(of, p.interval(pair.Number), truth.covariances[i][j], truth.sds[i]*truth.sds[j], marked(a))
			default:
				t.number(of, p.interval(pair.Number), truth.correlation(i, j), 1, marked(a))
			}
		}
		return nil
	}
}

func different(i, j int) bool { return i != j }
func same(i, j int) bool      { return i == j }

// moments measures means, covariances and correlations of a horizontal study.
func moments(d *data, epsilon float64, masked bool, by described) measured {
	s := setting{data: d, partition: study.Horizontal, epsilon: epsilon, masked: masked, by: by, ask: []string{"mean", "covariance", "correlation"}}
	mean := limits{low: 0.93, high: 0.98, excused: masked}
	pair := limits{low: 0.90, high: 0.97, excused: masked}
	ofMean := mean
	switch {
	case by == byBounds: // only the coverage is limited, as the achievable error differs
	case masked:
		ofMean.ratio = 2
	case d.real:
		ofMean.ratio = 1.4
	default:
		ofMean.ratio = 1.7
	}
	parties := partiesOf(d)
	spread := float64(parties)
	if masked {
		spread = 1 // like a curator's
	}
	rows := []asked{
		{what: rowMeans, measure: "spreads", kind: study.Mean, limits: ofMean, numbers: means(false), reference: func(p *played) (float64, error) { return p.bestClip(spread) }},
		{what: "variances", measure: "squared spreads", kind: "", limits: pair, numbers: pairs(study.Covariance, same)},
		{what: "covariances", measure: "products of spreads", kind: study.Covariance, limits: pair, numbers: pairs(study.Covariance, different)},
		{what: rowCorrelations, measure: "correlation", kind: study.Correlation, limits: pair, numbers: pairs(study.Correlation, different)},
	}
	n := 0
	for _, f := range d.truth().features {
		if !d.indicator(f) {
			n++
		}
	}
	if shares := len(d.truth().features) - n; shares > 0 {
		l := limits{low: 0.93, high: 0.98, excused: masked}
		rows = append(rows, asked{what: "shares", measure: "share", limits: l, numbers: means(true)})
		n = min(n, shares)
	}
	// Variances have the fewest numbers with the limit .90, which is harder to tell from .85.
	return measured{s, rows, max(seedsFor(n), variancesTold/len(d.truth().features))}
}

// seedsFor returns how many seeds give enough intervals, at so many a seed, and enough seeds for
// the test's power at a limit of .93.
func seedsFor(each int) int { return max(150, leastIntervals/max(each, 1)+1) }

// variancesTold is how many intervals distinguish a coverage of .85 from a limit of .90.
const variancesTold = 2800

func partiesOf(d *data) int {
	if d.parties != nil {
		return len(d.parties)
	}
	return 3
}

// bestClip returns the mean squared error of means, in spreads, of the same mechanism with the best
// clip for these records. It searches the raw data, which no private mechanism could. The mechanism
// releases sums of squares, products and values, weighted 5, 7 and w = 3 as in docs. The noise of
// one party on a mean is C √(25 + w²)/(w μ n), with the columns as declared. The bias is that of
// records clipped to C, the noise that of so many parties. With missing values a mean is over those
// present, and these counts have no noise.
func (p *played) bestClip(parties float64) (float64, error) {
	mu, err := dp.MuOf(dp.Budget{Epsilon: p.study.Privacy.Epsilon, Delta: p.study.Privacy.Delta})
	if err != nil {
		return 0, err
	}
	const w = 3
	truth := p.data.truth()
	columns, units, origins := p.encoding()
	var numeric []int
	for i, f := range truth.features {
		if !p.data.indicator(f) {
			numeric = append(numeric, i)
		}
	}
	rows := p.data.rows
	lengths, longest := make([]float64, len(rows)), 0.
	encoded := make([]float64, len(columns))
	each := func(f func(r int)) {
		for r, row := range rows {
			for i, feature := range columns {
				x := p.data.entry(row, feature)
				if encoded[i] = (x - origins[i]) / units[i]; math.IsNaN(x) {
					encoded[i] = 0
				}
			}
			f(r)
		}
	}
	each(func(r int) {
		var sum float64
		for _, x := range encoded {
			sum += x * x
		}
		lengths[r] = math.Sqrt(sum)
		longest = math.Max(longest, lengths[r])
	})
	present := make([]float64, len(columns))
	for i, f := range columns {
		for _, row := range rows {
			if !math.IsNaN(p.data.entry(row, f)) {
				present[i]++
			}
		}
	}
	best := math.Inf(1)
	for clip := longest; clip > longest/1000; clip *= 0.85 {
		lost := make([]float64, len(columns))
		each(func(r int) {
			if lengths[r] > clip {
				for i, x := range encoded {
					lost[i] += x * (1 - clip/lengths[r])
				}
			}
		})
		noise := parties * math.Pow(clip*math.Sqrt(25+w*w)/(w*float64(mu)), 2)
		var error2 float64
		for _, i := range numeric {
			bias := lost[i] / present[i]
			error2 += (bias*bias + noise/present[i]/present[i]) * units[i] * units[i] / (truth.sds[i] * truth.sds[i]) / float64(len(numeric))
		}
		best = math.Min(best, error2)
	}
	return best, nil
}

// encoding returns how the study scales each feature: the value it is centred on (origin), and the
// length of 1 (unit).
func (p *played) encoding() (features []feature, units, origins []float64) {
	for _, f := range p.data.truth().features {
		name := p.data.columns[f.column].name
		for _, c := range p.study.Columns {
			if c.Name != name {
				continue
			}
			unit, origin := c.Scale.Step(p.study.Bits)*float64(p.study.Bits.One()), c.Scale.Origin()
			switch _, _, bounds := c.Scale.Bounds(); {
			case c.Kind == study.Categorical:
				unit, origin = 1, 0
			case bounds:
				origin += unit / 2
			}
			features, units, origins = append(features, f), append(units, unit), append(origins, origin)
		}
	}
	return features, units, origins
}
