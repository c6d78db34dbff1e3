package plan

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// Each forecast has one outcome, which begins its verdict. The outcome closest to the cause takes
// precedence.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		side sketch.Side
		kind study.AnalysisKind
		f    Choice
		want Outcome
		lead string
	}{
		{sketch.Columns, study.Correlation, Choice{Usable: true, Lost: 1}, Usable, "usable: |ρ| ≥ "},
		{sketch.Columns, study.Correlation, Choice{Cut: "the clip cuts", UnknownSpreads: []string{"a"}, Undefined: "lost"}, CutShort, "not usable: the clip cuts"},
		{sketch.Columns, study.Correlation, Choice{UnknownSpreads: []string{"a"}, Undefined: "lost"}, SpreadUnknown, "not usable: it depends on the spread of a"},
		{sketch.Columns, study.Correlation, Choice{AtWorst: End{Undefined: "lost"}, Lost: 1}, NoAnswer, "not usable: lost"},
		{sketch.Columns, study.Correlation, Choice{Lost: .07}, OftenNoAnswer, "not usable: with a probability of 0.07 it would have no answer"},
		{sketch.Columns, study.PCA, Choice{Lost: .07}, TooWide, "not usable: errors alone"},
		{sketch.Columns, study.PCA, Choice{Lost: .2}, OftenNoAnswer, "not usable: with a probability of 0.2 it would lack a column"},
		{sketch.Moments, study.Mean, Choice{}, TooWide, "not usable: half of the interval of a mean"},
		{sketch.Cells, study.KMeans, Choice{UnknownSpreads: []string{"a"}, Lost: 1}, TooWide, "not usable: clusters of equal size"},
		{sketch.Cells, study.KMeans, Choice{Usable: true}, Usable, "usable: clusters of equal size"},
	} {
		s := &study.Study{Sketches: []study.Sketch{{Side: c.side}}, Parties: make([]study.Party, 2)}
		f := Analysis{Kind: c.kind, Chosen: c.f}
		(&cell{rows: forecasters(), memory: newMemory(), Options: Options{Study: s, Records: map[string]int64{"": 100}}}).conclude(study.Analysis{Kind: c.kind}, &f)
		if f.Outcome != c.want || !strings.HasPrefix(f.Verdict, c.lead) || !f.Outcome.Forecast() {
			t.Errorf("%+v: %s, %q", c.f, f.Outcome, f.Verdict)
		}
	}
	c := &cell{rows: forecasters(), Options: Options{Study: &study.Study{Sketches: []study.Sketch{{Side: sketch.Columns}}}}}
	for _, without := range []struct {
		asked study.Analysis
		want  Outcome
	}{
		{study.Analysis{Kind: study.PCA, Options: study.PCAOptions{}}, Uncentred},
		{study.Analysis{Kind: study.SVM}, NotForecast},
	} {
		if a := c.unplanned(without.asked); a.Outcome != without.want || a.Outcome.Forecast() || strings.Contains(a.Verdict, "usable") {
			t.Errorf("%s: %+v", without.asked.Kind, a)
		}
	}
}
