package plan

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// Forecasts must be accurate: studies of every kind go through the shipped pipeline (plans and
// builders of package release, noise of dp, answers of package analysis) with data that are spread
// and shared as declared. The root mean square of errors over forecasts must be 1 ± 0.15.
//
// Tolerance. Each draw of a seed gives a mean square over its pairs; draws are independent. The
// test measures the standard error of its ratio over the draws, and fails if 0.15 is less than five
// of them: normal errors need 2/(4·0.03²), some 560 draws of one pair. The remaining false alarm
// rate is below 1e-6 for each ratio.

const (
	tolerance = 0.15
	deviating = 5 // standard errors within the tolerance, at least
)

// moment accumulates squared errors over forecasts, draw by draw.
type moment struct{ n, sum, squares float64 }

func (m *moment) add(square float64) {
	m.n, m.sum, m.squares = m.n+1, m.sum+square, m.squares+square*square
}

// ratio returns the root mean square and its standard error.
func (m moment) ratio() (ratio, se float64) {
	mean := m.sum / m.n
	return math.Sqrt(mean), math.Sqrt((m.squares/m.n-mean*mean)/m.n) / 2 / math.Sqrt(mean)
}

// truths returns the true answers of a pair of columns, and the scale of relative errors.
func truths(a study.Analysis, x, y []float64, xx, yy float64) (truth, scale float64) {
	var n, sx, sy, sxx, syy, sxy float64
	for i := range x {
		n, sx, sy, sxx, syy, sxy = n+1, sx+x[i], sy+y[i], sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	switch a.Kind {
	case study.InnerProduct:
		return sxy, math.Sqrt(sxx * syy)
	case study.Distance:
		return xx + yy - 2*sxy, xx + yy - 2*sxy
	case study.Cosine:
		return sxy / math.Sqrt(xx*yy), 1
	case study.Intersection:
		return n, n
	case study.Covariance:
		return (sxy - sx*sy/n) / n, math.Sqrt((sxx-sx*sx/n)*(syy-sy*sy/n)) / n
	}
	return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy)), 1
}

// asked is one pair of an analysis that is compared with its truth.
type asked struct {
	analysis     int // index into the study's
	i, j         int // features of the answer
	question     question
	truth, scale float64
	pair         forecast.Pair
	want         float64
}

// ask lists every question of a columns-side study, with truth and forecast.
func (tr trial) ask(t testing.TB, c *cell, data []table) []asked {
	t.Helper()
	var places []place
	var columns [][]float64 // by record, NaN where not held
	index := map[string]int{}
	for party, own := range data {
		for _, id := range own.ids {
			name := string(id)
			if c.union() {
				name = strconv.Itoa(party) + name
			}
			if _, ok := index[name]; !ok {
				index[name] = len(index)
			}
		}
	}
	for party, own := range data {
		for f := range own.values[0] {
			feature := c.Study.Features(party, 0)[f]
			if !c.union() || party == 0 {
				places = append(places, place{party, feature})
				columns = append(columns, make([]float64, len(index)))
				for i := range columns[len(columns)-1] {
					columns[len(columns)-1][i] = math.NaN()
				}
			}
			at := len(columns) - 1
			if c.union() {
				at = f
			}
			for i, id := range own.ids {
				name := string(id)
				if c.union() {
					name = strconv.Itoa(party) + name
				}
				columns[at][index[name]] = own.values[i][f]
			}
		}
	}
	var out []asked
	for at, a := range c.Study.Analyses {
		for i := range places {
			for j := i; j < len(places); j++ {
				if i == j && a.Kind != study.Covariance {
					continue
				}
				if i != j && !c.union() && places[i].party == places[j].party {
					continue
				}
				q := question{a, places[i], places[j]}
				fi, fj := i, j
				if a.Kind == study.Intersection {
					if i > 0 || places[j].party == places[j-1].party {
						continue
					}
					ones := study.Feature{Column: -1, Kind: study.Ones}
					q = question{a, place{places[i].party, ones}, place{places[j].party, ones}}
					fi, fj = 0, 1
				}
				var x, y []float64
				var xx, yy float64
				for r := range columns[i] {
					u, v := columns[i][r], columns[j][r]
					if !math.IsNaN(u) {
						xx += u * u
					}
					if !math.IsNaN(v) {
						yy += v * v
					}
					if !math.IsNaN(u) && !math.IsNaN(v) {
						x, y = append(x, u), append(y, v)
					}
				}
				pair, err := c.pair(q.x, q.y)
				if err != nil {
					t.Fatal(err)
				}
				e, err := c.forecast(q)
				if err != nil || e.Undefined != "" {
					t.Fatalf("%s: %v %s", a.Kind, err, e.Undefined)
				}
				truth, scale := truths(a, x, y, xx, yy)
				out = append(out, asked{at, fi, fj, q, truth, scale, pair, e.StandardError})
			}
		}
	}
	return out
}

