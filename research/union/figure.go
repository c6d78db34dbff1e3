package union

import (
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/block"
)

//go:embed figures.html.tmpl
var page string

// pictures collects the data of the figures.
type pictures struct {
	cases   []*picture // of clusters, in order of measurement
	figures []figure.Figure
}

// picture is the agreement of clusters over ε, for one case.
type picture struct {
	of         Pooled
	ours, rows []block.Point
	baseline   float64
}

// deviations is the half length of whiskers in standard errors.
const deviations = 1.96

// clusters adds the measurements at one ε.
func (p *pictures) clusters(of Pooled, epsilon dp.Epsilon, ours, rows Clusters) {
	if n := len(p.cases); n == 0 || p.cases[n-1].of.Name != of.Name {
		p.cases = append(p.cases, &picture{of: of, baseline: ours.Baseline})
	}
	c := p.cases[len(p.cases)-1]
	point := func(m Clusters) block.Point {
		half := deviations * m.Deviation
		return block.Point{X: float64(epsilon), Y: m.Pooled, Low: m.Pooled - half, High: math.Min(m.Pooled+half, 1)}
	}
	c.ours, c.rows = append(c.ours, point(ours)), append(c.rows, point(rows))
}

// Numbers of records, and ε, for which the accuracy of correlations is drawn.
var (
	drawnRecords = []int{2_000, 6_000, 20_000, 60_000, 200_000}
	drawnCurves  = []int{2_000, 20_000, 200_000}
	drawnEpsilon = []dp.Epsilon{0.25, 1, 8}
)

const drawnColumns = 30

// Accuracy is the error of a study's correlations over several trials.
type Accuracy struct {
	RMSE, Low, High float64 // root mean square error with an interval over the trials; NaN if any correlation is undefined
	Forecast        float64 // by the plan; NaN if it forecasts no answer
}

// MeasureAccuracy measures a study's correlations in so many trials.
func MeasureAccuracy(ctx context.Context, p Pooled, a Ask, trials int) (Accuracy, error) {
	a.Analyses = "{kind: correlation}"
	f, err := Forecast(p, a)
	if err != nil {
		return Accuracy{}, err
	}
	out := Accuracy{Forecast: f.Chosen.StandardError}
	if f.Chosen.Undefined != "" {
		out.Forecast = math.NaN()
	}
	var squares []float64
	for trial := range trials {
		m, err := MeasureCorrelations(ctx, p, a, uint64(trial))
		if err != nil {
			return Accuracy{}, err
		}
		if m.Undefined > 0 {
			out.RMSE = math.NaN()
			return out, nil
		}
		squares = append(squares, m.RMSE*m.RMSE)
	}
	mean := stat.Mean(squares, nil)
	out.RMSE = math.Sqrt(mean)
	if trials > 1 {
		half := deviations * stat.StdErr(stat.StdDev(squares, nil), float64(trials))
		out.Low, out.High = math.Sqrt(math.Max(mean-half, mean/100)), math.Sqrt(mean+half)
	}
	return out, nil
}

