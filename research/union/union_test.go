package union

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
)

var hospitalAsk = Ask{
	Sketches: []string{"{side: moments, clip: 1.5}", "{side: cells, L: 2, q: 1, clip: 1.5, share: 0.4}"},
	Privacy:  Promise(1),
}

// At ε = 1 for whole records, moments and cells find the hospitals' two clusters; row sketches do
// not.
func TestHospitalsAtRecordLevel(t *testing.T) {
	p, err := Hospitals(true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := MeasureClusters(context.Background(), p, 2, hospitalAsk, 20)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := MeasureClusters(context.Background(), p, 2, Ask{Sketches: []string{"{side: records, family: identity, clip: 1.5}"}, Privacy: Promise(1)}, 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("moments and cells %+v", got)
	t.Logf("row sketches %+v", rows)
	if got.Pooled < 0.85 || got.Faint > 0 {
		t.Errorf("agreement %.3f with the pooled clusters, want at least .85", got.Pooled)
	}
	if rows.Pooled > 0.7 {
		t.Errorf("row sketches agree %.3f at the same promise: the comparison is off", rows.Pooled)
	}
}

func TestMixture(t *testing.T) {
	n, trials := 100_000, 1
	if full.Asked() {
		trials = 10
	}
	p := Mixture(n, 20, 5, rand.New(rand.NewPCG(1, 1)))
	got, err := MeasureClusters(context.Background(), p, 5, Ask{
		Sketches: []string{"{side: moments, clip: 2}", "{side: cells, L: 7, q: 4, clip: 2}"}, Privacy: Promise(1),
	}, trials)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", got)
	if got.Known < 0.98 {
		t.Errorf("agreement %.3f with the mixture's components, want at least .98", got.Known)
	}
	right := 0
	for _, k := range got.Suggested {
		if k == 5 {
			right++
		}
	}
	if full.Asked() && 2*right < trials {
		t.Errorf("5 clusters are suggested in %d of %d trials", right, trials)
	}
}

func TestCorrelations(t *testing.T) {
	n := 20_000
	most := 0.02
	if full.Asked() {
		n, most = 200_000, 0.002
	}
	p := Correlated(n, 30, rand.New(rand.NewPCG(2, 2)))
	moments, err := MeasureCorrelations(context.Background(), p, Ask{Sketches: []string{"{side: moments, clip: 2.5}"}, Privacy: Promise(1)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	projected, err := MeasureCorrelations(context.Background(), p, Ask{Sketches: []string{"{side: columns, family: sparse, k: 1024, clip: 2.5}"}, Privacy: Promise(1)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("moments %+v", moments)
	t.Logf("R·X     %+v", projected)
	if moments.RMSE > most {
		t.Errorf("correlations err by %.5f, want at most %v", moments.RMSE, most)
	}
	if moments.Covered < 0.88 {
		t.Errorf("intervals cover %.3f", moments.Covered)
	}
	if projected.Undefined == 0 && projected.RMSE < 5*moments.RMSE {
		t.Errorf("R·X errs by %.4f only: the comparison is off", projected.RMSE)
	}
}

// A plan forecasts the half width of intervals that releases then have, for columns as they are
// declared.
func TestForecastIsWhatReleasesShow(t *testing.T) {
	p := Correlated(20_000, 30, rand.New(rand.NewPCG(2, 2)))
	ask := Ask{Sketches: []string{"{side: moments, clip: 2.5}"}, Privacy: Promise(1)}
	got, err := MeasureCorrelations(context.Background(), p, ask, 1)
	if err != nil {
		t.Fatal(err)
	}
	ask.Analyses = "{kind: correlation}"
	own, _ := p.deal(rand.New(rand.NewPCG(1, 1)))
	s, err := prepare(Data{Columns: p.Columns, Parties: own}, ask)
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := plan.Make(plan.Options{Study: s.study, Party: study.Everyone, Records: map[string]int64{"": 20_000 / 3}})
	if err != nil {
		t.Fatal(err)
	}
	if ratio := forecast.Sketches[0].Analyses[0].Chosen.HalfWidth / got.Half; ratio < 0.9 || ratio > 1.15 {
		t.Errorf("forecast is %.3f of what is seen", ratio)
	}
}

// Real hospitals, if their data are available.
func TestRealHospitals(t *testing.T) {
	data, err := corpus.Open("", os.Getenv)
	if errors.Is(err, corpus.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	heart, err := Heart(data)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(heart.Records) != 920 || len(heart.Parties) != 4 {
		t.Fatalf("%d records at %d hospitals, want 920 at 4", len(heart.Records), len(heart.Parties))
	}
	got, err := MeasureClusters(context.Background(), heart, 2, Ask{Sketches: sums(2, 1, 1.2), Privacy: Promise(1)}, 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", got)
	if got.Pooled < 0.8 {
		t.Errorf("agreement %.3f with the pooled clusters, want at least .8", got.Pooled)
	}
	if got.Known < got.Ceiling-0.03 {
		t.Errorf("agreement %.3f with the diagnoses, pooled clusters have %.3f", got.Known, got.Ceiling)
	}
}

// The plan's forecast matches the measurements, at small and at large ε, and the page of figures
// shows both.
func TestFigures(t *testing.T) {
	p := Correlated(6000, 30, rand.New(rand.NewPCG(2, 2)))
	for _, epsilon := range []dp.Epsilon{1, 8} {
		a, err := MeasureAccuracy(context.Background(), p, Ask{Sketches: []string{"{side: moments, clip: 2.5}"}, Privacy: Promise(epsilon)}, 2)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("ε = %v: %+v", float64(epsilon), a)
		if r := a.RMSE / a.Forecast; !(r > 0.85 && r < 1.15) || !(a.Low < a.RMSE && a.RMSE < a.High) {
			t.Errorf("ε = %v: measured %.3f of the forecast, %+v", float64(epsilon), r, a)
		}
	}
	drawn := &pictures{}
	for _, epsilon := range []dp.Epsilon{1, 2} {
		drawn.clusters(p, epsilon, Clusters{Pooled: 0.9, Deviation: 0.01, Baseline: 0.5}, Clusters{Pooled: 0.5})
	}
	drawn.figures = append(drawn.figures, drawn.cases[0].draw(0, 20))
	var page bytes.Buffer
	if err := drawn.write(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "Clusters: 30 correlated columns", "largest class", "prefers-color-scheme"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if outside := regexp.MustCompile(`(src|href)="http`).FindString(page.String()); outside != "" {
		t.Errorf("the page asks elsewhere: %s", outside)
	}
}