// wrong returns forecasts that must be rejected: with half the noise, and without the projection.
func (a asked) wrong(t testing.TB) (halved, unprojected float64) {
	t.Helper()
	deviation := func(share float64) float64 {
		p := a.pair
		for _, n := range []*estimate.Noise{&p.X.Noise, &p.Y.Noise} {
			n.Variance *= share
			n.FourthCumulant *= share * share
		}
		e, err := forecasterOf(forecasters(), a.question.analysis.Kind, sketch.Columns).pair(a.question, p)
		if err != nil {
			t.Fatal(err)
		}
		return e.StandardError
	}
	return deviation(0.25), math.Sqrt(math.Max(0, a.want*a.want-deviation(0)*deviation(0)))
}

// caught counts how often the wrong forecasts were detected.
type caught struct{ halved, unprojected int }

// judge compares one kind of answer with its forecast. The wrong forecasts are given as shares of
// the right one.
func (found *caught) judge(t *testing.T, what string, m moment, halved, unprojected float64) {
	t.Helper()
	ratio, se := m.ratio()
	t.Logf("%-16s RMSE is %.3f of the forecast (standard error %.3f); of half the noise %.2f, without projection %.2f",
		what, ratio, se, ratio/halved, ratio/unprojected)
	if !(deviating*se <= tolerance) {
		t.Errorf("%s: %.0f draws are too few to judge: standard error %.3f", what, m.n, se)
	}
	if math.Abs(ratio-1) > tolerance {
		t.Errorf("%s: the RMSE is %.3f times the forecast", what, ratio)
	}
	if math.Abs(ratio/halved-1) > tolerance {
		found.halved++
	}
	if math.Abs(ratio/unprojected-1) > tolerance {
		found.unprojected++
	}
}

func (tr trial) columns(t *testing.T, c *cell, found *caught) {
	data := tr.tables(c.Study, rand.New(rand.NewPCG(5, uint64(tr.records))))
	questions := tr.ask(t, c, data)
	plans := plansOf(t, c.Study)
	moments := make([]moment, len(c.Study.Analyses))
	var half, bare [8]moment
	asked, undefined := 0, 0
	for n := range tr.draws {
		contributions, _ := draw(t, plans, data, n)
		result, _, err := analysis.Run(context.Background(), analysis.Options{Study: c.Study, Contributions: contributions, Complete: true})
		if err != nil {
			t.Fatal(err)
		}
		var sums, counts [8]float64
		for _, q := range questions {
			for _, pair := range result.Analyses[q.analysis].Pairs {
				if pair.I != q.i || pair.J != q.j {
					continue
				}
				asked++
				if pair.Estimate == nil {
					if undefined++; undefined > 5+asked/50 { // what barely stands out may fail to now and then
						t.Fatalf("%s: %s, the %d-th of %d", result.Analyses[q.analysis].Kind, pair.Undefined, undefined, asked)
					}
					continue
				}
				e := (*pair.Estimate - q.truth) / q.scale / q.want
				sums[q.analysis] += e * e
				counts[q.analysis]++
			}
		}
		for i := range moments {
			if counts[i] > 0 {
				moments[i].add(sums[i] / counts[i])
			}
		}
	}
	for _, q := range questions {
		h, u := q.wrong(t)
		half[q.analysis].add(h * h / q.want / q.want)
		bare[q.analysis].add(u * u / q.want / q.want)
	}
	for i, a := range c.Study.Analyses {
		h, _ := half[i].ratio()
		u, _ := bare[i].ratio()
		found.judge(t, string(a.Kind)+" "+string(a.Estimator()), moments[i], h, u)
	}
}