// accuracy measures correlations over ε and over the number of records, and draws both.
func (p *pictures) accuracy(ctx context.Context, o Options) error {
	type at struct {
		records int
		epsilon dp.Epsilon
	}
	known := map[at]Accuracy{}
	measure := func(pooled Pooled, where at) error {
		if _, ok := known[where]; ok {
			return nil
		}
		a, err := MeasureAccuracy(ctx, pooled, Ask{Sketches: []string{"{side: moments, clip: 2.5}"}, Privacy: Promise(where.epsilon)}, o.seeds())
		known[where] = a
		return err
	}
	for _, n := range drawnRecords {
		pooled := Correlated(n, drawnColumns, rand.New(rand.NewPCG(2, 2)))
		over := drawnEpsilon
		for _, drawn := range drawnCurves {
			if drawn == n {
				over = append(over[:len(over):len(over)], o.Epsilon...)
			}
		}
		for _, epsilon := range over {
			if err := measure(pooled, at{n, epsilon}); err != nil {
				return err
			}
		}
	}
	curve := func(c *figure.Chart, name string, along []at, x func(at) float64) {
		seen, forecast := block.Curve{Name: name, Look: block.Marks}, block.Curve{Look: block.Smooth, Of: len(c.Curves) + 1}
		for _, where := range along {
			a := known[where]
			seen.Points = append(seen.Points, block.Point{X: x(where), Y: a.RMSE, Low: a.Low, High: a.High})
			forecast.Points = append(forecast.Points, block.Point{X: x(where), Y: a.Forecast})
		}
		c.Curves = append(c.Curves, seen, forecast)
	}
	caption := fmt.Sprintf("Correlations of %d columns by moments, three parties, δ = 1e-6. Marks: root mean square error over all pairs in %d studies, with 95 %% intervals over studies; lines: the plan's forecast, made before. Where a correlation of some pair is undefined there is no mark, and no line where the plan says that it would be. Many records at a large ε leave what is left when values are moved to the nearest bound and records cut to the clip, which no noise hides: the numbers are about those.",
		drawnColumns, o.seeds())
	epsilons := figure.Chart{
		ID:          "epsilon",
		Title:       "Correlations: error over ε",
		Description: "The error falls as one over ε, and lies on the forecast.",
		Caption:     caption,
		Chart: block.Chart{
			X: block.Dimension{Label: "ε for whole records", Log: true},
			Y: block.Dimension{Label: "root mean square error", Log: true},
		},
	}
	for _, n := range drawnCurves {
		var along []at
		for _, e := range o.Epsilon {
			along = append(along, at{n, e})
		}
		curve(&epsilons, fmt.Sprintf("%d records", n), along, func(w at) float64 { return float64(w.epsilon) })
	}
	records := figure.Chart{
		ID:          "records",
		Title:       "Correlations: error over the number of records",
		Description: "The error falls as one over the number of records, and lies on the forecast.",
		Caption:     caption,
		Chart: block.Chart{
			X: block.Dimension{Label: "records of all parties", Log: true},
			Y: block.Dimension{Label: "root mean square error", Log: true},
		},
	}
	for _, e := range drawnEpsilon {
		var along []at
		for _, n := range drawnRecords {
			along = append(along, at{n, e})
		}
		curve(&records, fmt.Sprintf("ε = %v", float64(e)), along, func(w at) float64 { return float64(w.records) })
	}
	p.figures = append(p.figures, epsilons.Figure(), records.Figure())
	for i, c := range p.cases {
		if len(c.ours) > 1 {
			p.figures = append(p.figures, c.draw(i, o.Trials))
		}
	}
	return nil
}

// seeds returns the number of studies per point.
func (o Options) seeds() int { return min(max(o.Trials/4, 2), 5) }

// draw draws the agreement over ε for one case.
func (c *picture) draw(index, trials int) figure.Figure {
	return figure.Chart{
		ID:          fmt.Sprintf("clusters-%d", index),
		Title:       "Clusters: " + c.of.Name,
		Description: "Agreement with k-means on the pooled records, by moments and cells and by row sketches.",
		Caption: fmt.Sprintf("Agreement of the parties' own labels with k-means on the %d pooled records, over %d studies, fewer of row sketches; whiskers: 95 %% intervals of the mean. A plan forecasts how well counts of cells are known and not how far clusters are apart, so that there is no line.",
			len(c.of.Records), trials),
		Chart: block.Chart{
			X:          block.Dimension{Label: "ε for whole records", Log: true},
			Y:          block.Dimension{Label: "agreement", Include: []float64{1}},
			Curves:     []block.Curve{{Name: "moments and cells", Points: c.ours}, {Name: "row sketches", Points: c.rows}},
			References: []block.Reference{{Name: "largest class", At: c.baseline}},
		},
	}.Figure()
}

// write writes the page of figures.
func (p *pictures) write(w io.Writer) error {
	t, err := template.New("figures").Parse(page)
	if err == nil {
		err = t.Execute(w, struct {
			Style   template.CSS
			Figures []figure.Figure
		}{figure.Style(), p.figures})
	}
	if err != nil {
		return fmt.Errorf("writing figures: %w", err)
	}
	return nil
}