func plansOf(t testing.TB, s *study.Study) (out []release.Plan) {
	t.Helper()
	for party := range s.Parties {
		p, err := release.For(s, party, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// distances compares squared distances of records with the forecast for typical ones: of pairs
// within one party or, if parties' columns are joined, of pairs that all hold.
func (tr trial) distances(t *testing.T, c *cell, found *caught) {
	rng := rand.New(rand.NewPCG(6, 1))
	plans := plansOf(t, c.Study)[:len(c.holders())]
	law, z, err := c.law()
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.distance()
	if err != nil {
		t.Fatal(err)
	}
	space := estimate.Records{K: law.Projection.K, Noise: law.Noise, Identity: law.Projection.Family == "identity"}
	var m moment
	for n := range tr.draws {
		data := tr.tables(c.Study, rng)[:len(plans)]
		shipped, orders := draw(t, plans, data, n)
		points := make([][]float64, tr.records)
		for i := range points {
			points[i] = make([]float64, law.Projection.K)
		}
		for p, plan := range plans {
			places := plan.Coordinates()
			for row, record := range orders[p] {
				for j, v := range shipped[p].Sketches[0].Row(row) {
					points[record][places[j]] += float64(v) * plan.Unit()
				}
			}
		}
		var sum float64
		for i := 0; i < len(points); i += 2 {
			e, err := space.SquaredDistance(points[i], points[i+1], 0)
			if err != nil {
				t.Fatal(err)
			}
			var truth float64
			for p, plan := range plans {
				d := plan.Values
				for j := range d {
					u := float64(data[p].encoded[i*d+j]-data[p].encoded[(i+1)*d+j]) / float64(c.Study.Bits.One())
					truth += u * u
				}
			}
			off := (e.Interval.Estimate - truth) / z.Squared / want.StandardError
			sum += off * off
		}
		m.add(sum / float64(len(points)/2))
	}
	whole := law.Distance(z)
	law.Noise.Variance, law.Noise.FourthCumulant = law.Noise.Variance/4, law.Noise.FourthCumulant/16
	half := law.Distance(z)
	law.Noise = estimate.Noise{}
	found.judge(t, "distance", m, math.Sqrt(half/whole), math.Sqrt(math.Max(0, 1-law.Distance(z)/whole)))
}

// groups compares mean squared distances within and between parties with the forecast.
func (tr trial) groups(t *testing.T, c *cell, found *caught) {
	rng := rand.New(rand.NewPCG(7, 1))
	plans := plansOf(t, c.Study)
	questions := c.questions(c.Study.Analyses[0])
	var m, half, bare moment
	truth := func(x, y table, same bool) float64 {
		n, l := len(x.ids), len(y.ids)
		d := len(x.encoded) / n
		var sum, pairs float64
		for i := range n {
			for j := range l {
				if same && i == j {
					continue
				}
				pairs++
				for f := range d {
					u := float64(x.encoded[i*d+f]-y.encoded[j*d+f]) / float64(c.Study.Bits.One())
					sum += u * u
				}
			}
		}
		return sum / pairs
	}
	forecasts := map[[2]int]float64{}
	for _, q := range questions {
		e, err := c.groups(q)
		if err != nil {
			t.Fatal(err)
		}
		law, _, err := c.law()
		if err != nil {
			t.Fatal(err)
		}
		forecasts[[2]int{q.x.party, q.y.party}] = e.StandardError
		g := forecast.Groups{Columns: c.columns(0), Kept: 1, Sizes: [2]float64{c.records(0), c.records(1)}}
		wrong := func(share float64) float64 {
			g.Law = law
			g.Law.Noise.Variance, g.Law.Noise.FourthCumulant = law.Noise.Variance*share, law.Noise.FourthCumulant*share*share
			e, err := g.Between()
			if q.x == q.y {
				e, err = g.Within()
			}
			if err != nil {
				t.Fatal(err)
			}
			return e.StandardError / forecasts[[2]int{q.x.party, q.y.party}]
		}
		half.add(wrong(0.25) * wrong(0.25))
		bare.add(math.Max(0, 1-wrong(0)*wrong(0)))
	}
	for n := range tr.draws {
		data := tr.tables(c.Study, rng)
		contributions, _ := draw(t, plans, data, n)
		result, _, err := analysis.Run(context.Background(), analysis.Options{Study: c.Study, Contributions: contributions, Complete: true})
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, pair := range result.Analyses[0].Pairs {
			if pair.Estimate == nil {
				t.Fatal(pair.Undefined)
			}
			typical := 0.0
			for _, column := range c.columns(0) {
				typical += 2 * column.Spread * column.Spread
			}
			e := (*pair.Estimate - truth(data[pair.I], data[pair.J], pair.I == pair.J)) / typical / forecasts[[2]int{pair.I, pair.J}]
			sum += e * e
		}
		m.add(sum / float64(len(result.Analyses[0].Pairs)))
	}
	h, _ := half.ratio()
	u, _ := bare.ratio()
	found.judge(t, "group distance", m, h, u)
}

func TestForecastsAreTrue(t *testing.T) {
	full.Statistical(t)
	found := map[sketch.Side]*caught{sketch.Columns: {}, sketch.Records: {}}
	for _, tr := range trials() {
		t.Run(tr.name, func(t *testing.T) {
			c := tr.study(t)
			s := c.Study
			if s.Privacy.Mechanism != dp.None && s.Sketches[0].Clip > 0 && c.keep(0).Clipped > 0.02 {
				t.Fatalf("%.0f %% of the records are clipped: no fair trial", 100*c.keep(0).Clipped)
			}
			switch {
			case s.Sketches[0].Side == sketch.Columns:
				tr.columns(t, c, found[sketch.Columns])
			case s.Analyses[0].Kind == study.GroupDistance:
				tr.groups(t, c, found[sketch.Records])
			default:
				tr.distances(t, c, found[sketch.Records])
			}
		})
	}
	for side, f := range found {
		if f.halved == 0 || f.unprojected == 0 {
			t.Errorf("%s side: halved noise would have passed in all but %d, a missing projection in all but %d", side, f.halved, f.unprojected)
		}
	}
}
